"""Claim: without pressure toward diversity a policy gives ever fewer of several right answers."""

from dataclasses import replace
from itertools import product

from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.drawn_synonyms import (
    FAMILY,
    TRIES,
    VARIANTS,
    answered,
    at_start,
    drawn_synonyms,
)
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import GRPO, Recipe

UPDATES, SETTLED = 320, 240
"""Updates of the training, and those after which it should have come to rest."""
RATE = 0.1


def collapsed(
    *,
    recipe: Recipe,
    weights: tuple[float, float, float] = (RATE, 0.0, 0.0),
    learning_rate: float | None = None,
    wrong: int | None = None,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task and count the right answers that are left.

    Args:
      recipe: the algorithm.
      weights: the learning rate, the weight of its KL penalty and that of the entropy bonus.
      learning_rate: another learning rate.
      wrong: how many verdicts of 8 are wrong, if that is not drawn.
      seeds, seed: number of runs; base of their random numbers and of the task.

    Returns:
      The measures of `summarized`, "modes lost" since the reference, and "modes lost late".
    """
    drawn = drawn_synonyms(seed, wrong=wrong)
    rate, penalty, bonus = weights
    found = answered(
        drawn,
        replace(recipe, kl_coef=penalty),
        ("reward",),
        updates=UPDATES,
        learning_rate=learning_rate or rate,
        entropy_coef=bonus,
        seeds=seeds,
        seed=seed,
    )
    measures = summarized(found)
    return measures | {
        "modes lost": at_start(drawn)["modes"] - found["modes"][:, -1],
        "modes lost late": found["modes"][:, SETTLED - 1] - found["modes"][:, -1],
    }


BY = "final different"
RATES = Tuning("learning_rate", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), by="final right")
STEPS, WEIGHTS = (0.03, 0.1, 0.3), (0.1, 0.3, 1.0)
PENALTIES = Tuning("weights", tuple((rate, w, 0.0) for rate, w in product(STEPS, WEIGHTS)), by=BY)
BONUSES = Tuning("weights", tuple((rate, 0.0, w) for rate, w in product(STEPS, WEIGHTS)), by=BY)
BOTH = Tuning("weights", tuple((RATE, w, v) for w, v in product((0.03, 0.1, 0.3), WEIGHTS)), by=BY)
SLOW = "none, chosen for variety"
NONE, KL, BONUS = (f"{label}, at {RATE:g}" for label in ("none", "KL 0.3", "bonus 0.3"))
"""Arms with the same learning rate, and a penalty or a bonus of the middle weight."""
ANSWER, SHARE = 0.25, 0.05
"""The margins: a quarter of an answer, and a twentieth of all completions."""


def _more(says: str, measure: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, measure, left, "more", right, ANSWER, main)


EXPERIMENT = Experiment(
    name="collapse",
    title="Why does the policy collapse to few answers, and what prevents it?",
    group="divergence",
    claim="Without diversity pressure RL collapses to a narrow set of answers of high reward; the KL penalty"
    " is the primary remedy but not sufficient alone, and an entropy bonus is another.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), for the collapse; Liu et al. 2025,"
    " ProRL (arXiv:2505.24864), for the KL penalty as a remedy; a book chapter on GRPO (2026, not public),"
    " sec. 7.5.1, for the order of the remedies",
    family=FAMILY,
    run=f"GRPO learns for {UPDATES} updates of 12 prompts with Adam: without pressure toward variety"
    " (“none”), with a KL penalty (k3), with an entropy bonus, or with both. For each, the learning rate and"
    " the weights are chosen together, and are listed in the order rate, weight of the penalty, weight of the"
    f" bonus. Three more variants have the same learning rate, {RATE:g}, and no pressure, a penalty of weight"
    " 0.3 or a bonus of weight 0.3. In a control, half of the rewards of every answer are wrong, so the"
    " reward is pure noise.",
    measured="Of the policy at temperature 1, exactly: the number of right answers that are given, which"
    " is the exponential of the entropy among them (“modes”); how many fewer they are than under the"
    f" reference, and than after {SETTLED} updates (“late”); the share of right completions; and how many"
    f" different right answers {TRIES} samples contain (“different”). Settings are chosen by the latter,"
    " because it rewards both being right and being varied. Without pressure, the learning rate is chosen by"
    " the share of right completions, or once by different right answers (“chosen for variety”).",
    arms={
        "none": tuned(collapsed, RATES, recipe=GRPO),
        SLOW: tuned(collapsed, RATES._replace(by=BY), recipe=GRPO),
        "KL": tuned(collapsed, PENALTIES, recipe=GRPO),
        "bonus": tuned(collapsed, BONUSES, recipe=GRPO),
        "KL and bonus": tuned(collapsed, BOTH, recipe=GRPO),
        NONE: arm(collapsed, recipe=GRPO),
        KL: arm(collapsed, recipe=GRPO, weights=(RATE, 0.3, 0.0)),
        BONUS: arm(collapsed, recipe=GRPO, weights=(RATE, 0.0, 0.3)),
        "none, pure luck": arm(collapsed, recipe=GRPO, wrong=VARIANTS // 2),
    },
    predictions=(
        Prediction(
            "Without pressure right answers are lost", "modes lost", "none", "more", 0.0, ANSWER, main=True
        ),
        _more("A KL penalty keeps more of the right answers", "final modes", KL, NONE, main=True),
        _more("An entropy bonus keeps more of the right answers", "final modes", BONUS, NONE),
        _more(
            "A KL penalty finds more of them, even if without it the rate is chosen by that", BY, "KL", SLOW
        ),
        _more("So does an entropy bonus", BY, "bonus", SLOW),
        _more("Penalty and bonus together find more than the penalty alone", BY, "KL and bonus", "KL"),
        _more("The penalty is primary: it finds more than a bonus", BY, "KL", "bonus"),
        Prediction("The penalty costs no right completions", "final right", KL, "same", NONE, SHARE),
        Prediction("The bonus costs no right completions", "final right", BONUS, "same", NONE, SHARE),
        Prediction(
            "Control: where the reward says nothing, nothing is lost",
            "modes lost",
            "none, pure luck",
            "same",
            0.0,
            ANSWER,
        ),
        Prediction(
            "Without pressure it has come to rest", "modes lost late", "none", "same", 0.0, ANSWER / 2.0
        ),
        Prediction("With a KL penalty, too", "modes lost late", "KL", "same", 0.0, ANSWER / 2.0),
        Prediction("With a bonus, too", "modes lost late", "bonus", "same", 0.0, ANSWER / 2.0),
    ),
    panels=(
        Curves("modes", "right answers that are given", arms=("none", "KL", "bonus", "KL and bonus")),
        Curves("right", "right completions (share)", arms=("none", "KL", "bonus", "KL and bonus")),
        Points(
            BY,
            f"different right answers in {TRIES} samples",
            arms=("none", SLOW, "KL", "bonus", "KL and bonus"),
        ),
    ),
)
