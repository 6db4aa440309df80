"""What travels and what is said: examples, labels, events."""
