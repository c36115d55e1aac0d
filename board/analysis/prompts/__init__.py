"""What is computed of a prompt over training, and of prompts with a common beginning."""
