# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 8. Several rewards
#
# A reward is rarely one number: an answer should be right, well formed, short, polite. Trainers add the criteria up with
# weights, and GRPO divides the sum by its standard deviation. **What happens to the small reward beside the big one?** And
# does it help to normalise each reward first, as GDPO does?

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, RECIPES, config_for, group_normalized, normalized_then_summed, train
from grpo_ref.experiments import EXPERIMENTS
from grpo_ref.experiments.claims.reward_scales import two_rewards
from grpo_ref.experiments.framework.sweep import run_experiment
from grpo_ref.plots import experiment_figure, lines_figure

# %% [markdown]
# ## One group, by hand
#
# Four completions of one prompt, judged twice: by a large reward (0 or 20) and by a small one (0 or 1). All four
# combinations occur once.

# %%
large = np.array([[20.0, 20.0, 0.0, 0.0]])
small = np.array([[1.0, 0.0, 1.0, 0.0]])
summed = group_normalized(large + small)
separate = group_normalized(large) + group_normalized(small)
print("summed first:    ", summed.round(2)[0])
print("normalised first:", separate.round(2)[0])

# %% [markdown]
# Summed first, the completion that gets the large reward alone has nearly the same advantage as the one that gets both: the
# small reward makes a difference of $1/20$ of the large one's. Normalised first, both count the same. That is all there is
# to it: dividing by the standard deviation of the *sum* keeps the proportions that the scales happened to have.
#
# The share of the small reward in the advantage, as its scale shrinks:

# %%
scales = np.array([1, 2, 5, 10, 20, 50, 100])


def pull(advantages):
    return advantages[0, 0] - advantages[0, 1]  # what the small reward is worth, all else equal


summed = [pull(group_normalized(scale * large / 20 + small)) for scale in scales]
components = [np.stack([scale * large / 20, small], axis=-1) for scale in scales]
separate = [pull(normalized_then_summed(both, np.ones(2))) for both in components]
lines = {
    "summed (GRPO)": np.array([summed]),
    "each normalised first (GDPO)": np.array([separate]),
}
lines_figure(
    scales,
    lines,
    "scale of the large reward / scale of the small one",
    "advantage of having the small reward",
    log_x=True,
)

# %% [markdown]
# ## Does it matter for learning?
#
# A toy language of two letters. The first letter earns the large reward, the second the small one, and they have nothing to
# do with one another: nothing is lost by learning both.

# %%
task = two_rewards(ratio=20.0)
recipes = {"summed (GRPO)": replace(GRPO, kl_coef=0.0), "each normalised first (GDPO)": RECIPES["gdpo"]}
small, large = {}, {}
for label, recipe in recipes.items():
    history = [update.metrics for update in train(task, recipe, config_for(task, seeds=16))]
    small[label] = np.stack([metrics["small"] for metrics in history], axis=1)
    large[label] = np.stack([metrics["first quality"] for metrics in history], axis=1)

# %%
updates = np.arange(1, small[label].shape[1] + 1)
lines_figure(
    updates[::10],
    {name: curve[:, ::10] for name, curve in small.items()},
    "update",
    "quality paid with the small reward",
)

# %%
lines_figure(
    updates[::10],
    {name: curve[:, ::10] for name, curve in large.items()},
    "update",
    "quality paid with the large reward",
)

# %% [markdown]
# With the sum, the small reward's letter is learned late: only when the large reward no longer tells the completions of a
# group apart does the small one come to be heard. Nothing is ignored for ever here, because in the toy the large reward can
# be *solved*. Where it cannot, the small one stays in its noise.
#
# ## The claim, tested
#
# The experiment compares both at equal and at unequal scales, seed by seed:

# %%
scales_matter = EXPERIMENTS["reward_scales"]
result = run_experiment(scales_matter, seeds=16)
print(result.verdict)
experiment_figure(scales_matter, result)

# %% [markdown]
# ## What normalising cannot do
#
# * It makes the criteria *equally loud*, which may not be what you want: set the weights then. They multiply after the
#   normalisation, so they mean what they say.
# * A criterion that is the same for all completions of a group is silent, whatever its weight: there is nothing to compare.
# * It changes the trade-off where two criteria contradict one another. No normalisation decides what you prefer.
#
# ## Try yourself
#
# 1. Give the small reward a weight of 20 instead of normalising: `(large + 20 * small)`. What is the difference to GDPO?
#
# <details><summary>Answer</summary>
#
# For these numbers, none. But the right weight depends on the spread of each reward in each group, and that changes while
# the policy learns: GDPO follows it.
# </details>
#
# 2. What does GDPO do to a criterion that only one of eight completions meets?
#
# <details><summary>Answer</summary>
#
# Its standard deviation in the group is small, so the one that meets it gets a large advantage: rare successes are made
# loud, just as one right answer out of eight is in GRPO itself.
# </details>
#
# Exercises that practise this: `advantages/gdpo`, `advantages/group_normalized`, `advantages/ranks`.
