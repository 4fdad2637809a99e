"""Claim: where batches are late, decoupled PPO, TIS and CISPO do better than plain clipping."""

import math
from dataclasses import replace

from grpo_ref.corrections import truncated
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.late_data import FAMILY, UPDATES, Anchor, late
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import cispo, clipped

OLD = 8
"""Updates between the sampler and the learner; the paper's eta goes up to 8 without loss."""
MATTERS = 0.02
"""The largest difference in the share of right completions that does not matter."""
FEW = 2
"""a and b up to this are 9 questions, so that in 8 updates each of them has been learned from many times."""
RATES = (0.3, 1.0, 3.0)
ENDINGS = {"mean correct": "", "final correct": ", for the end"}
"""Measure by which the learning rate is chosen -> ending of the arm's label."""
CLIPPED = replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))


def _weighted(max_ratio: float) -> Recipe:
    """Clipping around the learner, and a weight of learner over sampler for every token."""
    return replace(CLIPPED, corrections=(slot(truncated, max_ratio=max_ratio),))


METHODS: dict[str, tuple[Recipe, Anchor]] = {
    "clipping": (CLIPPED, "sampler"),
    "decoupled": (_weighted(math.inf), "learner"),
    "TIS": (_weighted(2.0), "learner"),
    "CISPO": (replace(CLIPPED, surrogate=slot(cispo, max_ratio=5.0)), "sampler"),
    "no weight": (CLIPPED, "learner"),
}
"""Recipes, and around whose log-probabilities they clip."""
AGES = {
    "clipping": (0, 2, OLD),
    "decoupled": (0, 2, OLD),
    "TIS": (OLD,),
    "CISPO": (OLD,),
    "no weight": (OLD,),
}


def _aged(label: str, method: str, age: int, **fixed: int) -> dict[str, Arm]:
    """Return a training twice: with the learning rate that is best on average, and best at the end."""
    recipe, anchor = METHODS[method]
    return {
        label + ending: tuned(
            late,
            Tuning("learning_rate", RATES, by=measure),
            recipe=recipe,
            anchor=anchor,
            age=age,
            fixed=fixed,
        )
        for measure, ending in ENDINGS.items()
    }


def _at(method: str, age: int = OLD) -> str:
    return f"{method}, {age}"


def _few(method: str, age: int = OLD) -> str:
    return f"few, {_at(method, age)}"


def _beats_clipping(method: str, age: int, measure: str, *, main: bool = False) -> Prediction:
    what = {"final": "ends higher", "mean": "learns faster"}[measure]
    says = f"{age} updates late, {method} {what} than plain clipping"
    return _compared(says, f"{measure} correct", _at(method, age), "more", _at("clipping", age), main=main)


def _compared(
    says: str, measure: str, left: str, expect: Expectation, right: str, *, main: bool = False
) -> Prediction:
    ending = ENDINGS[measure]
    return Prediction(says, measure, left + ending, expect, right + ending, MATTERS, main)


SHOWN = ("clipping, 0", *(_at(method) for method in METHODS))

TRAINED = {
    _at(method, age): _aged(_at(method, age), method, age) for method in AGES for age in AGES[method]
} | {
    _few("clipping"): _aged(_few("clipping"), "clipping", OLD, largest=FEW),
    _few("decoupled"): _aged(_few("decoupled"), "decoupled", OLD, largest=FEW),
    _few("decoupled", 0): _aged(_few("decoupled", 0), "decoupled", 0, largest=FEW),
    _few("no weight"): _aged(_few("no weight"), "no weight", OLD, largest=FEW),
}
PREDICTIONS = (
    _beats_clipping("decoupled", OLD, "final", main=True),
    _compared(
        f"{OLD} updates late, decoupled PPO ends where it ends with fresh batches",
        "final correct",
        _at("decoupled"),
        "same",
        _at("decoupled", 0),
        main=True,
    ),
    _beats_clipping("TIS", OLD, "final"),
    _beats_clipping("CISPO", OLD, "final"),
    _beats_clipping("decoupled", OLD, "mean"),
    _beats_clipping("TIS", OLD, "mean"),
    _beats_clipping("CISPO", OLD, "mean"),
    _beats_clipping("decoupled", 2, "mean"),
    _compared(
        "Plain clipping ends lower with late batches than with fresh ones",
        "final correct",
        _at("clipping"),
        "less",
        _at("clipping", 0),
    ),
    _compared(
        "Control: with fresh batches decoupled PPO is plain clipping",
        "mean correct",
        _at("decoupled", 0),
        "same",
        _at("clipping", 0),
    ),
    _compared(
        "Control: without weights it learns more slowly than decoupled PPO",
        "mean correct",
        _at("no weight"),
        "less",
        _at("decoupled"),
    ),
    _compared(
        "With few questions decoupled PPO ends higher than plain clipping",
        "final correct",
        _few("decoupled"),
        "more",
        _few("clipping"),
    ),
    _compared(
        "With few questions decoupled PPO ends where it ends with fresh batches",
        "final correct",
        _few("decoupled"),
        "same",
        _few("decoupled", 0),
    ),
    _compared(
        "With few questions it learns more slowly without weights",
        "mean correct",
        _few("no weight"),
        "less",
        _few("decoupled"),
    ),
)
NEEDED = {*SHOWN, *(label for one in PREDICTIONS for label in (one.left, one.right))}
"""Labels of the arms that are compared or shown."""

EXPERIMENT = Experiment(
    name="staleness",
    title="How stale may a batch be, and which corrections help?",
    group="mismatch",
    claim="Batches that are several updates old harm plain clipping, whose ratio is that to the sampler;"
    " decoupled PPO, which clips around the learner and weighs by learner over sampler, learns from"
    " batches up to 8 updates old without loss, and truncated weights (TIS) and CISPO likewise do better.",
    source="Fu et al. 2025, AReaL (arXiv:2505.24298), and MiniMax 2025, CISPO (arXiv:2506.13585), from"
    " summaries, the papers were not read; Yao et al. 2025, truncated importance sampling",
    family=FAMILY,
    run=f"A policy learns from {UPDATES} batches with Adam and without a KL penalty. Each batch is sampled by"
    f" the policy of 0, 2 or {OLD} batches ago. This age follows the name of the method;"
    " an update is a batch, even if it takes two steps."
    " Plain clipping bounds the ratio of policy to sampler to within 0.2. Decoupled PPO bounds the ratio to"
    " the learner when it gets the batch, and weighs each token by the ratio of that learner to the sampler;"
    " TIS limits this weight to 2. CISPO has the gradient of the log-probability with the ratio to the"
    ' sampler as a constant weight of at most 5. "No weight" is a control: it bounds the ratio to the learner'
    ' like decoupled PPO, but weighs no token, as if the batch were fresh. "Few" means tasks with only 9'
    " questions.",
    measured="The exact share of right completions by the labels, at temperature 1: over the last fifth of"
    " the updates (final), and as a mean over all updates. Each comparison is at the learning rates that are"
    ' best for the number that is compared; "for the end" means that the rate is best for the final share.',
    arms={label: one for both in TRAINED.values() for label, one in both.items() if label in NEEDED},
    predictions=PREDICTIONS,
    panels=(
        Curves("correct", "right completions (share)", arms=("clipping, 0", "clipping, 8", "decoupled, 8")),
        Grid("right completions, mean of\nall updates (share)", arms=SHOWN),
    ),
)
