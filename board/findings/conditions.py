"""What a finding concerns as conditions of the filter, in SQL: its rollouts, or its steps. Finding in, text out; runs no query."""

from board.findings.contract import Finding
from board.runs.rollout import parsed_source
from board.sql.identifiers import literal


def of_rollouts(finding: Finding) -> str:
    """Holds for the rollouts that show the finding, and for others of the same lines; empty where no line does."""
    lines: dict[str, set[int]] = {}
    for place in (*finding.rollouts, *(token.rollout for token in finding.tokens)):
        named = parsed_source(place.source)
        if named is not None and named.line is not None:
            lines.setdefault(named.shard, set()).add(named.line)
    each = [f"shard = {literal(shard)} AND line IN ({', '.join(map(str, sorted(held)))})" for shard, held in lines.items()]
    return each[0] if len(each) == 1 else " OR ".join(f"({one})" for one in each)


def of_steps(finding: Finding) -> str:
    """Holds for the rollouts of the steps that the finding spans."""
    return f"step BETWEEN {finding.first_step} AND {finding.last_step}"
