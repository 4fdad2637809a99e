"""Claim: an agent learns more if the tokens of its tools are masked in the loss."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_ref.lab.framework.experiment import Arm, Curves, Experiment, Prediction, Tuning, arm, tuned
from grpo_ref.lab.framework.tasks.tool_calls import FAMILY, GROUP, POLICY, PROMPTS, UPDATES, trained_agent
from grpo_ref.recipes import GRPO, MT_GRPO

RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="mean reward")
LOW, HIGH = 0.1, 0.3
"""Equal learning rates for arms that are compared without tuning."""
MARGIN = 0.02
"""In probability of a right answer."""
LONG = 8
"""The largest number of words of a tool."""
RECIPE = replace(MT_GRPO, advantage=GRPO.advantage)
"""GRPO with the same weight for every token of the loss, as in Search-R1's trainer."""
KINDS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    ", one word": {"observation_length": 1},
    f", {LONG} words": {"observation_length": LONG},
    ", nothing shared": {"shared": False},
}


def _arm(*, masked: bool, **fixed: Any) -> Arm:
    return tuned(trained_agent, RATES, recipe=RECIPE, masked=masked, **fixed)


def _more(says: str, kind: str = "", measure: str = "mean reward", *, main: bool = False) -> Prediction:
    return Prediction(says, measure, f"masked{kind}", "more", f"not masked{kind}", MARGIN, main)


EXPERIMENT = Experiment(
    name="observation_mask",
    title="Do the tokens of tools have to be masked in the loss?",
    group="advantages",
    claim="Masking the tokens that the environment wrote makes training stable and the agent better; without"
    " the mask, training on them has unintended effects.",
    source="Jin et al. 2025, Search-R1 (arXiv:2503.09516), retrieved token masking",
    family=FAMILY,
    run=f"{POLICY} GRPO rewards a right answer with 1, without a KL penalty; all tokens of a batch that are"
    " trained on have the same weight. Adam takes one step on each of"
    f" {UPDATES} batches of {PROMPTS} prompts x {GROUP} episodes. The tools' words are masked, or they are"
    " trained on as if the policy had written them ('not masked'). In the control ('nothing shared') places"
    " share no weights, so that the tools' words can only make the other tokens' share of the loss smaller.",
    measured="Probability of a right answer, computed exactly from the policy, as a mean over all updates, by"
    " which the learning rate is chosen, or over the last fifth of them.",
    arms={
        f"{label}{kind}": _arm(masked=masked, **fixed)
        for kind, fixed in KINDS.items()
        for label, masked in (("masked", True), ("not masked", False))
    }
    | {
        f"{label}, rate {rate:g}": arm(trained_agent, recipe=RECIPE, masked=masked, learning_rate=rate)
        for rate in (LOW, HIGH)
        for label, masked in (("masked", True), ("not masked", False))
    },
    predictions=(
        _more("With the mask the agent learns more", main=True),
        _more("With the mask the agent ends higher", measure="final reward", main=True),
        _more("Observations of one word: the mask helps", ", one word"),
        _more(f"Observations of {LONG} words: the mask helps", f", {LONG} words"),
        _more(f"At an equal rate of {LOW:g} the mask helps", f", rate {LOW:g}"),
        _more(f"At an equal rate of {HIGH:g} the mask helps", f", rate {HIGH:g}"),
        Prediction(
            "Control: where places share no weights, the mask makes no difference",
            "mean reward",
            "masked, nothing shared",
            "same",
            "not masked, nothing shared",
            MARGIN,
        ),
    ),
    panels=(
        Curves("reward", "probability of a right answer", arms=("masked", "not masked")),
        Curves(
            "reward",
            "probability of a right answer",
            arms=(
                "masked, one word",
                "not masked, one word",
                f"masked, {LONG} words",
                f"not masked, {LONG} words",
            ),
        ),
    ),
)
