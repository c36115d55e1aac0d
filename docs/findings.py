"""Writes `docs/findings.md` out of what the kinds of findings declare: `python docs/findings.py`. A test holds the page to what this gives."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "findings.md"
PICTURES: Final = REPOSITORY / "assets" / "findings"
"""An example of each kind: `python assets/take_finding_pictures.py`."""

sys.path.insert(0, str(REPOSITORY))

from board.checks.all_checks import CHECKS  # noqa: E402
from board.findings.all_kinds import KINDS  # noqa: E402
from board.findings.contract import Kind, Threshold  # noqa: E402
from board.serving.page_addresses import TABS  # noqa: E402
from board.text.format_number import exact  # noqa: E402

HEAD: Final = """# Findings: what went wrong, and where is the evidence

[中文](zh-CN/findings.md)

A run that is open is looked through in the background, in a process of its own that holds up no page, and again as it grows. What is found
stands on the page Findings, worst first: since which step, how much, by which threshold, which rollouts and tokens show it, what it may mean,
what else would look the same and where to look next. It is marked on the strip of steps and on the curves it is seen in (a diamond), and
counted in the top line of every page. On the command line it is [`rl-logging-board findings RUN`](cli.md#findings); `push` tells a tracker.

![The finding of a run whose reward is exploited, with its curves and the rollouts that show it](../assets/findings-light.png)

- **Two conditions.** An effect must be larger than its threshold, and clearer than the run's own noise: `z` is in standard errors of the
  curve, which small steps make wide. A change of the mix of data sources explains a jump, and is not blamed.
- **One cause, one finding.** What turned with it and is explained by it is listed as its signs.
- **Rank**: severity (an error: numbers are wrong; a warning: training is probably harmed; a note), then how clear it is, then how early.
- **Evidence** is at most fifty rollouts by shard and line, the clearest first, and tokens by position, from 0.
- **Looked for and not found** and **could not tell**, with the reason, are listed too: they are not the same.
- **Yours to set.** Thresholds, kinds muted in a run and findings marked as understood, with a reason, are kept by run in your settings
  (`findings/` in the settings folder), never in the run; all of it can be brought back. Commands take the declared thresholds;
  `findings --thresholds FILE` takes a JSON file `{"KIND": {"NAME": NUMBER}}`, or one of those that the board keeps.
- `serve --no-findings` (RL_BOARD_FINDINGS=off) looks through no run unasked; the page Findings then has a button.

What `check` finds wrong with the data is among the findings: see [the checks](#checks-of-the-data) below.
"""

CHECK_HEAD: Final = """## Checks of the data

Each is a finding where it finds something, the cause of what turned with it. The page Data and `rl-logging-board check` run them alone.

| check | severity | what it finds | why it matters |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    checks = {check.name for check in CHECKS}
    kinds = [kind for kind in KINDS if kind.name not in checks]
    listed = "\n".join(f"| [`{kind.name}`](#{kind.name}) | {kind.severity} | {_cell(kind.says)} |" for kind in kinds)
    table = f"## The kinds\n\n| kind | severity | what it says |\n|---|---|---|\n{listed}\n"
    rows = "".join(f"| `{one.name}` | {one.severity} | {_cell(one.title)} | {_cell(one.why)} |\n" for one in CHECKS)
    return "\n".join([HEAD, table, *map(_section, kinds), CHECK_HEAD + rows])


def _section(kind: Kind) -> str:
    return (
        "\n\n".join([f"### {kind.name}", f"**{_plain(kind.title)}** ({kind.severity}). {_plain(kind.says)}", *_parts(kind)])
        + "\n"
    )


def _parts(kind: Kind) -> Iterator[str]:
    if (PICTURES / f"{kind.name}.png").is_file():
        yield f"![An example of {kind.name}, planted into an honest run, as the page Findings shows it](../assets/findings/{kind.name}.png)"
    yield f"How it is computed: {_plain(kind.formula)}"
    if kind.needs:
        yield f"Needs {', '.join(f'`{name}`' for name in kind.needs)}."
    yield "| threshold | declared | of what | from |\n|---|---|---|---|\n" + "\n".join(map(_row, kind.thresholds))
    yield f"May mean: {_plain(kind.means)}"
    yield f"Looks the same: {_plain(kind.looks_like)}"
    titles = {Path(tab.file).stem: tab.title for tab in TABS}
    where = "; ".join(f"**{titles.get(name, name)}**, {_plain(what)}" for name, what in kind.next)
    yield f"Where to look next: {where}."
    if kind.explains:
        yield f"Its signs may be {', '.join(f'`{name}`' for name in kind.explains)}."


def _row(one: Threshold) -> str:
    return f"| `{one.name}` | {exact(one.value)} | {_cell(one.meaning)} | {_cell(one.source)} |"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Text in which Markdown finds neither tags nor emphasis."""
    return text.replace("<", "\\<").replace("*", "\\*").replace("`", "\\`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
