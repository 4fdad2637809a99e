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
# A reward often combines several criteria: an answer should be right, well formed, short and polite. Trainers add the
# criteria with weights, and GRPO divides the sum by its standard deviation. **What happens to a small reward next to a
# large one?** And does it help to normalise each reward first, as GDPO does?

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, RECIPES, group_normalized
from grpo_ref.advantages import normalized_then_summed
from grpo_ref.course.guess import how_far
from grpo_ref.lab.claims.reward_scales import learned
from grpo_ref.plots import lines_figure

# %% [markdown]
# ## One group, by hand
#
# Four completions of one prompt have two rewards: a large one (0 or 20) and a small one (0 or 1). Each of the four
# combinations occurs once.

# %%
large = np.array([[20.0, 20.0, 0.0, 0.0]])
small = np.array([[1.0, 0.0, 1.0, 0.0]])
summed = group_normalized(large + small)
separate = group_normalized(large) + group_normalized(small)
print("summed first:    ", summed.round(2)[0])
print("normalised first:", separate.round(2)[0])

# %% [markdown]
# If the rewards are summed first, the completion with the large reward alone has nearly the same advantage as the one
# with both: the effect of the small reward is $1/20$ of the effect of the large one. If the rewards are normalised
# first, both count the same. The reason is simple: dividing by the standard deviation of the *sum* keeps the
# proportions of the scales.
#
# The next figure shows the effect of the small reward on the advantage, for different scales of the large one:

# %%
scales = np.array([1, 2, 5, 10, 20, 50, 100])


def pull(advantages):
    return advantages[0, 0] - advantages[0, 1]  # effect of the small reward, all else equal


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
# Figure: effect of the small reward on the advantage against the scale of the large reward: it falls towards
# 0 for the summed reward and is constant if each reward is normalised first.

# %% [markdown]
# ## Does it matter for learning?
#
# In a toy language, completions have two parts of a few letters each. The letters of the first part decide the large
# reward, and the letters of the second part decide the small one. The two parts are independent, so the policy can
# learn both. The quality of a part is 0 for the first policy and 1 for the best letters. The large reward is 20 times
# the small one.
#
# **Guess first.** GRPO trains on the sum. Averaged over training, what is its quality in the *small* reward, divided by
# GDPO's? (0 means nothing, 1 means as much as GDPO; within 0.1 counts as right.)

# %%
guess_share = 0.2

# %%
recipes = {"summed (GRPO)": replace(GRPO, kl_coef=0.0), "each normalised first (GDPO)": RECIPES["gdpo"]}
runs = {
    label: learned(recipe=recipe, learning_rate=1.0, ratio=20.0, seeds=16, seed=0)
    for label, recipe in recipes.items()
}
summed, separate = (measured["mean small"].mean() for measured in runs.values())
because = (
    "the sum is divided by the standard deviation of the large reward, so the small one counts one twentieth as much,"
    " until the large one is learned and is the same for all completions of a group."
)
print(how_far(guess_share, summed / separate, because, within=0.1))

# %%
updates = np.arange(1, 81)
lines_figure(
    updates[::4],
    {name: measured["small"][:, ::4] for name, measured in runs.items()},
    "update",
    "quality in the small reward (0 to 1)",
)
# Figure: quality in the small reward over 80 updates: with GDPO it rises to nearly 1 within 20 updates; with the summed
# reward it rises more slowly, to about 0.7.

# %%
lines_figure(
    updates[::4],
    {name: measured["large"][:, ::4] for name, measured in runs.items()},
    "update",
    "quality in the large reward (0 to 1)",
)
# Figure: quality in the large reward over 80 updates: the lines of both methods lie on each other.

# %% [markdown]
# With the sum, the policy learns the letters of the small reward late. It does learn them here, because the large
# reward of this toy can be *solved*. If it cannot, the small reward stays hidden in the noise of the large one. With
# GDPO, the quality in the large reward hardly suffers: the two lines of the second figure lie on each other.
#
# The experiment [`reward_scales`](../docs/experiments/reward_scales/README.md) tests the same question on many sampled
# tasks, with ratios from 3:1 to 100:1 and the best learning rate for each variant.
#
# ## The limits of normalising
#
# * It makes all criteria *count equally*. If you do not want this, set the weights. The weights multiply the normalised
#   rewards, so a weight of 2 counts twice as much.
# * A criterion that is the same for all completions of a group has no effect, whatever its weight: there is nothing to
#   compare.
# * It changes the trade-off if two criteria contradict each other. No normalisation can decide which of them you
#   prefer.
#
# ## Try yourself
#
# 1. Give the small reward a weight of 20 instead of normalising: `(large + 20 * small)`. How does this differ from
#    GDPO?
#
# <details><summary>Answer</summary>
#
# For these numbers there is no difference. But the right weight depends on the spread of each reward in each group.
# This spread changes while the policy learns, and GDPO adapts to it.
# </details>
#
# 2. What does GDPO do to a criterion that only one of eight completions meets?
#
# <details><summary>Answer</summary>
#
# The standard deviation of the criterion in the group is small, so the completion that meets it gets a large advantage:
# rare successes count a lot. GRPO does the same with one right answer out of eight.
# </details>
#
# Exercises that practise this: `advantages/gdpo`, `advantages/group_normalized`, `advantages/ranks`.
