# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 4. A gallery of surrogates
#
# Two papers of the GRPO family often differ in one thing only: the **surrogate**. The surrogate is the curve that gives
# what a token adds to the objective, depending on how its probability has changed since it was sampled.
#
# **The question: what does each of these curves do to a good token and to a bad one?** The library has about twenty
# surrogates. Six of them are of different kinds, and each of these has a figure here. The others are variants of them;
# a table at the end has them all. Only two things matter:
#
# * the **value** $s$, what the token adds to the objective,
# * the **slope** $\partial s / \partial \log\pi_\theta$, how hard the token pushes its own log-probability. *Training
#   uses the slope and nothing else.*
#
# Both are drawn against the ratio $\rho = \pi_\theta / \pi_\text{old}$, for advantages $A = +1$ (solid) and $A = -1$
# (dashed). To the right of $\rho = 1$ the token has become more likely, to the left less likely. The dotted line is
# $\rho A$, which has no clipping at all.
#
# Before each figure you are asked for a **guess**. The value in the cell is only a placeholder. Replace it by your own
# guess. A guess within 5 % of the answer counts as right.

# %%
# %matplotlib inline
import numpy as np
from ipywidgets import interact

from grpo_ref import slot, surrogates
from grpo_ref.course.guess import how_far
from grpo_ref.plots import surrogate_curve, surrogate_figure
from grpo_ref.plots.one_token import surrogate_at


def slope_at(part, ratio, advantage, old_prob=0.2):
    return float(surrogate_at(part, np.array([ratio]), advantage, old_prob=old_prob).slope[0])


# %% [markdown]
# ## 1. No trust region: the ratio itself
#
# **`importance_weighted`**: $s = \rho A$. The ratio corrects for data that an older policy has sampled. Since $\rho =
# e^{\log\pi_\theta -
# \log\pi_\text{old}}$, its derivative with respect to $\log\pi_\theta$ is $\rho$ again, so the slope is $\rho A$, too.
#
# **Guess:** a good token ($A = 1$) has become three times as likely. How hard is it still pushed up?

# %%
guess_free = 1.0

# %%
free = slot(surrogates.importance_weighted)
because = (
    "The slope is ρ A. The further the token has moved, the harder it is pushed: nothing limits the slope."
)
print(how_far(guess_free, slope_at(free, 3.0, 1.0), because))
surrogate_figure(free)
# Figure: value and slope of the unclipped surrogate against the ratio, for a good and a bad token. All lines
# are straight: the slope grows with the ratio without a bound.

# %% [markdown]
# Both lines are straight and lie on the dotted ones. The expected slope is right, however far the policy has moved
# ([importance sampling](../docs/derivation/03_importance_sampling.md) proves it). But a token that has become ten times
# as likely pushes ten times as hard.
#
# **A variant:** `reinforce`, $s = A \log\pi_\theta$, has the slope $A$ at every ratio. It is right for fresh data and
# wrong for old data.
#
# ## 2. A hard bound: the clip
#
# **`clipped`** (PPO, GRPO): $s = \min(\rho A,\ \mathrm{clip}(\rho, 1-\varepsilon_\text{low},
# 1+\varepsilon_\text{high})\, A)$. Where the clipped branch is smaller, the value is constant and the slope is 0.
# Elsewhere the slope is $\rho A$.
#
# **Guess:** a good token has become *less* likely: $\rho = 0.5$, outside of the range from 0.8 to 1.2. What is its
# slope?

# %%
guess_wrong_way = 0.0


# %%
def clip(clip_low=0.2, clip_high=0.2):
    return surrogate_figure(slot(surrogates.clipped, clip_low=clip_low, clip_high=clip_high))


because = "The minimum of 0.5 and 0.8 is 0.5, which is not clipped. Only tokens that have moved far in the right direction are clipped."
print(how_far(guess_wrong_way, slope_at(slot(surrogates.clipped), 0.5, 1.0), because))
clip()
# Figure: value and slope of the clipped surrogate against the ratio. The slope of a good token is 0 above
# 1.2, the slope of a bad token is 0 below 0.8.

# %% [markdown]
# In the right picture, the solid line (good token) falls to 0 beyond 1.2, and the dashed line (bad token) is 0 below
# 0.8. A good token stops pushing once it is 20 % more likely, a bad token once it is 20 % less likely. On the *wrong*
# side nothing is clipped. [The clip](../docs/derivation/04_clip.md) proves this;
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) and
# [`ratios/clipped_slope`](../exercises/03_ratios/04_clipped_slope.py) are the exercises.
#
# With a running kernel you can move the bounds:

# %%
_ = interact(clip, clip_low=(0.0, 0.9, 0.05), clip_high=(0.0, 1.5, 0.05))

# %% [markdown]
# **Variants,** all with hard bounds:
#
# * *Clip-higher* (DAPO) has the upper bound at 1.28. This is meant for rare tokens: for a token of probability 0.01 a
#   factor of 1.2 is a small step, and new ideas come from rare good tokens.
# * `dual_clipped` (verl's default) adds a bound for bad tokens that have become *much* more likely: beyond a ratio of 3
#   their slope is 0. These are the worst tokens, and they are no longer pushed down.
#   [`ratios/dual_clip`](../exercises/03_ratios/05_dual_clip.py)
# * `two_sided_clipped` (INTELLECT-2; TRL's `delta`) is the dual clip, as long as $\delta$ is above $1 + \varepsilon$.
# * `geometric_mean_clipped` (GMPO) clips $\log\rho$ at $\pm 0.4$, from $e^{-0.4} = 0.67$ to $e^{0.4} = 1.49$.
# * `gspo_token` (GSPO) clips the ratio of a whole completion. This ratio is a geometric mean over many tokens and so
#   very near 1. The bounds are some 600 times nearer to 1, at 0.9997 and 1.0004.
#   [`ratios/sequence_ratio`](../exercises/03_ratios/08_sequence_ratio.py)
#
# ## 3. A constant weight
#
# **`cispo`** (MiniMax): $s = \mathrm{sg}[\min(\rho, c)]\, A \log\pi_\theta$. The letters sg, "stop gradient", mean that
# the weight in brackets counts as a constant when the derivative is taken. The derivative of $\log\pi_\theta$ with
# respect to itself is 1, so the slope is $\min(\rho, c)\, A$. (We draw $c = 2$, so that the bound is visible; in
# practice $c$ is about 5.)
#
# **Guess:** a good token has become three times as likely. Its slope under the clip is 0. What is its slope in CISPO?

# %%
guess_detached = 3.0

# %%
detached = slot(surrogates.cispo, max_ratio=2.0)
because = "The weight is at most 2 here, but the slope of a token never becomes 0."
print(how_far(guess_detached, slope_at(detached, 3.0, 1.0), because))
surrogate_figure(detached)
# Figure: value and slope of CISPO against the ratio. The slope of a good token grows up to the ratio 2 and is
# constant from there; it never falls to 0.

# %% [markdown]
# The slope never falls to 0. It stops growing at 2 and stays there. Do not read anything from the value on the left: it
# contains $\log\pi_\theta$, and the slope of its curve is not the slope that training uses. The exercise is
# [`ratios/cispo`](../exercises/03_ratios/06_cispo.py).
#
# ## 4. A soft gate
#
# **`sapo`**: $s = \frac4\tau\,\sigma(\tau(\rho-1))\,A$ with the logistic function $\sigma(x) = 1/(1 + e^{-x})$. Since $\sigma' =
# \sigma(1 - \sigma)$, the slope is
#
# $$ \frac{\partial s}{\partial\log\pi_\theta} = 4\, \sigma\,(1 - \sigma)\, \rho\, A, \qquad \sigma = \sigma(\tau(\rho - 1)) . $$
#
# At $\rho = 1$ the slope is $A$, whatever $\tau$ is, because $\sigma(0) = 1/2$.
#
# **Guess:** what is the slope of a good token at $\rho = 1.5$, with $\tau = 6$? With the clip it is 0, and with the
# ratio alone it is 1.5.

# %%
guess_soft = 0.0


# %%
def gate(temperature=6.0):
    return surrogate_figure(slot(surrogates.sapo, tau_positive=temperature, tau_negative=temperature))


because = "σ(6 · 0.5) = 0.953, so it is 4 · 0.953 · 0.047 · 1.5. The gate closes gradually."
sharp = slot(surrogates.sapo, tau_positive=6.0, tau_negative=6.0)
print(how_far(guess_soft, slope_at(sharp, 1.5, 1.0), because))
gate()
# Figure: value and slope of SAPO against the ratio. The slope is largest near the ratio 1 and decreases
# smoothly on both sides.

# %% [markdown]
# The slope decreases smoothly, without a jump. And it decreases on *both* sides: a good token that has become less
# likely is hardly pushed either, while the clip keeps the slope $\rho A$ there. TRL calls $\tau$ a temperature,
# although a higher $\tau$ makes the gate *sharper*. The papers use about 1. Reduce $\tau$ and see how wide the gate
# becomes:

# %%
_ = interact(gate, temperature=(0.2, 6.0, 0.2))

# %% [markdown]
# The exercise is [`ratios/sapo`](../exercises/03_ratios/07_sapo.py). **Variants:** `vespo`, a smooth bump $\rho^k
# e^{\lambda(1-\rho)}$ in the ratio of the whole completion; and `gated_ratio`, which looks similar to SAPO but is a
# different curve, not published under this name. The table at the end shows that it pushes a *bad* token *up* once its
# ratio is large.
#
# ## 5. A bound on the divergence
#
# The ratio is a poor measure of change. A change from 0.01 to 0.02 has the ratio 2, but the policy hardly changes. A
# change from 0.5 to 0.9 has the ratio 1.8, and the policy changes a lot. **`dppo_tv`** drops a token if its
# *probability* has moved by more than 0.15 in the direction of its advantage: a good token that rose by more, or a bad
# token that fell by more.
#
# **Guess:** a good token had probability 0.1. From which ratio on is its slope 0?

# %%
guess_wall = 1.15


# %%
def divergence(old_prob=0.1):
    return surrogate_figure(
        slot(surrogates.dppo_tv), old_prob=old_prob, between=(0.01, min(3.0, 0.99 / old_prob))
    )


curve = surrogate_curve(slot(surrogates.dppo_tv), 1.0, old_prob=0.1)
because = "It may rise from 0.1 to 0.25, which is a factor of 2.5. A token of probability 0.6 may rise to 0.75, a factor of only 1.25."
print(how_far(guess_wall, curve.ratios[curve.slope > 0].max(), because))
divergence()
# Figure: value and slope of the divergence bound against the ratio, for a token with probability 0.1. The
# slope of a good token falls to 0 at the ratio 2.5; the slope of a bad token never does.

# %% [markdown]
# The solid line falls to 0 at 2.5. The dashed line, of the bad token, never does: a probability of 0.1 cannot fall by
# 0.15. So the bounds depend on $\pi_\text{old}$, which is 0.1 here. Change it:

# %%
_ = interact(divergence, old_prob=(0.05, 0.9, 0.05))

# %% [markdown]
# **Variants:** `dppo_kl` uses the KL divergence between two outcomes, "this token" and "another token"; `dppo_top_tv`
# and `dppo_top_kl` use the 20 most likely tokens of the vocabulary instead. `symmetric_tv` and `symmetric_kl`, two
# variants that were not published under these names, ignore the direction. So they also drop tokens that moved the
# *wrong* way and could have pulled the policy back.
#
# ## 6. A spring
#
# **`squared_ratio`** (DRO): $s = A\log\pi_\theta - \frac\beta2 (\log\rho)^2$. There is no bound, but the further the
# ratio is from 1, the harder it is pulled back. The slope is $A - \beta \log\rho$.
#
# **Guess:** at which ratio is the slope of a good token 0, with $\beta = 1$?

# %%
guess_rest = 1.2

# %%
spring = slot(surrogates.squared_ratio, beta=1.0)
curve = surrogate_curve(spring, 1.0, between=(0.05, 4.0))
because = "The slope is 0 where log ρ = A / β = 1, so at ρ = e = 2.718."
print(how_far(guess_rest, np.interp(0.0, -curve.slope, curve.ratios), because))
surrogate_figure(spring, between=(0.05, 3.0))
# Figure: value and slope of the squared log-ratio penalty against the ratio. The slope of a good token
# crosses 0 at 2.7, the slope of a bad token at 0.37.

# %% [markdown]
# The slopes cross 0, which happens for no other curve of the gallery: beyond the crossing a good token is pushed
# *down*. The slope of the good token is 0 at 2.7, the slope of the bad token at $1/e = 0.37$.
#
# ## All of them in one table
#
# The table has the slopes at some ratios, for a token with $\pi_\text{old} = 0.2$. (`gspo_token` and `vespo` use the
# ratio of a completion, which has one token here.)

# %%
everybody = {
    "reinforce": {}, "importance_weighted": {}, "clipped": {}, "clipped, clip-higher": {"clip_high": 0.28},
    "dual_clipped": {}, "two_sided_clipped": {}, "geometric_mean_clipped": {}, "gspo_token": {}, "cispo": {}, "vespo": {},
    "sapo": {}, "gated_ratio": {}, "dppo_tv": {}, "dppo_kl": {}, "symmetric_tv": {}, "symmetric_kl": {},
    "squared_ratio": {"beta": 1.0},
}  # fmt: skip
ratios = (0.5, 1.0, 1.25, 2.0, 4.0)
print(f"{'':24}{'good token, A = +1':^35}   {'bad token, A = -1':^35}")
print(
    f"{'ratio':24}{''.join(f'{ratio:7}' for ratio in ratios)}   {''.join(f'{ratio:7}' for ratio in ratios)}"
)
for name, settings in everybody.items():
    part = slot(getattr(surrogates, name.partition(",")[0]), **settings)
    good, bad = ([slope_at(part, ratio, A) + 0.0 for ratio in ratios] for A in (1.0, -1.0))
    print(
        f"{name:24}{''.join(f'{slope:7.2f}' for slope in good)}   {''.join(f'{slope:7.2f}' for slope in bad)}"
    )

# %% [markdown]
# Look at the column for ratio 1: nearly all slopes are $A$. So **the first step on a batch is the same for all
# surrogates** (except `gated_ratio`). Surrogates differ only after the policy has moved: with several steps on a batch,
# or with stale samples. If you train with one step on fresh samples, the surrogate does not matter.
#
# Four more surrogates depend on the whole batch, so there is no curve to draw. `kl_cov` and `clip_cov` look for tokens
# that make the policy more certain: tokens whose advantage and log-probability are both high or both low. `kl_cov`
# gives a penalty to the few tokens with the *highest* covariance; `clip_cov` sets the slope of some of these tokens to
# 0, *at random*. `top_movers` and `top_kl_movers`, which were not published under these names, keep the tokens of each
# completion that moved *most*, which is the opposite of a trust region.
#
# ## Is the slope the derivative of the value?
#
# For most surrogates, yes. Where a weight counts as a constant, no, and this is on purpose. Compare the slope with the
# numerical derivative of the value, for the six surrogates of the gallery:

# %%
six = {
    "importance_weighted": free,
    "clipped": slot(surrogates.clipped),
    "cispo": detached,
    "sapo": slot(surrogates.sapo),
}
six |= {"dppo_tv": slot(surrogates.dppo_tv), "squared_ratio": spring}
for name, part in six.items():
    curve = surrogate_curve(part, 1.0, between=(0.3, 3.0))
    agree = np.isclose(np.gradient(curve.value, np.log(curve.ratios)), curve.slope, atol=0.02).mean()
    print(f"{name:20} agrees at {agree:4.0%} of the ratios")

# %% [markdown]
# `cispo` and `dppo_tv` treat the ratio as a constant, so their slope is not the derivative of their value where the
# ratio is a weight. Slope and derivative agree only beyond the bound of `cispo`, where the weight is really constant,
# and beyond the bound of `dppo_tv`, where value and slope are 0.
#
# ## Try yourself
#
# **a.** For which ratios and which sign of $A$ does `clipped` with 0.2 and 0.2 have slope 0?
#
# <details><summary>Answer</summary>
#
# For $A > 0$ and $\rho > 1.2$; for $A < 0$ and $\rho < 0.8$; and for $A = 0$ always.
# </details>
#
# **b.** Which two surrogates of the table have a slope of the wrong sign somewhere, and where?
#
# <details><summary>Answer</summary>
#
# `squared_ratio`, which pulls a good token back at a ratio of 4, and `gated_ratio`, which pushes a bad token *up* at
# ratios of 2 and 4. Only the first is on purpose.
# </details>
#
# **c.** Draw `slot(surrogates.cispo, min_ratio=0.8, max_ratio=1.2)`, verl's form. What is the slope of a token with
# $\rho = 0.1$ and $A = 1$?
#
# <details><summary>Answer</summary>
#
# It is 0.8: the lower bound raises the weight. TRL and Open Instruct have no lower bound, so there it would be 0.1.
# </details>
#
# In the course: the exercises named above, and [`ratios/scenarios`](../exercises/03_ratios/02_scenarios.py) for the
# four cases of ratio and sign. Experiments have tested what papers claim about these curves:
# [clip_higher](../docs/experiments/clip_higher/README.md),
# [soft_clipping](../docs/experiments/soft_clipping/README.md), [rare_tokens](../docs/experiments/rare_tokens/README.md)
# and [rare_gradient](../docs/experiments/rare_gradient/README.md).
