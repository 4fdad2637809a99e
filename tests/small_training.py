"""A training that takes a moment, for tests."""

import numpy as np

from grpo_ref import config_for, iter_train

SMALL = {"updates": 6, "prompts": 8, "group_size": 4}


def finish(task, recipe, **settings):
    """All updates of a run."""
    return list(iter_train(task, recipe, config_for(task, **SMALL | settings)))


def equal_states(ours, theirs):
    """To the bit, random numbers included."""
    same = np.array_equal(ours.params, theirs.params) and np.array_equal(ours.ref_params, theirs.ref_params)
    moments = all(np.array_equal(ours.optimizer[name], theirs.optimizer[name]) for name in theirs.optimizer)
    others = ("entropy_coef", "prompt_probs")
    same = same and all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in others)
    return same and moments and ours.generators == theirs.generators
