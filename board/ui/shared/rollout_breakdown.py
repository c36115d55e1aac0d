"""What the tokens of one rollout add up to, below the text on the Tokens page."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.stats.text_diff import Diff, compare, fold
from board.analysis.tokens.segments import Segment, outline, roll_up
from board.metrics import formulas
from board.runs.cache.rollout import Rollout
from board.text.counting import plural
from board.text.display import visible
from board.text.format_number import fmt
from board.text.token_decoding import codec_of, decoded, token_text
from board.ui.components import diff_view, table
from board.ui.components.table import TableColumn
from board.ui.components.token_view import Notes
from board.ui.state import place
from board.ui.state.place import View

_ALTERNATIVES_HELP: Final = {
    "sampled": "the token that the response goes on with",
    "probability": "exp of the log-probability, as the row has it in top_logprobs",
    "logprob": "log-probability under the policy in nats",
}

DIFF_HEIGHT: Final = 420
"""A longer comparison scrolls in a pane of so many pixels."""

MOST_HEIGHT: Final = 400
"""Of a table in pixels; a longer one scrolls."""

Arrays = Mapping[str, NDArray[np.floating]]

_HELP: Final = {
    "first": "position of the segment's first token, counted from 1",
    "tokens": "tokens that count",
    "masked": "tokens with loss_mask 0: they enter no number of this table",
    "kl, sum": "sum of the KL of its tokens, in nats, by the estimator chosen at the kl above the text",
    "kl, mean": "mean KL of its tokens, in nats per token, by the estimator chosen at the kl above the text",
    "entropy, mean": "mean entropy of the policy at its tokens, in nats",
    "advantage, sum": "sum of the advantages of its tokens",
    "value, change": "critic value at its last token minus that at its first",
}


def notes(rollout: Rollout, segments: Sequence[Segment], arrays: Arrays, shown: NDArray[np.int64]) -> Notes:
    """What the text is marked with: its segments, and the tokens whose shares of the KL `kl_concentration` prints."""
    stretches = outline(segments, rollout.tokens or [])
    kl = formulas.concentration(arrays["kl"], rollout.counts) if "kl" in arrays else None
    if kl is None:
        return Notes(stretches, shown=shown)
    top = formulas.largest(arrays["kl"], max(kl.top_five, kl.top_percent), rollout.counts)
    return Notes(stretches, top[: kl.top_five].tolist(), top[: kl.top_percent].tolist(), shown)


def by_segment(rollout: Rollout, segments: Sequence[Segment], arrays: Arrays, estimator: str) -> None:
    """A table of the response's segments; a click on a row goes to its first token."""
    if rollout.tokens is None:
        return
    found = roll_up(segments, arrays, rollout.counts, rollout.pads)
    if all(segment.kind == "text" for segment in segments):
        st.text("By segment: this response has no tags of thinking, answering or tools, no code fences and no chat turns.")
        return
    st.subheader("Where does it sit? By segment")
    if not found["masked"].any():
        found = found.drop(columns="masked")
    key = f"segments_{rollout.source}_{estimator}"
    counted = {"first", "tokens", "masked"}
    helps = {str(name): _HELP[str(name)] for name in found.columns if name != "segment"}
    table.show(
        found.assign(first=found["first"] + 1),
        number_columns({name: text for name, text in helps.items() if name not in counted})
        | number_columns({name: text for name, text in helps.items() if name in counted}, "%,d"),
        name="segments",
        key=key,
        on_click=place.row_clicked(
            key, [{"step": rollout.step, "rollout": rollout.source, "token": first} for first in found["first"].tolist()]
        ),
        height=MOST_HEIGHT,
    )


def number_columns(helps: Mapping[str, str], written: str = "%.4g") -> dict[str, TableColumn]:
    """How a table shows numbers: fractions with four digits, unless they are `written` otherwise, as whole ones are ("%,d")."""
    return {name: TableColumn(help=text, format=written) for name, text in helps.items()}


def token_columns(tokens: Sequence[str], positions: Sequence[int]) -> dict[str, list[str]]:
    """The tokens at some positions as a table shows them: read as text, and by the tokenizer's name where that is another."""
    codec = codec_of(tokens)
    return _named([(token_text(codec, tokens, position), tokens[position]) for position in positions])


def _named(read: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    columns = {"token": [visible(text) for text, _ in read]}
    if any(text != name for text, name in read):
        columns["token's name"] = [visible(name) for _, name in read]
    return columns


def alternatives(rollout: Rollout, pinned: int | None) -> None:
    """What else could have been sampled at the pinned token (0-based), likeliest first; nothing where the row lacks the field."""
    if rollout.alternatives is None or rollout.tokens is None:
        return
    if pinned is None:
        st.text("The row has top_logprobs: pin a token to see what else it could have been.")
        return
    st.subheader("What else could it have said?")
    others = rollout.alternatives[pinned]
    if not others:
        st.text(f"The row has no alternatives at position {pinned + 1:,}.")
        return
    others = sorted(others, key=lambda one: -one[1] if one[1] == one[1] else np.inf)
    codec = codec_of(rollout.tokens)
    names = [name for name, _ in others]
    among = {rollout.tokens[pinned], decoded(codec, rollout.tokens[pinned])}
    sampled = next((at for at, name in enumerate(names) if name in among), None)
    logprobs = np.array([logprob for _, logprob in others])
    probabilities = formulas.exp(logprobs)
    total = float(np.nansum(probabilities))
    st.text(_alternatives_line(pinned, token_text(codec, rollout.tokens, pinned), sampled, len(others), total))
    table.show(
        pd.DataFrame(
            {
                **_named([(decoded(codec, name), name) for name in names]),
                "sampled": ["sampled" if at == sampled else "" for at in range(len(names))],
                "probability": probabilities,
                "logprob": logprobs,
            }
        ),
        number_columns({name: _ALTERNATIVES_HELP[name] for name in ("probability", "logprob")})
        | {"sampled": TableColumn(help=_ALTERNATIVES_HELP["sampled"])},
        name="alternatives",
        key=f"alternatives_{rollout.source}",
        height=MOST_HEIGHT,
    )


def _alternatives_line(pinned: int, token: str, sampled: int | None, listed: int, total: float) -> str:
    """Where the sampled token stands among the alternatives, and how much of the distribution they cover."""
    among = "not among" if sampled is None else f"number {sampled + 1} of"
    together = f"the {listed:,} listed, which have a probability of {fmt(total)} together"
    return f"Position {pinned + 1:,}: {visible(token)} was sampled, {among} {together}."


def kl_concentration(rollout: Rollout, arrays: Arrays, estimator: str) -> None:
    """One line: how much of the response's KL and |log-ratio| its few largest tokens hold. `notes` marks those of the KL in the text."""
    kl, ratio = (formulas.concentration(arrays[name], rollout.counts) if name in arrays else None for name in ("kl", "log_ratio"))
    if kl is None:
        return
    parts = [
        f"{kl.top_five:,} of {plural(kl.count, 'token')} hold {_percent(kl.top_five_share)} of the KL ({estimator})",
        f"the top 1 % ({plural(kl.top_percent, 'token')}) {_percent(kl.top_percent_share)}",
        f"{plural(kl.half, 'token')} half of it",
        f"Gini {fmt(kl.gini, 2)}",
    ]
    if ratio is not None:
        shares = f"{_percent(ratio.top_five_share)}, its top 1 % {_percent(ratio.top_percent_share)}"
        parts.append(f"of |log-ratio| the {ratio.top_five:,} largest hold {shares}")
    infinite = int(np.count_nonzero(np.isinf(arrays["kl"]) & rollout.counts))
    if infinite:
        parts.append(f"{plural(infinite, 'token')} of infinite KL left out")
    rest = ", the rest of the top 1 % a small one" if kl.top_percent > kl.top_five else ""
    parts.append(f"in the text those of the KL have a filled corner{rest}")
    st.text(" · ".join(parts))


def _percent(share: float) -> str:
    return f"{fmt(share * 100, 2 if share < 0.99 else 3)} %"


UNITS: Final = {
    "word": "",
    "line": "compared by line: too many words differ",
    "text": "compared only at the beginning and the end: too many words and lines differ",
}


def against_reference(view: View, rollout: Rollout) -> None:
    """The response next to the reference's, word by word, once opened; nothing where the row lacks either."""
    response = rollout["response"] if rollout["response"] is not None else "".join(rollout.tokens or ())
    reference = rollout["ref_response"]
    if reference is None:
        return
    with st.expander("Against the reference's response", key="against", on_change=place.moved) as expander:
        if not expander.open:
            return
        difference = compare(reference, response)
        st.text(_difference(view, rollout, difference))
        diff_view.show(fold(difference.runs), key="diff", height=DIFF_HEIGHT)


def _difference(view: View, rollout: Rollout, difference: Diff) -> str:
    """One line on how the two texts and their rewards differ, and how to read the marks."""
    if all(run.side == "both" for run in difference.runs):
        parts = [f"The two are the same: {plural(difference.words('both'), 'word')}"]
    else:
        parts = [
            f"{plural(difference.words('new'), 'word')} only here, underlined",
            f"{difference.words('old'):,} only in the reference's, struck through",
            f"{difference.words('both'):,} in both",
        ]
    if "reward_gap" in view.run.frame.columns:
        row = view.run.frame.loc[[rollout.key]]
        if row["reward_gap"].notna().all():
            ours, reference = (fmt(float(row[name].iloc[0])) for name in ("reward", "ref_reward"))
            parts.append(f"reward {ours} against {reference}")
    return " · ".join([*parts, *filter(None, [UNITS[difference.unit]])])
