"""The objective ID: the same for one objective however it is written, and another for another objective."""

import hashlib
import json
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from grpo_ref.advantages import best_of_group, group_centered, group_normalized, raw_rewards, with_teacher
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.corrections import masked, truncated
from grpo_ref.filters import ended_completions, mixed_groups
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import k1, k2, no_penalty
from grpo_ref.recipes import DAPO, GRPO, RECIPES, REINFORCE, Recipe, Slot, slot
from grpo_ref.recipes.identity import (
    UNUSED,
    canonical,
    canonical_parts,
    canonical_value,
    objective_id,
    simplified,
    with_defaults,
)
from grpo_ref.rewards import soft_overlong
from grpo_ref.surrogates import clipped, dual_clipped, reinforce, two_sided_clipped

KEPT = json.loads((Path(__file__).parent / "objective_ids.json").read_text(encoding="utf-8"))

# GRPO of eq. 3 with TRL's ddof and eps, written by hand from the rules in the module's documentation
GRPO_TEXT = """grpo1
advantage = group_normalized(ddof=1, eps=0.0001, keep_singletons=false)
level = token_level
surrogate = clipped(clip_high=0.2, clip_low=0.2)
kl_coef = 0.04
penalty = k3(max_log_ratio=inf, max_value=inf)
aggregate = sequence_mean_token_mean(count_empty=true, eps=0)"""


def test_the_id_is_a_hash_of_the_canonical_text():
    assert canonical(GRPO) == GRPO_TEXT
    assert objective_id(GRPO) == "grpo1-" + hashlib.sha256(GRPO_TEXT.encode()).hexdigest()[:12]


def test_the_published_ids_stay():
    """If this fails, an ID in a paper no longer fits. Keep the text, or raise SCHEME."""
    assert {name: objective_id(RECIPES[name]) for name in KEPT} == KEPT


def test_no_two_recipes_have_one_id():
    """All recipes differ, the textbook forms too. So the list of recipes with one ID is empty."""
    ids = [objective_id(recipe) for recipe in RECIPES.values()]
    assert len(set(ids)) == len(ids) == len(RECIPES)


CLIP = {"clip_low": 0.2, "clip_high": 0.2}
SAME = {
    "another source": (GRPO, replace(GRPO, source="a paper")),
    "a default that is written out": (
        GRPO,
        replace(GRPO, advantage=slot(group_normalized), surrogate=slot(clipped)),
    ),
    "settings in another order": (
        GRPO,
        replace(GRPO, surrogate=slot(clipped, clip_high=0.2, clip_low=0.2)),
    ),
    "a whole number with a point": (
        GRPO,
        replace(GRPO, advantage=slot(group_normalized, ddof=1.0, eps=np.float64(1e-4))),
    ),
    "a penalty of weight 0": (DAPO, replace(DAPO, penalty=slot(k1), penalty_aggregate=slot(token_mean))),
    "minus 0": (DAPO, replace(DAPO, kl_coef=-0.0)),
    "no penalty at any weight": (
        replace(GRPO, kl_coef=0.0),
        replace(GRPO, penalty=slot(no_penalty), kl_coef=0.3),
    ),
    "the aggregation again for the penalty": (
        GRPO,
        replace(GRPO, penalty_aggregate=slot(sequence_mean_token_mean, eps=0)),
    ),
    "corrections in another order": (
        replace(GRPO, corrections=(slot(truncated), slot(masked))),
        replace(GRPO, corrections=(slot(masked), slot(truncated))),
    ),
    "a ratio that nothing reads": (REINFORCE, replace(REINFORCE, level=sequence_mean_level)),
    "limits of such a ratio": (REINFORCE, replace(REINFORCE, log_ratio_limits=(-5.0, 5.0))),
    "an overlong penalty of weight 0": (GRPO, replace(GRPO, reward=slot(soft_overlong, weight=0.0))),
    "a cap that is never reached": (GRPO, replace(GRPO, surrogate=slot(dual_clipped, max_ratio=math.inf))),
    # the cap of 4 acts on tokens with A < 0 alone, as those with A > 0 are clipped at 1.2
    "both clips with a cap": (
        replace(GRPO, surrogate=slot(dual_clipped, max_ratio=4.0)),
        replace(GRPO, surrogate=slot(two_sided_clipped, max_ratio=4.0)),
    ),
    "a divisor that is not used": (
        replace(GRPO, advantage=slot(best_of_group, scale=False)),
        replace(GRPO, advantage=slot(best_of_group, scale=False, ddof=0, eps=1.0)),
    ),
    "rewards beside a teacher that replaces them": (
        replace(GRPO, distill=slot(with_teacher, reward_coef=0.0)),
        replace(
            GRPO,
            distill=slot(with_teacher, reward_coef=0.0),
            advantage=slot(raw_rewards),
            reward=slot(soft_overlong),
        ),
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_one_objective_has_one_id(one, other):
    assert objective_id(one) == objective_id(other)


DIFFERENT = {
    "reward": slot(soft_overlong),
    "keep": slot(mixed_groups),
    "admit": slot(ended_completions),
    "advantage": slot(group_centered),
    "distill": slot(with_teacher),
    "level": sequence_sum_level,
    "log_ratio_limits": (-20.0, 20.0),
    "surrogate": slot(reinforce),
    "corrections": (slot(truncated),),
    "kl_coef": -0.04,
    "penalty": slot(k2),
    "aggregate": slot(token_mean),
    "penalty_aggregate": slot(token_mean),
}


def test_every_part_changes_the_id():
    assert set(DIFFERENT) == {part.name for part in fields(Recipe)} - {"source"}
    ids = [objective_id(GRPO), *(objective_id(replace(GRPO, **{n: v})) for n, v in DIFFERENT.items())]
    assert len(set(ids)) == 1 + len(DIFFERENT)


def changed(value):
    """Return another value of the same kind."""
    if callable(value):
        return sequence_sum_level if value is token_level else token_level
    if isinstance(value, bool):
        return not value
    return "another" if isinstance(value, str) else 7.0 if not math.isfinite(value) else value + 1e-9


SETTINGS = {
    f"{name}: {part.name}.{setting}": (recipe, part.name, setting)
    for name, recipe in RECIPES.items()
    for part in fields(recipe)
    if isinstance(getattr(recipe, part.name), Slot)
    for setting in with_defaults(getattr(recipe, part.name)).settings
}


@pytest.mark.parametrize(("recipe", "part", "setting"), SETTINGS.values(), ids=SETTINGS)
def test_every_setting_that_acts_changes_the_id(recipe, part, setting):
    """A penalty of weight 0 does not act, and neither does an advantage that a teacher replaces."""
    slot_ = getattr(recipe, part)
    settings = with_defaults(slot_).settings
    other = replace(recipe, **{part: Slot(slot_.kernel, settings | {setting: changed(settings[setting])})})
    acts = part in canonical_parts(recipe)
    assert (objective_id(other) != objective_id(recipe)) == acts
    assert acts or part == "penalty" or recipe.distill is not None


def test_corrections_count_with_their_number_and_settings():
    texts = [
        canonical_parts(replace(GRPO, corrections=corrections)).get("corrections", "")
        for corrections in (
            (),
            (slot(truncated),),
            (slot(truncated),) * 2,
            (slot(truncated, max_ratio=2.0),),
            (slot(truncated, level=sequence_sum_level),),
        )
    ]
    assert len(set(texts)) == len(texts)
    assert "level=sequence_sum_level" in texts[-1]


def test_a_cap_below_the_clip_is_no_dual_clip():
    """With a cap of 1.1 tokens with A > 0 are clipped at 1.1, which a dual clip does not do."""
    recipe = replace(GRPO, surrogate=slot(two_sided_clipped, max_ratio=1.1))
    assert simplified(recipe).surrogate.kernel is two_sided_clipped


def test_what_a_recipe_does_not_have_stands_at_the_end():
    assert canonical(GRPO, {"entropy_bonus": "0.01"}) == f"{GRPO_TEXT}\nentropy_bonus = 0.01"
    assert objective_id(GRPO, {"entropy_bonus": "0.01"}) != objective_id(GRPO)


VALUES = {
    "a number": (1e-4, "0.0001"),
    "a whole number": (3.0, "3"),
    "a large number": (1e20, "1e+20"),
    "minus 0": (-0.0, "0"),
    "no number": (math.nan, "nan"),
    "no bound": (-math.inf, "-inf"),
    "true": (True, "true"),
    "none": (None, "none"),
    "a text": ("old", "old"),
    "a pair": ((1, 0.5), "(1, 0.5)"),
    "a table": ({"b": 1, "a": 2}, "{a=2, b=1}"),
    "a function": (token_level, "token_level"),
    "a part in a part": (slot(k2, max_log_ratio=2), "k2(max_log_ratio=2)"),
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_values_have_one_text(value, text):
    assert canonical_value(value) == text


def my_advantage(rewards):
    """Return the rewards."""
    return rewards


def test_a_kernel_of_your_own_has_no_id():
    with pytest.raises(ValueError, match="no objective ID: my_advantage is a kernel of"):
        objective_id(replace(GRPO, advantage=slot(my_advantage)))
    with pytest.raises(ValueError, match="expected a number, a text or a kernel, got <object"):
        canonical_value(object())


@pytest.mark.parametrize("kernel", UNUSED, ids=lambda kernel: kernel.__name__)
def test_settings_that_a_switch_turns_off_are_left_out(kernel):
    switch, value, unused = UNUSED[kernel]
    assert not set(unused) & set(with_defaults(Slot(kernel, {switch: value})).settings)
    assert set(unused) <= set(with_defaults(Slot(kernel)).settings)
