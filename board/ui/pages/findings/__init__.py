"""Findings: what looks wrong, with its evidence."""
