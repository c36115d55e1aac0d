"""inspect_ai itself writes a log: four samples, each answered twice by a model that says what it is told to.

    python tests/writers/inspect_log.py {json,eval} OUT          # with inspect_ai and openai installed

Needs inspect_ai, and knows nothing of the board. A call of a tool and an example in the input are there, and each grade.
"""

import sys
from collections.abc import Iterator
from typing import Any

from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

MODEL = "mockllm/model"
CAPITAL = [
    ChatMessageUser(content="Capital of Spain?"),
    ChatMessageAssistant(content="Madrid."),
    ChatMessageUser(content="Capital of France?"),
]


def add() -> Any:
    """A tool that adds."""

    async def execute(x: int, y: int) -> str:
        """Add two numbers.

        Args:
          x: first
          y: second
        """
        return str(x + y)

    return execute


def graded() -> Any:
    """Each grade that there is, whatever the answer."""

    async def score(state: Any, target: Any) -> Score:
        return Score(value={"Paris": "C", "5": "P", "nothing": "N"}.get(target.text, "I"), answer=state.output.completion)

    return score


def outputs() -> Iterator[ModelOutput]:
    """What the model says, in the order of the samples; with its usage, since counting tokens would need the network."""
    for _ in range(2):
        for said in (None, "The answer is 5.", "It is Paris.", "No idea.", "Bytes."):
            made = (
                ModelOutput.for_tool_call(MODEL, "add", {"x": 2, "y": 3})
                if said is None
                else ModelOutput.from_content(MODEL, said)
            )
            made.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
            yield made


def sums() -> Task:
    """The samples."""
    return Task(
        dataset=[
            Sample(input="What is 2 + 3?", target="5", id="sum"),
            Sample(input=CAPITAL, target="Paris", id="capital"),
            Sample(input="Say nothing.", target="nothing", id="empty"),
            Sample(input="Who?", target="Ada", id="who"),
        ],
        solver=[system_message("You help."), use_tools(tool(add)()), generate()],
        scorer=scorer(metrics=[mean()])(graded)(),
    )


if __name__ == "__main__":
    kind, out = sys.argv[1:]
    limit = 2 if kind == "json" else None
    eval(
        task(sums)(),
        model=get_model(MODEL, custom_outputs=outputs()),
        log_dir=out,
        log_format=kind,
        display="none",
        max_samples=1,
        limit=limit,
        epochs=1 if kind == "json" else 2,
    )
