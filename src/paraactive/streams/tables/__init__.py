"""Streams over Parquet and CSV files that may be larger than memory (`table`)."""
