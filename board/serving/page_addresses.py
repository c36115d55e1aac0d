"""Which pages there are, under which addresses and former names."""

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


TABS: Final = (
    Tab("board/ui/pages/runs/runs.py", "Runs", "runs", of_run=False),
    Tab("board/ui/pages/rewards/rewards.py", "Rewards", "", former=("rewards",)),
    Tab("board/ui/pages/findings/findings.py", "Findings", "findings"),
    Tab("board/ui/pages/metrics/metrics.py", "Metrics", "metrics"),
    Tab("board/ui/pages/compare/compare.py", "Compare", "compare"),
    Tab("board/ui/pages/steps/steps.py", "Steps", "steps"),
    Tab("board/ui/pages/groups/groups.py", "Groups", "groups"),
    Tab("board/ui/pages/prompts/prompts.py", "Prompts", "prompts"),
    Tab("board/ui/pages/responses/responses.py", "Responses", "responses"),
    Tab("board/ui/pages/tokens/tokens.py", "Tokens", "tokens"),
    Tab("board/ui/pages/all_tokens/all_tokens.py", "All tokens", "all_tokens"),
    Tab("board/ui/pages/words/words.py", "Words", "words", former=("phrases", "vocabulary")),
    Tab("board/ui/pages/search/search.py", "Search", "search"),
    Tab("board/ui/pages/data/data.py", "Data", "data", former=("doctor",)),
)

FINDINGS: Final = next(tab for tab in TABS if tab.path == "findings")

RUNS: Final = next(tab for tab in TABS if not tab.of_run)
"""Opens first where there are several runs and a link names none: `board.serving.home_gate` leads there."""

FORMER: Final = {path: tab for tab in TABS for path in tab.former}
