"""Claim: rewards for every step teach more than a reward for the outcome."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.steps_to_go import EASY, FAMILY, HARD, PLEASURE, drawn_steps
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.recipes.catalog import PROCESS_GRPO

SIZES: Mapping[str, Any] = {"updates": 100, "prompts": 16, "group_size": 8}
MARGIN = 0.02


def learned(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, judge: Mapping[str, Any] | None = None
) -> Measures:
    """Train on a task of the family, and compute how likely a prompt is solved, nothing sampled.

    Args:
      recipe: the algorithm.
      learning_rate: of Adam.
      seeds, seed: number of independent runs, and the base of their random numbers and of the task.
      judge: arguments of `drawn_steps`.
    """
    made = drawn_steps(seed, **(judge or {}))
    settings = config_for(made.task, **SIZES, seeds=seeds, seed=seed, learning_rate=learning_rate)
    return summarized(
        curves(made.task, recipe, settings, solved=lambda state: made.chances(state.params).mean(-1))
    )


RATES = (0.1, 0.3, 1.0, 3.0, 10.0)
OUTCOME, PROCESS = replace(GRPO, kl_coef=0.0), replace(PROCESS_GRPO, kl_coef=0.0)


ENDINGS = {"mean solved": "", "final solved": ", for the end"}
"""Measure by which the learning rate is chosen -> ending of the arm's label."""


def _arm(recipe: Recipe = PROCESS, by: str = "mean solved", **judge: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by=by), recipe=recipe, judge=judge)


def _more(
    says: str, left: str, right: str, *, measure: str = "mean solved", main: bool = False
) -> Prediction:
    ending = ENDINGS[measure]
    return Prediction(says, measure, left + ending, "more", right + ending, MARGIN, main)


EXPERIMENT = Experiment(
    name="process_rewards",
    title="Is process supervision better than outcome supervision?",
    group="rewards",
    claim="GRPO with process supervision is superior to GRPO with outcome supervision, which shows the"
    " benefit of fine-grained, step-aware gradient coefficients.",
    source="Shao et al. 2024, DeepSeekMath, sec. 5.2 (arXiv:2402.03300; read in summaries); against it"
    " DeepSeek-R1 (arXiv:2501.12948), which names reward hacking as a reason to do without a process reward"
    " model",
    family=FAMILY,
    run=f"There are {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with"
    " Adam and without a KL penalty. “Outcome” rewards the whole completion with 1 if it is solved. “Process”"
    " rewards every right step with 1, normalizes all steps of a group together, and gives each token the sum"
    " of its own step and the later ones. With “random errors”, the judge of steps errs at random in 20 % of"
    f" its verdicts. The “flawed judge” gives {PLEASURE:g} instead of 0 for a certain wrong move in 20 % of"
    " the states; in one variant the outcome's reward is added to its rewards. “Hard” and “easy” mean that"
    " 0.5 % or 50 % of the answers are right at first. In the control, questions have one step, so process"
    " and outcome are the same.",
    measured="The probability that a prompt is solved, computed from the policy at temperature 1: its mean"
    " over the updates, and over the last fifth of them (final). Each comparison uses the learning rates that"
    " are best for the compared measure; “for the end” marks those that are best for the final one.",
    arms={
        "outcome": _arm(OUTCOME),
        "process": _arm(),
        "process, random errors": _arm(random_errors=0.2),
        "process, flawed judge": _arm(flawed=0.2),
        "process, flawed judge, and outcome": _arm(flawed=0.2, outcome=True),
        "outcome, one step": _arm(OUTCOME, steps=1),
        "process, one step": _arm(steps=1),
        "outcome, hard": _arm(OUTCOME, known=HARD),
        "process, hard": _arm(known=HARD),
        "outcome, easy": _arm(OUTCOME, known=EASY),
        "process, easy": _arm(known=EASY),
    }
    | {
        label + ENDINGS["final solved"]: _arm(recipe, "final solved", **judge)
        for label, recipe, judge in (
            ("outcome", OUTCOME, {}),
            ("process", PROCESS, {}),
            ("process, flawed judge", PROCESS, {"flawed": 0.2}),
            ("process, flawed judge, and outcome", PROCESS, {"flawed": 0.2, "outcome": True}),
        )
    },
    predictions=(
        _more("Process supervision learns more", "process", "outcome", main=True),
        _more("It ends higher, too", "process", "outcome", measure="final solved"),
        _more("It learns more where 0.5 % is right at first", "process, hard", "outcome, hard"),
        _more("It learns more where 50 % is right at first", "process, easy", "outcome, easy"),
        Prediction(
            "Control: with one step the two are the same",
            "mean solved",
            "process, one step",
            "same",
            "outcome, one step",
            MARGIN,
        ),
        _more(
            "A judge that errs at random is still better than the outcome",
            "process, random errors",
            "outcome",
        ),
        _more(
            "Hostile: with a judge who finds a wrong move better, the outcome ends higher",
            "outcome",
            "process, flawed judge",
            measure="final solved",
        ),
        _more(
            "Hostile: also if the outcome is added to that judge's rewards",
            "outcome",
            "process, flawed judge, and outcome",
            measure="final solved",
        ),
    ),
    panels=(
        Curves(
            "solved",
            "solved prompts (share)",
            arms=(
                "outcome",
                "process",
                "process, random errors",
                "process, flawed judge",
                "process, flawed judge, and outcome",
            ),
        ),
        Curves(
            "solved",
            "solved prompts (share)",
            arms=("outcome, hard", "process, hard", "outcome, easy", "process, easy"),
        ),
        Grid(
            "solved prompts (mean over updates)",
            arms=("outcome", "process", "process, random errors", "process, flawed judge"),
        ),
    ),
)
