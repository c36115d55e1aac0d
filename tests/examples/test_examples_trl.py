"""examples/trl_grpo with TRL itself: a few steps on a CPU, held against TRL's own log of them. Slow: it may have to install TRL."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from environments import python_with

from board import Run, open_run

ROOT = Path(__file__).parents[2]
STEPS = 4

pytestmark = pytest.mark.installs


@pytest.fixture(scope="module")
def python_with_trl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter that has TRL: the one RL_BOARD_TRL_PYTHON names, else a new environment."""
    requirements = str(ROOT / "examples/trl_grpo/requirements.txt")
    return python_with(tmp_path_factory.mktemp("trl"), "RL_BOARD_TRL_PYTHON", "-r", requirements)


def train(python: str, out: Path, *options: str) -> Path:
    """The folder of a run that TRL trained and the recorder recorded."""
    command = [python, "-m", "examples.trl_grpo.run_tiny", "--out", str(out), "--steps", str(STEPS), *options]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


@pytest.fixture(scope="module")
def trained(python_with_trl: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a data set of plain prompts."""
    return train(python_with_trl, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def conversed(python_with_trl: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a conversational data set that does not train on truncated completions."""
    return train(python_with_trl, tmp_path_factory.mktemp("chat"), "--chat", "--mask-truncated")


@pytest.fixture
def recorded(trained: Path) -> Run:
    """The recorded rollouts as the board opens them."""
    return open_run(trained / "rollouts")


def test_the_same_rollouts_as_trls_own_log(trained: Path, recorded: Run) -> None:
    """Each step holds the prompts, rewards and advantages that TRL logged for it, those it has no reward for missing in both."""
    logs = [pd.read_parquet(path) for path in sorted((trained / "trainer/completions").glob("*.parquet"))]
    theirs = pd.concat(logs).rename(columns={"digits": "rewards.digits", "starts_with_digit": "rewards.starts_with_digit"})
    ours = recorded.frame.assign(
        advantage=recorded.frame["advantage_mean"], prompt=recorded.texts("prompt", recorded.frame.index.to_numpy())
    )
    columns = ["step", "prompt", "rewards.digits", "rewards.starts_with_digit", "advantage"]
    ours, theirs = (frame[columns].sort_values(columns[:1] + columns[2:], ignore_index=True) for frame in (ours, theirs))

    assert len(ours) == STEPS * 8
    assert theirs["rewards.starts_with_digit"].isna().any()
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, check_index_type=False, rtol=1e-5, atol=1e-6)


def test_rewards_are_weighted(recorded: Run) -> None:
    """The reward is the sum TRL computes its advantages from: by weight, what is missing left out."""
    frame = recorded.frame
    expected = frame["rewards.digits"] + 0.5 * frame["rewards.starts_with_digit"].fillna(0)

    np.testing.assert_allclose(frame["reward"], expected, rtol=1e-6)


def test_token_arrays_fit_the_tokens(recorded: Run) -> None:
    """Every token has its logprob, reference, entropy, id and text, in the ranges these have, and the tokens join to the response."""
    assert recorded.report.problems == []
    for key in recorded.frame.index:
        rollout = recorded.rollout(key)
        length = len(rollout["response_tokens"])
        for name in ("logprobs", "ref_logprobs", "entropies", "advantages", "loss_mask", "response_token_ids"):
            assert rollout[name].shape == (length,)
        assert (rollout["logprobs"] < 0).all()
        assert (rollout["entropies"] > 0).all()
        assert (rollout["loss_mask"] == 1).all()


def test_the_first_step_is_the_reference(recorded: Run) -> None:
    """Before the first update policy and reference agree on every token, and afterwards they do not."""
    ratio = recorded.frame.groupby("step")["log_ratio_max"].agg(lambda column: column.abs().max())

    assert ratio[1] < 1e-5
    assert (ratio[2:] > 1e-4).all()


def test_groups_share_a_prompt(recorded: Run) -> None:
    """Groups are TRL's: four rollouts of one prompt, whose advantages add up to nothing."""
    frame = recorded.frame.assign(prompt=recorded.texts("prompt", recorded.frame.index.to_numpy()))
    groups = frame.groupby(["step", "group_id"], observed=True)

    assert set(groups.size()) == {4}
    assert set(groups["prompt"].nunique()) == {1}
    np.testing.assert_allclose(groups["advantage_mean"].sum(), 0, atol=1e-4)


def test_trls_log_of_conversations_opens(conversed: Path) -> None:
    """Messages become text: the prompt with its roles, the completion of one turn alone, as the recorder saw it."""
    logged, recorded = open_run(conversed / "trainer"), open_run(conversed / "rollouts")
    responses, ours = (run.texts("response", run.frame.index.to_numpy()).to_pylist() for run in (logged, recorded))

    assert (logged.report.formats, logged.report.problems) == ({"TRL GRPO": STEPS}, [])
    assert sorted(responses) == sorted(text.replace("<eos>", "").replace("<pad>", "") for text in ours)
    assert all(
        text.startswith("system:\nAnswer with a number.\n\nuser:\n")
        for text in logged.texts("prompt", logged.frame.index.to_numpy()).to_pylist()
    )


def test_what_trl_never_computed_is_missing(conversed: Path) -> None:
    """Of a completion masked as truncated there are no logprobs, entropies or reference, rather than 0; of the others there are."""
    run = open_run(conversed / "rollouts")
    computed = ("logprobs", "ref_logprobs", "entropies")

    assert run.report.problems == []
    assert set(run.frame["truncated"]) == {0, 1}
    for key, truncated in run.frame["truncated"].items():
        rollout = run.rollout(int(str(key)))
        assert (rollout["loss_mask"] == 1 - truncated).all()
        for name in computed:
            assert np.isnan(rollout[name]).all() if truncated else (rollout[name] != 0).all()
    assert run.frame.loc[run.frame["truncated"] == 1, ["logprob_mean", "kl_k3_mean", "entropy_mean"]].isna().all(axis=None)
