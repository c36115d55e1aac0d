"""Runs in object stores and on other machines, read by a mirror in the cache."""
