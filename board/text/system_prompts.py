"""The end of a system prompt: by chat template, by a text, or by what prompts share."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_TEMPLATES: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r".*?<endofsystem>",
        r"\s*<\|im_start\|>system(?:\n|<\|im_sep\|>).*?<\|im_end\|>",  # ChatML, also Phi 4's
        r"\s*(?:<\|begin_of_text\|>)?<\|(?:start_)?header(?:_id)?(?:_start)?\|>system<\|(?:end_)?header(?:_id)?(?:_end)?\|>.*?<\|eot(?:_id)?\|>",
        r"\s*(?:<s>)?\s*\[INST\]\s*<<SYS>>.*?<</SYS>>",  # Llama 2
        r"\s*(?:<s>)?\s*\[SYSTEM_PROMPT\].*?\[/SYSTEM_PROMPT\]",  # Mistral
        r"\s*(?:<bos>)?<start_of_turn>(?:system|developer)\n.*?<end_of_turn>",  # Gemma
        r"\s*<｜begin▁of▁sentence｜>(?!<｜).+?(?=<｜User｜>)",  # DeepSeek
        r"\s*<｜begin▁of▁sentence｜>(?!<｜|User: ).+?(?=\n\nUser: )",  # DeepSeek 2
        r"\s*(?:\[gMASK\]<sop>)?<\|system\|>.*?(?=<\|user\|>)",  # GLM, Phi, Zephyr
        r"\s*<\|start\|>system<\|message\|>.*?<\|end\|>(?:<\|start\|>developer<\|message\|>.*?<\|end\|>)?",  # gpt-oss
        r"(?:system|developer):\n.*?(?=\n\nuser:\n)",  # chat messages, as the board writes them
        r"system\n.*?(?=\nuser\n)",  # ChatML without its special tokens
    )
)
"""What a system prompt looks like at the beginning of a prompt."""

_EMPTY_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)+")
_SPECIAL: Final = re.compile(r"<[|｜]?[^<>\s]{1,40}[|｜]?>|\[/?INST\]")

LEAST_COMMON: Final = 20
"""Characters, not counting special tokens, that all prompts must share at their start: fewer are how questions begin."""


class Hiding(NamedTuple):
    """How system prompts are found that are to be hidden."""

    end: str = ""
    """Text that ends them; empty to find them by templates."""
    common: str = ""
    """What all prompts of the run begin with, where no template does."""


def without_system_prompt(prompt: str, hiding: Hiding | None) -> tuple[str, bool]:
    """The prompt behind its system prompt, without empty lines on top, and whether there was one."""
    stop = 0 if hiding is None else _stop(prompt, hiding)
    if not stop:
        return prompt, False
    lines = _EMPTY_LINES.match(prompt, stop)
    return prompt[lines.end() if lines else stop :], True


def _stop(prompt: str, hiding: Hiding) -> int:
    if hiding.end:
        at = prompt.find(hiding.end)
        return at + len(hiding.end) if at >= 0 else 0
    found = next((match for one in _TEMPLATES if (match := one.match(prompt))), None)
    if found:
        return found.end()
    return len(hiding.common) if hiding.common and prompt.startswith(hiding.common) else 0


def common_beginning(prompts: Sequence[str]) -> str:
    """What all of at least three different prompts begin with, up to a line end or else a space; empty where that is next to nothing."""
    different = {*prompts}
    first, last = (min(different), max(different)) if len(different) > 2 else ("", "")
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    shared = first[:length]
    cut = shared.rfind("\n") + 1 or shared.rfind(" ") + 1
    return shared[:cut] if len(_SPECIAL.sub("", shared[:cut]).strip()) >= LEAST_COMMON else ""
