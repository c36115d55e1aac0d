"""board.recorder: what a recorder and whoever opens its run make of padded rows."""

import io
from pathlib import Path

import pandas as pd
import pytest
from recorded import shard_of

from board import open_run
from board.recorder import RolloutRecorder

PAD = "<|extra_0|>"


def _recorded(folder: Path, pads: int, step_bytes: int | None) -> list[str]:
    """What the tracker is told of two groups whose rows have so many pads at both ends, or up to that."""
    stream = io.StringIO()
    kwargs = {"stream": stream, "format": "jsonl"}
    with RolloutRecorder(folder, track_with="stdout", tracker_kwargs=kwargs, step_bytes=step_bytes, pads=[PAD]) as recorder:
        for at in range(8):
            left, right = at % (pads + 1), (at // 2) % (pads + 1)
            recorder.write(
                step=1,
                prompt=PAD * left + f"Q{at % 2}",
                response=PAD * left + "ab" + "<pad>" * right,
                response_tokens=[PAD] * left + ["a", "b"] + ["<pad>"] * right,
                logprobs=[9.0] * left + [-1.0, -2.0 - at] + [9.0] * right,
                ref_logprobs=[0.0] * left + [-1.5, -2.0] + [0.0] * right,
                reward=float(at),
            )
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("step_bytes", [None, 0], ids=["arrays", "arrays left out"])
def test_padding_enters_no_number(tmp_path: Path, step_bytes: int | None) -> None:
    """The tracker is told what it is told of the rows without padding, and so is whoever opens the run; the rows stand as given."""
    plain, padded = (_recorded(tmp_path / name, pads, step_bytes) for name, pads in (("plain", 0), ("padded", 3)))

    assert padded == plain
    one, other = (open_run(tmp_path / name).frame.drop(columns=["offset"], errors="ignore") for name in ("plain", "padded"))
    pd.testing.assert_frame_equal(one, other)
    assert (tmp_path / "padded" / "rollouts.toml").read_text(encoding="utf-8") == 'pads = ["<|extra_0|>"]\n'
    assert PAD in shard_of(tmp_path / "padded").read_text(encoding="utf-8")


def test_a_mapping_that_is_there_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What somebody wrote beside the rows is left alone."""
    (tmp_path / "rollouts.toml").write_text('pads = ["<x>"]\n', encoding="utf-8")

    with RolloutRecorder(tmp_path, pads=["<y>"]) as recorder:
        recorder.write(step=1, response="a")

    assert not caplog.records
    assert (tmp_path / "rollouts.toml").read_text(encoding="utf-8") == 'pads = ["<x>"]\n'
