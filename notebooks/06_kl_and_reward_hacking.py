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
# Most GRPO objectives subtract $\beta\,\mathrm{KL}(\pi_\theta \,\|\, \pi_\text{ref})$: a price for moving away from the
# reference policy. Two questions:
#
# * The exact KL is a sum over the whole vocabulary. Trainers estimate it from the one token that was sampled. **What do
#   they estimate, and what is the gradient of what they estimate?** The two answers differ.
# * **What does the penalty prevent?** We let a letter model of real first names learn to write long ones, and watch it
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
# shows the slope, what the loss pushes the token with.

# %%
penalty_figure({"k1": slot(k1), "k2": slot(k2), "k3": slot(k3)})

# %% [markdown]
# Look at the right picture: the slope of $k_1$ is **constant**. Its expected gradient is
# $\mathbb{E}[\nabla \log \pi_\theta] = 0$: it pushes every token with the same force, whatever the reference says, and
# does nothing but add noise. As a *value*, $k_1$ is unbiased; as a *loss*, it is useless. Only $k_2$ and $k_3$ have a slope
# that pulls back towards the reference, each in its own way.
#
# ## The values: how noisy?
#
# A policy and a reference over ten tokens, an estimate from a batch of 32 tokens, 2000 times over.

# %%
rng = np.random.default_rng(0)
policy, reference = rng.dirichlet(np.full(10, 2.0), size=2)
v = np.log(policy / reference)
drawn = v[rng.choice(10, p=policy, size=(2000, 32))]
estimates = {"k1": drawn, "k2": drawn**2 / 2, "k3": np.expm1(-drawn) + drawn}
exact = float((policy * v).sum())
spread_figure({name: values.mean(1) for name, values in estimates.items()}, exact, "KL (nats per token)")

# %% [markdown]
# $k_1$ and $k_3$ are right on average, $k_2$ is not; the bars tell the noise. That $k_3$ is the calmer of the two is true near
# the reference only: $e^{-v}$ is huge for a token that the reference finds likely and the policy does not. The experiment
# [`kl_estimators`](../docs/experiments/README.md#kl_estimators) measures both at distances from 0.001 nats to more than one.
#
# ## The gradients: of what?
#
# The expected gradient of a loss that contains $k$ is the slope times $\nabla\log\pi_\theta$, averaged over
# $\pi_\theta$. For a table of probabilities we can write it down: token $a$ gets
# $\pi_a\,(s_a - \sum_b \pi_b s_b)$ with $s$ the slope. Compare with the two exact gradients.


# %%
def expected(slope):
    return policy * (slope - (policy * slope).sum())


toward = {"KL(policy ‖ ref)": expected(v), "KL(ref ‖ policy)": policy - reference}
slopes = {"k1": np.ones(10), "k2": v, "k3": -np.expm1(-v)}
for name, slope in slopes.items():
    print(name, {kl: bool(np.allclose(expected(slope), exact)) for kl, exact in toward.items()})

# %% [markdown]
# So the penalty of most trainers, $k_3$, has the value of one KL and the gradient of the **other** one. Both pull towards the
# reference; they differ in how: $\mathrm{KL}(\text{ref}\,\|\,\pi)$ punishes above all giving up what the reference does. Where
# training comes to rest with each of them is tested in [`kl_optimum`](../docs/experiments/README.md#kl_optimum).
#
# ## Reward hacking with names
#
# The reference policy was counted from 5163 real first names. The reward is 1 for a name of eight to ten letters. What we
# would like to keep, without paying for it, is that the names are real and that they are many.
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

# %% [markdown]
# More reward costs more distance, and the weight of the penalty chooses the point on the way. What the distance means, you
# see in the names themselves; each line was drawn with the same random numbers.

# %%
for coef, update in last.items():
    drawn = sample(names, update.state.params[:1], prompts=8, seed=1)
    words = [names.render(drawn.prompts[0, p], drawn.tokens[0, p, 0], drawn.mask[0, p, 0]) for p in range(8)]
    print(f"kl_coef {coef:4}: ", *words)

# %%
watched = ("reward", "real_name", "distinct_bigrams", "entropy")
print(f"{'kl_coef':8}", *(f"{name:>17}" for name in watched))
for coef, update in last.items():
    print(f"{coef:<8}", *(f"{update.metrics[name].mean():17.2f}" for name in watched))

# %% [markdown]
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
# Without a penalty nearly every name is long, and they are all alike: the policy has found a few endings that pay and uses
# them for everything. The share of *real* names does not fall. Had we watched that number alone, we would have seen nothing;
# the entropy and the share of distinct bigrams tell. This is reward hacking in its smallest form: **the reward says what is
# paid, not what is meant**, and the one measure of quality that you thought of may be fooled too.
#
# Is this what a penalty is for? For many goals and references, with every learning rate chosen for its arm,
# [`hacked_names`](../docs/experiments/README.md#hacked_names) finds little that a weight of 0.3 keeps: neither more real names
# nor more different ones. The table above holds for one learning rate, at which the unpunished policy goes far. A penalty is
# worth more where the judge's favourite answers are truly bad
# ([`reward_hacking`](../docs/experiments/README.md#reward_hacking)) and where the reward is a model that was learned
# ([`reward_hacking_network`](../docs/experiments/README.md#reward_hacking_network)).
#
# ## Try yourself
#
# 1. Use `penalty=slot(k1)` with `kl_coef=1.0`. What should happen, from the pictures above?
#
# <details><summary>Answer</summary>
#
# Nothing useful: the gradient of $k_1$ is zero on average. The policy drifts as if there were no penalty, with more noise.
# </details>
#
# 2. Why does TRL weight $k_3$ with the importance ratio (`use_bias_correction_kl`) when a batch is used for several steps?
#
# <details><summary>Answer</summary>
#
# The tokens were sampled from an older policy. Weighted by the ratio, the estimator is unbiased for the *current* policy
# again, and, since the weight is differentiated too, its gradient is that of the KL itself. Both hold at each position, given
# the tokens before it. The positions themselves are still those that the older policy reached, so the sum over the tokens is not
# an unbiased estimate of the KL of whole completions. Neither is its gradient, even on-policy: a token also changes which
# positions follow ([step 8](../docs/derivation/08_kl_in_the_loss.md)).
# </details>
#
# Exercises that practise this: `kl/k3`, `kl/k3_slope`, `kl/estimators`, `kl/exact_kl`, `kl/expected_gradient`.
