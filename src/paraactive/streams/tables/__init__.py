"""Parquet and CSV files, larger than memory (`table`)."""
