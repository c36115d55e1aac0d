"""The dumps of slime and its forks miles and Relax: a step's samples as they were rolled out, and as they were trained on.

Both are torch files of dicts and lists. The two of one step are joined sample by sample before they are mapped; either alone will do.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.common_fields import given, hidden, other_fields, reward_note, rewarded, step_and_split
from board.formats.contract import Head, Place
from board.formats.renaming import list_or_none
from board.formats.validation import nested, objects, whole
from board.sources.json_record import COMPANIONS, Record

NAME: Final = "slime dump"
FAMILY: Final = "slime"

_TRAIN_DUMP: Final = re.compile(r"((?:.*/)?)train_data/([0-9]+)(?:_[0-9]+)?\.pt")

_TRAINED: Final = "trained on"
"""Under this key a sample keeps what the train dump says of it."""

_SAMPLE: Final = {
    "group_index": "group_id",
    "index": "sample_id",
    "label": "ground_truth",
    "prompt": "prompt",
    "response": "response",
}

_TRAIN_ARRAYS: Final = {
    "log_probs": "logprobs",
    "ref_log_probs": "ref_logprobs",
    "rollout_log_probs": "rollout_logprobs",
    "teacher_log_probs": "teacher_log_probs",
    "values": "values",
    "advantages": "advantages",
    "returns": "returns",
    "entropy": "entropies",
    "kl": "kl",
    "opd_reverse_kl": "opd_reverse_kl",
    "loss_masks": "loss_mask",
}
"""Per token of the response. Ranks that share a sequence may each have written a slice of it."""

_BULK: Final = {_TRAINED} | set_of(
    "tokens response_length reward loss_mask rollout_log_probs decoded_tokens multimodal_inputs"
    " multimodal_train_inputs rollout_routed_experts rollout_indexer_topk rollout_topk_token_ids"
    " rollout_topk_log_probs rollout_top_p_token_ids rollout_top_p_token_offsets rollout_top_p_offsets"
    " response_lengths total_lengths rewards sample_index sample_indices partition"
)
"""Fields that are mapped one by one, or are the model's inner workings rather than the rollout."""

_LOGPROBS: Final = "rollout_logprobs"
"""The array that holds 0 where the engine sampled nothing, as in a tool's answer."""


def recognise(head: Head) -> bool:
    """Whether every record is a step's dump: its rollout id, and samples or columns of them with their tokens."""
    return all("rollout_id" in record and any("tokens" in one for one in _peek(record)) for record in head.records)


def _peek(record: Record) -> list[Record]:
    """The samples of a record, or its columns; nothing of what is neither."""
    samples, columns = record.get("samples"), record.get("rollout_data")
    if isinstance(columns, dict):
        return [columns]
    return [one for one in samples if isinstance(one, dict)] if isinstance(samples, list) else []


def rollouts(record: Record, place: Place) -> list[Record]:
    """One rollout per sample of a rollout dump, a train dump, or of both as `join` gives them. Raises RowRefused naming the field."""
    if COMPANIONS in record:
        record = join(record, objects(record, COMPANIONS))
    samples = objects(record, "samples") if _is_rolled_out(record) else [{_TRAINED: one} for one in _trained(record)]
    shared = step_and_split(place.name, record.get("rollout_id"))
    return [{**shared, **_rollout(sample)} for sample in samples]


def note(head: Head) -> str:
    """Where the total of several rewards comes from, where a dump has no text, and whose reward it is then."""
    samples = [one for record in head.records for one in _peek(record)]
    if not all(_is_rolled_out(record) for record in head.records):
        return (
            "This is a train dump alone: tokens are ids until a tokenizer names them, and reward is the normalised one where the dump "
            "does not say of which sample each raw one is."
        )
    return reward_note(one.get("reward") for one in samples)


def companions(names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Of files by their paths within a run: those of train dumps (one, or one per rank) by the rollout dump of the same step."""
    by_step: dict[str, list[str]] = {}
    for name in sorted(names):
        if found := _TRAIN_DUMP.fullmatch(name):
            by_step.setdefault(f"{found[1]}rollout_data/{found[2]}.pt", []).append(name)
    return {rollout: tuple(trained) for rollout, trained in by_step.items() if rollout in names}


def join(rollout_record: Record, train_records: Iterable[Record]) -> Record:
    """The rollout dump of a step with what the train dumps of the same step (one, or one per rank) say of each of its samples.

    Samples are the same when their tokens are; the trainer's own numbering of them decides between several with the same tokens. A
    sample that only the trainer knows comes after the others. Raises RowRefused naming the field that is not as it should be.
    """
    samples = [dict(sample) for sample in objects(rollout_record, "samples")]
    open_places: dict[tuple[Any, ...], list[int]] = {}
    for at, sample in enumerate(samples):
        open_places.setdefault(_tokens(sample), []).append(at)
    extra = []
    for trained in (one for record in train_records for one in _trained(record)):
        candidates = open_places.get(_tokens(trained), [])
        if candidates:
            at = _same(trained, candidates, samples)
            candidates.remove(at)
            samples[at][_TRAINED] = trained
        else:
            extra.append({_TRAINED: trained})
    return {**rollout_record, "samples": [*samples, *extra]}


def _tokens(sample: Record) -> tuple[Any, ...]:
    """The ids of prompt and response, by which two samples are compared."""
    ids = tuple(list_or_none(sample, "tokens") or ())
    try:
        hash(ids)
    except TypeError as error:
        raise RowRefused("`tokens` holds something that is no token id") from error
    return ids


def _same(trained: Record, candidates: list[int], samples: list[Record]) -> int:
    """Which of the samples with the same tokens it is: by place in the dump, else by index, else the first that is left."""
    for at in candidates:
        if trained.get("rollout_position") == at:
            return at
    by_index = [
        at for at in candidates if trained.get("sample_index") is not None and samples[at].get("index") == trained["sample_index"]
    ]
    return (by_index or candidates)[0]


def _is_rolled_out(record: Record) -> bool:
    """Whether a dump is of rollouts, not of training: its samples say what was answered."""
    samples = [one for one in _peek(record) if one is not record.get("rollout_data")]
    return any("response_length" in one or _TRAINED in one for one in samples)


def _trained(record: Record) -> list[Record]:
    """The samples of a train dump; older ones and those of the forks hold a list per field instead."""
    columns = record.get("rollout_data")
    if columns is None:
        samples = objects(record, "samples")
    else:
        columns = nested(record, "rollout_data")
        count = len(list_or_none(columns, "response_lengths") or [])
        names = {"sample_indices": "sample_index", "partition": "rollout_position"}
        lists = {
            names.get(key, key): values for key, values in columns.items() if isinstance(values, list) and len(values) == count
        }
        samples = [{key: values[at] for key, values in lists.items() if key != "raw_reward"} for at in range(count)]
    return [_with_raw_reward(sample, record.get("raw_reward", (columns or {}).get("raw_reward"))) for sample in samples]


def _with_raw_reward(sample: Record, whole_batch: Any) -> Record:
    """The sample with its reward as it was before it was normalised, which dumps hold for the whole batch in the order of rollouts."""
    at = sample.get("rollout_position")
    known = isinstance(whole_batch, list) and isinstance(at, int) and 0 <= at < len(whole_batch)
    return {**sample, "raw_reward": whole_batch[at]} if known else sample


def _rollout(sample: Record) -> Record:
    """A sample, rolled out or trained on or both, under our names."""
    trained = nested(sample, _TRAINED)
    length = whole(sample, "response_length") if "response_length" in sample else whole(trained, "response_lengths")
    mask = list_or_none(sample, "loss_mask")
    logprobs = list_or_none(sample, "rollout_log_probs")
    arrays: Record = {"loss_mask": mask, _LOGPROBS: logprobs, **_train_arrays(trained, length)}
    arrays[_LOGPROBS] = hidden(arrays[_LOGPROBS], arrays["loss_mask"])
    return {
        **other_fields(trained, _BULK | _TRAIN_ARRAYS.keys()),
        **other_fields(sample, _BULK | _SAMPLE.keys()),
        **given(sample_id=trained.get("sample_index")),
        **given(**{ours: sample.get(theirs) for theirs, ours in _SAMPLE.items()}),
        **_rewarded(sample, trained),
        **_ids(sample if sample.get("tokens") is not None else trained, length),
        **given(**arrays),
    }


def _rewarded(sample: Record, trained: Record) -> Record:
    """The reward as the rollout has it, else as it was before the trainer normalised it, else as the trainer used it."""
    own = rewarded(sample.get("reward"))
    used = trained.get("rewards")
    total = next((one for one in (own.get("reward"), trained.get("raw_reward"), used) if one is not None), None)
    return own | given(reward=total, reward_used=used)


def _ids(fields: Record, length: int) -> Record:
    """Prompt and response in token ids, and in text where Relax has decoded them. Raises RowRefused when they are too few."""
    ids = list_or_none(fields, "tokens")
    if ids is None:
        return {}
    if len(ids) < length:
        raise RowRefused(f"`tokens` has {len(ids):,} of at least {length:,} tokens of the response")
    begins = len(ids) - length
    texts = list_or_none(fields, "decoded_tokens") or []
    named = {"response_tokens": texts[begins:]} if len(texts) == len(ids) else {}
    return {"prompt_token_ids": list(ids[:begins]), "response_token_ids": list(ids[begins:]), **named}


def _train_arrays(trained: Record, length: int) -> Record:
    """What training knows of each token of the response; a rank's slice of a longer response gets another name, as its position is unknown."""
    found: Record = {}
    for key, name in _TRAIN_ARRAYS.items():
        values = list_or_none(trained, key)
        if values is not None:
            found[f"{name} (slice)" if len(values) < length else name] = values
    return found
