"""The names trainers give to metrics: one table each."""
