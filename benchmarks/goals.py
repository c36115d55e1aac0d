"""What the board promises of its speed and memory, as data, and whether a figure keeps the promise. Knows no measurement."""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Goal:
    """A promise: a figure of this unit that is at most `limit`, or at least, where more is better."""

    words: str
    limit: float
    unit: str
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"


GOALS: Final[dict[str, Goal]] = {
    "cold_floor": Goal("cold open against bare orjson.loads on as many processes", 2, "×"),
    "cold_ujson": Goal("ujson line by line with the ancestor's work against cold open", 2.5, "×", at_least=True),
    "cold_polars": Goal("polars.scan_ndjson with a schema against cold open", 1, "×", at_least=True),
    "cold_short": Goal("cold open of a million rows of 8 tokens", 80, "MB/s", at_least=True),
    "warm_1gb": Goal("warm open of 1 GB", 1.5, "s"),
    "append_reopen": Goal("256 rollouts appended to 1 GB, opened in a fresh process", 2, "s"),
    "append_live": Goal("256 rollouts appended to 1 GB, taken in by a process that holds the run", 2, "s"),
    "append_seen": Goal("256 rollouts appended to 1 GB, seen in the browser", 2, "s"),
    "one_shard": Goal("1 shard of 1 GB against 8 of 128 MB, cold (noise taken as 10 %)", 1.1, "×"),
    "resident_1gb": Goal("resident after opening 1 GB", 600, "MB"),
    "resident_10gb": Goal("resident after opening 10 GB", 1000, "MB"),
    "second_session": Goal("a second viewer's memory", 30, "MB"),
    "click_server": Goal("server work of a click at 100,000 rollouts", 100, "ms"),
    "click_server_huge": Goal("server work of a click at 1,000,000 rollouts", 300, "ms"),
    "words_server": Goal("server work of the page Words at 100,000,000 tokens, from what is kept", 300, "ms"),
    "overlay_first": Goal("server work of the first view of eight cached runs of 1 GB over each other", 2, "s"),
    "overlay_step": Goal("server work of a step there", 150, "ms"),
    "overlay_memory": Goal("memory of each of these runs", 150, "MB"),
    "first_view": Goal("first view of a cached run against an empty page", 1.6, "×"),
    "cold_curve": Goal("first curve of a cold run of 10 GB, beyond an empty page", 2, "s"),
    "cold_link": Goal("a linked rollout of a cold run of 10 GB, beyond an empty page", 3, "s"),
    "click_idle": Goal("browser idle after a click at 100,000 rollouts", 500, "ms"),
    "panels_scroll": Goal("longest task while 150 panels of curves are scrolled through", 50, "ms"),
    "crowd_p95": Goal("95 % of the answers to 100 readers of 1 GB who click every 10 s", 1, "s"),
    "tokens_32k": Goal("32,000 tokens painted later than 100", 200, "ms"),
    "tokens_128k": Goal("128,000 tokens painted later than 100", 600, "ms"),
    "tokens_recolour": Goal("recolour", 100, "ms"),
    "tokens_scroll": Goal("longest task while scrolling", 100, "ms"),
    "tokens_million": Goal("1,000,000 tokens painted (that they open is the goal; the limit is a minute)", 60_000, "ms"),
    "import_recorder": Goal("importing RolloutRecorder against importing pandas", 0.6, "×"),
    "import_open_run": Goal("a tiny cached run opened in a new process against importing pandas", 1.6, "×"),
    "import_help": Goal("`python -m board --help` against importing pandas", 0.3, "×"),
    "start_first_byte": Goal("from the start to the first byte served against importing streamlit", 1.2, "×"),
    "findings_10k": Goal("10,000 rollouts looked through for findings", 3, "s"),
    "findings_1m": Goal("1,000,000 rollouts looked through for findings", 60, "s"),
    "findings_found": Goal("planted faults of a kind found among the first three findings", 0.9, "of 1", at_least=True),
    "findings_rows": Goal("rollouts that a finding of a planted fault names and that show it", 0.8, "of 1", at_least=True),
    "findings_false": Goal("warnings and errors about a clean run", 0.5, "per run"),
}
"""By the key that a figure names. The order is that of the summary."""


def verdict(goal: Goal, value: float) -> str:
    """`met` or `not met`; a figure that is no number says nothing about its goal and is `not measured`."""
    if math.isnan(value):
        return "not measured"
    kept = value >= goal.limit if goal.at_least else value <= goal.limit
    return "met" if kept else "not met"
