"""ART itself writes a run: two steps of training and an evaluation, logged by `model.log` as a training loop does.

    python tests/writers/art_log.py OUT          # with openpipe-art installed

Needs ART, and knows nothing of the board. The rows are put together by hand: a tool call, a second turn, tokens by id and by text.
"""

import asyncio
import inspect
import sys
from pathlib import Path
from typing import Any

import art
from openai.types.chat.chat_completion import Choice

CALL = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 2}'}}]
ADD = {"name": "add", "description": "adds", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}


def choice(content: str | None, *tokens: tuple[str, float], **fields: Any) -> Choice:
    """What the policy answered, with the logprobs of its tokens where it has any."""
    entries: list[dict[str, Any]] = [
        {"token": token, "logprob": logprob, "bytes": None, "top_logprobs": []} for token, logprob in tokens
    ]
    message = {"role": "assistant", "content": content, **fields}
    logprobs = {"content": entries} if entries else None
    return Choice.model_validate({"finish_reason": "stop", "index": 0, "message": message, "logprobs": logprobs})


def groups() -> list[art.TrajectoryGroup]:
    """Two prompts, the first answered twice."""
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    by_tool = art.Trajectory(
        messages_and_choices=[
            *asked,
            choice(None, tool_calls=CALL),
            {"role": "tool", "tool_call_id": "c1", "content": "4"},
            choice("It is 4."),
        ],
        tools=[{"type": "function", "function": ADD}],
        reward=1.0,
        metrics={"correct": 1, "turns": 2},
        metadata={"source": "sums", "row": 3},
        logs=["added"],
    )
    wrong = art.Trajectory(messages_and_choices=[*asked, choice("5", ("token_id:20", -0.25))], reward=0.0, metrics={"correct": 0})
    alone = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": "3+3?"}, choice("6 ✓", ("6", -0.125), (" ✓", -1.5))], reward=1.0
    )
    first = art.TrajectoryGroup([by_tool, wrong], metadata={"difficulty": "easy"}, metrics={"spread": 0.5})
    return [first, art.TrajectoryGroup([alone])]


async def log(out: Path) -> None:
    """Everything that ART keeps of three calls, under `out/sums/models/tiny`."""
    newer = {"run_name": "tiny"} if "run_name" in inspect.signature(art.TrainableModel.__init__).parameters else {}
    model = art.TrainableModel(name="tiny", **newer, project="sums", base_model="none", base_path=str(out), report_metrics=[])
    for split, step in (("train", 1), ("train", 2), ("val", 2)):
        await model.log(groups(), split=split, step=step, metrics={"loss/train": 0.5})


if __name__ == "__main__":
    asyncio.run(log(Path(sys.argv[1])))
