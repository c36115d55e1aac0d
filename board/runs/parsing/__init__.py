"""Files to parts: formats detected, ranges parsed in processes, rows merged by step."""
