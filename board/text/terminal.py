"""Text that a run brings, made fit for a terminal: nothing in it is obeyed."""


def printable(text: str) -> str:
    """Text for a terminal: control characters, which a run's names and keys may hold, as `\\x1b`."""
    return "".join(letter if letter == "\n" or letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def on_one_line(text: str) -> str:
    """`printable` of a text that may not begin a line of its own."""
    return printable(text).replace("\n", "\\n")
