"""The declared columns of a rollout: name, kind, unit and meaning, once.

Reading, checking, help texts and the table in docs/row.md all come from this list, so a new field is one line here.
"""

from dataclasses import dataclass
from typing import Final, Literal

from board.text.padding import Fields

Kind = Literal["step", "id", "text", "number", "tokens", "token_metric", "alternatives"]
"""What a value may be.

`token_metric` is a list of numbers aligned with `response_tokens`, one per token, from the first token on.
`alternatives` is aligned in the same way and holds for each token a list of [token, logprob].
"""

Scale = Literal["diverging", "sequential"]
"""How a token metric is coloured: around zero, or from low to high."""

Extreme = Literal["magnitude", "highest", "lowest"]
"""What counts as extreme of a token metric: what is far from zero, large, or small."""

Loud = Literal["high", "low"]
"""Which end of a sequential metric is the news: a large KL, but a small probability."""


@dataclass(frozen=True)
class Column:
    """One field of a rollout as trainers write it."""

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    label: str = ""
    """Singular name for the screen ("logprob"); the field name when empty."""
    scale: Scale = "sequential"
    loud: Loud = "high"
    required: bool = False
    poles: tuple[str, str] = ("", "")
    """What a small and what a large number of a token metric mean, in two words each; empty where low and high say it."""
    side: str = ""
    """A token metric whose sign says on which side of zero this one, a size, is coloured."""

    @property
    def title(self) -> str:
        """What the screen calls this column."""
        return self.label or self.name


TOKENS: Final = "response_tokens"
ALTERNATIVES: Final = "top_logprobs"
TOKEN_IDS: Final = ("response_token_ids", "token_ids", "response_ids", "completion_ids", "completion_token_ids", "output_ids")
"""Trainers' names for the response's token ids: shown with the token, in no mean and on no colour scale."""

EVALUATION: Final = "evaluation"
"""What `split` says of a rollout of an evaluation."""
DISCARDED: Final = "discarded"
"""What `split` says of a rollout that was sampled for training, and not trained on."""
DISCARD_FLAGS: Final = ("is_filtered", "is_discarded", "discarded", "remove_sample")
"""Fields by which trainers say the same of a rollout: true, or 1, where it was discarded."""
CUT_SHORT: Final = "length"
"""What `finish_reason` says of a response that was cut at its limit."""
LEFT_OUT: Final = "token_arrays_left_out"
"""Number that is 1 in a row whose token arrays the recorder measured, summed up and left out for want of room."""

MOST_COLUMNS: Final = 2_000
"""So many fields that are not declared here have a column in a run: half of them numbers, half texts. Those that come first do."""
MOST_OWN_METRICS: Final = 64
"""So many lists of a number per token that are not declared here are token metrics of a run: each has a number for every token."""
OTHER_FIELDS: Final = "other_fields"
"""The text that holds as JSON what a rollout has in fields beyond those."""

_LIKELIHOOD: Final = ("low probability", "high probability")
_PREFERENCE: Final = ("policy avoids", "policy prefers")
"""What a log-ratio below and above zero says: the policy makes the token rarer, or likelier, than the reference does."""

NATIVE: Final[tuple[Column, ...]] = (
    Column("step", "step", "training step the rollout belongs to; shards are merged by it", required=True),
    Column("prompt", "text", "prompt given to the policy: text, or a list of chat messages"),
    Column("response", "text", "text the policy sampled, or chat messages; `response_tokens` alone will do"),
    Column("response_tokens", "tokens", "tokens of the response, as text or ids"),
    Column(
        "logprobs",
        "token_metric",
        "log-probability of the token under the policy",
        "nats",
        "logprob",
        loud="low",
        poles=_LIKELIHOOD,
    ),
    Column(
        "ref_logprobs",
        "token_metric",
        "log-probability of the token under the reference",
        "nats",
        "ref_logprob",
        loud="low",
        poles=_LIKELIHOOD,
    ),
    Column(
        "values",
        "token_metric",
        "critic value at the token",
        "reward",
        "value",
        "diverging",
        poles=("negative value", "positive value"),
    ),
    Column(
        "token_rewards",
        "token_metric",
        "reward given at the token, KL penalty included",
        "reward",
        "token_reward",
        "diverging",
        poles=("penalty", "reward"),
    ),
    Column("reward", "number", "reward of the whole response", "reward"),
    Column("prompt_length", "number", "tokens of the prompt", "tokens"),
    Column("ref_response", "text", "response of the reference to the same prompt"),
    Column("ref_reward", "number", "reward of the reference response", "reward"),
    Column("ground_truth", "text", "expected answer; anything but text is shown as JSON"),
    Column("valid_reward", "number", "reward by the validation scorer", "reward"),
    Column("ref_valid_reward", "number", "reward of the reference response by the validation scorer", "reward"),
    Column(
        "advantages",
        "token_metric",
        "advantage used in the update",
        "reward",
        "advantage",
        "diverging",
        poles=("worse than expected", "better than expected"),
    ),
    Column(
        "returns",
        "token_metric",
        "return the critic is trained towards",
        "reward",
        "return",
        "diverging",
        poles=("negative return", "positive return"),
    ),
    Column(
        "entropies",
        "token_metric",
        "entropy of the policy's distribution at the token",
        "nats",
        "entropy",
        poles=("certain", "undecided"),
    ),
    Column(
        "rollout_logprobs",
        "token_metric",
        "log-probability reported by the inference engine",
        "nats",
        "rollout_logprob",
        loud="low",
        poles=_LIKELIHOOD,
    ),
    Column(
        "old_logprobs",
        "token_metric",
        "log-probability before the update, where `logprobs` are of a later policy",
        "nats",
        "old_logprob",
        loud="low",
        poles=_LIKELIHOOD,
    ),
    Column(ALTERNATIVES, "alternatives", "what the policy could have sampled at the token, with log-probabilities", "nats"),
    Column("loss_mask", "token_metric", "1 where the token is trained on; tokens with 0 enter no mean", "0 or 1"),
    Column("group_id", "id", "rollouts of one step with the same group share a prompt"),
    Column("prompt_id", "id", "the trainer's name of the prompt, the same at every step; its text where it is missing"),
    Column("sample_id", "id", "the trainer's own name of the sample"),
    Column("data_source", "id", "data set or environment the prompt is from"),
    Column(
        "split",
        "id",
        "`train`, `evaluation` (`val`, `test`, ...) or `discarded` (not trained on); else `train`",
    ),
    Column("rank", "id", "data-parallel rank that wrote the row"),
)

DERIVED_TOKEN_METRICS: Final[tuple[Column, ...]] = (
    Column("log_ratio", "token_metric", "logprob minus ref_logprob", "nats", scale="diverging", poles=_PREFERENCE),
    Column("kl", "token_metric", "per-token estimate of KL(policy‖reference)", "nats", poles=_PREFERENCE, side="log_ratio"),
    Column("prob", "token_metric", "probability of the token under the policy", "0 to 1", loud="low", poles=_LIKELIHOOD),
    Column("ref_prob", "token_metric", "probability of the token under the reference", "0 to 1", loud="low", poles=_LIKELIHOOD),
    Column(
        "mismatch",
        "token_metric",
        "log-probability by the trainer minus that by the inference engine",
        "nats",
        scale="diverging",
        poles=("engine prefers", "trainer prefers"),
    ),
    Column(
        "covariance",
        "token_metric",
        "(logprob − mean) × (advantage − mean), by the step's means; where large, entropy falls",
        "nats × advantage",
        scale="diverging",
        poles=("entropy rises", "entropy falls"),
    ),
)
"""Per-token arrays the board computes when a rollout is shown."""

DERIVED_NUMBERS: Final[tuple[Column, ...]] = (
    Column("response_length", "number", "tokens of the response, padding and masked tokens left out", "tokens", "tokens"),
    Column("response_chars", "number", "characters of the response text", "characters", "characters"),
    Column("reward_gap", "number", "reward minus the reference's reward", "reward", "gap", "diverging"),
    Column("valid_reward_gap", "number", "validation reward minus the reference's", "reward", "validation gap", "diverging"),
    Column(
        "log_ratio_mean",
        "number",
        "mean over tokens of logprob minus ref_logprob, which is KL k1",
        "nats per token",
        "log-ratio",
        "diverging",
    ),
    Column("log_ratio_sum", "number", "sum over tokens of logprob minus ref_logprob", "nats", "log-ratio, sum", "diverging"),
    Column("log_ratio_max", "number", "largest log-ratio of a token", "nats", "log-ratio, max", "diverging"),
    Column("kl_k2_mean", "number", "mean over tokens of KL k2", "nats per token", "KL k2"),
    Column("kl_k2_sum", "number", "sum over tokens of KL k2", "nats", "KL k2, sum"),
    Column("kl_k2_max", "number", "largest KL k2 of a token", "nats", "KL k2, max"),
    Column("kl_k3_mean", "number", "mean over tokens of KL k3", "nats per token", "KL k3"),
    Column("kl_k3_sum", "number", "sum over tokens of KL k3", "nats", "KL k3, sum"),
    Column("kl_k3_max", "number", "largest KL k3 of a token", "nats", "KL k3, max"),
    Column("token_reward_sum", "number", "sum of the token rewards", "reward", "token_reward, sum", "diverging"),
    Column(
        "group",
        "number",
        "number of the rollout's group within its step: the trainer's group, else the rollouts of the same prompt",
    ),
    Column("nonfinite_tokens", "number", "numbers missing or not finite in the row's token arrays", "", "numbers missing"),
)
"""Per-rollout numbers the board computes when a run is read; in addition `<metric>_mean` for every token metric."""

BY_NAME: Final[dict[str, Column]] = {column.name: column for column in (*NATIVE, *DERIVED_TOKEN_METRICS, *DERIVED_NUMBERS)}

BY_TITLE: Final[dict[str, Column]] = {column.title: column for column in (*NATIVE, *DERIVED_TOKEN_METRICS)}


def names(kind: Kind) -> tuple[str, ...]:
    """Names of the native columns of one kind, in declared order."""
    return tuple(column.name for column in NATIVE if column.kind == kind)


TEXTS: Final = names("text")
NUMBERS: Final = names("number")
IDS: Final = names("id")
TOKEN_METRICS: Final = names("token_metric")
PADDED: Final = Fields(
    texts=("prompt", "response", "ref_response", "ground_truth"),
    prompts=("prompt",),
    response="response",
    tokens=TOKENS,
    mask="loss_mask",
    per_token=frozenset({*TOKEN_METRICS, ALTERNATIVES, *TOKEN_IDS}),
    prompt_ids="prompt_token_ids",
)
"""What padding is taken off when a row is read."""


def title(name: str) -> str:
    """Screen name of a field; an unknown one keeps its own name."""
    column = BY_NAME.get(name)
    return column.title if column else name


def heading(name: str) -> str:
    """Screen name of a column of the frame: as `title`, and the mean of a token metric is called so."""
    return f"{name.removesuffix('_mean')}, mean" if name not in BY_NAME and name.endswith("_mean") else title(name)


def is_trainers(name: str) -> bool:
    """Whether a column of the frame is the trainer's own, such as a part of the reward: neither declared here nor made by the board."""
    made = name in ("shard", "line") or (name.endswith("_mean") and name.removesuffix("_mean") in BY_TITLE)
    return name not in BY_NAME and not made


def extreme(metric: str) -> Extreme:
    """What is extreme by nature for a token metric, by its screen name: far from zero where it diverges, else its loud end."""
    column = BY_TITLE.get(metric)
    if column is None:
        return "highest"
    if column.scale == "diverging":
        return "magnitude"
    return "lowest" if column.loud == "low" else "highest"


def unit(name: str) -> str:
    """Unit of a column, empty when unknown."""
    column = BY_NAME.get(name)
    return column.unit if column else ""
