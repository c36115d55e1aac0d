"""The odd runs, each with what must be seen of it."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from board.runs.opening import opened_whole
from board.runs.run import Run

ODD_RUNS = Path(__file__).parents[1] / "odd_runs"
NAN = math.nan
PLAIN = ["The", " answer", " is", " 42"]


@dataclass(frozen=True)
class Seen:
    """What must be seen of a run; what is not given must not be there."""

    wish: str
    rows: int
    steps: list[int]
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Place and a piece of the reason of every refused line."""
    flagged: list[tuple[str, str]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    absent: tuple[str, ...] = ()
    """Columns, texts and token metrics that no one may invent."""
    values: dict[str, list[float]] = field(default_factory=dict)
    """Columns of the frame, in its order."""
    ids: dict[str, str] = field(default_factory=dict)
    """Columns of the frame with one value in all rows."""
    texts: dict[tuple[int, str], str | None] = field(default_factory=dict)
    """One text by key and field."""
    tokens: dict[int, list[str] | None] = field(default_factory=dict)
    arrays: dict[tuple[int, str], list[float] | None] = field(default_factory=dict)


def record(case: str, line: int) -> dict[str, Any]:
    """One line of a case as it stands in the file."""
    parsed: dict[str, Any] = json.loads((ODD_RUNS / case / "data.jsonl").read_text().splitlines()[line - 1])
    return parsed


def as_written(case: str, *fields: str) -> dict[tuple[int, str], str | None]:
    """Texts of a case's first row exactly as the file has them."""
    return {(0, name): record(case, 1)[name] for name in fields}


def all_flagged(reason: str) -> list[tuple[str, str]]:
    """The same reason for each of the four arrays of the first row."""
    return [("data.jsonl:1", f"{name} has {reason}") for name in ("logprobs", "ref_logprobs", "values", "token_rewards")]


CASES: dict[str, Seen] = {
    "00_control": Seen("shows it with no warning at all", 12, [0, 1, 2], values={"reward": [0, 0.5, 1, 0] * 3}),
    "02_row_without_ref_response": Seen(
        "keeps rows aligned: sample 1 shows an empty reference, sample 2 its own one",
        4,
        [0],
        values={"ref_reward": [0.25, NAN, 0.25, 0.25], "reward_gap": [-0.25, NAN, 0.75, -0.25]},
        texts={(0, "ref_response"): "ref response 0", (1, "ref_response"): None, (2, "ref_response"): "ref response 2"},
    ),
    "03_row_without_ground_truth": Seen(
        "empty cell in that row only",
        3,
        [0],
        texts={(0, "ground_truth"): "gt0", (1, "ground_truth"): None, (2, "ground_truth"): "gt2"},
    ),
    "04_row_without_logprobs": Seen(
        "token view of sample 0 shows tokens without logprobs; others unaffected",
        3,
        [0],
        values={"logprob_mean": [NAN, -0.26, -0.27], "log_ratio_mean": [NAN, 0.015, 0.025], "value_mean": [0.15, 1.15, 2.15]},
        tokens={0: PLAIN},
        arrays={(0, "logprobs"): None, (0, "values"): [0, 0.1, 0.2, 0.3], (1, "logprobs"): [-0.11, -0.21, -0.31, -0.41]},
    ),
    "06_row_without_tokens": Seen(
        "never shows sample 1's tokens under sample 0's response",
        3,
        [0],
        tokens={0: None, 1: ["ROW", "ONE", "TOK", "ENS"], 2: PLAIN},
        arrays={(0, "logprobs"): [-0.1, -0.2, -0.3, -0.4]},
    ),
    "07_no_token_rewards": Seen(
        "shows the token view with the columns there are",
        8,
        [0, 1],
        absent=("token_rewards", "values", "token_reward_mean", "token_reward_sum", "value_mean"),
        arrays={(0, "logprobs"): [-0.1, -0.2, -0.3, -0.4], (0, "values"): None},
    ),
    "08_no_ref": Seen(
        "shows no reference columns or bars; never invents zeros",
        8,
        [0, 1],
        absent=("ref_reward", "ref_response", "reward_gap", "valid_reward"),
        values={"reward": [1, 2, 3, 4] * 2},
    ),
    "09_reward_only": Seen(
        "works; says which views are unavailable and why",
        12,
        [0, 1, 2],
        absent=("response_length", "response_tokens", "logprobs", "logprob_mean", "kl_k3_mean", "nonfinite_tokens", "ref_reward"),
        values={"reward": [0, 1, 2, 3] * 3, "response_chars": [1] * 12},
        tokens={0: None},
    ),
    "10_step_without_reward": Seen(
        "loads; step 1 has a gap in the reward curve", 5, [0, 1, 2], values={"reward": [0, 0.5, NAN, NAN, 0]}
    ),
    "12_nan_logprob": Seen(
        "marks that token as missing, averages over the others and counts it",
        3,
        [0, 1],
        flagged=[("data.jsonl:1", "logprobs has no finite number at 1 token, the first at position 1")],
        values={"logprob_mean": [-0.8 / 3, -0.26, -0.25], "log_ratio_mean": [0.005, 0.015, 0.005], "nonfinite_tokens": [1, 0, 0]},
        arrays={(0, "logprobs"): [-0.1, NAN, -0.3, -0.4]},
    ),
    "14_null_logprob": Seen(
        "as NaN; the row is not dropped or half-kept",
        3,
        [0, 1],
        flagged=[("data.jsonl:1", "logprobs has no finite number at 1 token")],
        values={"logprob_mean": [-0.8 / 3, -0.26, -0.25], "value_mean": [0.15, 1.15, 0.15], "nonfinite_tokens": [1, 0, 0]},
        arrays={(0, "logprobs"): [-0.1, NAN, -0.3, -0.4], (0, "values"): [0, 0.1, 0.2, 0.3]},
    ),
    "15_nan_reward": Seen(
        "mean over finite rewards, a count of non-finite ones",
        3,
        [0, 1],
        flagged=[("data.jsonl:1", "reward is nan: it enters no mean")],
        values={"reward": [NAN, 0.5, 0]},
    ),
    "16_null_reward": Seen(
        "as missing; the rest loads", 3, [0, 1], values={"reward": [NAN, 0.5, 0], "reward_gap": [NAN, 0.25, -0.25]}
    ),
    "17_string_reward": Seen(
        "reads the number or reports the row; does not crash",
        3,
        [0, 1],
        flagged=[("data.jsonl:1", 'reward is the text "0.5", read as 0.5')],
        values={"reward": [0.5, 0.5, 0]},
    ),
    "19_wide_reward_range": Seen(
        "bins the histogram by range, stays responsive", 5, [0, 1], values={"reward": [-2e5, 0, 3, 2e5, 0]}
    ),
    "20_equal_rewards": Seen("draws a single bar; no NaN curve", 8, [0, 1], values={"reward": [1] * 8, "reward_gap": [0] * 8}),
    "21_logprobs_shorter": Seen(
        "shows all 6 tokens, 4 of them without numbers, and says so",
        2,
        [0],
        flagged=all_flagged("2 numbers for 6 tokens: 4 tokens at the end without one"),
        values={"response_length": [6, 4], "logprob_mean": [-0.15, -0.26]},
        tokens={0: ["The", " answer", " is", " 42", ".", "<eos>"]},
        arrays={(0, "logprobs"): [-0.1, -0.2, NAN, NAN, NAN, NAN], (0, "token_rewards"): [0, 1, NAN, NAN, NAN, NAN]},
    ),
    "22_logprobs_longer": Seen(
        "shows 3 tokens, says 3 numbers are left over",
        2,
        [0],
        flagged=all_flagged("6 numbers for 3 tokens: 3 numbers at the end left over"),
        values={"response_length": [3, 4]},
        tokens={0: ["The", " answer", " is"]},
        arrays={(0, "logprobs"): [-0.1] * 3},
    ),
    "24_values_shorter": Seen(
        "blank cells; other metrics shown",
        2,
        [0],
        flagged=[("data.jsonl:1", "values has 1 number for 4 tokens")],
        values={"value_mean": [0.5, 1.15], "logprob_mean": [-0.25, -0.26]},
        arrays={(0, "values"): [0.5, NAN, NAN, NAN], (0, "logprobs"): [-0.1, -0.2, -0.3, -0.4]},
    ),
    "25_logp_ref_differ": Seen(
        "shows both, computes the ratio where both exist, flags the row; no half-kept row",
        3,
        [0],
        flagged=[("data.jsonl:1", "ref_logprobs has 3 numbers for 4 tokens: 1 token at the end without one")],
        values={"log_ratio_sum": [0, 0.06, 0.1], "logprob_mean": [-0.25, -0.26, -0.27], "value_mean": [0.15, 1.15, 2.15]},
        arrays={(0, "logprobs"): [-0.1, -0.2, -0.3, -0.4], (0, "ref_logprobs"): [-0.1, -0.2, -0.3, NAN]},
    ),
    "27_empty_response": Seen(
        "shows '(empty response)'; means skip it",
        3,
        [0, 1],
        values={
            "response_length": [0, 4, 4],
            "logprob_mean": [NAN, -0.26, -0.25],
            "kl_k3_max": [NAN, *[0.5 * 0.015**2, 0.5 * 0.005**2]],
        },
        texts={(0, "response"): ""},
        tokens={0: []},
        arrays={(0, "logprobs"): []},
    ),
    "28_padded_tokens": Seen(
        "drops the pad token, no warning",
        3,
        [0],
        values={"response_length": [3, 4, 4], "logprob_mean": [-3.1 / 3, -0.26, -0.27]},
        texts={(0, "response"): "威仪<EOD>"},
        tokens={0: ["威", "仪", "<EOD>"]},
        arrays={(0, "logprobs"): [-1, -2, -0.1]},
    ),
    "29_html_script": Seen(
        "shows it as text, byte for byte; runs nothing",
        2,
        [0],
        texts=as_written("29_html_script", "prompt", "response"),
        tokens={0: ["<b>", "<img src=x onerror=alert(1)>", "&lt;", "x"]},
    ),
    "30_html_page_takeover": Seen("shows it as text", 2, [0], texts=as_written("30_html_page_takeover", "response")),
    "32_style_hides_app": Seen(
        "shows it as text; page style unchanged", 2, [0], texts=as_written("32_style_hides_app", "response")
    ),
    "33_think_tags": Seen(
        "shows the tags",
        2,
        [0],
        texts={(0, "response"): "<think>\nLet me count: 1 < 2 and 3 > 2.\n</think>\n<answer>42</answer>"},
        tokens={0: ["<think>", "\n", "42", "</think>"]},
    ),
    "34_markdown_latex": Seen(
        "shows the exact characters; rendering as markdown only on request",
        2,
        [0],
        texts=as_written("34_markdown_latex", "response"),
    ),
    "35_whitespace_tokens": Seen(
        "makes each visible (↵ → ·) and distinct",
        2,
        [0],
        texts={(0, "response"): "a\n\n\tb  c "},
        tokens={0: ["a", "\n\n", "\t", "b", "  ", "c", " "]},
    ),
    "37_duplicate_tokens": Seen(
        "six columns",
        2,
        [0],
        values={"response_length": [6, 4]},
        tokens={0: ["ha"] * 6},
        arrays={(0, "logprobs"): [-0.1, -0.2, -0.3, -0.4, -0.5, -0.6]},
    ),
    "38_token_ids_not_strings": Seen("shows the ids", 2, [0], tokens={0: ["151", "7", "7", "2"], 1: PLAIN}),
    "40_null_response": Seen(
        "shows the row as empty; the rest loads",
        3,
        [0, 1],
        values={"response_chars": [NAN, 16, 16], "response_length": [4, 4, 4]},
        texts={(0, "response"): None, (1, "response"): "The answer is 42"},
        tokens={0: PLAIN},
    ),
    "41_missing_response": Seen(
        "as above",
        3,
        [0, 1],
        values={"response_chars": [NAN, 16, NAN]},
        texts={(0, "response"): None, (1, "response"): "The answer is 42", (2, "response"): None},
    ),
    "42_chat_prompt": Seen(
        "shows it as roles and text",
        2,
        [0],
        texts={(0, "prompt"): "system:\nbe brief\n\nuser:\nhi", (1, "prompt"): "system:\nbe brief\n\nuser:\nhi"},
    ),
    "45_mixed_ground_truth": Seen(
        "shows each as JSON text",
        5,
        [0],
        texts={(key, "ground_truth"): text for key, text in enumerate(["42", "42", '["a", "b"]', '{"k": 1}', None])},
    ),
    "46_steps_unordered": Seen(
        "one straight rising line", 10, [0, 1, 2, 3, 4], values={"reward": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]}
    ),
    "48_steps_multiple_of_gap": Seen("last step reachable", 8, [0, 10, 20, 35]),
    "50_step_types": Seen(
        "accepts 3 and -1, reports each other row with file:line and reason; never merges 3.9 into 3 silently",
        2,
        [-1, 3],
        refused=[
            ("data.jsonl:2", "`step` is 3.9, which is not a whole number"),
            ("data.jsonl:3", "`step` is true"),
            ("data.jsonl:4", '`step` is "3.0"'),
            ("data.jsonl:5", '`step` is "abc"'),
            ("data.jsonl:6", "`step` is null"),
            ("data.jsonl:7", "has no `step`; its keys are: prompt, response"),
        ],
        values={"reward": [0.5, 0]},
    ),
    "52_one_step": Seen("works; charts show one point, not an empty plot", 4, [7], values={"reward": [0, 0.5, 1, 0]}),
    "53_one_sample": Seen("works", 1, [0], values={"reward": [0]}),
    "54_step_duplicated_by_resume": Seen(
        "shows that step 2 has two writes, or lets the later one win; says so",
        10,
        [0, 1, 2, 3],
        flagged=[
            ("data.jsonl:7", "step 2 is written 2 times (lines 5 to 6, lines 7 to 8), as by a resumed job: no row is dropped")
        ],
        values={"reward": [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]},
    ),
    "55_batch_size_changes": Seen("sample index stays valid when the step changes", 6, [0, 1]),
    "56_kl_zero_first_step": Seen(
        "KL curve has a point at step 0 with value 0",
        9,
        [0, 1, 2],
        values={"log_ratio_mean": [0, 0, 0, 0.005, 0.015, 0.025, 0.005, 0.015, 0.025]},
    ),
    "58_kl_outlier_token": Seen("k3 of that token is e^-8-1+8 = 7.0, not e^8-1-8 = 2972", 12, [0, 1, 2]),
    "60_empty_file": Seen("says 'no rows yet', stays usable", 0, [], absent=("reward", "response_chars")),
    "63_gzip": Seen("reads it (or says it cannot)", 4, [0, 1], values={"reward": [0, 0.5, 0, 0.5]}),
    "64_half_written_last_line": Seen(
        "shows the complete rows; treats the tail as 'still being written', not an error", 4, [0, 1], unfinished=["data.jsonl"]
    ),
    "66_garbage_lines": Seen(
        "loads 2 rows; lists each bad line with file:line and reason; blank lines are not errors",
        2,
        [0, 1],
        refused=[
            ("data.jsonl:1", "is not JSON: Expecting value at character 1"),
            ("data.jsonl:3", "has no `step` and no `response` or `response_tokens`; its keys are: none"),
            ("data.jsonl:4", "is not a JSON object but a list"),
            ("data.jsonl:5", "is not a JSON object but a number"),
            ("data.jsonl:6", "is not a JSON object but null"),
            ("data.jsonl:7", "has no `response` or `response_tokens`; its keys are: step"),
        ],
        values={"line": [8, 9]},
    ),
    "67_bom": Seen("reads all rows", 4, [0, 1], values={"reward": [0, 0.5, 0, 0.5], "line": [1, 2, 3, 4]}),
    "68_crlf": Seen("reads all rows", 4, [0, 1], values={"reward": [0, 0.5, 0, 0.5], "line": [1, 2, 3, 4]}),
    "70_dir_named_jsonl": Seen("ignores it, loads the rest", 1, [0]),
    "78_extra_keys": Seen(
        "shows the per-token ones as metrics, scalar ones as columns",
        2,
        [0],
        values={"score.format": [1, 1], "score.acc": [0, 0], "entropy_mean": [1, 1], "advantage_mean": [0.1, 0.1]},
        texts={(0, "score"): '{"format": 1, "acc": 0}'},
        ids={"data_source": "gsm8k"},
        arrays={(0, "entropy"): [1, 1, 1, 1], (0, "advantages"): [0.1, 0.1, 0.1, 0.1]},
    ),
    "79_other_dialect": Seen(
        "says which keys are missing and offers a mapping",
        0,
        [],
        refused=[
            (
                "data.jsonl:1",
                "has no `step` and no `response` or `response_tokens`; "
                "its keys are: input, output, score, global_step, token_logprobs",
            )
        ],
    ),
    "81_float_text_precision": Seen("shows enough digits; tiny values are not printed as 0", 2, [0]),
    "84_binary_rewards": Seen(
        "distribution shows 4 zeros and 6 ones", 20, [0, 1], values={"reward": [1, 1, 1, 1, 1, 1, 0, 0, 0, 0] * 2}
    ),
    "87_shards_out_of_order": Seen(
        "sorts by step: one straight rising line",
        24,
        list(range(12)),
        values={"reward": [step for step in range(12) for _ in range(2)]},
    ),
}


def opened(case: str) -> Run:
    """A case as loaded."""
    return opened_whole(ODD_RUNS / case)
