"""Claim: the KL penalty helps to keep the quality of what is generated, here of names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.judged_names import followed, judged_names, real_at
from grpo_ref.lab.framework.training import last_state
from grpo_ref.learning.config import config_for
from grpo_ref.learning.rollout import sample
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.tasks.names import names

TRAINING: Mapping[str, Any] = {"updates": 80, "prompts": 8, "group_size": 8}
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="useful")
BY_WEIGHT = {
    label: replace(GRPO, kl_coef=kl_coef)
    for label, kl_coef in {"none": 0.0, "0.04": 0.04, "0.1": 0.1, "0.3": 0.3}.items()
}
"""By the weight of the penalty; 0.04 is DeepSeekMath's."""
REFERENCES: Mapping[str, Mapping[str, Any]] = {
    "weak": {"context": 1, "min_count": 8},
    "strong": {"context": 3, "min_count": 8},
}


def named(
    *,
    recipe: Recipe,
    learning_rate: float,
    fixed: Mapping[str, Any] | None = None,
    flawed: bool = True,
    against: Recipe | None = None,
    seeds: int,
    seed: int,
) -> Measures:
    """Train for a drawn property and watch how many of the names are real.

    Args:
      recipe: the algorithm.
      learning_rate: step size.
      fixed: how the reference is made, where that is not drawn.
      flawed: whether the property is rewarded, or that a real name has it.
      against: a recipe that is stopped where it first has the reward at which the other one ends.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    task = judged_names(seed, **(fixed or {}))
    task = task if flawed else replace(task, weights=np.array([0.0, 0.0, 1.0]))
    config = config_for(task, **TRAINING, learning_rate=learning_rate, seeds=seeds, seed=seed)
    measures = followed(task, recipe, config)
    if against:
        stopped = real_at(followed(task, against, config), measures["final reward"])
        measures["more real"] = measures["final real_name"] - stopped
    return measures | {"gained": measures["final reward"] - measures["reward"][:, 0]}


def samples(recipe: Recipe, *, count: int = 12, seed: int = 0) -> list[str]:
    """Names that a policy writes after training for long names; always for the same first letters.

    Args:
      recipe: the algorithm.
      count: how many names.
      seed: of training.

    >>> len(samples(BY_WEIGHT["0.3"], count=3))
    3
    """
    task = names(goal="long_names", context=2, min_count=60)
    policy = last_state(task, recipe, config_for(task, **TRAINING, learning_rate=0.3, seed=seed))
    drawn = sample(task, policy.params, prompts=count)
    return [
        task.render(int(prompt), tokens[0], mask[0])
        for prompt, tokens, mask in zip(drawn.prompts[0], drawn.tokens[0], drawn.mask[0], strict=True)
    ]


def written_names() -> str:
    """A table of names that the policies of three weights write for the same letters."""
    rows = [f"| {label} | {', '.join(samples(BY_WEIGHT[label]))} |" for label in ("none", "0.1", "0.3")]
    head = "| kl_coef | names of 8 to 10 letters, for the same first letters |"
    return "\n".join([head, "|---|---|", *rows])


def _arm(weight: str, **settings: Any) -> Arm:
    return tuned(named, RATES, recipe=BY_WEIGHT[weight], **settings)


AT = ", at 0.1"
"""Ending of the arms with a learning rate of 0.1, at which the share of real names is compared."""


def _with_rate(weight: str, **settings: Any) -> Arm:
    return arm(named, recipe=BY_WEIGHT[weight], learning_rate=0.1, **settings)


def _more(
    says: str, left: str, right: str | float, measure: str = "final real_name", *, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "more", right, 0.02, main)


SERIES = {"GRPO": {label + AT: recipe.kl_coef for label, recipe in BY_WEIGHT.items()}}
"""Measures that the figure shows over the weight."""

EXPERIMENT = Experiment(
    name="hacked_names",
    title="Does a KL penalty keep the samples real and varied?",
    group="divergence",
    claim="The KL penalty helps to prevent reward hacking and to maintain the quality of what is generated.",
    source="Open Instruct, GRPO loss (2026)",
    family="Names of the census are written letter by letter, from a first letter. Drawn are how good the"
    " reference is (it sees 1 to 3 letters, those it has seen 8 to 100 times) and the property that the"
    " judge rewards: a length of L to L + 2 letters (L from 6 to 9), a letter once or twice, a letter at the"
    " end, or vowels and consonants in turn; of the real names 3 to 50 % have it.",
    run="GRPO learns for 80 updates of 8 groups of 8 with Adam, with a k3 penalty at several weights (the"
    " names of the variants) or with none. All variants are compared at a learning rate of 0.1 (“at 0.1”),"
    " and each at the rate that gives most useful names. In two more pairs the reference is the weakest or"
    " the strongest one. In the control “flawless”, the judge rewards the property in real names only. “More"
    " real” compares a weight of 0.3 with a run without a penalty that is stopped when it first has the"
    " reward at which the weight of 0.3 ends.",
    measured="The reward is the share of names with the property. Real names are those in the census list;"
    " their share is watched but not rewarded. Both are means over the last fifth of the updates. Of 128"
    " names written at the end, “different” is the share of names that are real and differ from one another,"
    " and “useful” is the share that has the property as well. The gain is the reward at the end minus that"
    " of the first batch.",
    arms={
        "none": _arm("none"),
        "0.04": _arm("0.04"),
        "0.1": _arm("0.1"),
        "0.3": _arm("0.3", against=BY_WEIGHT["none"]),
    }
    | {f"{weight}{AT}": _with_rate(weight) for weight in BY_WEIGHT}
    | {
        f"{name}, {weight}{AT}": _with_rate(weight, fixed=fixed)
        for name, fixed in REFERENCES.items()
        for weight in ("none", "0.3")
    }
    | {f"flawless, {weight}{AT}": _with_rate(weight, flawed=False) for weight in ("none", "0.3")},
    predictions=(
        _more("A weight of 0.3 keeps more names real", f"0.3{AT}", f"none{AT}", main=True),
        _more("DeepSeekMath's 0.04 keeps more names real", f"0.04{AT}", f"none{AT}", main=True),
        _more("Each at its best rate, a weight of 0.3 keeps more names real", "0.3", "none"),
        _more("Each at its best rate, 0.04 keeps more names real", "0.04", "none"),
        _more("With a weight of 0.3 more names are useful", "0.3", "none", "useful"),
        _more("With a weight of 0.3 more names are real and differ", f"0.3{AT}", f"none{AT}", "different"),
        _more("A weight of 0.3 keeps more real than to stop at the same reward", "0.3", 0.0, "more real"),
        Prediction("A weight of 0.3 lets the reward rise", "gained", "0.3", "more", 0.0, 0.1),
        _more("Weak reference: 0.3 keeps more names real", f"weak, 0.3{AT}", f"weak, none{AT}"),
        _more("Strong reference: 0.3 keeps more names real", f"strong, 0.3{AT}", f"strong, none{AT}"),
        Prediction(
            "Control: where the judge has no flaw, 0.3 only holds back",
            "final reward",
            f"flawless, 0.3{AT}",
            "less",
            f"flawless, none{AT}",
            0.02,
        ),
    ),
    panels=(
        Points(
            "final real_name",
            "names that are real, at the end (share)",
            x=SERIES,
            xlabel="weight of the KL penalty",
        ),
        Points(
            "different",
            "names that are real and differ,\nat the end (share)",
            x=SERIES,
            xlabel="weight of the KL penalty",
        ),
        Grid("useful names at the end (share)", arms=("none", "0.04", "0.1", "0.3")),
    ),
    exhibit=written_names,
)
