"""Files to parts: detect formats, parse ranges in processes, merge rows by step."""
