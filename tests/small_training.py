"""A training that takes a moment, for tests."""

import numpy as np

from grpo_ref import config_for, iter_train
from grpo_ref.learning.policies.table import TABLE

SMALL = {"updates": 6, "prompts": 8, "group_size": 4}


def finish(task, recipe, **settings):
    """All updates of a run. A recipe that distills has a teacher: the reference with twice its logits."""
    config = config_for(task, **SMALL | settings)
    return list(iter_train(task, recipe, config, teacher=teacher_for(task, recipe, config)))


def teacher_for(task, recipe, config):
    """A sharper reference for each run, or None if the recipe needs no teacher."""
    return TABLE.at(2.0 * TABLE.start(task, config.seeds) + 0.1, 1.0) if recipe.needs_teacher else None


def equal_states(ours, theirs):
    """To the bit, random numbers included."""
    same = np.array_equal(ours.params, theirs.params) and np.array_equal(ours.ref_params, theirs.ref_params)
    moments = all(np.array_equal(ours.optimizer[name], theirs.optimizer[name]) for name in theirs.optimizer)
    others = ("entropy_coef", "prompt_probs")
    same = same and all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in others)
    return same and moments and ours.generators == theirs.generators
