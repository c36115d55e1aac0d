"""What is shown to who is not logged in: a page of our own words, without scripts, that says nothing of any run."""

from collections.abc import Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#fcfdfc, #0c1110);
  color: light-dark(#1b2422, #e3eae7); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
main { box-sizing: border-box; width: min(26rem, 100vw - 2rem); padding: 2rem; border: 1px solid light-dark(#d6dddb, #313b38);
  border-radius: 0.25rem; background: light-dark(#ffffff, #121817); }
h1 { margin: 0 0 0.75rem; font-size: 1.25rem; font-weight: 600; }
p { margin: 0 0 1.25rem; overflow-wrap: anywhere; }
a { display: block; margin-top: 0.5rem; padding: 0.55rem 1rem; border-radius: 0.25rem; text-align: center; text-decoration: none;
  color: #ffffff; background: light-dark(#0f766e, #12857a); }
a:focus-visible { outline: 2px solid light-dark(#1d4ed8, #60a5fa); outline-offset: 2px; }
"""

Link = tuple[str, str]
"""Words and address."""


def page(sentence: str, links: Sequence[Link]) -> str:
    """The HTML with a sentence and ways to log in."""
    ways = "".join(f'<a href="{escape(address)}">{escape(words)}</a>' for words, address in links)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta name="robots" content="noindex"><title>Log in · RL Logging Board</title><style>{_STYLE}</style></head>'
        f"<body><main><h1>RL Logging Board</h1><p>{escape(sentence)}</p>{ways}</main></body></html>\n"
    )
