"""Rows in layouts that trainers, batch services and further data sets use, made by hand after their documentation.

None of them is one that the board knows by itself. The values are invented; keys and shapes are as the source has them.
"""

from typing import Final

from layout import SHA, Layout, chat, rows, texts

MORE_LAYOUTS: Final[dict[str, Layout]] = {
    # https://raw.githubusercontent.com/openai/human-eval/master/README.md
    "HumanEval results": Layout(
        rows(
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
        rows(
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
        rows(
            lambda at: {
                "doc_id": at,
                "doc": {"question": f"What is {at} and {at}?", "answer": f"They are {2 * at} together. " * 9 + f"#### {2 * at}"},
                "target": f"They are {2 * at} together. " * 9 + f"#### {2 * at}",
                "arguments": {"gen_args_0": {"arg_0": f"Q: What is {at} and {at}?\nA:", "arg_1": {"until": ["Q:"]}}},
                "resps": [[f"I count to {2 * at}."]],
                "filtered_resps": [str(2 * at)],
                "filter": "strict-match",
                "metrics": ["exact_match"],
                "doc_hash": SHA,
                "prompt_hash": SHA[::-1],
                "target_hash": SHA,
                "exact_match": float(at % 2),
            }
        ),
        "resps.0.0",
        {"prompt": "doc.question", "reward": "exact_match", "ground_truth": "target"},
    ),
    # https://huggingface.co/datasets/chansung/lm_eval_test
    "candidates beside targets": Layout(
        rows(
            lambda at: {
                "instructions": f"Say {at}.",
                "target_responses": f"With pleasure I say {at}. " * 9,
                "candidate_responses": f"{at} it is.",
                "model_id": "org/model",
                "model_sha": SHA[:20],
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
        rows(
            lambda at: {
                "image": [f"images/{at}.png"],
                "question": f"Which angle is {at}?",
                "answer": str(at),
                "response": f"I see {at} degrees.",
                "policy_model": "some-model",
                "process": {"steps": texts(at, 2), "correctness": [1, -1]},
            }
        ),
        "response",
        {"prompt": "question", "ground_truth": "answer"},
    ),
    # https://platform.claude.com/docs/en/api/messages/batches/results
    "results of a message batch": Layout(
        rows(
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
        rows(
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
        rows(
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
        rows(
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
        rows(
            lambda at: {
                "run_id": "231107201503ABCDEFGH",
                "event_id": at,
                "sample_id": f"test.{at}",
                "type": "sampling",
                "data": {"prompt": chat(at)[:2], "sampled": [f"It is {2 * at}."], "model": "some-model"},
                "created_by": "",
                "created_at": f"2023-11-07 20:15:0{at}.000000+00:00",
            }
        ),
        "data.sampled.0",
        {"prompt": "data.prompt"},
    ),
    # https://huggingface.co/datasets/openminderai/forward_backward
    "reasoning traces": Layout(
        rows(
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
        rows(
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
        rows(
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
        rows(
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
        rows(
            lambda at: {
                "task_id": at // 2,
                "reward": float(at % 2),
                "info": {
                    "task": {"user_id": f"u_{at}", "instruction": f"You are user {at}. Book a seat. " * 9, "outputs": []},
                    "source": "user",
                    "reward_info": {"reward": 0.0, "info": {"gt_data_hash": SHA, "r_actions": 0.0}},
                },
                "traj": chat(at),
                "trial": at % 2,
            }
        ),
        "traj",
        {"reward": "reward", "group_id": "task_id"},
    ),
    # https://github.com/thinking-machines-lab/tinker-cookbook (rollouts of tool environments)
    "a tool environment": Layout(
        rows(
            lambda at: {
                "rollouts": chat(at),
                "metrics": {"n_tool_timeouts": 0, "public_reward": 0.5 * at},
                "env_type": "ToolEnv",
                "env_config": {"max_steps": 8, "public_test_weight_in_reward": 1.0},
            }
        ),
        "rollouts",
        {"reward": "metrics.public_reward"},
    ),
}
