"""tinker-cookbook's own evaluators of speech save what a model transcribed: two evaluations of two clips, and one of emotions.

    python tests/writers/tinker_speech_log.py OUT          # with tinker-cookbook, its audio recipes' requirements and chz installed

Their savers and graders are called alone; no model runs. Needs tinker-cookbook, and knows nothing of the board.
"""

import sys
from types import SimpleNamespace

from tinker_cookbook.recipes.audio.asr.env import WEREvaluator
from tinker_cookbook.recipes.audio.emotion.env import score_response
from tinker_cookbook.recipes.audio.emotion.evaluate import ExpressoEvaluator
from tinker_cookbook.recipes.audio.grading import clip_wer, normalize_text

CLIPS = ("turn left here", "stop")


def main(out: str) -> None:
    """Save what was heard before and after training."""
    speech = SimpleNamespace(config=SimpleNamespace(log_path=f"{out}/asr"), _n_calls=0)
    for heard in (("turn left hear", ""), ("Turn left here.", "stop")):
        rows = [
            {
                "ref": ref,
                "hyp": hyp,
                "ref_norm": normalize_text(ref),
                "hyp_norm": normalize_text(hyp),
                "wer": clip_wer(ref, hyp),
                "termination": "stop_sequence",
            }
            for ref, hyp in zip(CLIPS, heard, strict=True)
        ]
        WEREvaluator._save_rollouts(speech, rows)
    emotion = SimpleNamespace(config=SimpleNamespace(log_path=f"{out}/emotion", split="test"), _n_calls=0)
    clips = [{"id": f"ex_{at}", "emotion": "happy", "text": text} for at, text in enumerate(CLIPS)]
    said = ("[happy] turn left here", "stop")
    rows = [
        {"id": clip["id"], "emotion": clip["emotion"], "ref": clip["text"], "raw": raw, **score_response(clip, raw)}
        for clip, raw in zip(clips, said, strict=True)
    ]
    ExpressoEvaluator._save_rollouts(emotion, rows)


if __name__ == "__main__":
    main(sys.argv[1])
