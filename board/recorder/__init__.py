"""What a training loop imports to write rollouts: JSON lines, one rollout each, that the board reads as they are.

    with RolloutRecorder("runs/my_run", rank=rank) as recorder:
        recorder.write(step=step, prompt=prompt, response_tokens=tokens, logprobs=logprobs, reward=reward)

Needs numpy and orjson alone, and is written with what the board reads rows by.
"""

from board.errors import missing_library

try:
    from board.recorder.recorder import RolloutRecorder
except ModuleNotFoundError as error:
    raise ImportError(missing_library(error, "board.recorder")) from error

__all__ = ["RolloutRecorder"]
