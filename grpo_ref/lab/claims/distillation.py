"""Claim: a better teacher teaches in fewer updates than rewards do, but only up to the teacher."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.steps_to_go import FAMILY, drawn_steps
from grpo_ref.lab.framework.training import kept, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.recipes import GRPO, OPD, OPD_RL, Recipe
from grpo_ref.training import iter_train

BETTER = 0.7
"""Probability under the teacher that a prompt of median difficulty is solved, before wrong labels."""
PROMPTS, GROUP, UPDATES, FEWER = 16, 8, 64, 8
"""Prompts, completions of each, updates of a long run, and how many short runs are as long as a long run.

Thinking Machines reports 7 to 10 times fewer gradient steps.
"""
RARE = 0.02
"""Probability of a solved prompt at the start, where answers of 2 steps are compared with those of 8."""
MARGIN, NEAR = 0.02, 0.05
"""Largest negligible difference, and the share by which a student may miss or exceed the teacher's result."""


def student(
    *, recipe: Recipe, updates: int, learning_rate: float, seeds: int, seed: int, **fixed: Any
) -> Measures:
    """Train on a sampled task, from a teacher if the recipe has one, and compute how many prompts are solved.

    Args:
      recipe: the recipe.
      updates: number of updates.
      learning_rate: step size of Adam.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      fixed: settings of `drawn_steps` that are not sampled.
    """
    made = drawn_steps(seed, **fixed)
    better = drawn_steps(seed, **{**fixed, "known": BETTER})
    sizes = {"seeds": seeds, "seed": seed, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(made.task, "table", **sizes, updates=updates, learning_rate=learning_rate)
    logits = np.repeat(better.task.ref_logits[None], seeds, axis=0)
    teacher = TABLE.at(logits, 1.0) if recipe.needs_teacher else None
    run = iter_train(made.task, recipe, config, metrics=(), teacher=teacher)
    curves = kept(run, (), {"solved": lambda state: made.chances(state.params).mean(-1)})
    # The last policy counts: the end of a short run is not a mean over its few updates.
    last = curves["solved"][:, -1]
    of_teacher = better.chances(logits).mean(-1)
    return summarized(curves) | {"final solved": last, "reached": last / of_teacher}


REWARDS, TEACHER, BOTH = "rewards", "teacher", "teacher and rewards"
RECIPES = {REWARDS: replace(GRPO, kl_coef=0.0), TEACHER: OPD, BOTH: OPD_RL}
SHORT = UPDATES // FEWER
STEPS = (2, 8)
LEARNING: Mapping[str, Mapping[str, Any]] = {
    **{label: {"of": label} for label in RECIPES},
    **{f"{label}, short": {"of": label, "updates": SHORT} for label in (REWARDS, TEACHER)},
    **{
        f"{label}, short, {steps} steps": {"of": label, "updates": SHORT, "steps": steps, "known": RARE}
        for steps in STEPS
        for label in (REWARDS, TEACHER)
    },
}
RATES = Tuning("learning_rate", (0.3, 1.0, 3.0, 10.0), by="final solved")
SLOW = 0.1
"""A learning rate at which no row of the table becomes certain in a few steps."""


def _arm(*, of: str, updates: int = UPDATES, **fixed: Any) -> Arm:
    return tuned(student, RATES, recipe=RECIPES[of], updates=updates, **fixed)


def _more(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final solved", left, "more", right, MARGIN, main)


def _reached(
    says: str, left: str, expect: Expectation, share: float, margin: float = 0.0, *, main: bool = False
) -> Prediction:
    return Prediction(says, "reached", left, expect, share, margin, main)


EXPERIMENT = Experiment(
    name="distillation",
    title="Does a student learn faster from a teacher than from rewards?",
    group="rewards",
    claim="A student that samples its own completions and is judged token by token by a better teacher gets"
    " as good as the teacher, with a small part of the updates that rewards need. It does not pass the"
    " teacher; with rewards added it does.",
    source="Lu and Thinking Machines Lab 2025, On-policy distillation (7 to 10 times fewer gradient steps"
    " than reinforcement learning); Qwen3 technical report (arXiv:2505.09388), a tenth of the GPU hours. The"
    " teacher as a boundary: Yang et al. 2026, Learning beyond teacher (arXiv:2602.12125). Both advantages"
    " together: MiMo-V2-Flash (arXiv:2601.02780)",
    family=f"{FAMILY} The teacher is the policy that solves a median question with probability {BETTER:g}. In"
    f" two pairs of arms, all questions have 2 steps or 8, and the student solves {RARE:g} at first.",
    run=f"Long runs have {UPDATES} updates of {PROMPTS} x {GROUP} completions, short runs {SHORT} updates."
    " The student learns from rewards (GRPO without a KL penalty); or from the teacher alone, whose"
    " log-probability minus that of the student is the advantage of each token; or from the sum of both"
    " advantages. Adam takes one step on each batch.",
    measured="Probability that a prompt is solved, computed exactly from the policy after the last update, by"
    " which the learning rate is chosen; and its ratio to the probability under the teacher. A student is as"
    f" good as the teacher from a ratio of {1 - NEAR:g} on, and passes it clearly from {1 + NEAR:g} on.",
    arms={
        **{label: _arm(**settings) for label, settings in LEARNING.items()},
        f"{TEACHER}, rate {SLOW:g}": arm(student, recipe=OPD, updates=UPDATES, learning_rate=SLOW),
    },
    predictions=(
        _more(
            "In an eighth of the updates, the teacher teaches more than rewards",
            f"{TEACHER}, short",
            f"{REWARDS}, short",
            main=True,
        ),
        _reached(
            "In an eighth of the updates, the student gets as good as the teacher",
            f"{TEACHER}, short",
            "more",
            1.0 - NEAR,
            main=True,
        ),
        _reached(
            "In a long run the student does not pass the teacher", TEACHER, "less", 1.0 + NEAR, main=True
        ),
        _reached("With rewards added, the student passes the teacher", BOTH, "more", 1.0, MARGIN, main=True),
        _reached("With rewards alone, the student passes the teacher", REWARDS, "more", 1.0, MARGIN),
        _more("Teacher and rewards end higher than rewards alone", BOTH, REWARDS),
        _reached(
            f"At a rate of {SLOW:g} the student does not pass the teacher",
            f"{TEACHER}, rate {SLOW:g}",
            "less",
            1.0 + NEAR,
        ),
        *(
            _more(
                f"Answers of {steps} steps, short: the teacher teaches more than rewards",
                f"{TEACHER}, short, {steps} steps",
                f"{REWARDS}, short, {steps} steps",
            )
            for steps in STEPS
        ),
    ),
    panels=(
        Curves("solved", "solved prompts (share)", arms=(*RECIPES, f"{TEACHER}, rate {SLOW:g}")),
        Curves(
            "solved",
            "short runs: solved prompts (share)",
            arms=tuple(label for label in LEARNING if "steps" in label),
        ),
    ),
)
