"""Rows in layouts that public data sets and evaluation tools use, made by hand after their documentation.

None of them is one that the board knows by itself. The values are invented; keys and shapes are as the source has them.
"""

from typing import Final

from layout import Layout, chat, rows, texts

LAYOUTS: Final[dict[str, Layout]] = {
    # https://huggingface.co/datasets/RLAIF/raw-math-synthetic-rollouts-temp1-llama-3.1-8b-instruct-12k
    "RLAIF math rollouts": Layout(
        rows(
            lambda at: {
                "problem": f"What is {at} and {at}?",
                "solution": f"The sum of {at} and {at} is, as everybody knows who has counted far enough, {2 * at}.",
                "answer": str(2 * at),
                "subject": "Algebra",
                "level": at,
                "unique_id": f"train/algebra/{at}.json",
                "steps": [texts(at, 2)] * 3,
                "response": texts(at),
                "is_correct": [True, False, at % 2 == 0],
                "step_values": [[0.5, 0.25], [0.0, 0.0], [1.0, 1.0]],
                "messages": [chat(at)] * 3,
            }
        ),
        "response",
        {"prompt": "problem", "reward": "is_correct", "ground_truth": "answer"},
        each=True,
    ),
    # https://huggingface.co/datasets/nebius/SWE-agent-trajectories
    "SWE-agent trajectories": Layout(
        rows(
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
        rows(
            lambda at: {
                "question": f"Make {at} of 1, 2 and 3.",
                "answer": f"{at} * 1",
                "task": "countdown_3arg",
                "prompt": [{"role": "user", "content": f"Make {at} of 1, 2 and 3. Think first."}],
                "model_responses": texts(at),
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
        rows(
            lambda at: {
                "problem": f"What is {at} and {at}?",
                "solution": f"We add {at} to {at}. " * 9,
                "answer": str(2 * at),
                "problem_type": "Algebra",
                "question_type": "math-word-problem",
                "source": "olympiads",
                "uuid": f"{at}6ca1fa0-0000-5000-9000-8c0b0a5e5d00",
                "is_reasoning_complete": [True, True],
                "generations": texts(at, 2),
                "correctness_math_verify": [True, at % 2 == 0],
                "correctness_llama": None,
                "finish_reasons": None,
                "correctness_count": 1,
                "messages": chat(at),
            }
        ),
        "generations",
        {"prompt": "problem", "reward": "correctness_math_verify", "ground_truth": "answer"},
        each=True,
    ),
    # https://huggingface.co/datasets/26hzhang/math_7.5k_qwen3-1.7b_rollout_n_10
    "rollouts in an object": Layout(
        rows(
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
                    "rollout_responses": texts(at),
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
        rows(
            lambda at: {
                "id": f"gsm8k-{at}",
                "generator": "Some-Model",
                "problem": f"Sue has {at} birds. How many has she after a year?",
                "steps": texts(at, 3 + at % 2),
                "final_answer_correct": at % 2 == 0,
                "label": -1,
            }
        ),
        "steps",
        {"prompt": "problem", "reward": "final_answer_correct"},
    ),
    # https://huggingface.co/datasets/alvarobartt/HelpSteer-AIF-raw
    "HelpSteer with a judge": Layout(
        rows(
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
        rows(
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
        rows(
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
        rows(
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
}
