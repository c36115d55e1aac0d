"""Locations → files → bytes → records: the only package that reads a run's files."""
