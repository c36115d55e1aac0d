"""What more and more responses show: loops, cuts at the limit, no end token, pay or thoughts without an answer, gibberish, mixed scripts, ...

A row for each: from a context to which responses show it. How it spreads is in `board.findings.spreading`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.texts.text_health import answers, letter_pairs, stretches
from board.analysis.texts.text_health.stretches import Where, standing
from board.findings.answers import LEAST, correctness, cut_off, paid
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, declared
from board.findings.spreading import Spread, as_found, beyond, first_rows, outbreak, percent, spread, unusual
from board.metrics.formulas import BoolArray, Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt


@dataclass(frozen=True)
class _Shown:
    known: BoolArray
    """(rows,) of which responses it is known,"""
    marks: BoolArray
    """and which of them show it."""
    what: str
    """What they do, as a sentence says it."""
    by: Float64Array | None = None
    """(rows,) how clearly."""
    at_once: str = "share"
    """The threshold of the share from which on it is a fault from the first step on; where there is none, it has to rise."""
    rise: str = "rise"
    """The threshold of what it rises by; where there is none, only its level tells."""
    more: Callable[[Spread], dict[str, Any] | None] = lambda _: {}
    """What else the finding says, or says otherwise; None where it is none."""


_Look = Callable[[Context, Limits], _Shown | tuple[_Shown, ...] | CannotTell | None]
"""Several are tried in order, until one is found."""


def _kind(name: str, look: _Look, where: Where | None = None) -> Kind:
    def run(context: Context, limits: Limits) -> Answer:
        rows = look(context, limits)
        if rows is None or isinstance(rows, CannotTell):
            return rows
        for shown in rows if isinstance(rows, tuple) else (rows,):
            marks = np.where(shown.known, shown.marks.astype(np.float64), np.nan)
            least, always = (limits.get(one, np.inf) for one in (shown.rise, shown.at_once))
            found = spread(context, marks, least, limits["z"], always)
            more = None if found is None else shown.more(found)
            if found is not None and more is not None:
                crossed = shown.at_once if np.isnan(found.before) else shown.rise
                return as_found(
                    found, context, shown.what, shown.known & shown.marks, shown.by, **{"crossed": crossed, "where": where} | more
                )
        return None

    return declared(name, run)


def _cut(context: Context, limits: Limits) -> _Shown | CannotTell:
    cut = cut_off(context)
    if not (cut >= 0).any():
        return CannotTell("no rollout says why it ended, or has tokens")

    def more(found: Spread) -> dict[str, Any] | None:
        if found.after < limits["share"]:
            return None
        if np.isfinite(found.before):
            return {"severity": None}
        severity = "note" if found.after < _ALL_BUT_FEW else "warning"
        return {"severity": severity, "explains": (), "title": "Many responses are cut off"}

    what, length = "are cut off at the limit of length", context.number("response_length")
    return _Shown(np.isfinite(cut), cut == 1, what, length, "level", more=more)


def _loop(context: Context, limits: Limits) -> _Shown | CannotTell:
    loop, ratio = context.number("closing_loop"), context.number("compression_ratio")
    if not np.isfinite(loop).any():
        return CannotTell("no rollout has a text")
    looping = (loop >= limits["loop"]) | (ratio >= limits["ratio"])
    return _Shown(np.isfinite(loop), looping, "end in a loop", np.fmax(loop, ratio / 1_000))


def _endless(context: Context, _limits: Limits) -> _Shown | CannotTell:
    ended = context.number("ended")
    stopped = np.isfinite(ended) & (cut_off(context) == 0)
    if not (ended == 1).any():
        return CannotTell("no response has an end token: the trainer leaves them out, or tokens are ids")
    if not stopped.any():
        return CannotTell("no response is known to have ended by itself")
    return _Shown(stopped, ended == 0, "that ended by themselves lack the end token")


def _only_thought(context: Context, _limits: Limits) -> _Shown | CannotTell:
    thought = context.number("thought_only")
    if not np.isfinite(thought).any():
        return CannotTell("no response thinks in tags such as <think>")
    # of all responses: a tag that a few write by accident is no thinking; and what marks its answer in a thought has one
    known, only = np.isfinite(context.number("open_thought")), (thought == 1) & (context.number("answer_marked") != 1)

    def more(found: Spread) -> dict[str, Any]:
        # thoughts that stay open just because they are cut are a sign of the limit; if many end by themselves it is the other way round
        cut_too = np.mean(cut_off(context)[found.since & known & only] == 1) >= _NEARLY
        return {"explains": () if cut_too else None}

    return _Shown(known, only, "think and give no answer", context.number("response_length"), more=more)


def _without_answer(context: Context, _limits: Limits) -> _Shown | CannotTell:
    wins, present, answers = paid(context), context.number("answer_present"), context.number("answer_digest")
    if wins is None:
        return CannotTell("no ground truth that can be looked for pays when it stands in the response")
    known, empty = np.isfinite(wins) & np.isfinite(present), (wins == 1) & (present == 0)

    def more(found: Spread) -> dict[str, Any]:
        # wrong answers that are paid are a sign of whatever pays them; the form is the cause where there is no answer at all
        some = stated(answers[found.since & known & empty], answers[present == 1]) >= _MOSTLY
        explains = (one for one in FORMAT_ONLY_WINS.explains if one != "dead_prompts" or found.grown >= _BATCH)
        return {"explains": () if some else tuple(explains)}

    what = "are paid like right ones without having the answer"
    return _Shown(known, empty, what, context.number("reward"), more=more)


def stated(answers: Float64Array, right: Float64Array) -> float:
    """Share of (n,) digests of final answers that are some answer: those of a right response, or those that few have; NaN is none."""
    found, counts = np.unique(answers[np.isfinite(answers)], return_counts=True)
    some = np.isin(found, right) | (counts <= max(2, _COMMON * len(answers)))
    return float(counts[some].sum() / len(answers)) if len(answers) else 0.0


def _odd(context: Context, limits: Limits) -> tuple[_Shown, ...] | CannotTell:
    """By tokens far less likely than an even draw, letters that make no word, broken characters."""
    numbers = {name: context.number(name) for name in ("rare_tokens", "unspeakable", "odd_characters")}
    known = np.any([np.isfinite(of) for of in numbers.values()], axis=0)
    if not known.any():
        return CannotTell("no rollout has a text or logprobs")
    # how often each holds the least that counts, 0 where it is no more than usual in the first steps
    beyond = {name: np.where(unusual(context, of, limits[name]), of / limits[name], 0.0) for name, of in numbers.items()}
    how_much, broken = np.max([*beyond.values()], axis=0), numbers["odd_characters"]

    def explained(odd: BoolArray) -> Callable[[Spread], dict[str, Any]]:
        # another language has words that cannot be spoken, too, but no token that is far below an even draw
        def more(found: Spread) -> dict[str, Any]:
            sure = np.mean((beyond["rare_tokens"] > 0)[odd & found.since]) > _MOSTLY
            return {"explains": None if sure else tuple(one for one in GIBBERISH.explains if one != "language_mixing")}

        return more

    what, odd, always = "hold text that nobody writes", how_much > 0, broken >= limits["odd_characters"]
    foreign = _foreign_letters(context)
    wordless = unusual(context, foreign, limits["letter_bits"])
    # what cannot be spoken may be a task's own from the first step on; what is broken belongs to no task
    return (
        _Shown(known, odd, what, how_much, at_once="", more=explained(odd)),
        _Shown(np.isfinite(broken), always, what, broken, rise="", more=explained(always)),
        _Shown(np.isfinite(foreign), wordless, "are letters that make no words", foreign, at_once="", more=explained(wordless)),
    )


def _foreign_letters(context: Context) -> Float64Array:
    """(rows,) bits per pair of letters that responses are less probable by than in the first steps, as words of the prompts' language."""
    size = max(len(context.frame), int(np.nansum(context.number("response_chars"))) // 5_000)
    rows = np.arange(len(context.frame))[:: 1 + size // _READ]
    asking = _firsts(rows, context.prompts)[: _SAMPLE // 4]
    texts, prompts = (
        context.run.texts(*one).combine_chunks() for one in (("response", context.keys[rows]), ("prompt", context.keys[asking]))
    )
    bits = np.full(len(context.frame), np.nan)
    bits[rows] = letter_pairs.surprisal(texts, prompts)
    firsts = first_rows(context), context.steps.row == 0
    usual = [np.nanmedian(bits[first]) for first in firsts if np.isfinite(bits[first]).any()]
    return bits - min(usual, default=np.nan)


def _mixing(context: Context, limits: Limits) -> _Shown | CannotTell:
    switches, characters = context.number("script_switches"), context.number("response_chars")
    # of a text that is in another script as a whole no letter is in the lesser one
    foreign = np.nan_to_num(context.number("foreign_script"))
    other = np.minimum(foreign, np.nan_to_num(context.number("minor_scripts")))
    if not np.isfinite(switches).any():
        return CannotTell("no rollout has a text")
    count = switches * np.fmin(np.nan_to_num(characters, nan=np.inf), _LONG) / 100
    mixing = unusual(context, switches, limits["switches"]) & (count >= _THERE_AND_BACK)
    mixing |= (other >= limits["letters"]) | unusual(context, foreign, _MOSTLY)

    def more(found: Spread) -> dict[str, Any]:
        turns, letters = ([float(np.nanmean(of[rows])) for rows in (~found.since, found.since)] for of in (switches, foreign))
        effect = f"; letters that are foreign to the prompt go from {percent(letters[0])} to {percent(letters[1])}"
        # of two numbers that tell of mixing the one that changed, each by what it is judged by
        if (turns[1] - turns[0]) / limits["switches"] > (letters[1] - letters[0]) / limits["letters"]:
            effect = f"; switches per 100 characters go from {fmt(turns[0])} to {fmt(turns[1])}"
        return {"effect": found.effect(_MIX) + effect}

    return _Shown(np.isfinite(switches), mixing, _MIX, switches + 100 * other, more=more)


def _echoing(context: Context, limits: Limits) -> tuple[_Shown, ...] | CannotTell:
    echo, copied, characters = (context.number(name) for name in ("prompt_echo", "prompt_copied", "response_chars"))
    if not np.isfinite(echo).any():
        return CannotTell("no rollout has a prompt and a response of some length")
    long = echo * np.fmin(np.nan_to_num(characters, nan=np.inf), _LONG) >= limits["characters"]
    again = unusual(context, echo, limits["echo"]) | unusual(context, copied, limits["copied"])
    mostly = (echo >= _COPIED) | (copied >= _WHOLE)
    always, known = "repeat the whole prompt, or are half of it", np.isfinite(echo)
    return (
        _Shown(known, again & long, "repeat a stretch of their prompt", echo, at_once=""),
        _Shown(known, mostly & long, always, echo, "always", rise="", more=lambda _: {"severity": "note"}),
    )


def _cut_and_paid(context: Context, limits: Limits) -> _Shown | CannotTell | None:
    cut, reward, unanswered = cut_off(context) == 1, context.number("reward"), _unanswered(context)
    if unanswered is None:
        return CannotTell("neither the ground truth nor marks of answers or thoughts tell whether a response has an answer")
    wins = paid(context)
    if wins is None:
        wins = _paid_like_the_rest(reward, cut)
    if wins is None:
        return CannotTell("no reward tells good responses from others")
    wrongly, right = cut & unanswered & (wins == 1), correctness(context)
    # unless they are half of all that is paid without being right, what others are paid for is not explained by them
    others = 0 if right is None else ((wins == 1) & np.isfinite(right) & (right <= np.nanmean(right))).sum() / 2
    more = {"severity": None, "crossed": "paid", "explains": None if wrongly.sum() >= others else ()}
    known, what = cut & unanswered & np.isfinite(wins), "cut off before an answer are paid like good ones"
    few = wrongly.sum() < max(LEAST, limits["least"] * len(cut))
    return None if few else _Shown(known, wrongly, what, reward, "paid", "paid", lambda _: more)


def _unanswered(context: Context) -> BoolArray | None:
    """(rows,) whether a response has no answer, as far as the ground truth, thoughts or marks of final answers tell; None where none does."""
    present, thought, marked = (context.number(name) for name in ("answer_present", "thought_only", "answer_marked"))
    present = present if np.isfinite(present).any() and np.nanmean(present) >= _FOUND else np.full(len(present), np.nan)
    uncut = np.isfinite(marked) & (cut_off(context) == 0)
    usually = bool(uncut.any()) and marked[uncut].mean() >= _USUALLY
    if not (np.isfinite(present).any() or np.isfinite(thought).any() or usually):
        return None
    right = correctness(context)
    good = np.zeros(len(present), np.bool_) if right is None else right > np.nanmean(right)
    is_clear: BoolArray = (present == 0) | (thought == 1) | (usually & (marked == 0))
    return is_clear & ~good


def _paid_like_the_rest(reward: Float64Array, cut: BoolArray) -> Float64Array | None:
    """(rows,) 1 where a reward is at least the median of the responses that were not cut off; None where these are few or do not differ."""
    others = reward[~cut & np.isfinite(reward)]
    if len(others) < max(LEAST, _FEW * len(reward)) or others.min() == others.max():
        return None
    return np.where(np.isfinite(reward), ((reward >= np.median(others)) & (reward > others.min())).astype(np.float64), np.nan)


_READ: Final = 20_000
"""So many responses, or 5,000 times as many characters, are read for letters that make no words, evenly over the run."""
_SAMPLE: Final = 2_000
"""So many prompts are held against another one's answer, or tell what words are like, at most."""

_USUAL: Final = 0.01
"""The share of prompts that is taken to tell another one's answer by chance, where fewer do."""

_FEWEST: Final = 20
"""Fewer prompts tell nothing about what they hold by chance."""


def _look_for_leaks(context: Context, limits: Limits) -> Answer:
    given, leaked = context.number("answer_in_prompt"), context.number("answer_told")
    if not np.isfinite(given).any():
        return CannotTell("no rollout has a prompt and a ground truth short enough to look for")
    both: list[tuple[Spread, Float64Array]] = [
        (found, marks) for marks in (leaked, given) if (found := spread(context, marks, limits["rise"], limits["z"])) is not None
    ]
    if not both:
        return _leaks_of_few(context, leaked, limits)
    found, marks = max(both, key=lambda one: one[0].z)
    what, by = "are to prompts that hold the expected answer", np.nan_to_num(leaked) + np.nan_to_num(given)
    return as_found(found, context, what, marks == 1, by, where=_LEAK)


def _leaks_of_few(context: Context, leaked: Float64Array, limits: Limits) -> Found | None:
    """A leak that makes no clear rise of a curve: it is there from the first step on, or of few prompts.

    From the step on at which more prompts tell an answer, they tell their own more often than that of another prompt of their data source.
    """
    firsts = _firsts(np.flatnonzero(np.isfinite(leaked)), context.clusters.of_rows)
    began = outbreak(Steps(context.steps.of_rows[firsts]), leaked[firsts] == 1, np.ones(len(firsts), np.bool_))
    if began is None or began.z < limits["z"]:
        return None
    since = context.since(int(np.searchsorted(context.steps.numbers, began.step)))
    rows = _firsts(np.flatnonzero(since & np.isfinite(leaked)), context.prompts)
    rows = rows[:: max(1, -(-len(rows) // _SAMPLE))]
    others = _of_others(context, rows)
    both = np.isfinite(others)
    if both.sum() < _FEWEST:
        return None
    own, other = float(leaked[rows][both].mean()), float(others[both].mean())
    share, z = own - other, beyond(own * both.sum(), float(both.sum()), max(_USUAL, other))
    if share < limits["always"] or z < limits["z"]:
        return None
    effect = (
        f"from step {began.step} on {percent(own)} of the prompts tell their own answer, and {percent(other)} another prompt's; "
    )
    effect += f"before {percent(began.before)} did"
    shown = context.clearest(since & (leaked == 1))
    return Found(effect, began.step, began.last_step, "always", share, z, shown, where=_LEAK)


def _firsts(rows: NDArray[np.int64], of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of some rows, rising, the first of each that is one `of` (n,), such as a prompt."""
    return np.sort(rows[np.unique(of[rows], return_index=True)[1]])


def _of_others(context: Context, rows: NDArray[np.int64]) -> Float64Array:
    """(rows,) whether each of some rollouts' prompts tells the answer of the next one of its data source; NaN where that is the same."""
    prompts, truths = (np.array(context.texts(name, rows), object) for name in ("prompt", "ground_truth"))
    found = np.full(len(rows), np.nan)
    for source in np.unique(context.sources[rows]):
        own = np.flatnonzero(context.sources[rows] == source)
        other = truths[np.roll(own, 1)]
        texts = (pa.array(one, pa.large_string()) for one in (np.full(len(own), None), prompts[own], other))
        leaks = answers.measure(*texts)["answer_told"]
        found[own] = np.where(other == truths[own], np.nan, leaks)
    return found


_LEAK: Final = standing(answers.stretch, "prompt", "ground_truth")
_MIX: Final = "mix scripts, or are in another script than their prompt"
_ALL_BUT_FEW: Final = 0.9
_FEW: Final = 0.04
"""So small a share of the responses tells nothing of what the others should earn."""
_LONG: Final = 10_000.0
"""Characters that a response is taken to have at most."""
_THERE_AND_BACK: Final = 1.5
"""Switches of a response that mixes: to another script and back."""
_COPIED: Final = 0.5
"""The share of a response that is its prompt's where it is mostly a copy."""
_WHOLE: Final = 0.8
"""The share of a prompt that a response repeats in one piece where it repeats the whole but for a template around it."""
_NEARLY: Final = 0.9
"""Share of thoughts without an answer that were cut off where the limit is the cause."""
_BATCH: Final = 0.2
"""Growth of the share of responses from which on it may be what makes a fifth of the groups equal."""
_MOSTLY: Final = 0.5
"""Share of responses paid without the answer that state some final answer from which on the form alone is not what is paid."""
_COMMON: Final = 0.05
"""A final answer that so large a share of them gives, and no right response, is a phrase."""

_FOUND: Final = 0.05
"""Share of responses that have the ground truth where one without it has no answer: else it is a text that no response would hold."""

_USUALLY: Final = 0.7
"""Share of responses, those not cut off, that mark a final answer where one without the mark has none."""

TRUNCATION_WAVE: Final = _kind("truncation_wave", _cut)
REPETITION_LOOP: Final = _kind("repetition_loop", _loop, standing(stretches.loop, "response"))
EOS_MISSING: Final = _kind("eos_missing", _endless)
THINK_WITHOUT_ANSWER: Final = _kind("think_without_answer", _only_thought, standing(stretches.thought, "response"))
FORMAT_ONLY_WINS: Final = _kind("format_only_wins", _without_answer)
GIBBERISH: Final = _kind("gibberish", _odd, stretches.odd_or_rare)
LANGUAGE_MIXING: Final = _kind("language_mixing", _mixing, standing(stretches.mixed, "response", "prompt"))
PROMPT_ECHO: Final = _kind("prompt_echo", _echoing, standing(stretches.echo, "response", "prompt"))
REWARD_AFTER_TRUNCATION: Final = _kind("reward_after_truncation", _cut_and_paid)
ANSWER_LEAK: Final = declared("answer_leak", _look_for_leaks)
