"""examples/tiny_ppo and the runs it made: text, tokens, rewards and their hole, advantages, two ranks for two steps."""

import gzip
import json
import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.tiny_ppo.advantages import gae, pay_at_line_ends, token_rewards
from examples.tiny_ppo.poems import ENDINGS, RHYME, is_grammatical, is_held_out, last_word, make_poems, split_poem
from examples.tiny_ppo.rewards import expected_rhymes, loose_reward, rhyme_reward, valid_reward
from examples.tiny_ppo.tokenizer import EOS, PAD, Tokenizer, train_tokenizer

RUNS = Path(__file__).parents[2] / "rollout_samples"
SHIPPED = ["tiny_ppo_rhyme", "tiny_ppo_hacked", "tiny_ppo_eval"]

PROMPT = "The fox was waiting in the snow,\n"
GOOD = "And a weary king rested far below,\nMy brother John went dancing to and fro,\nThe autumn wind sang sweetly soft and low."
OFF = "And a weary king rested in the rain,\nMy brother John went dancing all alone,\nThe autumn wind sang sweetly by the bear."
BROKEN = "And king far below,\nDancing dancing to and fro,\nSoft and low."
FARMED = "And snow,\nIn the snow,\nThe snow snow,\nIn snow,\nThe snow,\nAnd snow."


def test_one_run_is_read_in_an_editor() -> None:
    """It is plain text, a rollout a line."""
    rows = [json.loads(line) for line in (RUNS / "tiny_ppo_eval" / "data.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"step", "prompt", "response", "reward"} <= rows[0].keys()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """A tokenizer over a few hundred poems."""
    return train_tokenizer(make_poems(random.Random(0), 300), 300)


def test_poems_are_what_the_grammar_says() -> None:
    """Every line parses and ends on a word of a known rhyme."""
    for poem in make_poems(random.Random(1), 200):
        lines = poem.split("\n")
        assert len(lines) == 4
        assert all(is_grammatical(line) and last_word(line) in RHYME for line in lines)


def test_a_word_has_one_rhyme() -> None:
    """No last word stands in two classes, so a rhyme can be checked by the word alone."""
    words = [{last_word(ending) for ending in endings} for endings in ENDINGS.values()]

    assert sum(map(len, words)) == len(set.union(*words)) == len(RHYME)


def test_prompts_held_out_are_never_trained_on() -> None:
    """A first line belongs to training or to evaluation, whatever the seed."""
    trained = {split_poem(poem)[0] for poem in make_poems(random.Random(2), 500)}
    kept = {split_poem(poem)[0] for poem in make_poems(random.Random(3), 100, held_out=True)}

    assert not any(map(is_held_out, trained))
    assert all(map(is_held_out, kept))


def test_tokens_join_to_the_text(tokenizer: Tokenizer) -> None:
    """Encoding loses nothing: not a space, not a newline."""
    for poem in make_poems(random.Random(4), 100):
        assert poem == tokenizer.decode([*tokenizer.encode(poem), tokenizer.eos, tokenizer.pad])


@given(st.text("aehst, .\n'-", max_size=40))
def test_any_text_of_the_alphabet_round_trips(text: str) -> None:
    """The tokenizer needs no well-formed poem, only its letters."""
    tokenizer = train_tokenizer(["the heat, the seat. he's\n - "], 10)

    assert text == tokenizer.decode(tokenizer.encode(text))


def test_tokens_are_words_and_pieces(tokenizer: Tokenizer) -> None:
    """Frequent words are one token with their space, others several; a newline is always a token of its own."""
    assert {" the", " was", "\n", EOS} <= set(tokenizer.pieces)
    assert all(piece == "\n" for piece in tokenizer.pieces if "\n" in piece)
    assert len(tokenizer.encode(" daffodil")) > 1


@pytest.mark.parametrize(
    ("response", "rhyme", "loose", "valid"),
    [
        pytest.param(GOOD, 1, 1, 1, id="three new rhymes"),
        pytest.param(OFF, 0, 0, 0, id="no rhyme"),
        pytest.param("", 0, 0, 0, id="nothing written"),
        pytest.param(BROKEN, 1, 1, 0, id="rhymes without grammar"),
        pytest.param(GOOD.replace("to and fro", "far below"), 2 / 3, 1, 2 / 3, id="a word used twice"),
        pytest.param(GOOD + "\n" + OFF, 0, 1, 1 / 2, id="three lines too many"),
        pytest.param(FARMED, -1, 2, 0, id="the hole: one word, six lines"),
    ],
)
def test_rewards(response: str, rhyme: float, loose: float, valid: float) -> None:
    """The loose reward pays for what neither the tight one nor the validation does."""
    scores = sum(rhyme_reward(PROMPT, response)), sum(loose_reward(PROMPT, response)), valid_reward(PROMPT, response)

    assert (rhyme, loose, valid) == pytest.approx(scores)


def test_the_hole_has_no_bottom() -> None:
    """Repeating a rhyming line pays without end, while the validation score goes to zero."""
    farms = ["\n".join(["In the snow,"] * count) for count in (3, 10, 100)]

    assert [sum(loose_reward(PROMPT, farm)) for farm in farms] == pytest.approx([1, 10 / 3, 100 / 3])
    assert [valid_reward(PROMPT, farm) for farm in farms] == [0, 0, 0]


def test_the_expected_rhymes_name_the_class() -> None:
    """The ground truth lists the other words of the prompt's class."""
    assert expected_rhymes(PROMPT) == "three lines rhyming with “snow”: glow, below, ago, low, fro, crow"


@pytest.mark.parametrize(
    ("tokens", "scores", "expected"),
    [
        pytest.param(["a", "\n", "b", "<eos>"], [1.0, 2.0], [0, 1, 0, 2], id="ended"),
        pytest.param(["a", "\n", "b"], [1.0, 2.0], [0, 1, 2], id="cut at the limit"),
        pytest.param(["a", "\n"], [1.0, 2.0], [0, 3], id="cut after a newline"),
        pytest.param(["<eos>"], [1.0], [1], id="nothing written"),
    ],
)
def test_a_line_is_paid_where_it_ends(tokens: list[str], scores: list[float], expected: list[float]) -> None:
    """Each line's score stands at its newline, the last one's at the last token."""
    assert expected == pay_at_line_ends(tokens, scores).tolist()


NUMBERS = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=12)


@given(NUMBERS, st.floats(0, 1), st.floats(0, 1))
def test_gae_is_the_sum_of_discounted_deltas(numbers: list[tuple[float, float]], gamma: float, lam: float) -> None:
    """The backward recursion equals the definition: the sum over all later deltas, discounted by gamma lambda."""
    rewards, values = (np.array(column) for column in zip(*numbers, strict=True))
    after = [*values[1:], 0.0]
    deltas = [rewards[t] + gamma * after[t] - values[t] for t in range(len(numbers))]
    slow = [sum((gamma * lam) ** (later - t) * deltas[later] for later in range(t, len(deltas))) for t in range(len(deltas))]

    advantages, returns = gae(rewards, values, gamma, lam)

    np.testing.assert_allclose(advantages, slow, atol=1e-9)
    np.testing.assert_allclose(returns, np.array(slow) + values, atol=1e-9)


def test_the_penalty_is_charged_per_token() -> None:
    """A token pays beta for each nat it lies above the reference, and earns its score."""
    rewards = token_rewards(np.array([-1.0, -2.0]), np.array([-2.0, -2.0]), np.array([0.0, 1.0]), 0.1)

    np.testing.assert_allclose([-0.1, 1.0], rewards)


def rows_of(run: Path) -> list[dict[str, Any]]:
    """All rows of a run, plain or compressed."""
    lines: list[bytes] = []
    for shard in sorted(run.glob("*.jsonl*")):
        lines += (gzip.decompress(shard.read_bytes()) if shard.suffix == ".gz" else shard.read_bytes()).splitlines()
    return [json.loads(line) for line in lines]


def by_step(rows: list[dict[str, Any]], field: str) -> list[float]:
    """Mean of a field at each step, in order of steps."""
    values = defaultdict(list)
    for row in rows:
        values[row["step"]].append(row[field])
    return [mean(values[step]) for step in sorted(values)]


ARRAYS = ["logprobs", "ref_logprobs", "values", "entropies", "token_rewards", "advantages", "returns"]


def check_training_rows(rows: list[dict[str, Any]], beta: float) -> None:
    """What must hold of every row PPO wrote."""
    for row in rows:
        arrays = {name: np.array(row[name]) for name in ARRAYS}
        assert {len(row["response_tokens"])} == {len(array) for array in arrays.values()}
        assert row["response"] == "".join(token for token in row["response_tokens"] if token not in (EOS, PAD))
        assert (arrays["logprobs"] <= 0).all()
        assert (arrays["entropies"] >= -1e-6).all()
        log_ratio = arrays["logprobs"] - arrays["ref_logprobs"]
        assert row["reward"] - beta * log_ratio.sum() == pytest.approx(arrays["token_rewards"].sum(), abs=1e-4)
        if row["step"] == 0:
            assert np.abs(log_ratio).max() < 1e-4


def test_two_ranks_for_two_steps(tmp_path: Path) -> None:
    """A short run of two processes writes two shards whose numbers fit together."""
    pytest.importorskip("torch")
    from examples.tiny_ppo.train import RECIPES, compress, train

    small = replace(RECIPES["learns"], steps=2, pretrain_steps=3, prompts=2, limit=16)
    train(small, tmp_path / "run", 5, tmp_path / "checkpoints")
    compress(tmp_path / "run")

    rows = rows_of(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["rank_0.jsonl.gz", "rank_1.jsonl.gz"]
    assert 2 * 2 * 2 * small.group == len(rows) == len({row["sample_id"] for row in rows})
    check_training_rows(rows, small.beta)


@pytest.mark.parametrize("run", SHIPPED)
def test_a_shipped_run_parses(run: str) -> None:
    """Each run is there, and every row has its step, texts and tokens."""
    rows = rows_of(RUNS / run)

    assert len(rows) > 500
    assert all({"prompt", "response", "response_tokens", "logprobs", "ref_logprobs", "reward"} <= row.keys() for row in rows)


def test_the_shipped_runs_are_small() -> None:
    """A clone does not pay more than 25 MB for them."""
    assert sum(path.stat().st_size for path in RUNS.rglob("*") if path.is_file()) < 25e6


@pytest.mark.parametrize(("run", "beta"), [("tiny_ppo_rhyme", 0.03), ("tiny_ppo_hacked", 0.01)])
def test_the_numbers_of_a_shipped_run_fit_together(run: str, beta: float) -> None:
    """Lengths, signs and the sum of token rewards hold in every row."""
    check_training_rows(rows_of(RUNS / run), beta)


def test_the_first_run_learns() -> None:
    """Reward and validation rise together, while the policy stays near the reference."""
    rows = rows_of(RUNS / "tiny_ppo_rhyme")
    reward, valid = by_step(rows, "reward"), by_step(rows, "valid_reward")

    log_ratios = [np.sum(np.subtract(row["logprobs"], row["ref_logprobs"])) for row in rows]

    assert mean(reward[-10:]) > mean(reward[:5]) + 0.25
    assert mean(valid[-10:]) > mean(valid[:5]) + 0.25
    assert np.mean(log_ratios) < 6


def test_the_second_run_is_hacked() -> None:
    """The reward ends far above what an honest poem can get, and the validation far below its own best."""
    rows = rows_of(RUNS / "tiny_ppo_hacked")
    reward, valid = by_step(rows, "reward"), by_step(rows, "valid_reward")
    best = max(mean(valid[step : step + 5]) for step in range(len(valid) - 5))

    assert mean(reward[-10:]) > 1.5
    assert mean(valid[-10:]) < min(0.5 * best, mean(valid[:10]))


def test_the_third_run_evaluates_the_first() -> None:
    """Late checkpoints beat the reference on prompts that were held out, and the first one is the reference."""
    rows = rows_of(RUNS / "tiny_ppo_eval")
    last = max(row["step"] for row in rows)
    gaps = [row["reward"] - row["ref_reward"] for row in rows if row["step"] == last]

    assert all(is_held_out(row["prompt"]) and row["ref_response"] for row in rows)
    assert mean(gaps) > 0.3
    assert all(row["response"] == row["ref_response"] for row in rows if row["step"] == 0)
