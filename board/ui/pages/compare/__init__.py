"""Compare: two runs side by side, section by section."""
