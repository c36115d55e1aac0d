"""Runs as people bring them: sixty sound ones of six kinds, and runs with one fault each, written without a look at the detectors."""
