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
# **The question: what does each of these curves do to a good token and to a bad one?** One figure for each, all drawn by
# the same function. Only two things matter:
#
# * the **value** $s$, what the token adds to the objective,
# * the **slope** $\partial s / \partial \log\pi_\theta$, how hard the token pushes its own log-probability. *Training
#   follows the slope and nothing else.*
#
# Both are drawn against the ratio $\rho = \pi_\theta / \pi_\text{old}$, for advantages $A = +1$ and $A = -1$. To the right
# of $\rho = 1$ the token has become likelier, to the left rarer. The dotted line is $\rho A$, no clipping at all.

# %%
# %matplotlib inline
import numpy as np
from ipywidgets import interact

from grpo_ref import slot
from grpo_ref.kernels import surrogates
from grpo_ref.plots import covariance_figure, slopes_compared, surrogate_curve, surrogate_figure, token_grids

# %% [markdown]
# ## No trust region
#
# **`reinforce`**: $s = A \log\pi_\theta$. Every token pushes with its advantage, however much the policy has changed. Right
# for fresh data, wrong for old data.

# %%
surrogate_figure(slot(surrogates.reinforce))

# %% [markdown]
# **`importance_weighted`**: $s = \rho A$. The ratio corrects for data of an older policy: the expected slope is right,
# but nothing limits it. A token that has become ten times likelier pushes ten times as hard.

# %%
surrogate_figure(slot(surrogates.importance_weighted))

# %% [markdown]
# ## The clip family
#
# **`clipped`** (PPO, GRPO): $s = \min(\rho A,\ \mathrm{clip}(\rho, 1-\varepsilon_\text{low}, 1+\varepsilon_\text{high}) A)$.
# A good token stops pushing once it is 20 % likelier; a bad one once it is 20 % rarer. On the *wrong* side nothing is
# clipped: a good token that became rarer is still pushed up.

# %%
surrogate_figure(slot(surrogates.clipped, clip_low=0.2, clip_high=0.2))

# %% [markdown]
# **Clip-higher** (DAPO): the upper bound at 1.28. It matters for rare tokens: from probability 0.01 a factor 1.2 is a
# small step, and rare good tokens are where new ideas come from.

# %%
surrogate_figure(slot(surrogates.clipped, clip_low=0.2, clip_high=0.28))

# %% [markdown]
# **`dual_clipped`** (verl's default, at 3): a bad token that has become *much* likelier would push without bound, see
# the dashed line above. Beyond `max_ratio` its slope is 0. This forgives exactly the worst offenders, and they stay
# where they are.

# %%
surrogate_figure(slot(surrogates.dual_clipped, max_ratio=3.0), between=(0.01, 4.5))

# %% [markdown]
# **`two_sided_clipped`** (INTELLECT-2; TRL's `delta`): the same with a bound $\delta$ on the unclipped branch. Above
# $1+\varepsilon$ it *is* the dual clip. A $\delta$ below that also moves the bound of the good tokens:

# %%
surrogate_figure(slot(surrogates.two_sided_clipped, max_ratio=1.1))

# %% [markdown]
# **`geometric_mean_clipped`** (GMPO): clips each token's $\log\rho$ at $\pm 0.4$, and then takes the geometric mean over
# the completion. With one token per completion, as here, it is a wider clip: from $e^{-0.4} = 0.67$ to $e^{0.4} = 1.49$.

# %%
surrogate_figure(slot(surrogates.geometric_mean_clipped))

# %% [markdown]
# **`gspo_token`** (GSPO): the ratio is that of the whole completion, a mean over many tokens, and so very near 1. The clip
# range is some 600 times narrower. Mind the axis:

# %%
surrogate_figure(slot(surrogates.gspo_token), between=(0.999, 1.001))

# %% [markdown]
# ## Detached weights
#
# **`cispo`** (MiniMax): $s = \mathrm{sg}[\min(\rho, 5)]\, A \log\pi_\theta$; sg, "stop gradient", says that the weight is
# a constant. The clip bounds the weight and *never* takes a token's push away. (Its value contains $\log\pi_\theta$ and
# means nothing. A cap of 2 is drawn, so that you can see it.)

# %%
surrogate_figure(slot(surrogates.cispo, max_ratio=2.0))

# %% [markdown]
# **`vespo`**: the weight is a smooth bump $\rho^k e^{\lambda(1-\rho)}$ of the ratio of the whole completion. Completions
# that have become strange fade out on both sides.

# %%
surrogate_figure(slot(surrogates.vespo))

# %% [markdown]
# ## Soft gates
#
# **`sapo`**: $s = \frac4\tau\,\sigma(\tau(\rho-1))\,A$ with the logistic function $\sigma$. The slope fades away instead
# of falling off a cliff, and it is $A$ at $\rho = 1$ whatever $\tau$ is.

# %%
surrogate_figure(slot(surrogates.sapo))

# %% [markdown]
# **`gated_ratio`**: how a textbook writes SAPO. It is another curve. At $\rho = 1$ its slope is 0.75 for a good token
# and $-0.26$ for a bad one, it grows without bound for good ones, and look at the dashed line beyond 1.6: the slope of a
# *bad* token is **positive**. It is pushed up.

# %%
surrogate_figure(slot(surrogates.gated_ratio))

# %% [markdown]
# ## A divergence for a trust region
#
# The ratio is a poor measure of change. From 0.01 to 0.02 is a ratio of 2, and hardly anything happened; from 0.5 to 0.9
# is a ratio of 1.8, and everything did. **`dppo_tv`** leaves a token out if its *probability* has moved by more than 0.15
# in the direction of its advantage. So the bounds depend on $\pi_\text{old}$:

# %%
surrogate_figure(slot(surrogates.dppo_tv), old_prob=0.1)

# %%
surrogate_figure(slot(surrogates.dppo_tv), old_prob=0.6, between=(0.01, 1.6))

# %% [markdown]
# A good token of probability 0.1 may grow to 2.5 times that; one of 0.6 only by a quarter. A bad token of probability 0.1
# is never left out: it cannot fall by 0.15. **`dppo_kl`** measures the KL of "this token or another" instead:

# %%
surrogate_figure(slot(surrogates.dppo_kl))

# %% [markdown]
# `dppo_top_tv` and `dppo_top_kl` look at the 20 likeliest tokens of the vocabulary instead of "this or another". In the
# vocabulary of two tokens that these figures use, that is the same:

# %%
for advantage in (1.0, -1.0):
    top = surrogate_curve(slot(surrogates.dppo_top_tv), advantage)
    binary = surrogate_curve(slot(surrogates.dppo_tv), advantage)
    print(f"A = {advantage:+.0f}: same slope everywhere:", np.array_equal(top.slope, binary.slope))

# %% [markdown]
# The two textbook forms forget the direction. **`symmetric_tv`** also drops tokens that moved the *wrong* way, which
# could have pulled the policy back. **`symmetric_kl`** has one half of the divergence, which is negative for tokens that
# became rarer: they are never left out.

# %%
surrogate_figure(slot(surrogates.symmetric_tv))

# %%
surrogate_figure(slot(surrogates.symmetric_kl))

# %% [markdown]
# ## A spring instead of a wall
#
# **`squared_ratio`** (DRO): $s = A\log\pi_\theta - \frac\beta2 (\log\rho)^2$. No bound at all, but the further the ratio
# has gone, the harder it is pulled back to 1. Good and bad tokens balance where $\log\rho = A/\beta$: at
# $\rho = e = 2.7$ for a good one and $1/e = 0.37$ for a bad one, with $\beta = 1$.

# %%
surrogate_figure(slot(surrogates.squared_ratio, beta=1.0), between=(0.05, 3.0))

# %% [markdown]
# ## Curves that depend on the other tokens
#
# Three more surrogates look at a whole batch, so there is no curve to draw. `kl_cov` and `clip_cov` look for the tokens
# that make the policy more certain: those whose advantage and log-probability are both high, or both low. The lines
# join points of equal covariance, $(A - \bar A)(\log\pi_\theta - \overline{\log\pi_\theta})$.
#
# `kl_cov` gives the few tokens with the *highest* covariance a penalty on their log-ratio:

# %%
rng = np.random.default_rng(0)
shape = (2, 8, 12)  # prompts, completions, tokens
log_probs = np.log(rng.beta(1.5, 1.5, shape))
log_ratio = 0.1 * rng.normal(size=shape)
advantages = rng.normal(size=(2, 8, 1)) * np.ones(shape)
mask, noise = np.ones(shape), rng.random(shape)
plain = surrogates.importance_weighted(log_ratio, advantages).slope
held = surrogates.kl_cov(log_ratio, log_probs, advantages, mask, share=0.05).slope
covariance_figure(log_probs.ravel(), advantages.ravel(), (held != plain).ravel())

# %% [markdown]
# `clip_cov` chooses *at random* among the tokens with a covariance from 1 to 5, and takes their push away:

# %%
held = surrogates.clip_cov(log_ratio, log_probs, advantages, mask, noise, share=0.02).slope
clip_alone = surrogates.clipped(log_ratio, advantages).slope
covariance_figure(log_probs.ravel(), advantages.ravel(), (held != clip_alone).ravel())

# %% [markdown]
# `top_movers`, a textbook's form again, keeps of each completion the `k` tokens that moved *most*, the opposite of a trust
# region. With `k = 2`:

# %%
few = (slice(0, 1), slice(0, 4), slice(0, 6))
slope = surrogates.top_movers(log_ratio[few], log_probs[few], advantages[few], mask[few], k=2).slope
moved = abs(np.exp(log_probs) - np.exp(log_probs - log_ratio))[few]
token_grids({"how far the probability moved": moved[0], "slope": slope[0]}, mask[few][0], digits=2)

# %% [markdown]
# ## Is the slope the derivative of the value?
#
# For most of them, yes. Where a weight is detached, no, and on purpose: automatic differentiation would be told to
# look away. Compare the drawn slope with the numerical derivative of the drawn value:

# %%
names = (
    "reinforce importance_weighted clipped dual_clipped geometric_mean_clipped sapo gated_ratio symmetric_tv"
)
for name in [*names.split(), "gspo_token", "cispo", "vespo", "dppo_tv"]:
    curve = surrogate_curve(slot(getattr(surrogates, name)), 1.0, between=(0.3, 3.0))
    derivative = np.gradient(curve.value, np.log(curve.ratios))
    agree = np.isclose(derivative, curve.slope, atol=0.01).mean()
    print(f"{name:24} agrees at {agree:4.0%} of the ratios")

# %% [markdown]
# (Next to a kink or a jump the numerical derivative is wrong; those few ratios do not show. `dppo_tv` agrees where both
# are 0.)
#
# ## Sliders
#
# With a running kernel you can move the bounds. `temperature` is SAPO's $\tau$; TRL calls it so, although a higher one is
# a *sharper* gate.


# %%
def show(clip_low=0.2, clip_high=0.28, temperature=1.0):
    clips = {"clip_low": clip_low, "clip_high": clip_high}
    gate = slot(surrogates.sapo, tau_positive=temperature, tau_negative=temperature)
    weight = slot(surrogates.cispo, max_ratio=1 + clip_high)
    return slopes_compared({"clipped": slot(surrogates.clipped, **clips), "cispo": weight, "sapo": gate})


_ = interact(show, clip_low=(0.0, 0.9, 0.05), clip_high=(0.0, 1.5, 0.05), temperature=(0.2, 6.0, 0.2))

# %% [markdown]
# The same without a kernel, at one setting:

# %%
show(clip_low=0.2, clip_high=0.28, temperature=3.0)

# %% [markdown]
# What to see: at $\rho = 1$ all slopes are $A$ (`gated_ratio` and `clip_cov`, which drops some tokens at random, are exceptions), so **the first step on a batch is the
# same for all the others**. Surrogates differ only once the policy has moved: several steps a batch, or samples that are
# stale. If you train with one step on fresh samples, do not expect the surrogate to matter.
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
# **b.** Turn SAPO's temperature up to 6. Which surrogate does it begin to look like, and what does it do that the other one
# does not?
#
# <details><summary>Answer</summary>
#
# Like a clip: the slope is near 0 for ratios far from 1. But it fades on *both* sides: a good token that has become rare
# ($\rho \ll 1$) gets hardly any push either, while `clipped` keeps $\rho A$ there.
# </details>
#
# **c.** Draw `slot(surrogates.cispo, min_ratio=0.8, max_ratio=1.2)`, verl's form. What does a token with $\rho = 0.1$ and $A = 1$ get?
#
# <details><summary>Answer</summary>
#
# Slope 0.8: the lower bound lifts its weight. TRL and Open Instruct have no lower bound, there it would be 0.1.
# </details>
#
# In the course: `ratios/clipped`, `ratios/clipped_slope`, `ratios/dual_clip`, `ratios/cispo`, `ratios/sapo`, and
# `ratios/scenarios` for the four cases of ratio and sign.
