"""Payload of one window of tokens: Arrow for numbers and text, a little JSON.

Pure. Three traps of the transport are closed here: numbers are float32 with NaN for missing (an Arrow null would arrive as 0), the JSON
holds no NaN and no numpy scalar, and tables lie one level deep.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from board import schema
from board.analysis.tokens.alternatives import Likeliest
from board.metrics.formulas import ESTIMATORS
from board.ui.components.token_view.notes import Notes
from board.ui.components.token_view.pins import believed

_T = TypeVar("_T", bound=np.generic)
_SCALE: Final = re.compile(r"q|step|run|full|log|(?:fixed|hold):-?\d[\d.]*(?:e[-+]?\d+)?:-?\d[\d.]*(?:e[-+]?\d+)?")
_WINDOW: Final = re.compile(r"[0-9]{1,12}-[0-9]{1,12}")
_GRANULARITIES: Final = ("token", "word", "sentence", "segment")
_FRAGILE: Final = re.compile("^\\ufeff|[\\ud800-\\udfff]")


@dataclass(frozen=True)
class MetricMeta:
    """How the browser names and colours one metric."""

    name: str
    unit: str
    meaning: str
    scale: schema.Scale
    loud: schema.Loud
    range: tuple[float, float] | None
    """Fixed ends of the colour scale; None lets the browser choose them from the tokens it was sent."""
    poles: tuple[str, str]
    """What a small and what a large number mean, for the two ends of the legend."""
    side: str | None
    """The metric whose sign says on which side of zero this one, a size, is coloured; None where it is coloured by itself."""


@dataclass(frozen=True)
class Choice:
    """What the reader chose.

    The metric that colours the text ("" for none), and the pinned token's index in the whole response, from 0.
    """

    metric: str
    pinned: int | None
    scale: str | None = None
    """How the colour range is chosen: "q" (quantiles of these tokens), "step", "run", "full", "log", "fixed:LO:HI" or "hold:LO:HI";
    None: the reader's."""
    others: tuple[int, ...] = ()
    """Tokens pinned before `pinned` and still there, to compare with it."""
    granularity: str | None = None
    """What one colour stands for: "token", "word", "sentence" or "segment"; None: the reader's."""
    window: str | None = None
    """The tokens that chart and heatmap show: "FIRST-LAST", both included, indices in the whole response from 0, or "all";
    None: the reader's."""


@dataclass(frozen=True)
class SharedEnds:
    """Ends of the colour scales taken from more than this response, for the range "step" or "run"."""

    scope: Literal["step", "run"]
    ends: Mapping[str, tuple[float, float]]
    """Least and greatest coloured value by metric; a metric without a number has none."""
    rollouts: int
    """How many the ends were taken from, of `total`."""
    total: int
    where: str = "the run"
    """Of what they are, in the board's own words: "step 12", "both runs"."""


@dataclass(frozen=True)
class TokenViewPayload:
    """Everything the view of one window needs; `stamp` names this content."""

    stamp: str
    data: dict[str, Any]


def build(
    tokens: Sequence[str],
    metrics: Mapping[str, npt.ArrayLike],
    *,
    counts: npt.ArrayLike | None = None,
    start: int = 0,
    total: int | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    notes: Notes | None = None,
    key: str = "",
    height: int | None = None,
    ids: npt.ArrayLike | None = None,
    alternatives: Likeliest | None = None,
    estimator: str = "",
    compared: bool = False,
) -> TokenViewPayload:
    """The payload of `tokens`, n of them, the first being token `start` (from 0) of a response of `total`.

    `metrics` maps screen names to (n,) numbers, NaN where missing; `counts` is (n,) bool, False for padding and masked tokens,
    None when all count. `ranges` fixes the colour scale of the metrics it names. `ids` is (n,) token ids, -1 where not
    known; `alternatives` those of these n tokens. `estimator` names the one that made the metric "kl" and offers the others. `compared`
    says that another response is shown next to this one, by the same `ranges`: then no range of one alone is offered.
    Raises ValueError when an array is not as long as `tokens`, or the window overruns `total`.
    """
    n = len(tokens)
    length = start + n if total is None else total
    if start < 0 or start + n > length:
        raise ValueError(f"tokens {start} to {start + n} do not fit a response of {length}")
    arrays = {name: _column(name, values, n) for name, values in metrics.items()}
    counted = np.ones(n, dtype=bool) if counts is None else _fits("counts", np.asarray(counts, dtype=bool), n)
    text, odd = _text(tokens)
    meta: dict[str, Any] = {
        "key": key,
        "n": n,
        "start": start,
        "total": length,
        "height": height,
        "compared": compared,
        "metrics": [asdict(_describe(name, values, arrays.keys(), (ranges or {}).get(name))) for name, values in arrays.items()],
        "odd": odd,
        "estimators": [{"chosen": name == estimator, **_estimator(name)} for name in ESTIMATORS] if estimator else [],
        **(notes or Notes()).meta(),
    }
    tables = {"tokens": pa.table({"text": text}), "counts": pa.table({"counts": counted.astype(np.uint8)})}
    if arrays:
        tables["values"] = pa.table({f"m{i}": values for i, values in enumerate(arrays.values())})
    tables |= _more(n, ids, alternatives)
    meta["stamp"] = _stamp(meta, tables)
    return TokenViewPayload(meta["stamp"], {"meta": meta, **tables})


def _more(n: int, ids: npt.ArrayLike | None, alternatives: Likeliest | None) -> dict[str, pa.Table]:
    """What only some rows have."""
    tables = {}
    if ids is not None:
        tables["ids"] = pa.table({"id": _fits("ids", np.ascontiguousarray(ids, dtype=np.int32), n)})
    if alternatives is not None:
        per_token = {name: _fits(name, getattr(alternatives, name), n) for name in ("ends", "listed", "sampled")}
        tables["likeliest"] = pa.table({"token": alternatives.texts, "logprob": alternatives.logprobs})
        tables["likeliest_of"] = pa.table(per_token)
    return tables


def chosen(reported: object, requested: Choice, payload: TokenViewPayload) -> Choice:
    """The choice in force: what the browser `reported`, if valid, else `requested`.

    The report is of this payload, and comes from outside: only a metric and an index that exist are believed, and the index only from a
    view of these very tokens. A requested metric that the rollout does not have becomes its first one, or "" when it has none.
    """
    meta = payload.data["meta"]
    names = [metric["name"] for metric in meta["metrics"]]
    metric, pinned, scale, others = requested.metric, requested.pinned, _scale(requested.scale), requested.others
    stretch = _stretch(requested.window, meta["total"])
    granularity = _granularity(requested.granularity)
    if isinstance(reported, Mapping):
        scale = _scale(reported.get("scale")) or scale
        granularity = _granularity(reported.get("granularity")) or granularity
        metric = reported["metric"] if reported.get("metric") in names else metric
        if reported.get("stamp", payload.stamp) == payload.stamp:
            pinned = _index(reported.get("pinned"), meta["total"])
            others = believed(reported.get("others"), pinned, meta["total"])
            stretch = _stretch(reported.get("window"), meta["total"]) or stretch
    if metric not in names:
        metric = names[0] if names else ""
    return Choice(metric, pinned, scale, others, granularity, stretch)


def _scale(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) < 60 and _SCALE.fullmatch(value) else None


def _stretch(value: object, total: int) -> str | None:
    """A window of tokens that the response has, cut off at its end; anything else is None."""
    if value == "all" or not isinstance(value, str) or not _WINDOW.fullmatch(value):
        return "all" if value == "all" else None
    first, last = map(int, value.split("-"))
    return f"{first}-{min(last, total - 1)}" if first <= min(last, total - 1) else None


def _granularity(value: object) -> str | None:
    return value if isinstance(value, str) and value in _GRANULARITIES else None


def _index(value: object, total: int) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < total else None


def _column(name: str, values: npt.ArrayLike, n: int) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return _fits(name, np.ascontiguousarray(values, dtype=np.float32), n)


def _fits(name: str, values: npt.NDArray[_T], n: int) -> npt.NDArray[_T]:
    if values.shape != (n,):
        raise ValueError(f"{name} has shape {values.shape}, the tokens are {n}")
    return values


def _text(tokens: Sequence[str]) -> tuple[pa.Array, dict[str, str]]:
    """Arrow text, and by position, as JSON literals, the tokens it would not bring to the browser whole.

    Those are halves of a character (lone surrogates), which Arrow refuses, and a leading byte order mark, which the browser's
    decoder swallows.
    """
    # Looked at as a whole: a loop over 128,000 tokens costs more than all the rest of a payload.
    with suppress(UnicodeEncodeError):
        if "\ufeff" not in "".join(tokens):
            return pa.array(tokens, type=pa.utf8()), {}
    odd = {i: token for i, token in enumerate(tokens) if _FRAGILE.search(token)}
    plain = ["" if i in odd else token for i, token in enumerate(tokens)]
    return pa.array(plain, type=pa.utf8()), {str(i): json.dumps(token) for i, token in odd.items()}


def _describe(
    name: str, values: npt.NDArray[np.float32], others: Collection[str], fixed: tuple[float, float] | None
) -> MetricMeta:
    """What the schema says of the metric; for one it does not know, what its signs say. `others` are all metrics there are."""
    column = schema.BY_TITLE.get(name)
    if column is None:
        finite = values[np.isfinite(values)]
        signed = finite.size > 0 and finite.min() < 0 < finite.max()
        negative = finite.size > 0 and finite.max() <= 0 and finite.min() < 0
        scale: schema.Scale = "diverging" if signed else "sequential"
        return MetricMeta(name, "", "", scale, "low" if negative else "high", _floats(fixed), _poles(scale), None)
    if fixed is None and column.unit == "0 to 1":
        fixed = (0.0, 1.0)
    side = column.side if column.side in others else None
    scale = "diverging" if side else column.scale
    poles = _poles(scale, ("", "") if column.side and not side else column.poles)
    return MetricMeta(name, column.unit, column.meaning, scale, column.loud, _floats(fixed), poles, side)


def _poles(scale: schema.Scale, declared: tuple[str, str] = ("", "")) -> tuple[str, str]:
    if all(declared):
        return declared
    return ("negative", "positive") if scale == "diverging" else ("low", "high")


def _estimator(name: str) -> dict[str, str]:
    one = ESTIMATORS[name]
    return {"name": name, "formula": one.formula, "reading": one.reading}


def _floats(fixed: tuple[float, float] | None) -> tuple[float, float] | None:
    """Plain finite floats for the JSON; an unusable range is none."""
    if fixed is None or not np.isfinite(fixed).all():
        return None
    return float(fixed[0]), float(fixed[1])


def _stamp(meta: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    digest = hashlib.blake2b(json.dumps(meta).encode(), digest_size=8)
    for table in tables.values():
        for column in table.columns:
            for chunk in column.chunks:
                for buffer in chunk.buffers():
                    digest.update(b"" if buffer is None else buffer)
    return digest.hexdigest()
