"""A run made into an index: a folder with its parts and what pages ask of them, made by many processes or machines. Knows no page."""
