"""Prompts: each prompt over training."""
