"""The vectors are what the recordings have, and our own library computes them."""

import json
from dataclasses import replace
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from data.vectors.select_cases import DEFAULTS, KINDS, VECTORS, defaults, files
from grpo_conformance import assert_conforms, conforms, names, vectors
from grpo_conformance.vector import document

import grpo_ref
from grpo_ref import advantages, aggregation, corrections, levels, penalties
from grpo_ref.explain.dialects.trl import kernels as trl
from grpo_ref.explain.dialects.verl import kernels as verl
from grpo_ref.recipes import GRPO, RECIPES, Slot

LOSSES = names(2)


@pytest.mark.parametrize("folder", KINDS)
def test_the_committed_vectors_are_those_of_the_recordings(folder):
    committed = {path.name: path.read_text() for path in (VECTORS / folder).glob("*.json")}
    written = files(folder)
    assert committed.keys() == written.keys()
    assert [name for name in written if committed[name] != written[name]] == []


def test_the_committed_defaults_are_those_of_the_dialects():
    assert DEFAULTS.read_text() == defaults()


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*/*.json")), ids=lambda path: path.stem)
def test_files_have_the_documented_form(path):
    schema = json.loads((VECTORS / "schema.json").read_text())
    value = json.loads(path.read_text())
    jsonschema.Draft202012Validator(schema).validate(value)
    assert value["name"] == path.stem
    assert len({case["id"] for case in value["cases"]}) == len(value["cases"])


def recipe_of(about, settings):
    """The recipe of grpo_ref for the settings of a vector."""
    recipe = RECIPES[about["name"]]
    for name, place in about["at"].items():
        part, _, setting = place.rpartition(".")
        if not part:
            recipe = replace(recipe, **{setting: settings[name]})
        elif part == "surrogate":
            old = recipe.surrogate
            recipe = replace(recipe, surrogate=Slot(old.kernel, old.settings | {setting: settings[name]}))
        else:
            parts = (
                Slot(old.kernel, old.settings | {setting: settings[name]})
                if old.kernel.__name__ == part
                else old
                for old in recipe.corrections
            )
            recipe = replace(recipe, corrections=tuple(parts))
    return recipe


def ours(name, vector):
    """A loss of grpo_ref for one vector: (loss, gradient)."""
    recipe = recipe_of(document(name)["recipe"], vector.settings)

    def loss(log_probs, advantages, mask, max_length=None, group_size=None, **others):
        rows = len(mask) if group_size is None else int(group_size)
        grouped = {key: value.reshape(-1, rows, *value.shape[1:]) for key, value in others.items()}
        result = grpo_ref.policy_loss(
            log_probs.reshape(-1, rows, log_probs.shape[1]),
            advantages.reshape(-1, rows),
            mask.reshape(-1, rows, mask.shape[1]),
            recipe=recipe,
            max_length=max_length,
            **grouped,
        )
        return result.loss, result.gradient.reshape(mask.shape)

    return loss


DPPO = {"dppo_tv": verl.dppo_tv_against_old, "dppo_kl": verl.dppo_kl_against_old}
"""verl's forms, which no recipe has; with ppo_dual_clip they are the losses that are not recipes."""


def test_losses_without_a_recipe_are_known():
    unnamed = [name for name in LOSSES if not document(name)["recipe"]["name"]]
    assert sorted(unnamed) == sorted([*DPPO, "high_entropy", "ppo_dual_clip"])


def test_our_kernel_of_trl_conforms_on_tokens_of_high_entropy():
    for vector in vectors(name="high_entropy"):
        part = Slot(trl.top_entropy_in_float32, {"share": vector.settings["share"]})
        recipe = replace(RECIPES["dapo"], corrections=(part,))

        def loss(log_probs, old_log_probs, advantages, mask, entropies, recipe=recipe):
            rows = (array[None] for array in (log_probs, advantages, mask))
            others = {"old_log_probs": old_log_probs[None], "entropies": entropies[None]}
            result = grpo_ref.policy_loss(*rows, recipe=recipe, **others)
            return result.loss, result.gradient[0]

        report = conforms(loss, "high_entropy", only=lambda each, it=vector: each is it)
        assert report.conforms, str(report)


@pytest.mark.parametrize("name", [*DPPO, "ppo_dual_clip"])
def test_our_kernels_conform_where_there_is_no_recipe(name):
    kernel = DPPO.get(name, grpo_ref.surrogates.dual_clipped)
    for vector in vectors(name=name):
        recipe = replace(RECIPES["lite_ppo"], surrogate=Slot(kernel, dict(vector.settings)))

        def loss(log_probs, old_log_probs, advantages, mask, recipe=recipe):
            rows = (array[None] for array in (log_probs, advantages, mask))
            result = grpo_ref.policy_loss(*rows, recipe=recipe, old_log_probs=old_log_probs[None])
            return result.loss, result.gradient[0]

        report = conforms(loss, name, only=lambda each, it=vector: each is it, **vector.settings)
        assert report.conforms, str(report)


def grouped(array, size):
    return None if array is None else array.reshape(-1, int(size), *array.shape[1:])


def our_value(name, vector):
    """An advantage, penalty or correction of grpo_ref for one vector."""
    settings = dict(vector.settings)
    if vector.level == 1:
        kernel = getattr(advantages, name.removesuffix("_advantages"))

        def value(group_size, rewards=None, mask=None, components=None, weights=None):
            arrays = {"rewards": rewards, "mask": mask, "components": components}
            record = SimpleNamespace(
                weights=weights, **{k: grouped(v, group_size) for k, v in arrays.items()}
            )
            record.lengths = None if mask is None else record.mask.sum(-1)
            result = Slot(kernel, settings)(record)
            return result.reshape(-1, *result.shape[2:])

        return value
    if "weight_max" in settings:
        bounds = {"min_ratio": settings["weight_min"], "max_ratio": settings["weight_max"]}
        level = levels.sequence_sum_level if name.startswith("sequence") else levels.token_level
        kernel = corrections.truncated if name.endswith("truncate") else corrections.masked

        def value(old_log_probs, rollout_log_probs, mask):
            record = {"old_log_probs": old_log_probs, "rollout_log_probs": rollout_log_probs, "mask": mask}
            return Slot(kernel, bounds | {"level": level})(**{k: v[None] for k, v in record.items()})[0]

        return value
    kernel = getattr(penalties, name.removesuffix("_straight_through"))
    part = Slot(penalties.straight_through, {"estimator": kernel}) if "straight" in name else Slot(kernel)

    def value(log_probs, ref_log_probs, mask):
        zero = np.zeros_like(log_probs)
        return part(log_probs=log_probs, ref_log_probs=ref_log_probs, mask=mask, log_ratio=zero).value

    return value


VALUES = [name for name in names() if "value" in next(vectors(name=name)).expected]


@pytest.mark.parametrize("name", VALUES)
def test_our_advantages_penalties_and_corrections_conform_with_every_setting(name):
    for vector in vectors(name=name):
        report = conforms(
            our_value(name, vector), name, only=lambda each, it=vector: each is it, **vector.settings
        )
        assert report.conforms, str(report)


@pytest.mark.parametrize("name", [name for name in names(1) if name not in VALUES])
def test_our_averages_conform(name):
    recipe = replace(GRPO, aggregate=Slot(getattr(aggregation, name)))

    def average(values, mask, max_length=None):
        weights = recipe.weights(mask[None], max_length=max_length)[0]
        return (weights * values).sum(), weights

    assert_conforms(average, name)


@pytest.mark.parametrize("name", [name for name in LOSSES if document(name)["recipe"]["name"]])
def test_our_loss_conforms_with_every_setting(name):
    for vector in vectors(name=name):
        report = conforms(
            ours(name, vector), name, only=lambda each, it=vector: each is it, **vector.settings
        )
        assert report.conforms, str(report)


def dapo(log_probs, old_log_probs, advantages, mask, clip_low=0.2, clip_high=0.28):
    ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
    surrogate = np.minimum(ratio * gain, np.clip(ratio, 1 - clip_low, 1 + clip_high) * gain)
    return -(surrogate * mask).sum() / max(mask.sum(), 1.0)


def test_a_wrong_loss_fails_with_the_smallest_case_and_the_name_of_the_slip():
    assert_conforms(dapo, "dapo")

    def symmetric(log_probs, old_log_probs, advantages, mask):
        return dapo(log_probs, old_log_probs, advantages, mask, clip_high=0.2)

    with pytest.raises(AssertionError) as caught:
        assert_conforms(symmetric, "dapo")
    message = str(caught.value)
    assert message.startswith("symmetric does not conform to dapo, clip_low=0.2, clip_high=0.28: ")
    assert "likely mistake: the clip is symmetric, of half-width 0.2\n" in message
    assert "the smallest case that differs" in message
