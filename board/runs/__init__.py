"""Open a run: recognise its files, parse them in parallel, keep the parts, merge them by step, report what was odd. Draws nothing."""
