"""Cohorts of prompts as conditions in SQL over the rows of a run, for a filter.

A few prompts are named by their keys: that says just which. More would make a link of many thousand letters, so the rule itself is written,
as a subquery over all rollouts; it goes on holding as the run grows.
"""

from collections.abc import Sequence
from typing import Final

from board.analysis.prompts.cohorts import LOSING, CohortRule
from board.analysis.prompts.prompt_visits import ROUNDING
from board.runs.prompt_keys import NO_PROMPT
from board.sql.identifiers import column as named
from board.sql.identifiers import literal

FEW: Final = 20
"""At most this many prompts are named one by one."""

_LEARNED: Final = "bool_and(NOT solved) FILTER (nth <= ends) AND bool_and(solved) FILTER (nth > n - ends)"
_FORGOTTEN: Final = "bool_and(solved) FILTER (nth <= ends) AND bool_and(NOT solved) FILTER (nth > n - ends)"
_HAVING: Final = {
    "learned": _LEARNED,
    "forgotten": _FORGOTTEN,
    "flipping": f"bool_or(solved) AND bool_or(NOT solved) AND NOT ({_LEARNED}) AND NOT ({_FORGOTTEN})",
    "always": "bool_and(solved)",
    "never": "bool_and(NOT solved)",
}
"""What holds of a prompt's visits, `ends` of which are compared on either side."""


def of_prompts(keys: Sequence[int]) -> str:
    """The rows of the prompts with these keys; `keys` is not empty."""
    return f"prompt_key = {keys[0]}" if len(keys) == 1 else f"prompt_key IN ({', '.join(map(str, keys))})"


def with_text(column: str, query: str) -> str:
    """The rows whose text of that name holds the query verbatim, in any case."""
    return f"contains(lower({named(column)}), lower({literal(query)}))"


def of_cohort(name: str, rule: CohortRule, within: str = "") -> str:
    """The rows of the prompts that are of that cohort of COHORTS, or LOSING, by their last visit, as in `board.analysis.prompts.cohorts`.

    `within` is a condition that the rows have to satisfy which the prompts are judged by; empty for all rows.
    """
    if name == LOSING:
        return _losing(rule, within)
    solved = _visits("reward", f"avg(reward) >= {rule.least!r} AS solved", "", within)
    ends = f"SELECT prompt_key, solved, nth, n, least({rule.ends}, n // 2) AS ends FROM ({solved}) WHERE n >= 2"
    return f"prompt_key IN (SELECT prompt_key FROM ({ends}) GROUP BY prompt_key HAVING {_HAVING[name]})"


def _losing(rule: CohortRule, within: str) -> str:
    lost = _visits("reward_gap", f"avg(reward_gap) / -{ROUNDING!r} > avg(abs(reward_gap)) AS lost", " DESC", within)
    last = f"SELECT prompt_key FROM ({lost}) WHERE nth <= {rule.of} AND lost"
    return f"prompt_key IN ({last} GROUP BY prompt_key HAVING count(prompt_key) >= {rule.lost})"


def _visits(column: str, measured: str, order: str, within: str) -> str:
    """A row per visit with a number: which of its prompt's visits it is, from 1, and of how many."""
    by_prompt = "OVER (PARTITION BY prompt_key"
    places = f"row_number() {by_prompt} ORDER BY step{order}) AS nth, count(step) {by_prompt}) AS n"
    rows = f"isfinite({column}) AND prompt_key <> {NO_PROMPT}{f' AND ({within})' if within else ''}"
    return f"SELECT prompt_key, {measured}, {places} FROM rollouts WHERE {rows} GROUP BY prompt_key, step"
