"""The table of checks, and a run put through all of them."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from board.checks import alignment, arrays, completeness, loading, repetition, texts
from board.checks.contract import SEVERITIES, Answer, Check, CheckReport, EvidencePlace, Fault, ReportedFault, Unable, failed
from board.checks.evidence import Evidence, collect
from board.runs.run import Run
from board.schema import LEFT_OUT

NAMED_PLACES: Final = 5
"""So many places of a finding are named."""

_MEASURES: Final = (arrays.measure, alignment.measure, texts.measure, repetition.measure)

CHECKS: Final[tuple[Check, ...]] = (
    Check(
        "refused",
        "Lines or files not loaded",
        "error",
        "What they held is in no number and on no page.",
        "Write whole JSON objects, one per line, with step and response; the reason says what each lacks.",
        loading.refused,
    ),
    Check(
        "no-responses",
        "No response that says anything",
        "error",
        "Every number of the responses' texts is of nothing: what was sampled stands elsewhere, or was not read.",
        "Look at one rollout: where its prompt holds the answer, roles or keys are called otherwise; say so in a mapping.",
        completeness.no_responses,
    ),
    Check(
        "no-rewards",
        "No reward at all",
        "warning",
        "There is no curve of the reward, and no finding that needs one.",
        "Where the run has rewards, say in a mapping under which key, and for texts which numbers they stand for.",
        completeness.no_rewards,
    ),
    Check(
        "array-lengths",
        "Token arrays of another length than the tokens",
        "error",
        "Numbers are laid on the tokens from the first one on: where the lengths differ, that may be the wrong token.",
        "Cut every array to the response's tokens with the same mask before writing it.",
        loading.lengths,
    ),
    Check(
        "missing-numbers",
        "Numbers that are not finite",
        "error",
        "A token or a rollout that is trained on and has no finite number makes the loss NaN, or is not what was trained on.",
        "Look at the first rollout named: overflow in half precision, a division by zero, a part of the reward that is missing, or a token "
        "that loss_mask should leave out.",
        arrays.missing_numbers,
    ),
    Check(
        "positive-logprobs",
        "Logprobs above 0",
        "error",
        "A log-probability cannot be above 0: these are something else, probabilities, losses or negated, and every KL made of them is wrong.",
        "Write log_softmax of the logits at the sampled token, in float32.",
        arrays.positive_logprobs,
    ),
    Check(
        "off-by-one",
        "Logprobs one token out of step",
        "error",
        "KL, ratio and advantage of each token are those of its neighbour; the update trains on noise.",
        "The logits at position t - 1 give the logprob of token t: shift logits and labels in the same way in both forward passes.",
        alignment.off_by_one,
        needs=("logprobs",),
    ),
    Check(
        "reward-sum",
        "Token rewards that do not add up to the reward",
        "warning",
        "Most of the run's rollouts keep a rule that these break: the update did not see the reward that is shown.",
        "Look for rewards lost to truncation or masking, and for a reward placed on a token that is cut off.",
        alignment.reward_sum,
        needs=("token_rewards", "reward"),
    ),
    Check(
        "first-step",
        "A policy that does not begin at its reference",
        "warning",
        "Before the first update both are the same model, so their logprobs can differ by rounding alone.",
        "Compare chat template, dropout, precision and temperature of the two forward passes; a reference of your own choice may differ.",
        alignment.first_step,
        needs=("logprobs", "ref_logprobs"),
        of_whole=True,
    ),
    Check(
        "masked-tokens",
        "Masked tokens of probability 1",
        "note",
        "Their logprobs are placeholders: a mean that includes them is too high. The board leaves masked tokens out.",
        "Nothing, if the trainer's own means leave them out as well.",
        arrays.masked_certain,
        needs=("loss_mask",),
    ),
    Check(
        "unmasked-tokens",
        "Long stretches of probability 1 without a loss_mask",
        "warning",
        "Tool results and prompts carry placeholders of 0; without a mask they enter every mean. A collapsed policy can look like this too.",
        "Write loss_mask, 0 on every token that the policy did not sample.",
        arrays.certain_stretch,
        needs=("logprobs",),
    ),
    Check(
        "mask-values",
        "A loss_mask that is neither 0 nor 1",
        "warning",
        "Only 0 takes a token out of the means; any other value counts in full.",
        "Write 1 for tokens that are trained on and 0 for the others; put weights in a field of their own.",
        arrays.odd_mask,
        needs=("loss_mask",),
    ),
    Check(
        "text",
        "Tokens that read as another text",
        "warning",
        "The tokens shown may be another rollout's, or cut at another place than the response.",
        "Take tokens and text from the same ids, with the same cut.",
        texts.text_differs,
        needs=("response", "response_tokens"),
    ),
    Check(
        "special-tokens",
        "Texts without their special tokens",
        "warning",
        "A reward or a parser that looks for them in the text finds none, though the policy wrote them.",
        "Decode with special tokens kept, or give the reward the tokens; leave out the end token and padding alone.",
        texts.special_left_out,
        needs=("response", "response_tokens"),
    ),
    Check(
        "same-row",
        "Rows that are there twice",
        "warning",
        "They count twice in every mean.",
        "Let one rank write each rollout; after a resume, write to a new folder or skip what was written.",
        repetition.same_row,
    ),
    Check(
        "same-response",
        "The same response to the same prompt",
        "note",
        "Samples that are equal teach a group nothing; more and more of them are the beginning of collapse.",
        "Look at temperature and entropy if it is not the short answers you expect.",
        repetition.same_response,
        needs=("prompt",),
    ),
    Check(
        "resumed",
        "Steps that were written twice",
        "warning",
        "A job that resumed from a checkpoint wrote them again: their means mix two policies.",
        "Take out the rows of the first write, or let each attempt write to a folder of its own.",
        loading.resumed,
        of_whole=True,
    ),
    Check(
        "two-files",
        "Steps that are in several files",
        "warning",
        "A job that resumed wrote them again, or a file was copied twice: their means mix two policies or count rows twice.",
        "Take out the files of the older attempt, or the copies.",
        completeness.two_files,
        of_whole=True,
    ),
    Check(
        "clock",
        "Steps written before the steps before them",
        "warning",
        "Rows of an older attempt stand among those of the newer one.",
        "Take out the older rows, or let each attempt write to a folder of its own.",
        completeness.clock,
        of_whole=True,
    ),
    Check(
        "missing-steps",
        "Steps that are missing",
        "warning",
        "A curve goes straight across the gap, whatever happened there.",
        "Look for a shard that was not copied or a job that failed between them.",
        completeness.missing_steps,
        of_whole=True,
    ),
    Check(
        "missing-ranks",
        "Ranks that are missing",
        "warning",
        "Means of those steps are over a part of the batch.",
        "Look for the shard of that rank: not copied, or its writer failed.",
        completeness.missing_ranks,
        of_whole=True,
    ),
    Check(
        "small-steps",
        "Steps with too few rollouts",
        "warning",
        "Means of those steps are over a part of the batch.",
        "Look for lines that were refused, writers that dropped rows, or a batch that was filtered.",
        completeness.small_steps,
        of_whole=True,
    ),
    Check(
        "small-groups",
        "Groups with too few members",
        "warning",
        "Advantages were computed against members that are not here, so they cannot be checked.",
        "Write every member of a group, those with no reward or cut off included.",
        completeness.small_groups,
        needs=("prompt",),
        of_whole=True,
    ),
    Check(
        "missing-rewards",
        "Rollouts without a reward",
        "warning",
        "They enter no mean, so the curve is that of the others.",
        "Write the reward that the update used, also where the scorer failed.",
        completeness.missing_rewards,
        needs=("reward",),
    ),
    Check(
        "odd-values",
        "Values that are odd",
        "warning",
        "They were read as well as can be, which may not be what they mean.",
        "The reason says what was made of each: write the type that the field is declared with.",
        loading.odd_values,
    ),
    Check(
        "lost",
        "Rollouts or values that were lost while recording",
        "warning",
        "They are in no number: means are over what could be written.",
        "Give the recorder a faster or larger disk, a longer queue, or fewer rollouts; the account beside each shard counts what it lost.",
        loading.lost,
    ),
    Check(
        "left-out",
        "Rollouts recorded without token arrays",
        "note",
        "No check of tokens looks at them, and the Tokens page cannot show their numbers.",
        "Raise the recorder's budget if you need every rollout.",
        loading.left_out,
        needs=(LEFT_OUT,),
    ),
    Check(
        "noted",
        "Something to know when reading the numbers",
        "note",
        "What the trainer stored is not quite what a column's name says, or not all of it was tracked.",
        "Nothing, if it is what you expect.",
        loading.noted,
    ),
    Check(
        "unfinished",
        "A line that is still being written",
        "note",
        "It is read when it is whole. In a run that has ended, the writer was cut off.",
        "Nothing while the job runs.",
        loading.unfinished,
    ),
)
"""Every check, in the order in which findings of one severity are listed."""

_WITHOUT_ROWS: Final = frozenset({"refused", "unfinished", "odd-values", "lost", "noted"})
"""Checks that look at no rollout."""


def run_checks(run: Run, progress: Callable[[float], None] | None = None) -> CheckReport:
    """All checks of a run. Goes through its tokens once; `progress` is told the share of that which is done, 0 to 1."""
    evidence = collect(run, _MEASURES, progress)
    answers = [(check, _answer(check, evidence, whole=run.reading is None)) for check in CHECKS]
    findings = [_finding(check, found, run, evidence) for check, answer in answers for found in _found(answer)]
    return CheckReport(
        rollouts=len(run.frame),
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.check.severity))),
        passed=tuple(check for check, answer in answers if not answer),
        unable=tuple((check, answer.reason) for check, answer in answers if isinstance(answer, Unable)),
    )


def _answer(check: Check, evidence: Evidence, *, whole: bool) -> Answer:
    if check.of_whole and not whole:
        return Unable("it looks at the whole run, of which a part is read")
    if evidence.frame.empty and check.name not in _WITHOUT_ROWS:
        return Unable("there are no rollouts")
    absent = [name for name in check.needs if name not in evidence.fields]
    if absent:
        return Unable(f"no rollout has {' or '.join(absent)}")
    try:
        return check.run(evidence)
    except Exception as error:  # noqa: BLE001 - a check may be anybody's, and the others still tell
        return Unable(failed(error))


def _found(answer: Answer) -> Sequence[Fault]:
    if isinstance(answer, tuple):
        return answer
    return (answer,) if isinstance(answer, Fault) else ()


def _finding(check: Check, found: Fault, run: Run, evidence: Evidence) -> ReportedFault:
    where = [_rollout(key, run) for key in found.keys[:NAMED_PLACES].tolist()]
    where = where or [_line(source, run) for source in found.places[:NAMED_PLACES]]
    places = len(found.keys) or len(found.places)
    shown = (
        evidence.frame.index.isin(found.keys) if len(found.keys) or not found.places else np.isin(evidence.lines, found.places)
    )
    steps = evidence.frame["step"][shown]
    span = (int(steps.min()), int(steps.max())) if len(steps) else None
    return ReportedFault(check, found.what, len(found.keys) or None, found.tokens, found.at_least, tuple(where), places, span)


def _rollout(key: int, run: Run) -> EvidencePlace:
    rollout = run.rollout(key)
    return EvidencePlace(rollout.source, rollout.step)


def _line(source: str, run: Run) -> EvidencePlace:
    """A line that loading named: of a rollout where it was loaded, of none where it was refused."""
    key = run.key_of(source)
    return EvidencePlace(source) if key is None else _rollout(key, run)
