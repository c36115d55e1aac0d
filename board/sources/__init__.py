"""Locations → files → bytes → records: the only wing that reads a run's files."""
