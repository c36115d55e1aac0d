"""Statistics of prompts over training, and of prompts with a common beginning."""
