"""The row format as docs/row.md shows it: `python -m docs.row` prints one line per native field."""

import sys

from board.schema import NATIVE


def table() -> str:
    """The lines of Markdown."""
    kinds = {
        "step": "integer",
        "id": "text or number",
        "text": "text",
        "number": "number",
        "tokens": "list of text",
        "token_metric": "list of numbers, one per token",
        "alternatives": "list of [token, number] lists, one per token",
    }
    lines = ["| field | type | unit | meaning |", "|---|---|---|---|"]
    for column in NATIVE:
        needed = " **required**" if column.required else ""
        lines.append(f"| `{column.name}` | {kinds[column.kind]}{needed} | {column.unit} | {column.meaning} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
