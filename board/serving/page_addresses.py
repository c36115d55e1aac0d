"""Which pages there are, under which addresses and former names. Knows neither Streamlit nor what is on them."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Tab:
    """A page of the board."""

    file: str
    title: str
    path: str
    """In its address, after the slash."""
    former: tuple[str, ...] = ()
    """Paths it went by in earlier versions, or might be taken for."""
    of_run: bool = True
    """Whether it shows a run, below the top line that says which."""
    elements: tuple[str, ...] = ()
    """What its first screen draws beside EVERYWHERE, by the names of the scripts that Streamlit's browser side draws it with."""


EVERYWHERE: Final = ("Html", "BidiComponent", "Checkbox", "Progress")
"""What first screens draw, by the same names: small scripts all of them."""

TABS: Final = (
    Tab(
        "board/ui/pages/runs.py",
        "Runs",
        "runs",
        of_run=False,
        elements=("ButtonGroup", "Multiselect", "PageLink", "Selectbox", "TextArea", "TextInput"),
    ),
    Tab("board/ui/pages/rewards.py", "Rewards", "", former=("rewards",), elements=("Button",)),
    Tab("board/ui/pages/findings.py", "Findings", "findings", elements=("Button", "PageLink")),
    Tab("board/ui/pages/metrics.py", "Metrics", "metrics", elements=("Button", "TextInput")),
    Tab("board/ui/pages/compare.py", "Compare", "compare", elements=("DownloadButton", "Metric", "Selectbox")),
    Tab("board/ui/pages/steps.py", "Steps", "steps", elements=("ButtonGroup", "Multiselect", "Selectbox")),
    Tab("board/ui/pages/groups.py", "Groups", "groups", elements=("ButtonGroup", "NumberInput", "Selectbox")),
    Tab("board/ui/pages/prompts.py", "Prompts", "prompts", elements=("ButtonGroup", "Pagination", "Selectbox", "TextInput")),
    Tab(
        "board/ui/pages/responses.py",
        "Responses",
        "responses",
        elements=("Button", "ButtonGroup", "Metric", "PageLink", "Selectbox", "TextInput"),
    ),
    Tab(
        "board/ui/pages/tokens.py", "Tokens", "tokens", elements=("Button", "ButtonGroup", "NumberInput", "PageLink", "Selectbox")
    ),
    Tab(
        "board/ui/pages/all_tokens.py",
        "All tokens",
        "all_tokens",
        elements=("ButtonGroup", "NumberInput", "Selectbox", "TextInput"),
    ),
    Tab("board/ui/pages/words.py", "Words", "words", former=("phrases", "vocabulary"), elements=("ButtonGroup", "NumberInput")),
    Tab("board/ui/pages/search.py", "Search", "search", elements=("ButtonGroup", "Selectbox", "TextInput")),
    Tab("board/ui/pages/data.py", "Data", "data", former=("doctor",)),
)

FINDINGS: Final = next(tab for tab in TABS if tab.path == "findings")

RUNS: Final = next(tab for tab in TABS if not tab.of_run)
"""Opens first where there are several runs and a link names none: `board.serving.home_gate` leads there."""

FORMER: Final = {path: tab for tab in TABS for path in tab.former}
