# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 6. KL: estimators, and reward hacking with names
#
# Most GRPO objectives subtract $\beta\,\mathrm{KL}(\pi_\theta \,\|\, \pi_\text{ref})$: a penalty for moving away from
# the reference policy. There are two questions:
#
# * The exact KL is a sum over the whole vocabulary. Trainers estimate it from the one token that was sampled. **What do
#   they estimate, and what is the gradient of this estimate?** The two answers differ.
# * **What does the penalty prevent?** We train a letter model of real first names to write long names, and watch it
#   cheat.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, TASKS, config_for, iter_train, slot
from grpo_ref.course.guess import how_far
from grpo_ref.learning.rollout import sample
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.plots import frontier_figure, penalty_figure, spread_figure

# %% [markdown]
# ## Three estimators of one number
#
# Let $v = \log\pi_\theta(a) - \log\pi_\text{ref}(a)$ for a token $a$ sampled from $\pi_\theta$. Then
# $\mathrm{KL} = \mathbb{E}[v]$, and Schulman (2020) compares
#
# $$k_1 = v \qquad k_2 = \tfrac12 v^2 \qquad k_3 = e^{-v} - 1 + v .$$
#
# The left picture shows the values: $k_1$ can be negative for a single token, although a KL never is. The right picture
# shows the slope, with which the loss pushes the token.

# %%
penalty_figure({"k1": slot(k1), "k2": slot(k2), "k3": slot(k3)})
# Figure: value and slope of k1, k2 and k3 against the log-ratio. The values agree near 0; the slope of k1 is
# constant, the slopes of k2 and k3 change their sign at 0.

# %% [markdown]
# Look at the right picture: the slope of $k_1$ is **constant**. Its expected gradient is $\mathbb{E}[\nabla \log
# \pi_\theta] = 0$: it pushes every token with the same force, whatever the reference is, and only adds noise. As a
# *value*, $k_1$ is unbiased; as a *loss*, it is useless. Only $k_2$ and $k_3$ have a slope that pulls back towards the
# reference, each in its own way.
#
# ## The values: how noisy?
#
# We take a policy and a reference over ten tokens, estimate the KL from a batch of 32 tokens, and repeat this 2000
# times.

# %%
rng = np.random.default_rng(0)
policy, reference = rng.dirichlet(np.full(10, 2.0), size=2)
v = np.log(policy / reference)
drawn = v[rng.choice(10, p=policy, size=(2000, 32))]
estimates = {"k1": drawn, "k2": drawn**2 / 2, "k3": np.expm1(-drawn) + drawn}
exact = float((policy * v).sum())
spread_figure({name: values.mean(1) for name, values in estimates.items()}, exact, "KL (nats per token)")
# Figure: estimates of the KL from 2000 batches with their mean and spread: the means of k1 and k3 are on the exact
# value, and their spreads are about equal; the mean of k2 is too high.

# %% [markdown]
# $k_1$ and $k_3$ are right on average, and $k_2$ is not. The bars show the noise, which is about the same for $k_1$ and
# $k_3$ here. Near the reference $k_3$ is less noisy. Far from the reference it can be much noisier: $e^{-v}$ is huge
# for a token that is likely under the reference and unlikely under the policy. The experiment
# [`kl_estimators`](../docs/experiments/kl_estimators/README.md) measures both at distances from 0.001 nats to more than
# one.
#
# ## Which gradient does each estimator have?
#
# The expected gradient of a loss that contains $k$ is the slope times $\nabla\log\pi_\theta$, averaged over
# $\pi_\theta$. For a table of probabilities there is a formula: the gradient for token $a$ is
# $\pi_a\,(s_a - \sum_b \pi_b s_b)$ where $s$ is the slope. Compare it with the two exact gradients.


# %%
def expected(slope):
    return policy * (slope - (policy * slope).sum())


toward = {"KL(policy ‖ ref)": expected(v), "KL(ref ‖ policy)": policy - reference}
slopes = {"k1": np.ones(10), "k2": v, "k3": -np.expm1(-v)}
for name, slope in slopes.items():
    print(name, {kl: bool(np.allclose(expected(slope), exact)) for kl, exact in toward.items()})

# %% [markdown]
# So the penalty of most trainers, $k_3$, has the value of one KL and the gradient of the **other** KL. Both gradients
# pull towards the reference, but $\mathrm{KL}(\text{ref}\,\|\,\pi)$ is largest if the policy no longer writes what the
# reference writes. The experiment that compares where training ends with each of them is
# [`kl_optimum`](../docs/experiments/kl_optimum/README.md).
#
# ## Reward hacking with names
#
# The reference policy was estimated from 5163 real first names. The reward is 1 for a name of eight to ten letters. We
# would also like the names to be real and varied, but the reward does not measure this.
#
# **Guess first.** What happens to the share of *real* names when there is no penalty: does it "fall", "stay" (within 0.05), or
# "rise"?

# %%
guess_real = "fall"

# %%
names = TASKS["names"]()
config = config_for(names, seeds=6, updates=60, prompts=8, learning_rate=0.2)
last = {}
for kl_coef in (0.0, 0.1, 0.3, 1.0):
    recipe = replace(GRPO, kl_coef=kl_coef)
    for last[kl_coef] in iter_train(names, recipe, config):
        pass

# %%
ends = {
    f"kl_coef = {coef}": (update.metrics["kl"], update.metrics["reward"]) for coef, update in last.items()
}
frontier_figure(ends, "KL to the reference (nats a name)", "reward: share of long names")
# Figure: reward against the KL to the reference, one point for each weight of the penalty: the smaller the
# weight, the higher both are.

# %% [markdown]
# A higher reward needs a larger distance from the reference, and the weight of the penalty chooses the point on this
# curve. The names show what the distance means. Each line was sampled with the same random numbers.

# %%
for coef, update in last.items():
    drawn = sample(names, update.state.params[:1], prompts=8, seed=1)
    texts = [names.render(drawn.prompts[0, p], drawn.tokens[0, p, 0], drawn.mask[0, p, 0]) for p in range(8)]
    print(f"kl_coef {coef:4}: ", *texts)

# %%
watched = ("reward", "real_name", "distinct_bigrams", "entropy")
print(f"{'kl_coef':8}", *(f"{name:>17}" for name in watched))
for coef, update in last.items():
    print(f"{coef:<8}", *(f"{update.metrics[name].mean():17.2f}" for name in watched))

# %%
at_first = np.mean(
    [update.metrics["real_name"].mean() for update in [next(iter(iter_train(names, GRPO, config)))]]
)
at_last = last[0.0].metrics["real_name"].mean()
change = "stay" if abs(at_last - at_first) <= 0.05 else "rise" if at_last > at_first else "fall"
print(f"share of real names: {at_first:.2f} at first, {at_last:.2f} after training without a penalty")
print(
    how_far(
        guess_real, change, "a few real long names are repeated again and again, and each of them counts."
    )
)

# %% [markdown]
# Without a penalty nearly every name is long, and the names are all alike: the policy has found a few endings with a
# high reward and uses them everywhere. The share of *real* names does not fall. This number alone would have shown
# nothing; the entropy and the share of distinct bigrams show the problem. This is reward hacking in its smallest form:
# **the reward is not the goal**, and the policy may fool your one measure of quality too.
#
# Does a penalty prevent this? The experiment [`hacked_names`](../docs/experiments/hacked_names/README.md) tested many
# goals and references, at the same learning rate and at the best one for each variant. There a weight of 0.3 preserves
# little: the names are not more often real, and about 3 in 100 more are real and differ. The table above holds for one
# task and one learning rate. A penalty helps more if the answers that the judge prefers are really bad
# ([`reward_hacking`](../docs/experiments/reward_hacking/README.md)) and if the reward is a learned model
# ([with a network](../docs/experiments/reward_hacking/README.md#with-a-network)).
#
# ## Try yourself
#
# 1. Use `penalty=slot(k1)` with `kl_coef=1.0`. What do you expect from the pictures above?
#
# <details><summary>Answer</summary>
#
# No useful effect: the gradient of $k_1$ is zero on average. The policy moves as if there were no penalty, with more
# noise.
# </details>
#
# 2. Why does TRL weight $k_3$ with the importance ratio (`use_bias_correction_kl`) when a batch is used for several steps?
#
# <details><summary>Answer</summary>
#
# The tokens were sampled from an older policy. Weighted by the ratio, the estimator is unbiased for the *current*
# policy again. The weight is differentiated too, so the gradient is the gradient of the KL itself. Both hold at each
# position, given the tokens before it. But the older policy decided which positions were reached, so the sum over the
# tokens is not an unbiased estimate of the KL of whole completions. Its gradient is not unbiased either, even
# on-policy, because a token also changes which positions follow ([step 8](../docs/derivation/08_kl_in_the_loss.md)).
# </details>
#
# Exercises that practise this: `kl/k3`, `kl/k3_slope`, `kl/estimators`, `kl/exact_kl`, `kl/expected_gradient`.
