"""Metrics: curves of all numbers, logged and computed, and SQL."""
