"""Plotly figures of frames and arrays, one function per chart; for notebooks, of a run.

    from board import figures, open_run

    run = open_run("rollout_samples/tiny_ppo_hacked")
    figures.reward_curve(run)              # mean reward by step, with a band
    figures.metric(run, "kl/k3_mean")      # any metric of the catalogue, with its healthy range
    figures.reward_histogram(run, 100)     # one step's rewards

Each gives a `plotly.graph_objects.Figure`, which a notebook draws where it stands last in a cell.
"""

from board.figures.of_run import metric, reward_curve, reward_histogram

__all__ = ["metric", "reward_curve", "reward_histogram"]
