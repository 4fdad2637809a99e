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
# Group Relative Policy Optimization (GRPO) trains a language model like this: answer one prompt several times,
# see which answers are better than their siblings, and make those likelier, but not too fast and not too far
# from where you started. One number, the **objective** $J$, says all of this at once; training makes it larger.
#
# **The question of this notebook: what is inside that one number?** We take three answers (*completions*)
# $o_1, o_2, o_3$, compute every term by hand, and draw it. At the end we look at what the trainers of real
# language models compute instead.
#
# Some cells ask for a **guess**. The number that stands there is a first thought, and mostly wrong. Put in yours before you
# run the next cell: it tells how far off you were, and why. Within 5 % of the answer counts as right.

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
# J = \underbrace{\frac1G \sum_{i=1}^{G} \min\big(\rho_i A_i,\ \mathrm{clip}(\rho_i, 1-\varepsilon, 1+\varepsilon)\, A_i\big)}_{\text{clipped surrogate}}
#   \;-\; \beta \underbrace{\sum_{i=1}^{G} p_i \log\frac{p_i}{q_i}}_{\text{KL}(p\,\|\,q)}
# $$
#
# | symbol | meaning |
# |---|---|
# | $G$ | number of completions in the group |
# | $\pi_\text{old}(o_i)$, $\pi_\theta(o_i)$ | probability of $o_i$ when it was sampled, and now |
# | $\rho_i = \pi_\theta(o_i) / \pi_\text{old}(o_i)$ | the **ratio**: how much likelier $o_i$ has become since |
# | $A_i$ | the **advantage**: how much better $o_i$ is than its siblings |
# | $\varepsilon$ | how far a ratio may go from 1 before it is clipped |
# | $\pi_\text{ref}$ | the reference: the model that training started from |
# | $p, q$ | $\rho\,\pi_\text{old}$ and $\pi_\text{ref}$, each divided by its sum |
# | $\beta$ | price of moving away from the reference |
#
# When you have read to the end, come back, change the numbers in the next cell, and run everything again. (The reasons
# that are told after a guess are for the numbers as they stand.)

# %%
rhos = np.array([1.2, 0.8, 1.1])
A = np.array([1.0, 1.0, 1.0])
old = np.array([0.9, 1.1, 1.0])
ref = np.array([1.0, 0.5, 1.5])
epsilon, beta = 0.2, 0.01
grpo_objective(rhos, A, old, ref, epsilon, beta)

# %% [markdown]
# (`old` and `ref` need not sum to 1: only their proportions matter, because they are normalised below.)
#
# ## Step 1: the surrogate
#
# Multiply ratio and advantage; do the same with the ratio kept inside $[0.8, 1.2]$; take the smaller of the two, and the
# mean over the completions.
#
# **Guess:** the ratios are 1.2, 0.8 and 1.1, and all advantages are 1. What is the surrogate?

# %%
guess_surrogate = 1.2

# %%
free = rhos * A
held = np.clip(rhos, 1 - epsilon, 1 + epsilon) * A
surrogate = np.minimum(free, held).mean()
print("ρ A        ", free)
print("clip(ρ) A  ", held)
print("surrogate  ", surrogate)
because = "Nothing is clipped: 0.8 and 1.2 stand exactly on the bounds. So it is the mean ratio, 3.1 / 3."
print(how_far(guess_surrogate, surrogate, because, within=0.01))

# %% [markdown]
# ## Step 2: the KL divergence, of normalised distributions
#
# $\rho\,\pi_\text{old}$ gives back $\pi_\theta$. Its three numbers are made to sum to 1, as are the reference's.
#
# **Guess:** no ratio is further than 0.2 from 1. What is the KL divergence from the reference?

# %%
guess_kl = 0.0

# %%
p = rhos * old / (rhos * old).sum()
q = ref / ref.sum()
kl = (p * np.log(p / q + 1e-10)).sum()
print("p   ", p.round(4))
print("q   ", q.round(4))
print("KL  ", round(kl, 6))
print("J = ", round(surrogate - beta * kl, 6))
because = "A ratio compares with the old policy, the KL with the reference, and the old policy had left the reference before."
print(how_far(guess_kl, kl, because, unit="nats"))

# %% [markdown]
# So $J = 1.033333 - 0.01 \cdot 0.0584 = 1.032749$. The $10^{-10}$ inside the logarithm is there for
# $p_i = 0$; it changes nothing else.
#
# You write both parts yourself in [`objective/grpo_objective`](../exercises/06_objective/01_grpo_objective.py) and
# [`kl/normalized_kl`](../exercises/04_kl/05_normalized_kl.py).
#
# ## Step 3: the same as a picture
#
# The next figure shows every number of the two steps. Each of its four panels has a place for each completion.

# %%
objective_terms(rhos, A, old, ref, epsilon, beta)

# %% [markdown]
# Read it from the upper left to the lower right.
#
# * **Upper left: the ratios.** The grey band is the range from 0.8 to 1.2 in which nothing is clipped. All three ratios are
#   inside, two of them on its edge.
# * **Upper right: the surrogate.** For each completion there are two bars: $\rho A$, and the same with the clipped ratio. The
#   black line marks the smaller one, which counts. Here the two bars of a pair are equal.
# * **Lower left: the two distributions** of the KL. The policy $p$ gives $o_2$ a probability of 0.29, the reference $q$ only
#   0.17. What $o_2$ has more, $o_3$ has less.
# * **Lower right: the terms** $p_i \log(p_i / q_i)$. The third is negative, because $p_3 < q_3$. A single term may be negative;
#   their sum, the KL divergence, never is.
#
# ## Step 4: what the minimum does
#
# So far the minimum had nothing to choose. Now let the policy move further, so that the ratios are 1.5, 1.5 and 0.5, and let
# $o_2$ and $o_3$ be bad completions, with an advantage of $-1$.
#
# What matters to training is not the value of the surrogate but its **slope**: by how much it changes when the
# log-probability of a completion grows a little. Training follows the slope. Since $\rho = e^{\log\pi_\theta -
# \log\pi_\text{old}}$, a small growth of $\log\pi_\theta$ multiplies $\rho$, and
#
# $$ \frac{\partial (\rho A)}{\partial \log\pi_\theta} = \rho A, \qquad
#    \frac{\partial\, \big(\mathrm{clip}(\rho)\, A\big)}{\partial \log\pi_\theta} = 0 \ \text{ outside the range:} $$
#
# the clipped ratio is a constant there. So the slope is $\rho A$ where the first of the two is the smaller one, and 0 where
# the second is.
#
# **Guess:** $o_2$ is bad, and has become 1.5 times likelier. What is its slope?

# %%
guess_slope = 0.0

# %%
wild, mixed = np.array([1.5, 1.5, 0.5]), np.array([1.0, -1.0, -1.0])
term = clipped(np.log(wild), mixed, clip_low=epsilon, clip_high=epsilon)
print("             ρ     A    ρ A   clip(ρ) A   smaller   slope")
for number, (rho, a, least, slope) in enumerate(zip(wild, mixed, term.value, term.slope, strict=True), 1):
    print(
        f"o{number}         {rho:4} {a:5} {rho * a:6} {np.clip(rho, 0.8, 1.2) * a:11} {least:9} {slope + 0.0:7}"
    )
because = "Of -1.5 and -1.2 the first is smaller, and it is not clipped: a bad answer that has become likelier is pushed down in full."
print(how_far(guess_slope, term.slope[1], because))

# %%
objective_terms(wild, mixed, old, ref, epsilon, beta)

# %% [markdown]
# * $o_1$ is good and has become 1.5 times likelier. It counts as if it were 1.2 times likelier, and its slope is 0: to make it
#   likelier still gains nothing.
# * $o_2$ is bad and has become likelier: it went the wrong way. Nothing is clipped. It counts $-1.5$, and its slope is $-1.5$:
#   it is pushed down.
# * $o_3$ is bad and has become half as likely. It counts $-0.8$, and its slope is 0: to make it rarer still gains nothing.
#
# The minimum is *pessimistic*: it takes away what is gained by going too far, and never a loss.
# [The clip](../docs/derivation/04_clip.md) proves it, and in [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) and
# [`ratios/clipped_slope`](../exercises/03_ratios/04_clipped_slope.py) you write it.
#
# ## Step 5: turn one ratio
#
# Back to the first example, where all advantages are 1. We turn the ratio of $o_2$ from 0 to 2, leave the others as they are,
# and look at $J$. Each line has another weight $\beta$ of the KL.

# %%
ratio_sweep(rhos, A, old, ref, epsilon, betas=(0.0, 0.01, 1.0), index=1)

# %% [markdown]
# The markers are today's ratio, $\rho_2 = 0.8$, one on each line; those of $\beta = 0$ and $\beta = 0.01$ nearly cover each other.
#
# * **Without the KL**, $\beta = 0$, the objective rises up to $\rho_2 = 1.2$ and stays flat from there. An optimizer that
#   climbs it has no reason to go on. With $A > 0$ only the upper bound acts: at the lower one, 0.8, the line has no edge.
# * **With $\beta = 0.01$**, our example, the line is nearly the same: the KL is about 0.06, and a hundredth of that is little.
# * **With $\beta = 1$** the reference counts. It gives $o_2$ little probability, so the objective rises less, and beyond the
#   clip range, where the surrogate gains nothing more, it falls.
#
# So there are two brakes. The clip holds back one *update*: it compares with the old policy, which is replaced by the new one
# after each update. The KL holds back the *whole training*: it compares with the reference, which never moves.
#
# With a running kernel you can turn three knobs. Where does the highest point of the curve go when you make `beta` larger,
# and where when you make `epsilon` larger?


# %%
def turned(epsilon=0.2, beta=0.3, completion=2):
    return ratio_sweep(rhos, A, old, ref, epsilon, betas=(0.0, beta), index=completion - 1)


_ = interact(turned, epsilon=(0.05, 0.9, 0.05), beta=(0.0, 2.0, 0.1), completion=(1, 3, 1))

# %% [markdown]
# Without a kernel, here is the curve with a wider clip range, `epsilon = 0.5`. The edge where it turns flat has moved to 1.5:

# %%
turned(epsilon=0.5)

# %% [markdown]
# <details><summary>Answer: where does the highest point go?</summary>
#
# With `epsilon` it moves: it stands at the upper bound, $1 + \varepsilon$. With `beta` it mostly does not.
#
# * $o_1$ (completion 1): for $\varepsilon = 0.2$ it stays at 1.2, however far you turn `beta`.
# * $o_2$: it stays at 1.2 as long as the KL pulls less than the surrogate pushes, up to a $\beta$ of about 1.5. Then it moves
#   inside: to 1.09 at $\beta = 1.6$ and to 0.76 at $\beta = 2$.
# * $o_3$: the reference gives it more than the policy does. So beyond the bound, where the surrogate is flat, the KL still
#   falls, and for any $\beta > 0$ that the knob has the highest point is at the right edge, 2.
# </details>
#
# ## Step 6: what trainers compute instead
#
# The programs that train language models, such as TRL and verl, start from the same idea. They differ from the formula above
# in four ways. We change one after the other.
#
# ### 6a. Advantages come from rewards
#
# Above, the advantages were given. A trainer has rewards $r_i$, and computes the advantages from them, within the group:
#
# $$ A_i = \frac{r_i - \bar r}{s}, \qquad \bar r = \frac1G \sum_j r_j, \qquad s = \sqrt{\frac{1}{G-1} \sum_j (r_j - \bar r)^2}. $$
#
# The mean $\bar r$ says what was to be expected; the standard deviation $s$ brings all groups to one scale. So the advantages
# of a group sum to 0, and $A = (1, 1, 1)$ cannot happen.
#
# **Guess:** one of three completions is right, $r = (1, 0, 0)$. What is its advantage?

# %%
guess_advantage = 1.0

# %%
advantages = group_normalized(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
print("rewards 1, 0, 0: advantages", advantages[0].round(3))
print("rewards 1, 1, 1: advantages", advantages[1].round(3))
because = "The mean is 1/3 and the standard deviation 0.577, so it is (2/3) / 0.577. The wrong ones have half of it, below 0."
print(how_far(guess_advantage, advantages[0, 0], because))

# %% [markdown]
# Three equal rewards have advantages of 0: there is nothing to compare, and nothing is learned. You write this in
# [`advantages/group_normalized`](../exercises/02_advantages/01_group_normalized.py); where the mean and the division come
# from is told in [the group](../docs/derivation/05_group.md) and
# [the standard deviation](../docs/derivation/06_standard_deviation.md).
#
# ### 6b. They minimise a loss
#
# Optimizers make numbers smaller. So trainers compute a **loss**, which is $-J$, and its **gradient**: the slope with respect
# to each log-probability. The library's function for both is `policy_loss`. It wants arrays with three axes, (prompts,
# completions, tokens). Ours are one prompt with three completions, and for now we say that each is a single token long:

# %%
one_token = np.ones((1, 3, 1))  # the mask: 1 where there is a token
no_kl = replace(GRPO, kl_coef=0.0)  # the recipe GRPO without its KL
old_log_probs = np.log(old / old.sum()).reshape(1, 3, 1)
new_log_probs = old_log_probs + np.log(rhos).reshape(1, 3, 1)
result = policy_loss(new_log_probs, A[None], one_token, recipe=no_kl, old_log_probs=old_log_probs)
print("loss      ", float(result.loss))
print("gradient  ", result.gradient.ravel().round(4))

# %% [markdown]
# The loss is the surrogate of step 1 with a minus sign. The gradient of each completion is $-\rho_i A_i / 3$, as step 4 said,
# and a third because the surrogate is a mean of three: $-1.2/3 = -0.4$ for the first. It is negative where the log-probability
# should grow.
#
# ### 6c. Every token has its own ratio
#
# A completion has many tokens, and the policy gives each of them a probability. A trainer takes a ratio for each **token**,
# clips each of them, takes the mean over the tokens of a completion, and then the mean over the completions:
#
# $$ \frac1G \sum_{i=1}^G \frac{1}{|o_i|} \sum_{t=1}^{|o_i|} \min\big(\rho_{i,t} A_i,\ \mathrm{clip}(\rho_{i,t})\, A_i\big),
#    \qquad \rho_{i,t} = \frac{\pi_\theta(o_{i,t})}{\pi_\text{old}(o_{i,t})} . $$
#
# Let our three completions have 2, 1 and 3 tokens, with these ratios:
#
# | completion | ratios of its tokens | their product |
# |---|---|---|
# | $o_1$ | 1.5, 0.8 | 1.2 |
# | $o_2$ | 0.8 | 0.8 |
# | $o_3$ | 1.1, 1, 1 | 1.1 |
#
# The probability of a text is the product of those of its tokens, so the product of the ratios is the ratio of the completion.
# These products are the three ratios of step 1.
#
# **Guess:** the ratios of the completions are the same as in step 1, where the surrogate was 1.0333. What is it now?

# %%
guess_by_token = 1.0333

# %%
ratios = np.array([[1.5, 0.8, 1.0], [0.8, 1.0, 1.0], [1.1, 1.0, 1.0]])
mask = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]])  # 0 is padding: it fills the rows up to one length
old_tokens = np.log(np.full((1, 3, 3), 0.5))
tokens = policy_loss(old_tokens + np.log(ratios), A[None], mask[None], recipe=no_kl, old_log_probs=old_tokens)
print("loss, token by token", round(float(tokens.loss), 6))
because = "The first token's 1.5 is clipped to 1.2. The means are (1.2 + 0.8)/2 = 1, 0.8 and 3.1/3, and theirs is 0.9444."
print(how_far(guess_by_token, -float(tokens.loss), because, within=0.01))

# %%
token_grids({"ratio of each token": ratios, "gradient of the loss": tokens.gradient[0]}, mask)

# %% [markdown]
# The left picture shows the ratios, a row for each completion and a column for each token; padding is white. The right one
# shows the gradient of the loss.
#
# * The first token of $o_1$ has a gradient of 0. It is clipped, although its completion as a whole, with 1.2, is not.
# * The single token of $o_2$ has the largest gradient, $-0.267$, although no ratio is smaller than its 0.8. Each completion
#   has a third of the weight and shares it among its tokens, and this one need not share.
#
# How much each token counts is a choice, which [notebook 5](05_three_pictures_of_W.ipynb) is about.
#
# And if we multiply the ratios of a completion first, and clip the product? Then the surrogate of step 1 must come back:

# %%
by_sequence = replace(no_kl, level=sequence_sum_level)  # the ratio of a completion: a sum of log-ratios
whole = policy_loss(
    old_tokens + np.log(ratios), A[None], mask[None], recipe=by_sequence, old_log_probs=old_tokens
)
print("loss, by completion ", round(float(whole.loss), 6))

# %% [markdown]
# It does: $-1.033333$. Which of the two ratios is the right one is the question of
# [the sequence level](../docs/derivation/10_sequence_level.md).
#
# ### 6d. The KL is estimated
#
# In step 2 we summed over all three completions, as if they were all that the model can say, and weighted each with its
# probability $p_i$. A language model can say more than anybody can sum over. But its samples are drawn *from* the policy: a
# likely completion is drawn often and a rare one seldom. (This holds right after sampling. After a step the policy is another
# one, and the ratio would have to enter.) So a plain mean over samples does what the weights did,
#
# $$ \text{KL}(p\,\|\,q) = \sum_i p_i\, v_i = \mathbb{E}_{i \sim p}[v_i], \qquad v_i = \log p_i - \log q_i, $$
#
# where a language model has $\log\pi_\theta - \log\pi_\text{ref}$ for $v$: its probabilities are normalised already. And $v$ can
# be exchanged for anything with the same mean. Most trainers take
#
# $$ \text{k3} = e^{-v} - 1 + v . $$
#
# Its mean is the same, because $\mathbb{E}[e^{-v}] = \sum_i p_i\, q_i / p_i = 1$. And it is never negative, because
# $e^{-v} \ge 1 - v$.

# %%
v = np.log(p / q)
estimate = k3(np.log(p), np.log(q)).value
print("              o1       o2       o3")
print("v        ", *(f"{each:8.4f}" for each in v))
print("p v      ", *(f"{each:8.4f}" for each in p * v), "   sum ", (p * v).sum().round(4))
print("k3       ", *(f"{each:8.4f}" for each in estimate), "   mean", estimate.mean().round(4))
print("p k3     ", *(f"{each:8.4f}" for each in p * estimate), "   sum ", (p * estimate).sum().round(4))

# %% [markdown]
# The last line weights k3 with $p$, and its sum is the KL divergence again, 0.0584. The line above it is a plain mean over
# $o_1$, $o_2$ and $o_3$, one of each, 0.0625. It is another number because these three are not a fair sample: a policy that
# says $o_1$, $o_2$ and $o_3$ with the probabilities $p$ does not draw each exactly once in three. Over many samples the mean
# is right. [Notebook 6](06_kl_and_reward_hacking.ipynb) is about such estimates; you write this one in
# [`kl/k3`](../exercises/04_kl/03_k3.py).
#
# ## The two side by side
#
# | | `grpo_objective` | trainers (`policy_loss`) |
# |---|---|---|
# | returns | $J$, to be maximised | the loss, its gradient, and metrics; the loss is minus the trainers' own $J$, not the left one |
# | advantage | given | from the rewards of the group |
# | ratio | one per completion | one per token |
# | clip | completions | tokens |
# | KL | exact, between the $G$ completions | estimated token by token (k3) |
# | mean | over completions | over the tokens of a completion, then over completions (or otherwise: notebook 5) |
#
# ## Try yourself
#
# **a.** Set `A = [1.0, -1.0, 0.0]` in the original example. Predict the surrogate before you run it.
#
# <details><summary>Answer</summary>
#
# The terms are $1.2$, $-0.8$ and $0$, none of them clipped. Their mean is $0.4/3 = 0.1333$.
# </details>
#
# **b.** For which `ref` is the KL 0, and what is $J$ then?
#
# <details><summary>Answer</summary>
#
# For any multiple of `rhos * old` $= (1.08, 0.88, 1.1)$: only proportions matter. Then $J$ is the surrogate,
# $1.033333$ (and $10^{-10}\beta$ less, because of the $10^{-10}$ inside the logarithm).
# </details>
#
# **c.** With $A = -1$ everywhere, is there a ratio at which the surrogate stops falling as the ratio grows?
#
# <details><summary>Answer</summary>
#
# No. A bad completion that becomes likelier is never clipped: $-\rho$ falls without bound. That is why some trainers
# add a *dual clip*; see `dual_clipped` and notebook 4.
# </details>
#
# In the course: [`objective/grpo_objective`](../exercises/06_objective/01_grpo_objective.py) is this function,
# [`kl/normalized_kl`](../exercises/04_kl/05_normalized_kl.py) its KL,
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) its minimum, and
# [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py) the trainers' version. The whole derivation, step by step
# and with proofs, is [From REINFORCE to GRPO](../docs/derivation/index.md).
