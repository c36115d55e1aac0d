"""Text and numbers made readable: model text, tokens, numbers, names, padding."""
