"""The definition of an experiment: a wrong recipe can be put in place of the right ones."""

from dataclasses import replace

from toy_experiment import TOY, shifted

from grpo_ref import DR_GRPO, GRPO
from grpo_ref.lab.framework.experiment import arm


def test_a_mutant_changes_every_recipe_and_nothing_else():
    experiment = replace(TOY, arms={"one": arm(shifted, recipe=GRPO, by=1.0), "two": arm(shifted, by=2.0)})
    changed = experiment.mutated(lambda recipe: replace(DR_GRPO, kl_coef=recipe.kl_coef))
    assert changed.arms["one"] == arm(shifted, recipe=replace(DR_GRPO, kl_coef=GRPO.kl_coef), by=1.0)
    assert changed.arms["two"] == experiment.arms["two"]
    assert (changed.claim, changed.predictions) == (experiment.claim, experiment.predictions)
