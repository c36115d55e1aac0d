"""Text and numbers made readable: model text, tokens, numbers, names, padding. Knows no file, no frame and no screen."""
