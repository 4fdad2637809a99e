# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 1. The objective in ten minutes
#
# Group Relative Policy Optimization (GRPO) trains a language model in three steps. Answer one prompt several times. See
# which answers are better than the others of their group. Make the tokens of the better answers more probable, but not
# too fast and not too far from the starting point. A trainer puts all of this into one number, the **loss**, and makes
# this number smaller.
#
# **The question of this notebook: what is inside that one number?** We take three answers (*completions*) $o_1, o_2,
# o_3$ and compute every term by hand, in the way of trainers such as TRL and verl. The library computes the same number
# in one call. At the end we look at a shorter form of GRPO that problem sets use.
#
# Some cells ask for a **guess**. The number in such a cell is only a placeholder, and mostly wrong. Replace it by your
# own guess before you run the next cell. That cell prints how far off you were, and why. A guess within 5 % of the
# answer counts as right.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np
from ipywidgets import interact

from grpo_ref import GRPO, group_normalized, grpo_objective, policy_loss
from grpo_ref.course.guess import how_far
from grpo_ref.levels import sequence_sum_level
from grpo_ref.penalties import k3
from grpo_ref.plots import objective_terms, ratio_sweep, token_grids
from grpo_ref.surrogates import clipped

# %% [markdown]
# ## The whole thing
#
# $$
# J = \frac1G \sum_{i=1}^{G} \frac{1}{|o_i|} \sum_{t=1}^{|o_i|} \Big[
#   \underbrace{\min\big(\rho_{i,t} A_i,\ \mathrm{clip}(\rho_{i,t}, 1-\varepsilon, 1+\varepsilon)\, A_i\big)}_{\text{clipped surrogate}}
#   \;-\; \beta\, \underbrace{\text{k3}_{i,t}}_{\text{KL, estimated}} \Big],
# \qquad \text{loss} = -J
# $$
#
# | symbol | meaning |
# |---|---|
# | $G$, $\lvert o_i\rvert$ | number of completions in the group; number of tokens of completion $i$ |
# | $\rho_{i,t} = \pi_\theta / \pi_\text{old}$ | the **ratio**: probability of the token now, divided by its probability when it was sampled |
# | $A_i$ | the **advantage**: how much better $o_i$ is than the others of its group |
# | $\varepsilon$ | how far a ratio may go from 1 before it is clipped: 0.2 |
# | $\pi_\text{ref}$ | the reference: the model that training started from |
# | $\beta$ | price of moving away from the reference: 0.04 |
#
# Our completions have 2, 1 and 3 tokens. Each row of the arrays is a completion. The mask is 1 where there is a token; padding
# fills the rows up to one length.

# %%
rewards = np.array([[1.0, 0.0, 0.0]])  # one prompt, three completions: the first is right
mask = np.array([[[1, 1, 0], [1, 0, 0], [1, 1, 1]]])
old_probs = np.array([[[0.5, 0.5, 1.0], [0.5, 1.0, 1.0], [0.5, 0.5, 0.5]]])  # when they were sampled
new_probs = np.array([[[0.75, 0.4, 1.0], [0.75, 1.0, 1.0], [0.25, 0.55, 0.5]]])  # now
ref_probs = np.array([[[0.6, 0.5, 1.0], [0.5, 1.0, 1.0], [0.5, 0.5, 0.4]]])  # in the reference

# %% [markdown]
# ## Step 1: advantages from rewards
#
# The mean reward of the group is the reward to expect. The standard deviation brings all groups to one scale:
#
# $$ A_i = \frac{r_i - \bar r}{s}, \qquad \bar r = \frac1G \sum_j r_j, \qquad s = \sqrt{\frac{1}{G-1} \sum_j (r_j - \bar r)^2}. $$
#
# **Guess:** one of three completions is right, $r = (1, 0, 0)$. What is its advantage?

# %%
guess_advantage = 1.0

# %%
advantages = group_normalized(rewards)
print("rewards 1, 0, 0: advantages", advantages[0].round(3))
print("rewards 1, 1, 1: advantages", group_normalized(np.ones((1, 3)))[0].round(3))
because = "The mean is 1/3 and the standard deviation 0.577, so it is (2/3) / 0.577. The wrong completions have half of it, with a minus sign."
print(how_far(guess_advantage, advantages[0, 0], because))

# %% [markdown]
# Three equal rewards have advantages of 0: there is nothing to compare, and nothing is learned. You write this function
# in [`advantages/group_normalized`](../exercises/02_advantages/01_group_normalized.py). [The
# group](../docs/derivation/05_group.md) and [the standard deviation](../docs/derivation/06_standard_deviation.md)
# explain the mean and the division.
#
# ## Step 2: the surrogate of each token
#
# Multiply ratio and advantage. Do the same with the ratio kept inside $[0.8, 1.2]$. The smaller of the two counts.
#
# Training depends on the **slope** of this value, not on the value itself. The slope is the change of the value when
# the log-probability of the token grows a little. Since $\rho = e^{\log\pi_\theta - \log\pi_\text{old}}$,
#
# $$ \frac{\partial (\rho A)}{\partial \log\pi_\theta} = \rho A, \qquad
#    \frac{\partial\, \big(\mathrm{clip}(\rho)\, A\big)}{\partial \log\pi_\theta} = 0 \ \text{ outside the range.} $$
#
# So the slope is $\rho A$ where the unclipped product is smaller, and 0 where the clipped product is smaller.
#
# **Guess:** $o_2$ is a wrong answer, and its only token is now 1.5 times as probable. What is its slope?

# %%
guess_slope = 0.0

# %%
ratios = new_probs / old_probs
A_of_tokens = np.broadcast_to(advantages[..., None], mask.shape)
term = clipped(np.log(ratios), A_of_tokens, clip_low=0.2, clip_high=0.2)
print("token       ρ        A      ρ A   clip(ρ) A   smaller    slope")
for i, j in np.argwhere(mask[0]):
    rho, a = ratios[0, i, j], A_of_tokens[0, i, j]
    value, slope = term.value[0, i, j], term.slope[0, i, j] + 0.0
    clipped_product = np.clip(rho, 0.8, 1.2) * a
    print(
        f"o{i + 1}, {j + 1}   {rho:5.2f} {a:8.3f} {rho * a:8.3f} {clipped_product:11.3f} {value:9.3f} {slope:8.3f}"
    )
because = (
    "ρ A is smaller than clip(ρ) A here. A bad token that has become more probable is pushed down in full."
)
print(how_far(guess_slope, term.slope[0, 1, 0], because))

# %% [markdown]
# * The first token of $o_1$ is good and 1.5 times as probable as before. It counts as 1.2 times, and its slope is 0:
#   making it even more probable gains nothing. The second token has become less probable, so it is pushed up.
# * The token of $o_2$ went the wrong way. Nothing is clipped, and it is pushed down.
# * The first token of $o_3$ is bad and half as probable as before. It counts as 0.8 times, and its slope is 0.
#
# The minimum is *pessimistic*: it removes the gain from going too far, and it never removes a loss. [The
# clip](../docs/derivation/04_clip.md) proves this. You write value and slope in
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) and
# [`ratios/clipped_slope`](../exercises/03_ratios/04_clipped_slope.py).
#
# ## Step 3: the KL to the reference, estimated
#
# The KL divergence measures how far the policy is from the reference. Its exact value is a sum over everything that the
# model can say, and this sum has too many terms. But the completions are samples, so a mean over them estimates the
# sum. (This holds right after sampling. After an optimizer step the policy is a different one.) Most trainers use, for
# each token,
#
# $$ \text{k3} = e^{-v} - 1 + v, \qquad v = \log\pi_\theta - \log\pi_\text{ref}. $$
#
# The mean of k3 equals the mean of $v$, because $\mathbb{E}[e^{-v}] = \sum \pi_\theta\, \pi_\text{ref} / \pi_\theta =
# 1$, and the mean of $v$ is the KL divergence. And k3 is never negative, because $e^{-v} \ge 1 - v$.

# %%
penalty = k3(np.log(new_probs), np.log(ref_probs)).value
print((penalty[0] * mask[0]).round(4))

# %% [markdown]
# The first token of $o_3$ has the largest penalty: the reference gives it 0.5, the policy only 0.25. [Notebook
# 6](06_kl_and_reward_hacking.ipynb) is about such estimates. You write this estimate in
# [`kl/k3`](../exercises/04_kl/03_k3.py).
#
# ## Step 4: one number
#
# Take the mean over the tokens of each completion, then the mean over the completions, and change the sign.
# `policy_loss` does all of this in one call. It also returns the gradient: the slope of the loss for each
# log-probability.

# %%
per_token = (term.value - 0.04 * penalty) * mask
by_hand = -(per_token.sum(axis=2) / mask.sum(axis=2)).mean()
inputs = {"old_log_probs": np.log(old_probs), "ref_log_probs": np.log(ref_probs)}
grpo = policy_loss(np.log(new_probs), advantages, mask, recipe="grpo", **inputs)
print("by hand    ", round(by_hand, 6))
print("policy_loss", round(float(grpo.loss), 6))

# %%
token_grids({"ratio of each token": ratios[0], "gradient of the loss": grpo.gradient[0]}, mask[0])
# Figure: two grids with a row for each completion and a column for each token. Left, the ratios: 1.5 and 0.8
# for the first completion, 1.5 for the second, and 0.5, 1.1 and 1 for the third. Right, the gradient of the
# loss: largest for the only token of the second completion, nearly 0 for the two clipped tokens.

# %% [markdown]
# The left picture shows the ratios, a row for each completion and a column for each token; padding is white. The right picture
# shows the gradient of the loss. It is negative where the log-probability should grow.
#
# * The first tokens of $o_1$ and $o_3$ are clipped. Their remaining gradient, 0.001 and -0.004, comes from the KL
#   penalty alone.
# * The only token of $o_2$ has the largest gradient. Each completion has a third of the weight and shares it among its tokens.
#
# ## Step 5: another recipe
#
# DAPO clips good tokens at 1.28 instead of 1.2, has no KL penalty, and takes one mean over all tokens of the group.
#
# **Guess:** every token has a weight of 1/6 now. What is the gradient of $o_2$'s token? In GRPO it is 0.293.

# %%
guess_dapo = 0.293

# %%
dapo = policy_loss(np.log(new_probs), advantages, mask, recipe="dapo", **inputs)
print("loss of DAPO", round(float(dapo.loss), 6))
because = "The slope of step 2 with another sign and 1/6 instead of 1/3: 0.866 / 6."
print(how_far(guess_dapo, dapo.gradient[0, 1, 0], because))

# %% [markdown]
# How much each token counts is a choice. [Notebook 5](05_three_pictures_of_W.ipynb) is about this choice. You write
# both losses in [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py) and
# [`objective/dapo_loss`](../exercises/06_objective/04_dapo_loss.py).
#
# ## The form of GRPO in problem sets: `grpo_objective`
#
# Problem sets use a shorter form, which differs in two ways. It takes **one ratio and one probability for each
# completion**, not for each token. And its **KL is exact**: it compares the probabilities of the completions in the
# group, after they are normalized to sum to 1:
#
# $$
# J = \frac1G \sum_{i=1}^{G} \min\big(\rho_i A_i,\ \mathrm{clip}(\rho_i, 1-\varepsilon, 1+\varepsilon)\, A_i\big)
#   \;-\; \beta \sum_{i=1}^{G} p_i \log\frac{p_i}{q_i},
# $$
#
# where $p$ and $q$ are $\rho\,\pi_\text{old}$ and $\pi_\text{ref}$, each divided by its sum. $J$ is an objective, so
# larger is better. The advantages are given.

# %%
rhos = np.array([1.2, 0.8, 1.1])
A = np.array([1.0, 1.0, 1.0])
old = np.array([0.9, 1.1, 1.0])
ref = np.array([1.0, 0.5, 1.5])
epsilon, beta = 0.2, 0.01
grpo_objective(rhos, A, old, ref, epsilon, beta)

# %% [markdown]
# No ratio leaves $[0.8, 1.2]$, so nothing is clipped and the surrogate is the mean ratio, $3.1/3 = 1.0333$.
#
# **Guess:** no ratio is further than 0.2 from 1. What is the KL divergence from the reference?

# %%
guess_kl = 0.0

# %%
surrogate = np.minimum(rhos * A, np.clip(rhos, 1 - epsilon, 1 + epsilon) * A).mean()
p = rhos * old / (rhos * old).sum()
q = ref / ref.sum()
kl = (p * np.log(p / q + 1e-10)).sum()
print("p   ", p.round(4))
print("q   ", q.round(4))
print("KL  ", round(kl, 6))
print("J = ", round(surrogate - beta * kl, 6))
because = "The ratio compares with the old policy, the KL compares with the reference, and the old policy already differed from the reference."
print(how_far(guess_kl, kl, because, unit="nats"))

# %%
objective_terms(rhos, A, old, ref, epsilon, beta)
# Figure: four panels of bars for the three completions: the ratios, all inside the grey band from 0.8 to 1.2;
# the surrogates, with two equal bars each; the two distributions p and q; and the terms of the KL, of which
# the third is negative.

# %% [markdown]
# * **Upper left: the ratios.** The grey band is the range from 0.8 to 1.2 in which nothing is clipped.
# * **Upper right: the surrogate.** For each completion there are two bars: $\rho A$, and the product with the clipped
#   ratio. The black line marks the smaller of the two, which is the one that counts.
# * **Lower left: the two distributions** of the KL. The policy $p$ gives $o_2$ a probability of 0.29, the reference $q$ only
#   0.17.
# * **Lower right: the terms** $p_i \log(p_i / q_i)$. The third is negative, because $p_3 < q_3$. A single term may be negative;
#   their sum, the KL divergence, never is.
#
# The probability of a text is the product of the probabilities of its tokens, so the ratio of a completion is the
# product of the ratios of its tokens. With such ratios and without a KL, a trainer's loss is minus this surrogate:

# %%
token_ratios = np.array([[[1.5, 0.8, 1.0], [0.8, 1.0, 1.0], [1.1, 1.0, 1.0]]])  # products 1.2, 0.8, 1.1
start = np.log(np.full((1, 3, 3), 0.5))
by_token = replace(GRPO, kl_coef=0.0)
by_sequence = replace(by_token, level=sequence_sum_level)  # the ratio of a completion: a sum of log-ratios
for label, recipe in {"tokens     ": by_token, "completions": by_sequence}.items():
    result = policy_loss(start + np.log(token_ratios), A[None], mask, recipe=recipe, old_log_probs=start)
    print("loss with ratios of", label, round(float(result.loss), 6))

# %% [markdown]
# With ratios of tokens the loss differs: the first token has the ratio 1.5 and is clipped, but its completion as a
# whole has the ratio 1.2 and is not. [The sequence level](../docs/derivation/10_sequence_level.md) discusses which of
# the two ratios to use.
#
# ## Two brakes
#
# Both forms have a clip and a KL. The short form shows best what each of them does. We change the ratio of $o_2$ from 0
# to 2, keep the other ratios, and look at $J$. Each line has a different weight $\beta$ of the KL.

# %%
ratio_sweep(rhos, A, old, ref, epsilon, betas=(0.0, 0.01, 1.0), index=1)
# Figure: the objective against the ratio of the second completion, from 0 to 2. Without the KL it rises to
# 1.2 and is flat from there. With beta = 0.01 it is nearly the same. With beta = 1 it rises less and falls
# beyond 1.2.

# %% [markdown]
# The markers show $\rho_2 = 0.8$, one on each line. Two of them nearly cover each other.
#
# * **Without the KL**, $\beta = 0$, the objective rises up to $\rho_2 = 1.2$ and is flat from there.
# * **With $\beta = 0.01$** the line is nearly the same: the KL is about 0.06, and a hundredth of this is very small.
# * **With $\beta = 1$** the reference counts. It gives $o_2$ little probability, so the objective rises less, and beyond the
#   clip range, where the surrogate gains nothing more, it falls.
#
# The clip limits one *update*: it compares with the old policy, and after each update the new policy becomes the old
# one. The KL limits the *whole training run*: it compares with the reference, which does not change. With a running
# kernel you can change three settings. Where does the highest point of the curve go when you increase `beta` or
# `epsilon`?


# %%
def turned(epsilon=0.2, beta=0.3, completion=2):
    return ratio_sweep(rhos, A, old, ref, epsilon, betas=(0.0, beta), index=completion - 1)


_ = interact(turned, epsilon=(0.05, 0.9, 0.05), beta=(0.0, 2.0, 0.1), completion=(1, 3, 1))

# %% [markdown]
# <details><summary>Answer: where does the highest point go?</summary>
#
# If you change `epsilon`, the highest point is at the upper bound, $1 + \varepsilon$. If you change `beta`, it mostly
# does not move.
#
# * $o_1$ (completion 1): for $\varepsilon = 0.2$ it stays at 1.2, for every `beta`.
# * $o_2$: it stays at 1.2 as long as the slope of the KL is smaller than the slope of the surrogate, which is up to a
#   $\beta$ of about 1.5. For larger $\beta$ it is lower: 1.09 at $\beta = 1.6$ and 0.76 at $\beta = 2$.
# * $o_3$: the reference gives it a higher probability than the policy does. So beyond the bound, where the surrogate is
#   flat, the KL still falls. For any $\beta > 0$ of the slider the highest point is at the right edge, 2.
# </details>
#
# ## The two forms side by side
#
# | | trainers (`policy_loss`) | problem sets (`grpo_objective`) |
# |---|---|---|
# | returns | the loss, to be minimized, with its gradient and metrics | $J$, to be maximized |
# | advantage | from the rewards of the group | given |
# | ratio and clip | one per token | one per completion |
# | KL | estimated token by token (k3) | exact, between the $G$ completions |
# | mean | over the tokens of a completion, then over completions (or otherwise: notebook 5) | over completions |
#
# ## Try yourself
#
# **a.** Set `A = [1.0, -1.0, 0.0]` in the problem-set form. Predict the surrogate before you run it.
#
# <details><summary>Answer</summary>
#
# The terms are $1.2$, $-0.8$ and $0$, none of them clipped. Their mean is $0.4/3 = 0.1333$.
# </details>
#
# **b.** Set `new_probs` and `ref_probs` to `old_probs`. What are the loss and the gradient of GRPO?
#
# <details><summary>Answer</summary>
#
# The loss is 0: every ratio is 1, the KL is 0, and the advantages of a group sum to 0. The gradient is not 0. It is $-A_i / 3$,
# divided by the number of tokens, so training can begin.
# </details>
#
# **c.** With $A = -1$ everywhere, is there a ratio at which the surrogate stops falling as the ratio grows?
#
# <details><summary>Answer</summary>
#
# No. A bad token that becomes more probable is never clipped: $-\rho$ falls without bound. That is why some trainers add a
# *dual clip*; see `dual_clipped` and notebook 4.
# </details>
#
# In the course: [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py) is the trainers' form,
# [`objective/grpo_objective`](../exercises/06_objective/01_grpo_objective.py) the form in problem sets, and
# [`kl/normalized_kl`](../exercises/04_kl/05_normalized_kl.py) its KL. The whole derivation, step by step and with
# proofs, is [From REINFORCE to GRPO](../docs/derivation/index.md).
