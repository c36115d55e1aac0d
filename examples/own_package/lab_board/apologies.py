"""A kind of finding: many responses apologise."""

import numpy as np

from board.findings.context import Context
from board.findings.contract import Answer, Found, Kind, Limits, Threshold


def _look(context: Context, limits: Limits) -> Answer:
    texts = context.texts("response", np.arange(len(context.frame)))
    apologies = np.array(["i'm sorry" in (text or "").lower() for text in texts])
    share = float(apologies.mean())
    if share < limits["share"]:
        return None
    steps = context.frame["step"].to_numpy()[apologies]
    return Found(
        effect=f"{100 * share:.0f} % of the responses say that they are sorry",
        first_step=int(steps.min()),
        last_step=int(steps.max()),
        crossed="share",
        measured=share,
        strength=float(np.sqrt(apologies.sum())),
        rollouts=context.clearest(apologies),
    )


KIND = Kind(
    name="apologies",
    title="Responses apologise",
    severity="warning",
    says="Many responses say that they are sorry.",
    formula='Share of the responses with "I\'m sorry".',
    thresholds=(Threshold("share", 0.2, "share of the responses", "our judgement"),),
    means="The policy refuses, which the reward model may pay for.",
    looks_like="Prompts that ask for an apology.",
    next=(("responses", "read some of them"),),
    run=_look,
    needs=("response",),
)
