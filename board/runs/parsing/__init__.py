"""Files to parts: formats told, ranges parsed in processes, rows merged by step."""
