"""Rows in layouts that public data sets, evaluation tools and trainers use, made by hand after their documentation, and what a guess must hold.

None of them is one that the board knows by itself. The values are invented; keys and shapes are as the source has them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Layout:
    """Rows of a layout, and the keys that a guess must name."""

    rows: Rows
    response: str
    others: dict[str, str] = field(default_factory=dict)
    """Of our other names those whose keys are beyond doubt."""
    each: bool = False
    """Whether a row holds a list of samples."""
    name: str = "rows.jsonl"


def _rows(make: Callable[[int], dict[str, Any]], count: int = 4) -> Rows:
    return [make(at) for at in range(count)]


def _chat(at: int, model: str = "assistant", asks: str = "user") -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Answer in one word."},
        {"role": asks, "content": f"What is {at} and {at}?"},
        {"role": model, "content": f"I add {at} to {at}, which is {2 * at}."},
    ]


def _texts(at: int, count: int = 3) -> list[str]:
    return [f"I add {at} to itself in way {way}, and the sum is {2 * at}." for way in range(count)]


_SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

LAYOUTS: Final[dict[str, Layout]] = {
    # https://huggingface.co/datasets/RLAIF/raw-math-synthetic-rollouts-temp1-llama-3.1-8b-instruct-12k
    "RLAIF math rollouts": Layout(
        _rows(
            lambda at: {
                "problem": f"What is {at} and {at}?",
                "solution": f"The sum of {at} and {at} is, as everybody knows who has counted far enough, {2 * at}.",
                "answer": str(2 * at),
                "subject": "Algebra",
                "level": at,
                "unique_id": f"train/algebra/{at}.json",
                "steps": [_texts(at, 2)] * 3,
                "response": _texts(at),
                "is_correct": [True, False, at % 2 == 0],
                "step_values": [[0.5, 0.25], [0.0, 0.0], [1.0, 1.0]],
                "messages": [_chat(at)] * 3,
            }
        ),
        "response",
        {"prompt": "problem", "reward": "is_correct", "ground_truth": "answer"},
        each=True,
    ),
    # https://huggingface.co/datasets/nebius/SWE-agent-trajectories
    "SWE-agent trajectories": Layout(
        _rows(
            lambda at: {
                "instance_id": f"owner__repo-{at}",
                "model_name": "some-model",
                "target": at % 2 == 0,
                "trajectory": [
                    {
                        "role": "system",
                        "system_prompt": "You mend code.",
                        "mask": False,
                        "text": None,
                        "cutoff_date": "01.01.2023",
                    },
                    {"role": "user", "text": f"Issue {at}.", "mask": False, "system_prompt": None, "cutoff_date": None},
                    {"role": "ai", "text": f"I look at file {at}.", "mask": False, "system_prompt": None, "cutoff_date": None},
                ],
                "exit_status": "submitted",
                "generated_patch": f"diff --git a/f{at}.py b/f{at}.py\n" + "+x\n" * 60,
                "eval_logs": f"Ran {at} tests.\n" * 40,
            }
        ),
        "trajectory",
        {"reward": "target"},
    ),
    # https://huggingface.co/datasets/SkillFactory/EVAL-cd3args-Qwen2.5-7B-Instruct-R1-RL
    "SkillFactory evaluation": Layout(
        _rows(
            lambda at: {
                "question": f"Make {at} of 1, 2 and 3.",
                "answer": f"{at} * 1",
                "task": "countdown_3arg",
                "prompt": [{"role": "user", "content": f"Make {at} of 1, 2 and 3. Think first."}],
                "model_responses": _texts(at),
                "model_responses__eval_is_correct": [True, False, True],
                "model_responses__eval_extracted_answers": [str(at), "", str(at)],
                "model_responses__internal_answers__eval_is_correct": [[True], [False], [True, True]],
                "metadata": '{"target": 1}',
            }
        ),
        "model_responses",
        {"prompt": "prompt", "reward": "model_responses__eval_is_correct", "ground_truth": "answer"},
        each=True,
    ),
    # https://huggingface.co/datasets/open-r1/OpenR1-Math-220k
    "OpenR1 Math": Layout(
        _rows(
            lambda at: {
                "problem": f"What is {at} and {at}?",
                "solution": f"We add {at} to {at}. " * 9,
                "answer": str(2 * at),
                "problem_type": "Algebra",
                "question_type": "math-word-problem",
                "source": "olympiads",
                "uuid": f"{at}6ca1fa0-0000-5000-9000-8c0b0a5e5d00",
                "is_reasoning_complete": [True, True],
                "generations": _texts(at, 2),
                "correctness_math_verify": [True, at % 2 == 0],
                "correctness_llama": None,
                "finish_reasons": None,
                "correctness_count": 1,
                "messages": _chat(at),
            }
        ),
        "generations",
        {"prompt": "problem", "reward": "correctness_math_verify", "ground_truth": "answer"},
        each=True,
    ),
    # https://huggingface.co/datasets/26hzhang/math_7.5k_qwen3-1.7b_rollout_n_10
    "rollouts in an object": Layout(
        _rows(
            lambda at: {
                "prompt": [{"role": "user", "content": f"What is {at} and {at}?"}],
                "level": "Level 3",
                "data_source": "math",
                "ability": "math",
                "reward_model": {"ground_truth": str(2 * at), "style": "rule"},
                "extra_info": {"index": at, "solution": f"The sum is {2 * at}. " * 9, "split": "train", "subject": "Algebra"},
                "rollout": {
                    "max_tokens": 4096,
                    "n": 3,
                    "pass_rate": 0.5,
                    "rollout_answers": [str(at), "7", str(at)],
                    "rollout_labels": [True, False, True],
                    "rollout_responses": _texts(at),
                    "temperature": 1.0,
                },
            }
        ),
        "rollout.rollout_responses",
        {"prompt": "prompt", "reward": "rollout.rollout_labels", "ground_truth": "reward_model.ground_truth"},
        each=True,
    ),
    # https://huggingface.co/datasets/Qwen/ProcessBench
    "ProcessBench": Layout(
        _rows(
            lambda at: {
                "id": f"gsm8k-{at}",
                "generator": "Some-Model",
                "problem": f"Sue has {at} birds. How many has she after a year?",
                "steps": _texts(at, 3 + at % 2),
                "final_answer_correct": at % 2 == 0,
                "label": -1,
            }
        ),
        "steps",
        {"prompt": "problem", "reward": "final_answer_correct"},
    ),
    # https://huggingface.co/datasets/alvarobartt/HelpSteer-AIF-raw
    "HelpSteer with a judge": Layout(
        _rows(
            lambda at: {
                "prompt": f"What is {at}?",
                "response": f"It is {at}.",
                "labelling_model": "judge-4",
                "labelling_prompt": [{"role": "user", "content": "Rate this. " * 20}, {"role": "assistant", "content": "Well."}],
                "raw_labelling_response": "correctness: 4, because it is right. " * 10,
                "correctness": at,
                "coherence": 4,
            }
        ),
        "response",
        {"prompt": "prompt", "reward": "correctness"},
    ),
    # https://huggingface.co/datasets/gabrielbo/swirl-trajectories-mmlu-pro
    "SWiRL sub-trajectories": Layout(
        _rows(
            lambda at: {
                "qid": f"q{at}",
                "sub_step_idx": at,
                "step_idx": 1,
                "sample_id": 0,
                "question": f"Which is {at}?",
                "state_context": "Seen so far. " * 9,
                "state_text": "Think of it. " * 30,
                "prompt": f"Question: Which is {at}? Choose a tool.",
                "thought": f"I need to look {at} up.",
                "action_taken": "search",
                "tool_name": "search",
                "observation": f"The page says {at}. " * 20,
                "reward_raw": 0.25 * at,
                "chosen_score": 0.5,
                "best_score": 1.0,
                "process_ok": True,
                "mcq_options": ["1", "2"],
                "correct_answer_letter": "A",
                "raw_llama_output": f"<think>look {at} up</think><tool>search</tool>",
            }
        ),
        "raw_llama_output",
        {"prompt": "prompt", "reward": "reward_raw"},
    ),
    # https://swebench.com/SWE-bench/guides/evaluation
    "SWE-bench predictions": Layout(
        _rows(
            lambda at: {
                "instance_id": f"owner__repo-{at}",
                "model_name_or_path": "org/model",
                "model_patch": f"diff --git a/f.py b/f.py\n+{at}\n",
            }
        ),
        "model_patch",
    ),
    # https://huggingface.co/datasets/VGraf/alpaca-eval-lower
    "AlpacaEval outputs": Layout(
        _rows(
            lambda at: {
                "dataset": "helpful_base",
                "instruction": f"name {at} actors. " * 9,
                "output": f"There are {at} whom I know.",
                "generator": "some-model",
                "original_instruction": f"Name {at} actors. " * 9,
            }
        ),
        "output",
        {"prompt": "instruction"},
    ),
    # https://raw.githubusercontent.com/openai/human-eval/master/README.md
    "HumanEval results": Layout(
        _rows(
            lambda at: {
                "task_id": f"HumanEval/{at // 2}",
                "completion": f"    return x + {at}\n",
                "result": "passed" if at % 2 else "failed: AssertionError",
                "passed": bool(at % 2),
            }
        ),
        "completion",
        {"reward": "passed", "group_id": "task_id"},
    ),
    # https://huggingface.co/docs/lighteval/package_reference/models_outputs, …/doc
    "lighteval details": Layout(
        _rows(
            lambda at: {
                "doc": {
                    "query": f"What is {at} and {at}?",
                    "choices": [f" The sum of these two is {2 * at}, which a data set knows. " * 4],
                    "gold_index": 0,
                    "id": str(at),
                    "task_name": "gsm8k",
                    "specific": None,
                },
                "model_response": {
                    "input": f"Question: What is {at} and {at}? Answer:",
                    "input_tokens": [1, 2, 3],
                    "text": [f"I add, and it is {2 * at}."],
                    "output_tokens": [[4, 5]],
                    "text_post_processed": None,
                    "logprobs": [],
                    "truncated_tokens_count": 0,
                },
                "metric": {"extractive_match": float(at % 2)},
            }
        ),
        "model_response.text.0",
        {"prompt": "doc.query", "reward": "metric.extractive_match"},
    ),
    # https://raw.githubusercontent.com/EleutherAI/lm-evaluation-harness/main/docs/interface.md (--log_samples)
    "lm-evaluation-harness samples": Layout(
        _rows(
            lambda at: {
                "doc_id": at,
                "doc": {"question": f"What is {at} and {at}?", "answer": f"They are {2 * at} together. " * 9 + f"#### {2 * at}"},
                "target": f"They are {2 * at} together. " * 9 + f"#### {2 * at}",
                "arguments": {"gen_args_0": {"arg_0": f"Q: What is {at} and {at}?\nA:", "arg_1": {"until": ["Q:"]}}},
                "resps": [[f"I count to {2 * at}."]],
                "filtered_resps": [str(2 * at)],
                "filter": "strict-match",
                "metrics": ["exact_match"],
                "doc_hash": _SHA,
                "prompt_hash": _SHA[::-1],
                "target_hash": _SHA,
                "exact_match": float(at % 2),
            }
        ),
        "resps.0.0",
        {"prompt": "doc.question", "reward": "exact_match", "ground_truth": "target"},
    ),
    # https://huggingface.co/datasets/chansung/lm_eval_test
    "candidates beside targets": Layout(
        _rows(
            lambda at: {
                "instructions": f"Say {at}.",
                "target_responses": f"With pleasure I say {at}. " * 9,
                "candidate_responses": f"{at} it is.",
                "model_id": "org/model",
                "model_sha": _SHA[:20],
                "eval_prompts": "You are a judge. Rate the following. " * 9,
                "similarity_scores": 0.5,
                "precision_scores": at,
                "evaluators": "gemini",
                "dates": "2024-05-01",
            }
        ),
        "candidate_responses",
        {"prompt": "instructions", "ground_truth": "target_responses"},
    ),
    # https://huggingface.co/datasets/OpenGVLab/VisualProcessBench
    "VisualProcessBench": Layout(
        _rows(
            lambda at: {
                "image": [f"images/{at}.png"],
                "question": f"Which angle is {at}?",
                "answer": str(at),
                "response": f"I see {at} degrees.",
                "policy_model": "some-model",
                "process": {"steps": _texts(at, 2), "correctness": [1, -1]},
            }
        ),
        "response",
        {"prompt": "question", "ground_truth": "answer"},
    ),
    # https://platform.claude.com/docs/en/api/messages/batches/results
    "results of a message batch": Layout(
        _rows(
            lambda at: {
                "custom_id": f"request-{at}",
                "result": {
                    "type": "succeeded",
                    "message": {
                        "id": f"msg_{at}",
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "text", "text": f"It is {at}, as I see it."}],
                        "model": "some-model",
                        "stop_reason": "end_turn",
                        "usage": {"input_tokens": 9, "output_tokens": 5},
                    },
                },
            }
        ),
        "result.message.content.0.text",
    ),
    # https://docs.together.ai/docs/inference/batch/tutorial
    "answers of a batch endpoint": Layout(
        _rows(
            lambda at: {
                "id": f"batch_req_{at}",
                "custom_id": f"request-{at}",
                "response": {
                    "status_code": 200,
                    "request_id": f"req-{at}",
                    "body": {
                        "object": "chat.completion",
                        "model": "org/model",
                        "choices": [
                            {"index": 0, "message": {"role": "assistant", "content": f"It is {at}."}, "finish_reason": "stop"}
                        ],
                        "usage": {"total_tokens": 12 + at},
                        "system_fingerprint": f"fp_{at}",
                    },
                },
                "error": None,
            }
        ),
        "response.body.choices.0.message.content",
    ),
    # https://docs.judgmentlabs.ai/evaluation/scorers/single_step/json_correctness
    "examples with an actual output": Layout(
        _rows(
            lambda at: {
                "input": f"Make JSON of {at}.",
                "expected_output": f'{{"field": {at}, "why": "a data set says so"}} ' * 9,
                "actual_output": f'{{"field": {at}}}',
                "success": at % 2 == 0,
            }
        ),
        "actual_output",
        {"prompt": "input", "reward": "success", "ground_truth": "expected_output"},
    ),
    # https://github.com/TIGER-AI-Lab/MMLU-Pro (eval_results), https://huggingface.co/datasets/TIGER-Lab/MMLU-Pro
    "MMLU-Pro results": Layout(
        _rows(
            lambda at: {
                "question_id": at,
                "question": f"Which is {at}?",
                "options": ["one", "two", "three"],
                "answer": "A",
                "answer_index": 0,
                "cot_content": f"A: Let's think step by step. A data set thinks of {at}. " * 9,
                "category": "math",
                "src": "ori_mmlu",
                "pred": "AB"[at % 2],
                "model_outputs": f"Let me see. The answer is (A), for {at}.",
            }
        ),
        "model_outputs",
        {"prompt": "question", "ground_truth": "answer"},
    ),
    # https://github.com/openai/evals/pull/1449/files (record.sampling), evals/record.py
    "events of OpenAI's evals": Layout(
        _rows(
            lambda at: {
                "run_id": "231107201503ABCDEFGH",
                "event_id": at,
                "sample_id": f"test.{at}",
                "type": "sampling",
                "data": {"prompt": _chat(at)[:2], "sampled": [f"It is {2 * at}."], "model": "some-model"},
                "created_by": "",
                "created_at": f"2023-11-07 20:15:0{at}.000000+00:00",
            }
        ),
        "data.sampled.0",
        {"prompt": "data.prompt"},
    ),
    # https://huggingface.co/datasets/openminderai/forward_backward
    "reasoning traces": Layout(
        _rows(
            lambda at: {
                "id": f"q{at}",
                "question": f"What is {at} and {at}?",
                "solution": f"The sum is {2 * at}. " * 5,
                "forward_trace": f"Forward I see {at}. " * 9,
                "backward_trace": f"Backward I see {at}. " * 7,
                "final_trace": f"At last I see {at}. " * 30,
                "attempt": f"I say {2 * at}.",
            }
        ),
        "attempt",
        {"prompt": "question", "ground_truth": "solution"},
    ),
    # https://huggingface.co/datasets/rasdani/deepseek_r1_qwen14b_swe_rl_8k_56_steps_preds
    "predictions beside patches": Layout(
        _rows(
            lambda at: {
                "instance_id": f"owner__repo-{at}",
                "model_name_or_path": "org/model",
                "model_patch": f"diff --git a/f.py b/f.py\n+{at}\n",
                "prediction": f"<think>I look at {at}.</think>\n```diff\n+{at}\n```",
            }
        ),
        "prediction",
    ),
    # https://github.com/QwenLM/Qwen2.5-Math (evaluation outputs)
    "Qwen math outputs": Layout(
        _rows(
            lambda at: {
                "idx": at,
                "question": f"How many are {at} and {at}?",
                "gt_cot": f"There are {at} and {at}, which a data set adds up at length. " * 5,
                "gt": str(2 * at),
                "code": [f"```python\nprint({at}+{at})\n```"],
                "pred": [str(2 * at)],
                "report": [None],
            }
        ),
        "code.0",
        {"prompt": "question", "ground_truth": "gt"},
        name="test_outputs.jsonl",
    ),
    "a search agent with a judge": Layout(
        _rows(
            lambda at: {
                "question": f"Q {at}?",
                "answer": f"A {at}",
                "pred_ans": f" A {at} ",
                "stop_reason_final": "finished",
                "gen_text_store": f" I search. <|begin_of_query|> q {at} <|end_of_query|> A {at}",
                "judge_output": "True" if at % 2 else "False",
            }
        ),
        "gen_text_store",
        {"prompt": "question", "ground_truth": "answer", "reward": "judge_output"},
    ),
    # https://github.com/sierra-research/tau-bench
    "tau-bench trajectories": Layout(
        _rows(
            lambda at: {
                "task_id": at // 2,
                "reward": float(at % 2),
                "info": {
                    "task": {"user_id": f"u_{at}", "instruction": f"You are user {at}. Book a seat. " * 9, "outputs": []},
                    "source": "user",
                    "reward_info": {"reward": 0.0, "info": {"gt_data_hash": _SHA, "r_actions": 0.0}},
                },
                "traj": _chat(at),
                "trial": at % 2,
            }
        ),
        "traj",
        {"reward": "reward", "group_id": "task_id"},
    ),
    # https://github.com/thinking-machines-lab/tinker-cookbook (rollouts of tool environments)
    "a tool environment": Layout(
        _rows(
            lambda at: {
                "rollouts": _chat(at),
                "metrics": {"n_tool_timeouts": 0, "public_reward": 0.5 * at},
                "env_type": "ToolEnv",
                "env_config": {"max_steps": 8, "public_test_weight_in_reward": 1.0},
            }
        ),
        "rollouts",
        {"reward": "metrics.public_reward"},
    ),
}
