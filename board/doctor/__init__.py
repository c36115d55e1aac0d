"""Checks of a run: is what the trainer logged what it meant to log? Each module holds one family of checks, `checks` the table of them all.

A check is a function from `Evidence` to what it found. Adding one is that function and one entry of the table.
"""
