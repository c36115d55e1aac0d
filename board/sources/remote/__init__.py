"""Runs in object stores and on other machines: their bytes come into a folder of the cache, each once, and are read there."""
