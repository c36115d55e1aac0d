"""Steps: one step, or two side by side."""
