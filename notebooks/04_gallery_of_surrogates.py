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
# Between two papers of the GRPO family there is often just one difference: the **surrogate**, the curve that says what a
# token adds to the objective, given how its probability has changed since it was sampled.
#
# **The question: what does each of these curves do to a good token and to a bad one?** The library has some twenty
# surrogates. Six of them differ in kind, and each has a figure here. The others are relatives of these; a table at the end
# has them all. Only two things matter:
#
# * the **value** $s$, what the token adds to the objective,
# * the **slope** $\partial s / \partial \log\pi_\theta$, how hard the token pushes its own log-probability. *Training
#   follows the slope and nothing else.*
#
# Both are drawn against the ratio $\rho = \pi_\theta / \pi_\text{old}$, for advantages $A = +1$ (solid) and $A = -1$ (dashed).
# To the right of $\rho = 1$ the token has become likelier, to the left rarer. The dotted line is $\rho A$, no clipping at all.
#
# Before each figure you are asked for a **guess**. The one that stands there is a first thought; put in yours.
# Within 5 % of the answer counts as right.

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
# **`importance_weighted`**: $s = \rho A$. The ratio corrects for data of an older policy. Since $\rho = e^{\log\pi_\theta -
# \log\pi_\text{old}}$, its derivative with respect to $\log\pi_\theta$ is $\rho$ again, so the slope is $\rho A$, too.
#
# **Guess:** a good token ($A = 1$) has become three times as likely. How hard is it still pushed up?

# %%
guess_free = 1.0

# %%
free = slot(surrogates.importance_weighted)
because = "The slope is ρ A. The more has been done, the more is done: nothing limits it."
print(how_far(guess_free, slope_at(free, 3.0, 1.0), because))
surrogate_figure(free)

# %% [markdown]
# What to see: both lines are straight and lie on the dotted ones. The expected slope is right, whatever the policy has become
# ([importance sampling](../docs/derivation/03_importance_sampling.md) proves it). But a token that has become ten times likelier
# pushes ten times as hard.
#
# **A relative:** `reinforce`, $s = A \log\pi_\theta$, has the slope $A$ at every ratio. It is right for fresh data and wrong for
# old data.
#
# ## 2. A wall: the clip
#
# **`clipped`** (PPO, GRPO): $s = \min(\rho A,\ \mathrm{clip}(\rho, 1-\varepsilon_\text{low}, 1+\varepsilon_\text{high})\, A)$.
# Where the clipped branch is the smaller one, it is a constant, and the slope is 0; elsewhere it is $\rho A$.
#
# **Guess:** a good token was meant to become likelier and has become *rarer*: $\rho = 0.5$, outside of the range from 0.8 to 1.2.
# What is its slope?

# %%
guess_wrong_way = 0.0


# %%
def clip(clip_low=0.2, clip_high=0.2):
    return surrogate_figure(slot(surrogates.clipped, clip_low=clip_low, clip_high=clip_high))


because = "Of 0.5 and 0.8 the minimum takes 0.5, which is not clipped. The clip stops only who has gone far in the right direction."
print(how_far(guess_wrong_way, slope_at(slot(surrogates.clipped), 0.5, 1.0), because))
clip()

# %% [markdown]
# What to see, on the right: the solid line (good) falls to 0 beyond 1.2, the dashed one (bad) is 0 below 0.8. A good token stops
# pushing once it is 20 % likelier, a bad one once it is 20 % rarer. On the *wrong* side nothing is clipped.
# [The clip](../docs/derivation/04_clip.md) proves this; [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) and
# [`ratios/clipped_slope`](../exercises/03_ratios/04_clipped_slope.py) are the exercises.
#
# With a running kernel you can move the walls:

# %%
_ = interact(clip, clip_low=(0.0, 0.9, 0.05), clip_high=(0.0, 1.5, 0.05))

# %% [markdown]
# **Relatives,** all with walls:
#
# * *Clip-higher* (DAPO) has the upper wall at 1.28. It matters for rare tokens: from probability 0.01 a factor of 1.2 is a small
#   step, and rare good tokens are where new ideas come from.
# * `dual_clipped` (verl's default) adds a wall for bad tokens that have become *much* likelier: beyond a ratio of 3 their slope
#   is 0. This forgives exactly the worst offenders, and they stay where they are.
#   [`ratios/dual_clip`](../exercises/03_ratios/05_dual_clip.py)
# * `two_sided_clipped` (INTELLECT-2; TRL's `delta`) is the dual clip, as long as $\delta$ is above $1 + \varepsilon$.
# * `geometric_mean_clipped` (GMPO) clips $\log\rho$ at $\pm 0.4$, from $e^{-0.4} = 0.67$ to $e^{0.4} = 1.49$.
# * `gspo_token` (GSPO) clips the ratio of a whole completion. It is a mean over many tokens and so very near 1, and the walls
#   stand some 600 times nearer, at 0.9997 and 1.0004. [`ratios/sequence_ratio`](../exercises/03_ratios/08_sequence_ratio.py)
#
# ## 3. A weight that is held constant
#
# **`cispo`** (MiniMax): $s = \mathrm{sg}[\min(\rho, c)]\, A \log\pi_\theta$. The letters sg, "stop gradient", say that the weight in
# brackets is a constant when the derivative is taken. What is left is the derivative of $\log\pi_\theta$, which is 1, so the slope
# is $\min(\rho, c)\, A$. (We draw $c = 2$, so that you can see it; it is 5 in practice.)
#
# **Guess:** a good token has become three times as likely. The clip would give it 0. What does CISPO give it?

# %%
guess_detached = 3.0

# %%
detached = slot(surrogates.cispo, max_ratio=2.0)
because = "The cap bounds the weight, here at 2. It never takes a token's push away."
print(how_far(guess_detached, slope_at(detached, 3.0, 1.0), because))
surrogate_figure(detached)

# %% [markdown]
# What to see: the slope has no gap. It stops growing at 2 and stays there. The value on the left contains $\log\pi_\theta$ and is no
# guide: its slope in the drawing is not what training follows. The exercise is [`ratios/cispo`](../exercises/03_ratios/06_cispo.py).
#
# ## 4. A soft gate
#
# **`sapo`**: $s = \frac4\tau\,\sigma(\tau(\rho-1))\,A$ with the logistic function $\sigma(x) = 1/(1 + e^{-x})$. Since $\sigma' =
# \sigma(1 - \sigma)$, the slope is
#
# $$ \frac{\partial s}{\partial\log\pi_\theta} = 4\, \sigma\,(1 - \sigma)\, \rho\, A, \qquad \sigma = \sigma(\tau(\rho - 1)) . $$
#
# At $\rho = 1$ it is $A$, whatever $\tau$ is, because $\sigma(0) = 1/2$.
#
# **Guess:** what is the slope of a good token at $\rho = 1.5$, with $\tau = 6$? The clip gives 0 there, the ratio alone 1.5.

# %%
guess_soft = 0.0


# %%
def gate(temperature=6.0):
    return surrogate_figure(slot(surrogates.sapo, tau_positive=temperature, tau_negative=temperature))


because = "σ(6 · 0.5) = 0.953, so it is 4 · 0.953 · 0.047 · 1.5. The gate closes little by little."
sharp = slot(surrogates.sapo, tau_positive=6.0, tau_negative=6.0)
print(how_far(guess_soft, slope_at(sharp, 1.5, 1.0), because))
gate()

# %% [markdown]
# What to see: the slope fades away instead of falling off a cliff. And it fades on *both* sides: a good token that has become rare
# gets hardly any push either, while the clip keeps $\rho A$ there. TRL calls $\tau$ a temperature, although a higher one makes
# the gate *sharper*. The papers take about 1; turn it down and see how wide the gate is then:

# %%
_ = interact(gate, temperature=(0.2, 6.0, 0.2))

# %% [markdown]
# The exercise is [`ratios/sapo`](../exercises/03_ratios/07_sapo.py). **Relatives:** `vespo`, a smooth bump
# $\rho^k e^{\lambda(1-\rho)}$ of the ratio of the whole completion; and `gated_ratio`, a textbook's way to write SAPO, which is
# another curve. The table at the end shows that it pushes a *bad* token *up* once its ratio is large.
#
# ## 5. A divergence for a trust region
#
# The ratio is a poor measure of change. From 0.01 to 0.02 is a ratio of 2, and hardly anything happened; from 0.5 to 0.9 is a
# ratio of 1.8, and everything did. **`dppo_tv`** leaves a token out if its *probability* has moved by more than 0.15 in the
# direction of its advantage: a good one that rose by more, a bad one that fell by more.
#
# **Guess:** a good token had probability 0.1. At which ratio does its push end?

# %%
guess_wall = 1.15


# %%
def divergence(old_prob=0.1):
    return surrogate_figure(
        slot(surrogates.dppo_tv), old_prob=old_prob, between=(0.01, min(3.0, 0.99 / old_prob))
    )


curve = surrogate_curve(slot(surrogates.dppo_tv), 1.0, old_prob=0.1)
because = "It may rise from 0.1 to 0.25, and that is 2.5 times as much. A token of probability 0.6 may rise to 0.75, only 1.25 times."
print(how_far(guess_wall, curve.ratios[curve.slope > 0].max(), because))
divergence()

# %% [markdown]
# What to see: the solid line ends at 2.5. The dashed one, of the bad token, never ends: from 0.1 nothing can fall by 0.15. So the walls
# depend on $\pi_\text{old}$, which is 0.1 here. Move it:

# %%
_ = interact(divergence, old_prob=(0.05, 0.9, 0.05))

# %% [markdown]
# **Relatives:** `dppo_kl` measures with the KL divergence of "this token or another"; `dppo_top_tv` and `dppo_top_kl` look at the
# 20 likeliest tokens of the vocabulary instead. `symmetric_tv` and `symmetric_kl`, two textbook forms, forget the direction, and
# so drop tokens that moved the *wrong* way, which could have pulled the policy back.
#
# ## 6. A spring
#
# **`squared_ratio`** (DRO): $s = A\log\pi_\theta - \frac\beta2 (\log\rho)^2$. There is no wall at all, but the further the ratio has
# gone, the harder it is pulled back to 1. The slope is $A - \beta \log\rho$.
#
# **Guess:** at which ratio does a good token come to rest, with $\beta = 1$?

# %%
guess_rest = 1.2

# %%
spring = slot(surrogates.squared_ratio, beta=1.0)
curve = surrogate_curve(spring, 1.0, between=(0.05, 4.0))
because = "The slope is 0 where log ρ = A / β = 1, so at ρ = e = 2.718."
print(how_far(guess_rest, np.interp(0.0, -curve.slope, curve.ratios), because))
surrogate_figure(spring, between=(0.05, 3.0))

# %% [markdown]
# What to see: the slopes cross 0, which no other curve of the gallery does: beyond its place of rest a good token is pushed *down*. The
# good one rests at 2.7, the bad one at $1/e = 0.37$.
#
# ## All of them in one table
#
# Slopes at some ratios, of a token with $\pi_\text{old} = 0.2$. (In `gspo_token` and `vespo` the ratio is that of a completion, here of
# one token.)

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
# Look at the column of ratio 1: nearly all slopes are $A$ there. So **the first step on a batch is the same for all of them**
# (`gated_ratio` is the exception). Surrogates differ only once the policy has moved: with several steps on a batch, or with samples
# that are stale. If you train with one step on fresh samples, do not expect the surrogate to matter.
#
# Four more look at a whole batch, so that there is no curve to draw. `kl_cov` and `clip_cov` look for tokens that make the policy more
# certain, those whose advantage and log-probability are both high or both low; the first gives the few with the *highest*
# covariance a penalty, the second takes the push from some of them *at random*. `top_movers` and `top_kl_movers`, a textbook's,
# keep the tokens of each completion that moved *most*, the opposite of a trust region.
#
# ## Is the slope the derivative of the value?
#
# For most of them, yes. Where a weight is held constant, no, and on purpose. Compare the slope with the numerical derivative of
# the value, for the six of the gallery:

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
# `cispo` and `dppo_tv` hold the ratio constant, so that their slope is not the derivative of their value where the ratio is a
# weight. They agree only beyond the cap of `cispo`, where the weight is truly constant, and beyond the wall of `dppo_tv`, where
# value and slope are 0.
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
# `squared_ratio`, whose spring pulls a good token back at a ratio of 4, and `gated_ratio`, which pushes a bad token *up* at
# a ratio of 2 and of 4. The first is meant.
# </details>
#
# **c.** Draw `slot(surrogates.cispo, min_ratio=0.8, max_ratio=1.2)`, verl's form. What does a token with $\rho = 0.1$ and $A = 1$ get?
#
# <details><summary>Answer</summary>
#
# Slope 0.8: the lower bound lifts its weight. TRL and Open Instruct have no lower bound, there it would be 0.1.
# </details>
#
# In the course: the exercises named above, and [`ratios/scenarios`](../exercises/03_ratios/02_scenarios.py) for the four cases of ratio
# and sign. The laboratory has tested what papers claim of these curves:
# [clip_higher](../docs/experiments/README.md#clip_higher), [soft_clipping](../docs/experiments/README.md#soft_clipping),
# [rare_tokens](../docs/experiments/README.md#rare_tokens) and [rare_gradient](../docs/experiments/README.md#rare_gradient).
