"""The vectors are what the recordings have, and our own library computes them."""

from dataclasses import replace

import numpy as np
import pytest
from data.vectors.select_cases import VECTORS, files
from grpo_conformance import assert_conforms, conforms, names, vectors
from grpo_conformance.vector import document

import grpo_ref
from grpo_ref.recipes import RECIPES, Slot

LOSSES = names(2)


@pytest.fixture(scope="module")
def written():
    return files()


def test_the_committed_vectors_are_those_of_the_recordings(written):
    assert {str(path.relative_to(VECTORS)) for path in VECTORS.glob("*/*.json")} == set(written)
    assert [name for name, text in written.items() if (VECTORS / name).read_text() != text] == []


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
