"""Tests of where the system prompt of a prompt ends."""

import pytest

from board.text.system_prompts import Hiding, common_beginning, without_system_prompt

HIDDEN = Hiding()
SYSTEM: dict[str, tuple[str, Hiding | None, tuple[str, bool]]] = {
    "not hidden": ("be brief<endofsystem>hi", None, ("be brief<endofsystem>hi", False)),
    "the marker": ("be brief<endofsystem>\n\n hi", HIDDEN, (" hi", True)),
    "ChatML": (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n",
        HIDDEN,
        ("<|im_start|>user\nhi<|im_end|>\n", True),
    ),
    "Phi 4": (
        "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>hi<|im_end|>",
        HIDDEN,
        ("<|im_start|>user<|im_sep|>hi<|im_end|>", True),
    ),
    "ChatML without its special tokens": ("system\nBe brief.\nuser\nhi\nassistant\n", HIDDEN, ("user\nhi\nassistant\n", True)),
    "ChatML without one": ("<|im_start|>user\nhi<|im_end|>\n", HIDDEN, ("<|im_start|>user\nhi<|im_end|>\n", False)),
    "Llama 2": ("<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nhi [/INST]", HIDDEN, ("hi [/INST]", True)),
    "Llama 3": (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhi",
        HIDDEN,
        ("<|start_header_id|>user<|end_header_id|>\n\nhi", True),
    ),
    "Llama 4": (
        "<|begin_of_text|><|header_start|>system<|header_end|>\n\nBe brief.<|eot|><|header_start|>user<|header_end|>\n\nhi",
        HIDDEN,
        ("<|header_start|>user<|header_end|>\n\nhi", True),
    ),
    "Mistral": ("<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]hi[/INST]", HIDDEN, ("[INST]hi[/INST]", True)),
    "Gemma": (
        "<bos><start_of_turn>system\nBe brief.<end_of_turn>\n<start_of_turn>user\nhi",
        HIDDEN,
        ("<start_of_turn>user\nhi", True),
    ),
    "DeepSeek": ("<｜begin▁of▁sentence｜>Be brief.<｜User｜>hi", HIDDEN, ("<｜User｜>hi", True)),
    "DeepSeek 2": ("<｜begin▁of▁sentence｜>Be brief.\n\nUser: hi\n\nAssistant:", HIDDEN, ("User: hi\n\nAssistant:", True)),
    "DeepSeek 2 without one": (
        "<｜begin▁of▁sentence｜>User: hi\n\nUser: ",
        HIDDEN,
        ("<｜begin▁of▁sentence｜>User: hi\n\nUser: ", False),
    ),
    "DeepSeek without one": ("<｜begin▁of▁sentence｜><｜User｜>hi", HIDDEN, ("<｜begin▁of▁sentence｜><｜User｜>hi", False)),
    "GLM": ("[gMASK]<sop><|system|>\nBe brief.<|user|>\nhi", HIDDEN, ("<|user|>\nhi", True)),
    "messages": ("system:\nBe brief.\n\nuser:\nhi", HIDDEN, ("user:\nhi", True)),
    "messages with an example in the system prompt": (
        "system:\nAn example:\nuser:\nhi\nuser\nho\n\nuser:\nhi",
        HIDDEN,
        ("user:\nhi", True),
    ),
    "DeepSeek with an example in the system prompt": (
        "<｜begin▁of▁sentence｜>An example:\n\nUser: ho\n<｜User｜>hi",
        HIDDEN,
        ("<｜User｜>hi", True),
    ),
    "what all begin with": ("Solve this task.\nhi", Hiding(common="Solve this task.\n"), ("hi", True)),
    "another beginning": ("hi", Hiding(common="Solve this task.\n"), ("hi", False)),
    "a typed end comes first": ("a<endofsystem>b.END.\nc", Hiding(".END."), ("c", True)),
    "a typed end that is not there": ("a<endofsystem>b", Hiding(".END."), ("a<endofsystem>b", False)),
    "a typed end twice": ("aXbXc", Hiding("X"), ("bXc", True)),
}


@pytest.mark.parametrize(("prompt", "hiding", "expected"), SYSTEM.values(), ids=SYSTEM)
def test_system_prompts_are_cut_off(prompt: str, hiding: Hiding | None, expected: tuple[str, bool]) -> None:
    """Behind the system prompt as its template, the reader, or all prompts tell it, without empty lines on top."""
    assert without_system_prompt(prompt, hiding) == expected


COMMON: dict[str, tuple[list[str], str]] = {
    "up to a line end": ([f"You are a careful assistant.\nQ: {one}" for one in "abc"], "You are a careful assistant.\n"),
    "up to a space": ([f"Answer with one number only: {one}" for one in "abc"], "Answer with one number only: "),
    "two are too few": ([f"You are a careful assistant.\n{one}" for one in "ab"], ""),
    "one prompt again and again": (["You are a careful assistant.\nhi"] * 9, ""),
    "next to nothing": ([f"What is {one}?" for one in "abc"], ""),
    "special tokens alone": ([f"<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{one}" for one in "abc"], ""),
    "none": ([], ""),
}


@pytest.mark.parametrize(("prompts", "expected"), COMMON.values(), ids=COMMON)
def test_what_all_prompts_begin_with(prompts: list[str], expected: str) -> None:
    """A stretch that says something, of at least three prompts, not cut within a word."""
    assert common_beginning(prompts) == expected
