"""Claim: ranks are more robust than rewards where the scores of a reward model are distorted or noisy."""

from dataclasses import replace

from grpo_ref.advantages import group_normalized
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.judged_by_model import FAMILY, JITTER, Scores, judged_by_model
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GOPO, GRPO, Recipe, slot

MAGNITUDES = replace(GRPO, kl_coef=0.0)
RANKS = replace(GOPO, kl_coef=0.0)
NO_EPS = replace(MAGNITUDES, advantage=slot(group_normalized, ddof=1, eps=1e-30))
SCORES: tuple[Scores, ...] = ("exact", "distorted", "noisy", "normal noise", "binary", "jittered")
RATES = (0.03, 0.1, 0.3, 1.0, 3.0)
ENDINGS = {"mean gain": "", "final gain": ", for the end"}
"""Measure by which the learning rate is chosen -> ending of the arm's label."""
AT_THE_END: tuple[Scores, ...] = ("distorted", "noisy")
"""Scores with which the end of the training is compared, too."""
MARGIN = 0.02
DISTURBED = (
    "GRPO, distorted",
    "ranks, distorted",
    "GRPO without eps, distorted",
    "GRPO, noisy",
    "ranks, noisy",
)


def learned(*, scores: Scores, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train on a drawn task, and watch the hidden quality."""
    task = judged_by_model(seed, scores)
    config = config_for(task, seeds=seeds, seed=seed, learning_rate=learning_rate)
    return summarized(curves(task, recipe, config, ("gain",)))


def _with(scores: Scores, recipe: Recipe, by: str = "mean gain") -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by), scores=scores, recipe=recipe)


def _ranks(
    says: str, scores: Scores, expect: Expectation, *, measure: str = "mean gain", main: bool = False
) -> Prediction:
    of = scores + ENDINGS[measure]
    return Prediction(says, measure, f"ranks, {of}", expect, f"GRPO, {of}", MARGIN, main)


EXPERIMENT = Experiment(
    name="ordinal",
    title="Should rewards be replaced by their ranks in the group (GOPO)?",
    group="rewards",
    claim="Ranks (GOPO) do better than rewards where these come from a model that distorts them or is"
    " noisy; rewards do better where they are verified and binary.",
    source="Choi et al. 2026, GOPO (arXiv:2602.03876); a book chapter on GRPO (2026, not public), sec."
    " 7.5.12",
    family=FAMILY,
    run='The reward is the hidden quality ("exact"); or that quality, distorted; or that quality with Cauchy'
    ' errors, some of which are huge ("noisy"), or with normal errors of the same scale; or 1 if the test is'
    f' passed and 0 if it is not ("binary"); or the binary reward with errors of {JITTER:g} ("jittered").'
    " GRPO trains a policy on 80 batches of 8 groups with Adam and without a KL penalty. Its advantages are"
    " its own, or the centered ranks of the rewards in the group. One variant of GRPO adds no eps = 1e-4 to"
    " the standard deviation.",
    measured="The hidden quality of the sampled completions, on a scale from 0 (the reference's) to 1 (the"
    " best): a mean over the updates, and over their last fifth (final). Each comparison is at the learning"
    ' rates that are best for the number that is compared; "for the end" means that the rate is best for the'
    " final quality.",
    arms={
        f"{how}, {scores}": _with(scores, recipe)
        for scores in SCORES
        for how, recipe in (("GRPO", MAGNITUDES), ("ranks", RANKS))
    }
    | {"GRPO without eps, distorted": _with("distorted", NO_EPS)}
    | {
        f"{how}, {scores}{ENDINGS['final gain']}": _with(scores, recipe, "final gain")
        for scores in AT_THE_END
        for how, recipe in (("GRPO", MAGNITUDES), ("ranks", RANKS))
    },
    predictions=(
        _ranks("Where scores are distorted, ranks learn faster", "distorted", "more", main=True),
        _ranks("Where scores are noisy, ranks learn faster", "noisy", "more", main=True),
        _ranks("Where scores are distorted, ranks end better", "distorted", "more", measure="final gain"),
        _ranks("Where scores are noisy, ranks end better", "noisy", "more", measure="final gain"),
        Prediction(
            "Where scores are distorted, ranks learn faster than GRPO that adds no eps to the deviation",
            "mean gain",
            "ranks, distorted",
            "more",
            "GRPO without eps, distorted",
            MARGIN,
        ),
        _ranks("Where rewards are binary, rewards do better", "binary", "less"),
        Prediction(
            "Ranks do not notice a distortion that keeps the order",
            "mean gain",
            "ranks, distorted",
            "same",
            "ranks, exact",
            0.001,
        ),
        _ranks("Control: where scores are exact, it does not matter", "exact", "same"),
        _ranks("Control: where no error is huge (normal ones), it does not matter", "normal noise", "same"),
        _ranks("Where binary rewards have tiny errors, ranks do harm", "jittered", "less"),
    ),
    panels=(
        Curves(
            "gain",
            "hidden quality (0 reference, 1 best)",
            arms=("GRPO, binary", "ranks, binary", "GRPO, jittered", "ranks, jittered"),
        ),
        Curves("gain", "hidden quality (0 reference, 1 best)", arms=DISTURBED),
        Grid("hidden quality (mean over updates)", arms=DISTURBED),
    ),
)
