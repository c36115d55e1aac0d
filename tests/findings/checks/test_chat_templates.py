"""Tokens of a conversation beside its messages: what a chat template adds is no other text."""

import json
import re
from pathlib import Path

import pytest
from rows import row
from sound_run import examined, names

TEMPLATES = {
    "ChatML": "{0}<|im_end|>\n<|im_start|>tool\n{1}<|im_end|>\n<|im_start|>assistant\n{2}<|im_end|>",
    "Llama 3": "{0}<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{1}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n{2}",
    "Gemma": "{0}<end_of_turn>\n<start_of_turn>tool\n{1}<end_of_turn>\n<start_of_turn>model\n{2}<end_of_turn>",
}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize(("said", "alike"), [("It is sunny there.", True), ("Nobody knows that.", False)], ids=["same", "other"])
def test_a_chat_template_is_no_other_text(tmp_path: Path, template: str, said: str, alike: bool) -> None:
    """Messages are compared turn by turn: roles, tags and the way in which calls are written belong to the template."""
    arguments = {"city": "Bern", "days": 3}
    messages = [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"function": {"name": "weather", "arguments": json.dumps(arguments)}}],
        },
        {"role": "tool", "content": "sunny, 20 degrees"},
        {"role": "assistant", "content": "It is sunny there."},
    ]
    call = f"I look.<tool_call>\n{json.dumps({'name': 'weather', 'arguments': arguments})}\n</tool_call>"
    tokens = re.findall(r"\s?\w+|\s|[^\w\s]", template.format(call, "sunny, 20 degrees", said))

    checked = examined(tmp_path / "run", [row(0, prompt="p", response=messages, response_tokens=tokens)])

    assert ("text" in names(checked)) is not alike
