"""Data that travels between nodes (examples, labels) and events that a run reports."""
