"""Runs made into indexes: Parquet data sets that the board opens slices of."""
