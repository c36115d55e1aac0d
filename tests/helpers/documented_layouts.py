"""Rows in the layouts of ten more data sets of the Hub, made by hand after their cards; the values are invented.

None of them is one that the board knows by itself.
"""

import json
from typing import Any, Final

from layout import Layout, chat, rows

_LONG: Final = "Words of whoever made the data set, longer than any answer of a model is here. " * 4
_CALL: Final = {"id": "t", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}


def _completion(at: int, model: str) -> dict[str, Any]:
    return {
        "annotations": {"helpfulness": {"Rating": "4", "Rationale": _LONG}},
        "model": model,
        "principle": "helpfulness",
        "response": f"A tale of {at} by {model}.",
        "critique": _LONG,
        "fine-grained_score": 4.25,
        "overall_score": 7.5 + at,
    }


DOCUMENTED_LAYOUTS: Final[dict[str, Layout]] = {
    # https://huggingface.co/datasets/HuggingFaceH4/s1k_r1_math_verify
    "two attempts and two that a data set has": Layout(
        rows(
            lambda at: {
                "solution": _LONG,
                "question": f"What is {at} and {at}?",
                "cot_type": "math",
                "thinking_trajectories": [_LONG],
                "attempt": f"Gemini says {2 * at}.",
                "generations": [f"<think>{at}</think> {2 * at + k}" for k in range(2)],
                "finish_reasons": ["stop", "stop"],
                "api_metadata": [{"completion_tokens": 5, "prompt_tokens": 4}] * 2,
                "correctness_math_verify": [True, False],
                "r1_correctness_count": 1,
            }
        ),
        "generations",
        {"prompt": "question", "ground_truth": "solution", "reward": "correctness_math_verify"},
        each=True,
    ),
    # https://huggingface.co/datasets/saurabh5/RL0-Math-Data
    "completions of a named model": Layout(
        rows(
            lambda at: {
                "prompt": f"What is {at} and {at}?",
                "solution": _LONG,
                "source_prompt": [{"content": f"What is {at} and {at}?", "role": "user"}],
                "reward_model": {"ground_truth": str(2 * at), "style": "rule"},
                "olmo_completions": [f"It is {2 * at + k}." for k in range(3)],
                "verifier_scores": [1.0, 0.0, 0.0],
                "avg_score": 0.33,
                "input_ids": [1, 2, 3],
                "labels": [-100, -100, 3],
            }
        ),
        "olmo_completions",
        {"prompt": "prompt", "reward": "verifier_scores"},
        each=True,
    ),
    # https://huggingface.co/datasets/livebench/model_answer
    "turns in a choice": Layout(
        rows(
            lambda at: {
                "question_id": f"q{at}",
                "model_id": "told-1",
                "choices": [{"index": 0, "turns": [f"I think of {at}: it is {2 * at}."]}],
                "tstamp": 1719361093.1 + at,
                "category": "reasoning",
            }
        ),
        "choices.0.turns.0",
    ),
    # https://huggingface.co/datasets/alvarobartt/ultrafeedback-mini
    "ratings as texts": Layout(
        rows(
            lambda at: {
                "instruction": f"Tell of {at}.",
                "generations": [f"A tale of {at} by {k}." for k in range(4)],
                "generation_models": ["a", "b", "c", "d"],
                "ratings": ["4", "3", "5", "1"],
                "rationales": [_LONG] * 4,
            }
        ),
        "generations",
        {"prompt": "instruction", "reward": "ratings"},
        each=True,
    ),
    # https://huggingface.co/datasets/openbmb/UltraFeedback
    "scores of several kinds": Layout(
        rows(
            lambda at: {
                "source": "evol_instruct",
                "instruction": f"Tell of {at}.",
                "models": ["a", "b"],
                "completions": [_completion(at, "a"), _completion(at, "b")],
                "correct_answers": ["None"],
            }
        ),
        "completions.*.response",
        {"prompt": "instruction", "reward": "completions.*.overall_score"},
        each=True,
    ),
    # https://huggingface.co/datasets/chilomax/SWE-rebench-openhands-trajectories
    "a trajectory beside its patch": Layout(
        rows(
            lambda at: {
                "instance_id": f"a__b-{at // 2}",
                "trajectory": [
                    {"content": f"Mend {at // 2}.", "role": "user", "tool_calls": None},
                    {"content": f"I look {at}.", "role": "assistant", "tool_calls": [_CALL]},
                    {"content": "a.py", "role": "tool", "tool_calls": None},
                ],
                "tools": [{"type": "function", "function": {"name": "bash", "description": _LONG}}],
                "model_patch": f"diff --git a/a.py b/a.py\n+{at}\n" * 20,
                "exit_status": "submit",
                "resolved": at % 2,
                "gen_tests_correct": None,
            }
        ),
        "trajectory",
        {"reward": "resolved"},
    ),
    # https://huggingface.co/datasets/nvidia/open-swe-traces
    "tools as texts": Layout(
        rows(
            lambda at: {
                "instance_id": f"attrs__attrs-{at}",
                "messages": chat(at),
                "tools": [json.dumps({"type": "function", "function": {"name": "bash"}})] * 4,
                "resolved": [1, 0, -1, 1][at],
                "metadata": {"category": "bug-fix", "reference_patch": {"patch": _LONG}},
            }
        ),
        "messages",
        {"reward": "resolved"},
    ),
    # https://huggingface.co/datasets/sam-paech/prm800k-sonnet3.5-validator-test
    "one response under many": Layout(
        rows(
            lambda at: {
                "row_index": at,
                "instruction": f"What is {at} and {at}?",
                "responses": f"Step 1: {at}. Step 2: {2 * at}.",
                "correctness_rating": at % 2,
                "reasoning": _LONG,
                "is_solution": bool(at % 2),
                "extracted_answer": str(2 * at),
                "validation_steps": _LONG,
            }
        ),
        "responses",
        {"prompt": "instruction", "reward": "correctness_rating"},
    ),
    # https://huggingface.co/datasets/nectec/nrct_instruction_dataset
    "answers with a score each": Layout(
        rows(
            lambda at: {
                "id": at,
                "instruction": f"Mend {at}.",
                "answers": [f"word {at}{k}" for k in range(3)],
                "scores": [7, 3, 9],
            }
        ),
        "answers",
        {"prompt": "instruction", "reward": "scores"},
        each=True,
    ),
    # https://huggingface.co/datasets/trevahok/test
    "one text under generations": Layout(
        rows(
            lambda at: {
                "feedback": _LONG,
                "generations": f"An answer {at}.",
                "input": f"A question {at}?",
                "labelling_prompt": _LONG,
                "raw_labelling_response": _LONG,
                "score": None,
            }
        ),
        "generations",
        {"prompt": "input"},
    ),
}
"""Name → rows, and what a guess must hold of them."""
