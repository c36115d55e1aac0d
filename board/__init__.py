"""RL Logging Board: from the kink in a training curve to the step, the rollout and the token that caused it.

`from board import open_run` works without Streamlit; `from board.recorder import RolloutRecorder` with numpy and orjson alone,
which is why nothing is imported here until it is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from board.cli.replies.queryable_run import open_run
    from board.recorder import RolloutRecorder
    from board.runs.run import Run

__version__ = "0.2.0"
__all__ = ["RolloutRecorder", "Run", "__version__", "open_run"]


def __getattr__(name: str) -> Any:
    try:
        if name == "open_run":
            from board.cli.replies.queryable_run import open_run

            return open_run
        if name == "Run":
            from board.runs.run import Run

            return Run
        if name == "RolloutRecorder":
            from board.recorder import RolloutRecorder

            return RolloutRecorder
    except ModuleNotFoundError as error:
        from board.errors import missing_library

        raise ImportError(missing_library(error, f"board.{name}")) from error
    raise AttributeError(f"module 'board' has no attribute {name!r}")
