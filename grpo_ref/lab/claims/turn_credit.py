"""Claim: an agent learns more if each turn has its own advantage than if all turns share one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_ref.lab.framework.experiment import Arm, Curves, Experiment, Prediction, Tuning, tuned
from grpo_ref.lab.framework.tasks.tool_calls import FAMILY, GROUP, POLICY, PROMPTS, UPDATES, trained_agent
from grpo_ref.recipes import GIGPO, GRPO, MT_GRPO, Recipe

RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="mean reward")
MARGIN = 0.02
"""In probability of a right answer, or of success of all calls."""
OUTCOME = replace(MT_GRPO, advantage=GRPO.advantage)
"""GRPO with the aggregation of MT-GRPO, so that only the advantages differ."""
ANCHORS = replace(GIGPO, kl_coef=0.0)
MANY = 3
"""The largest number of calls in a task."""
ALL, MERGED, STATES, TURNS = "outcome", "outcome and calls, one sum", "GiGPO", "MT-GRPO"
SETTINGS: Mapping[str, tuple[Recipe, Mapping[str, Any]]] = {
    ALL: (OUTCOME, {}),
    MERGED: (OUTCOME, {"merged": True}),
    STATES: (ANCHORS, {}),
    TURNS: (MT_GRPO, {"calls_rewarded": True}),
}


def _arm(label: str, **fixed: Any) -> Arm:
    recipe, settings = SETTINGS[label]
    return tuned(trained_agent, RATES, recipe=recipe, **settings, **fixed)


def _more(
    says: str, left: str, right: str, measure: str = "mean reward", *, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "more", right, MARGIN, main)


EXPERIMENT = Experiment(
    name="turn_credit",
    title="Does an agent learn more if each turn has its own advantage?",
    group="advantages",
    claim="Advantages for each turn give an agent more precise credit than one advantage for the whole"
    " episode, so that it learns more: with rewards for single turns (MT-GRPO), and with the reward of the"
    " episode alone if turns that began in the same state are compared (GiGPO).",
    source="Zeng et al. 2025, MT-GRPO (arXiv:2505.11821), against GRPO with the outcome's reward and with the"
    " sum of outcome and turn rewards; Feng et al. 2025, GiGPO (arXiv:2505.10978)",
    family=FAMILY,
    run=f"{POLICY} Adam takes one step on each of {UPDATES} batches of {PROMPTS} prompts x {GROUP} episodes."
    " With 'outcome' only a right answer is rewarded, and all turns of an episode share its advantage. 'One"
    " sum' adds a reward of 1 for each call that succeeded to it. MT-GRPO gives each call the advantage of"
    " its own reward and that of the outcome. GiGPO gives each turn the advantage of the outcome and that"
    " among turns with the same state (discount 0.95). The tools' tokens are masked, and there is no KL"
    " penalty.",
    measured="Probability of a right answer, and of success of all calls, computed exactly from the policy,"
    " as means over the updates or over the last fifth of them. The learning rate is chosen by the first.",
    arms={label: _arm(label) for label in SETTINGS}
    | {f"{label}, one call": _arm(label, calls=1) for label in (ALL, STATES)}
    | {f"{label}, {MANY} calls": _arm(label, calls=MANY) for label in SETTINGS},
    predictions=(
        _more("MT-GRPO learns more than the outcome's reward", TURNS, ALL, main=True),
        _more("MT-GRPO learns more than the same rewards as one sum", TURNS, MERGED, main=True),
        _more("GiGPO learns more than the outcome's reward", STATES, ALL, main=True),
        _more("MT-GRPO ends higher than the same rewards as one sum", TURNS, MERGED, "final reward"),
        _more("GiGPO ends higher than the outcome's reward", STATES, ALL, "final reward"),
        _more("With MT-GRPO more calls succeed than with the sum", TURNS, MERGED, "mean success"),
        _more("The sum learns more than the outcome's reward", MERGED, ALL),
        _more(
            "Three calls: MT-GRPO learns more than the sum",
            f"{TURNS}, {MANY} calls",
            f"{MERGED}, {MANY} calls",
        ),
        _more(
            "Three calls: GiGPO learns more than the outcome's reward",
            f"{STATES}, {MANY} calls",
            f"{ALL}, {MANY} calls",
        ),
        _more(
            "One call: GiGPO learns more than the outcome's reward", f"{STATES}, one call", f"{ALL}, one call"
        ),
    ),
    panels=(
        Curves("reward", "probability of a right answer", arms=tuple(SETTINGS)),
        Curves(
            "reward",
            "probability of a right answer",
            arms=tuple(f"{label}, {MANY} calls" for label in SETTINGS),
        ),
    ),
)
