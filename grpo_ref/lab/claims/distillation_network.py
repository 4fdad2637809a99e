"""Claim: a better teacher teaches a network in fewer updates than rewards do, but only up to the teacher."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Measures,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, SUMS, TRANSFORMER, sums
from grpo_ref.lab.framework.tasks.digit_sums import PROMPTS
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.neural import NeuralActor
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Task
from grpo_ref.recipes import GRPO, OPD, OPD_RL, Recipe
from grpo_ref.training import iter_train

BETTER = 0.8
"""Probability of the right answer to a question of median difficulty under the teacher."""
GROUP, UPDATES, FEWER = 8, 64, 8
"""Completions of a prompt, updates of a long run, and how many short runs are as long as a long run.

Thinking Machines reports 7 to 10 times fewer gradient steps.
"""
JUDGED = 1000
"""Number of completions of each run that judge a policy."""
MARGIN, NEAR = 0.02, 0.05
"""Largest negligible difference, and the share by which a student may miss or exceed the teacher's result."""


def teacher_of(seed: int, seeds: int) -> NeuralActor:
    """Return the teacher: a network like the student that has imitated a better reference of the task."""
    _, policy = sums(seed, known=BETTER)
    return policy.at(np.repeat(policy.weights[None], seeds, axis=0), 1.0)


def correct(task: Task, actor: NeuralActor, seeds: int, seed: int) -> Floats:
    """Return (S,) the share of right completions among `JUDGED` samples of each run."""
    generators = [np.random.default_rng([seed, run, 3]) for run in range(seeds)]
    share: Floats = draw(task, actor, generators, prompts=JUDGED, group_size=1).rewards.mean((-2, -1))
    return share


@cache
def reached_by_teacher(seed: int, seeds: int) -> Floats:
    """Return (S,) the share of right completions of the teacher, on the samples' own random numbers."""
    task, _ = sums(seed)
    return correct(task, teacher_of(seed, seeds), seeds, seed)


def student(
    *,
    recipe: Recipe,
    updates: int,
    learning_rate: float,
    seeds: int,
    seed: int,
) -> Measures:
    """Train a network on a sampled task, from a teacher if the recipe has one, and judge the last policy.

    Args:
      recipe: the recipe.
      updates: number of updates.
      learning_rate: step size of Adam.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
    """
    task, policy = sums(seed)
    sizes = {"seeds": seeds, "seed": seed, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(task, TRANSFORMER, **sizes, updates=updates, learning_rate=learning_rate)
    guide = teacher_of(seed, seeds) if recipe.needs_teacher else None
    done = list(iter_train(task, recipe, config, metrics=("correct",), policy=policy, teacher=guide))
    last = policy.at(done[-1].state.params, 1.0)
    share = correct(task, last, seeds, seed)
    return {
        "correct": np.stack([update.metrics["correct"] for update in done], axis=-1),
        "final correct": share,
        "reached": share / reached_by_teacher(seed, seeds),
    }


REWARDS, TEACHER, BOTH = "rewards", "teacher", "teacher and rewards"
RECIPES = {REWARDS: replace(GRPO, kl_coef=0.0), TEACHER: OPD, BOTH: OPD_RL}
SHORT = UPDATES // FEWER
LEARNING: Mapping[str, Mapping[str, Any]] = {
    **{label: {"of": label} for label in RECIPES},
    **{f"{label}, short": {"of": label, "updates": SHORT} for label in (REWARDS, TEACHER)},
}


def _arm(*, of: str, updates: int = UPDATES, **others: Any) -> Arm:
    return tuned(student, RATES, recipe=RECIPES[of], updates=updates, **others)


def _more(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final correct", left, "more", right, MARGIN, main)


def _reached(
    says: str, left: str, expect: Expectation, share: float, margin: float = 0.0, *, main: bool = False
) -> Prediction:
    return Prediction(says, "reached", left, expect, share, margin, main)


EXPERIMENT = Experiment(
    name="distillation_network",
    title="Does a student learn faster from a teacher than from rewards, with a network?",
    policy="network",
    beside="distillation",
    group="rewards",
    claim="A student that samples its own completions and is judged token by token by a better teacher gets"
    " as good as the teacher, with a small part of the updates that rewards need. It does not pass the"
    " teacher; with rewards added it does.",
    source="Lu and Thinking Machines Lab 2025, On-policy distillation (7 to 10 times fewer gradient steps"
    " than reinforcement learning); Qwen3 technical report (arXiv:2505.09388), a tenth of the GPU hours. The"
    " teacher as a boundary: Yang et al. 2026, Learning beyond teacher (arXiv:2602.12125). Both advantages"
    " together: MiMo-V2-Flash (arXiv:2601.02780)",
    family=f"{SUMS} The teacher is the same transformer after it has imitated a reference that knows the"
    f" right answer to a median question with probability {BETTER:g}.",
    run=f"Long runs have {UPDATES} updates of {PROMPTS} x {GROUP} completions, short runs"
    f" {SHORT} updates. The student learns from rewards (GRPO without a KL penalty); or from the"
    " teacher alone, whose log-probability minus that of the student is the advantage of each token; or from"
    " the sum of both advantages. Adam takes one step on each batch.",
    measured=f"The share of right completions, by the labels, among {JUDGED} samples of each run after the"
    " last update, by which the learning rate is chosen; and its ratio to the share of the teacher. A student"
    f" is as good as the teacher from a ratio of {1 - NEAR:g} on, and passes it clearly from {1 + NEAR:g}"
    " on.",
    arms={label: _arm(**settings) for label, settings in LEARNING.items()},
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
        _reached("With rewards alone, the network passes the teacher", REWARDS, "more", 1.0, MARGIN),
        _more("Teacher and rewards end higher than rewards alone", BOTH, REWARDS),
        _reached("In a long run the student gets as good as the teacher", TEACHER, "more", 1.0 - NEAR),
    ),
    panels=(Curves("correct", "right completions (share)", arms=tuple(RECIPES)),),
)
