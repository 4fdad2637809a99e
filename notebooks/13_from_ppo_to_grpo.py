# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13. From PPO to GRPO: what replaces the critic
#
# GRPO is a simplified PPO (proximal policy optimization). PPO trains two things at once: the **policy**, which writes,
# and the **critic**, which predicts how much reward a half-written text will still earn. A text that earns more than
# the critic predicted is pushed up. GRPO has no critic. It writes several completions of the same prompt and uses their
# mean reward as the expected reward.
#
# **The question: what does the critic do for PPO, and what do you lose or gain if the mean of a group replaces it?**
# Two steps lead from no baseline to PPO, and six more steps lead to GRPO. Each step changes one thing only. All runs
# learn the same task from the same number of completions, and we compute an interval for the effect of every step.
# Before some results you are asked for a guess. A guess within 5 % of the answer counts as right. If the answer is a
# difference with an interval, every guess inside the interval counts as right.
#
# Three pages explain more: [the baseline](../docs/derivation/02_baseline.md), [the clip](../docs/derivation/04_clip.md)
# and [the group](../docs/derivation/05_group.md).

# %%
# %matplotlib inline
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from grpo_ref import GRPO, TASKS, policy_loss
from grpo_ref.course.guess import how_far
from grpo_ref.lab.framework.statistics import student_quantile
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import gather, gather_states, policy_of, pull_back, scatter_add
from grpo_ref.learning.rollout import rollout
from grpo_ref.plots import intervals_figure, lines_figure, token_grids

# %% [markdown]
# ## 1. The task and the budget
#
# The task `arithmetic` has 100 prompts, from `0+0=` to `9+9=`. A completion has at most three tokens, each a digit or
# the end. It is **well formed** if it is a number, without a leading zero, followed by the end. (The number 0 is well
# formed too.) The right sum followed by the end has the reward 1.1, any other well-formed number 0.1, and everything
# else 0.
#
# The policy is a table of logits with one row for each prompt and position, so $100 \cdot 3 \cdot 11 = 3300$ numbers
# are learned. The policy knows the prompt and the position, but not the tokens that it has written. In every update of
# every run, 128 completions are sampled, and then the policy takes four Adam steps on them.

# %%
task = TASKS["arithmetic"](max_length=3)
SEEDS, UPDATES, STEPS = 32, 120, 4
LENGTH, TEXTS = task.max_length, 1 + 11 + 11**2
print("prompts:", len(task.prompts), "  logits of the policy:", task.ref_logits.size)
print("texts that can precede a token, for each prompt:", TEXTS)

# %% [markdown]
# ## 2. The critic
#
# The critic is a function $V$ of the text so far, $o_{<t}$. It should be the expected reward from there on:
#
# $$ V(o_{<t}) = \mathbb{E}[R \mid o_{<t}] . $$
#
# Here the critic is a table too. The text after a prompt is empty, or one of 11 tokens, or two of them. So the table
# has $1 + 11 + 121 = 133$ numbers for each prompt, and all start at 0. (Texts that contain an end never occur.) The
# critic minimizes half the squared error, $\tfrac12 (V - R)^2$. The derivative with respect to $V$ is $V - R$, so one
# step of gradient descent is
#
# $$ V \leftarrow V + \alpha\,(R - V): $$
#
# move $V$ by a fraction $\alpha$ of the distance to the observed reward. We take $\alpha = 0.3$, and use the mean of $R - V$
# over all tokens of the batch that were written after the same text. (Part 5 has a critic that sees the prompt
# only. For this critic all tokens of a completion share one entry of the table, so a completion of three tokens counts
# three times.)
#
# **Use.** The critic's errors from token to token are
#
# $$ \delta_t = V(o_{\le t}) - V(o_{<t}) \quad\text{before the last token}, \qquad \delta_T = R - V(o_{<T}) \quad\text{at it.} $$
#
# A token that raises the expected reward has a positive $\delta_t$. In **generalized advantage estimation** (GAE), the
# advantage of a token is its own error plus $\lambda$ times the advantage of the next token:
#
# $$ A_t = \delta_t + \lambda\, A_{t+1} = \sum_{s \ge t} \lambda^{s-t}\, \delta_s . $$
#
# For $\lambda = 1$ most terms of the sum cancel, because every $V$ except the first is added once and subtracted once:
#
# $$ A_t = \big(V(o_{\le t}) - V(o_{<t})\big) + \big(V(o_{\le t+1}) - V(o_{\le t})\big) + \dots + \big(R - V(o_{<T})\big)
#    = R - V(o_{<t}) . $$
#
# For $\lambda = 0$ the advantage is the token's own error, and depends on the critic alone. PPO mostly uses $\lambda =
# 0.95$.
#
# **Guess:** before the three tokens of a completion the critic predicts 0.4, 0.7 and 0.9; the reward is 1. What is the
# advantage of the *first* token, with $\lambda = 1$? (The value in the cell is only a placeholder. Replace it by your
# own guess.)


# %%
def gae(rewards, values, mask, lam):
    following = np.append((values * mask)[..., 1:], 0.0 * values[..., :1], axis=-1)
    advantages = mask * (rewards + following - values)  # the errors δ; rewards are 0 before the last token
    for t in reversed(range(values.shape[-1] - 1)):
        advantages[..., t] += lam * advantages[..., t + 1]
    return advantages * mask


# %%
guess_advantage = 1.0

# %%
one = np.array([0.0, 0.0, 1.0]), np.array([0.4, 0.7, 0.9]), np.ones(3)
for lam in (0.0, 0.95, 1.0):
    print(f"λ = {lam:4}: advantages {gae(*one, lam).round(3)}")
because = "With λ = 1 the errors 0.3, 0.2 and 0.1 are added: R - V = 1 - 0.4. The 0.4 was expected."
print(how_far(guess_advantage, gae(*one, 1.0)[0], because))

# %% [markdown]
# ## 3. The update
#
# PPO divides all advantages of a batch by one number, the root mean square of all advantages of the batch, so that
# their size is about 1. Before that, most implementations *centre* them: they subtract the mean of all advantages of
# the batch. Then PPO maximizes the clipped surrogate $\min(\rho A,\ \mathrm{clip}(\rho, 0.8, 1.2)\, A)$ ([notebook
# 4](04_gallery_of_surrogates.ipynb) draws it). GRPO has the same surrogate. So all runs use the library's loss without
# a KL penalty. They differ only in three things: how the advantages are computed, how they are scaled, and how many
# prompts the 128 completions come from.
#
# Our PPO is simple. Its loss is the mean over the tokens of each completion and then over completions, as in GRPO; PPO
# usually takes the mean over all tokens of the batch. Its critic learns from $R$ with one step per batch; in most
# implementations the critic learns from $A + V$, with as many steps as the policy. Rewards are not discounted, $\gamma
# = 1$.

# %%
recipe = replace(GRPO, kl_coef=0.0)


def step(now, batch, advantages, old):
    policy, places = policy_of(now.logits), (batch.states, batch.tokens)
    log_probs = gather(policy.log_probs, *places)
    loss = policy_loss(log_probs, advantages, batch.mask, recipe=recipe, old_log_probs=old, metrics=())
    gradient = pull_back(loss.gradient, *places, policy.probs)
    now.logits, now.moments = now.adam.step(now.logits, gradient, now.moments)


def scaled(advantages, mask, how):
    count, over = mask.sum((1, 2, 3), keepdims=True), {"axis": (1, 2, 3), "keepdims": True}
    if how == "centre and scale":
        advantages = mask * (advantages - advantages.sum(**over) / count)
    size = np.sqrt((advantages**2).sum(**over) / count) if "scale" in how else 1.0
    return advantages / np.maximum(size, 1e-8)


# %% [markdown]
# The next cell has three functions that compute advantages. They differ in the baseline, which is the number that is
# subtracted from the reward. `critic` reads its table, computes the advantages with GAE, and learns. It can see the
# whole text so far, or the prompt alone, or nothing. `group` subtracts the mean of the group, and can divide by its
# standard deviation (of the sample, with $G - 1$, as in the library's recipe). `nothing` uses the reward itself. Each
# function stores its baseline, so that we can look at it later. A run has `settings`: the function for its
# `advantages`, the number of `prompts`, the `scaling`, and the options of the function.


# %%
def places_of(batch, sees):
    first, second, prompt = batch.tokens[..., 0], batch.tokens[..., 1], batch.prompts[..., None, None]
    text = np.stack([0 * first, 1 + first, 12 + 11 * first + second], axis=-1)
    seen = {"text": TEXTS * prompt + text, "prompt": TEXTS * prompt + 0 * text, "nothing": 0 * text}
    return seen[sees]


def critic(now, batch, settings):
    places, ends = places_of(batch, settings.sees), np.arange(LENGTH) == batch.lengths[..., None] - 1
    values = gather_states(now.critic, places)
    now.baseline = values[..., 0]
    learn(now, places, batch.mask * (batch.rewards[..., None] - values), batch.mask)
    return gae(ends * batch.rewards[..., None], values, batch.mask, settings.lam)


def learn(now, places, errors, mask, rate=0.3):
    shape = (*now.critic.shape, 1)
    sums, visits = (scatter_add(1.0 * each, places, 0 * places, shape)[..., 0] for each in (errors, mask))
    now.critic = now.critic + rate * sums / np.maximum(visits, 1.0)


def group(now, batch, settings):
    now.baseline = batch.rewards.mean(-1, keepdims=True) + 0.0 * batch.rewards
    spread = batch.rewards.std(-1, ddof=1, keepdims=True) + 1e-4 if settings.divides else 1.0
    return ((batch.rewards - now.baseline) / spread)[..., None] * batch.mask


def nothing(now, batch, settings):
    now.baseline = 0.0 * batch.rewards
    return batch.rewards[..., None] * batch.mask


# %% [markdown]
# One update samples the completions, computes and scales the advantages, and takes four steps. `now` holds everything
# that changes: logits, Adam's moments, the critic, and the random numbers. `run` trains 32 seeds in parallel. For each
# update it returns the share of right answers, the mean of all advantages before scaling, and the error of the baseline
# (part 6).
#
# Because the policy is a table, we know the right value of the baseline, which is the expected reward of the prompt:
# the probability of the right answer plus 0.1 times the probability of a well-formed number. Both are sums of products
# of probabilities.


# %%
def begin(seed, rate, seeds):
    now = SimpleNamespace(adam=Adam(rate), generator=np.random.default_rng(seed))
    now.logits = np.repeat(task.ref_logits[None], seeds, axis=0)
    now.moments = now.adam.init(now.logits)
    now.critic = np.zeros((seeds, len(task.prompts) * TEXTS))
    return now


def drawn(now, settings):
    policy, seeds = policy_of(now.logits), len(now.logits)
    prompts = now.generator.integers(len(task.prompts), size=(seeds, settings.prompts))
    numbers = now.generator.random((seeds, settings.prompts, 128 // settings.prompts, LENGTH))
    return rollout(task, policy.probs, prompts, numbers), policy


def four_steps(now, batch, advantages, policy):
    old = gather(policy.log_probs, batch.states, batch.tokens)
    for _ in range(STEPS):
        step(now, batch, advantages, old)


def update(now, settings):
    batch, policy = drawn(now, settings)
    given = settings.advantages(now, batch, settings)
    four_steps(now, batch, scaled(given, batch.mask, settings.scaling), policy)
    measures = {"right": batch.components[..., 1].mean((1, 2))} | errors(now.baseline, batch, policy)
    return measures | {"mean": given.sum((1, 2, 3)) / batch.mask.sum((1, 2, 3))}


def run(seed, rate=0.05, seeds=SEEDS, **settings):
    now = begin(seed, rate, seeds)
    return [update(now, SimpleNamespace(**settings)) for _ in range(UPDATES)], now


# %%
spelled = [[int(digit) for digit in str(a + b)] + [10] for a in range(10) for b in range(10)]
answers = np.array([tokens + [-1] * (LENGTH - len(tokens)) for tokens in spelled])


def chances(policy):
    first, second, third = np.moveaxis(policy.probs.reshape(-1, 100, LENGTH, 11), 2, 0)
    chosen = policy.probs.reshape(-1, 300, 11)[:, np.arange(300), answers.ravel()].reshape(-1, 100, LENGTH)
    formed = first[..., :10].sum(-1) * second[..., 10]
    formed = formed + first[..., 1:10].sum(-1) * second[..., :10].sum(-1) * third[..., 10]
    return np.where(answers >= 0, chosen, 1.0).prod(-1), formed


def errors(baseline, batch, policy):
    right, formed = chances(policy)
    error = baseline - np.take_along_axis(right + 0.1 * formed, batch.prompts, axis=1)[..., None]
    return {"off": np.sqrt((error**2).mean((1, 2))), "bias": error.mean((1, 2))}


# %% [markdown]
# ## 4. The value of a critic
#
# First we compare PPO with two runs without a critic. All three sample 128 completions of 128 prompts per update. The
# run without a baseline uses $A = R$, and scales the batch. The second run also centres: it subtracts the mean of the
# batch before scaling. PPO adds the critic.
#
# **Guess:** with PPO, what share of the answers is right in the last ten of 120 updates? At the start one of 121
# answers is right if the sum has one digit, and one of 1331 if it has two.

# %%
guess_ppo = 0.9

# %%
bare = {"advantages": nothing, "prompts": 128, "scaling": "scale"}
ppo = {"advantages": critic, "prompts": 128, "scaling": "centre and scale", "sees": "text", "lam": 0.95}
history, last = {}, {}
history["no baseline"], last["no baseline"] = run(0, **bare)
history["centred"], last["centred"] = run(11, **bare | {"scaling": "centre and scale"})
history["PPO"], last["PPO"] = run(1, **ppo)


def curves(names, what="right"):
    runs = {name: np.array([each[what] for each in history[name]]).T for name in names}
    return {name: curve.reshape(len(curve), -1, 10).mean(-1) for name, curve in runs.items()}  # means of ten


def at_the_end(name):
    return curves([name])[name][:, -1]


right, formed = chances(policy_of(last["PPO"].logits))
rare = right < 0.1
print(f"prompts that are nearly always answered right (above 0.9): {(right > 0.9).mean():.2f}")
print(f"prompts that are hardly ever answered right (below 0.1):  {rare.mean():.2f}")
print(f"  of these, the median probability of a well-formed number: {np.median(formed[rare]):.3f}")
print(f"  of these, the median probability of the right one:        {np.median(right[rare]):.5f}")
because = (
    "Each prompt is learned separately, and 43 % of them are stuck: the policy nearly always writes a wrong number. "
    "The reward is 0.1, the critic predicts 0.1, and there is nothing to learn from."
)
print(how_far(guess_ppo, at_the_end("PPO").mean(), because))

# %%
tens = np.arange(10, UPDATES + 1, 10)
lines_figure(
    tens, curves(["no baseline", "centred", "PPO"]), "update (128 completions each)", "right answers (share)"
)
# Figure: share of right answers over 120 updates: no baseline reaches 0.35, the centred run 0.50 and PPO
# 0.54.

# %% [markdown]
# All three runs learn. If the reward itself is the advantage, the tokens of every completion with a reward above 0 are
# pushed up, including well-formed wrong answers, whose reward is 0.1. With centring these are pushed down, once the
# mean of the batch is more than 0.1. Most of PPO's advantage comes from centring: 0.35 of the answers are right with no
# baseline, 0.50 in the centred run, and 0.54 with PPO. The critic adds the smaller part.
#
# No run learns all prompts. PPO hardly ever answers 43 of the 100 prompts right, and more updates would not help. For
# the median of these prompts, the probability of a well-formed number is 0.985, and the probability of the right number
# is about one in six thousand. All other well-formed numbers have the same reward, 0.1, so there is nothing to compare.
#
# ## 5. Step by step to GRPO
#
# | run | change from the run before |
# |---|---|
# | no baseline | 128 prompts with one completion each; $A = R$; the batch is scaled |
# | centred | the mean of all advantages of the batch is subtracted |
# | PPO | the critic; it reads the text; $\lambda = 0.95$ |
# | λ = 1 | $A_t = R - V(o_{<t})$: the critic is a baseline and nothing else |
# | critic sees the prompt only | one number for each prompt, so all tokens of a completion have the same advantage |
# | not centred | the mean of the batch is no longer subtracted from the advantages |
# | in groups | 16 prompts with 8 completions each, instead of 128 prompts with one |
# | group mean | no critic; the mean reward of the group of 8 is the baseline |
# | GRPO | advantages are divided by the standard deviation of the group, instead of the root mean square of the batch |
#
# **Guess:** by how much does the share of right answers change in the step "group mean", which removes the critic? (0.1
# would be ten more right answers in a hundred.)

# %%
guess_change = -0.1

# %%
plain = {"advantages": critic, "prompts": 128, "sees": "prompt", "lam": 1.0, "scaling": "scale"}
runs = {
    "λ = 1": plain | {"sees": "text", "scaling": "centre and scale"},
    "critic sees the prompt only": plain | {"scaling": "centre and scale"},
    "not centred": plain,
    "in groups": plain | {"prompts": 16},
    "group mean": {"advantages": group, "prompts": 16, "divides": False, "scaling": "scale"},
    "GRPO": {"advantages": group, "prompts": 16, "divides": True, "scaling": "as it is"},
}
for seed, (name, settings) in enumerate(runs.items(), start=2):
    history[name], last[name] = run(seed, **settings)

# %% [markdown]
# The next cell computes, for each run, the share of right answers minus the share of the run before it. Each run has 32
# seeds, so the interval is the difference plus or minus $q\sqrt{s_1^2/32 + s_2^2/32}$, where $s_1$ and $s_2$ are the
# standard deviations of the seeds and $q$ is a quantile of Student's t. The quantile is chosen so that all eight
# intervals hold *together* with a probability of at least 95 %.


# %%
def between(one, other, together):
    quantile = student_quantile(1 - 0.05 / together / 2, min(len(one), len(other)) - 1)
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    return one.mean() - other.mean(), quantile * error


def difference(name, before):
    return between(at_the_end(name), at_the_end(before), together=8)


steps = {(before, name): difference(name, before) for before, name in pairwise(history)}
for (_, name), (middle, reach) in steps.items():
    print(f"{name:28} right {at_the_end(name).mean():.2f}   changed by {middle:+.3f} ± {reach:.3f}")
total, reach = difference("GRPO", "PPO")
print(f"{'from PPO to GRPO':28}              changed by {total:+.3f} ± {reach:.3f}")

# %%
middle, reach = steps["in groups", "group mean"]
because = f"The interval, from {middle - reach:+.2f} to {middle + reach:+.2f}, contains 0: no difference was found. Part 6 discusses why."
print(how_far(guess_change, middle, because, within=reach))

# %%
rows = {f"{before} → {name}": change for (before, name), change in steps.items()}
intervals_figure(
    rows, "change of the right answers at the end (share);\nintervals that hold together with 95 %"
)
# Figure: changes of the share of right answers in eight steps, with intervals. Centring gains about 0.14 and
# the critic 0.05; not centring, groups and the division by the standard deviation lose about 0.05 each; the
# other intervals contain 0.

# %%
chosen = ["PPO", "not centred", "in groups", "group mean", "GRPO"]
means = {name: curve.mean(0, keepdims=True) for name, curve in curves(chosen).items()}
lines_figure(tens, means, "update (128 completions each)", f"right answers (share, mean of {SEEDS} seeds)")
# Figure: share of right answers over 120 updates for PPO, not centred, in groups, group mean and GRPO: PPO is
# highest, GRPO lowest.

# %%
for name in ("not centred", "in groups", "group mean"):
    print(f"{name:12} mean error of the baseline: {curves([name], 'bias')[name].mean():+.3f}")
for prompts in (128, 16):
    print(
        f"{prompts:3} prompts an update: a given prompt is among them in {1 - 0.99**prompts:.0%} of the updates"
    )

# %% [markdown]
# The first figure shows, from top to bottom:
#
# * **Centred**: subtracting the batch's mean gains 14 right answers in a hundred, far more than any other step.
# * **PPO**: the critic gains five more.
# * **λ = 1** and **critic sees the prompt only**: no change was found. In texts of three tokens it does not help if the
#   critic can read the text.
# * **Not centred** loses five answers in a hundred. The critic follows the policy with a delay, so its predictions are
#   too low, by 0.02 on average. But this mean error alone is not the reason: the next two steps change it to $-0.09$
#   and then to 0, and for the second of them no change was found. The effect of centring is discussed below.
# * **In groups** loses five more. Now an update has 16 prompts instead of 128, so a given prompt occurs in 15 % of the
#   updates and not in 72 %. The delay of the critic grows, too: its predictions are too low by 0.09.
# * **Group mean**: without the critic, no difference is found. If there is one, it is smaller than four answers in a
#   hundred.
# * **GRPO**: the division by the standard deviation of the group loses about six. It makes the advantages large in a
#   group with one right completion of eight. But they become equally large in a group in which one of eight has the
#   reward 0.1 for its form. We have not tested whether this is the reason.
#
# All runs used Adam with the learning rate 0.05. Would PPO or GRPO be better at another rate? The next cell trains both
# with other rates and 16 seeds, and prints the difference from the run with 0.05 (intervals that hold together with 95
# %, now for five):

# %%
trials = {"PPO": (ppo, (0.025, 0.1)), "GRPO": (runs["GRPO"], (0.025, 0.1, 0.2))}
for name, (settings, rates) in trials.items():
    print(f"{name:5} rate 0.05 : right {at_the_end(name).mean():.2f}")
    for rate in rates:
        tried, _ = run(10, rate=rate, seeds=16, **settings)
        end = np.mean([each["right"] for each in tried[-10:]], axis=0)
        middle, reach = between(end, at_the_end(name), together=5)
        print(f"      rate {rate:<5}: right {end.mean():.2f}   changed by {middle:+.3f} ± {reach:.3f}")

# %% [markdown]
# None of these rates is clearly better than 0.05 for PPO or GRPO. So with the same 15,360 completions PPO is better
# than GRPO here, by 16 or 17 answers in a hundred. Three of the steps from PPO to GRPO lose answers: the batch is not
# centred, the completions come in groups, and the advantages are divided by the standard deviation of the group.
#
# ### The effect of centring
#
# Does the order of the steps matter? "Not centred" came before the groups. So we repeat "in groups" and "group mean",
# but centred. A third run tests whether centring must subtract the batch's mean: it is "not centred", but subtracts a
# constant, 0.01, from all advantages.
#
# **Guess:** by how much does the share of right answers change when "group mean" is centred?

# %%
guess_centred = 0.05


# %%
def lowered(now, batch, settings):
    return critic(now, batch, settings) - 0.01 * batch.mask


both = {"scaling": "centre and scale"}
again = {
    ("not centred", "not centred, minus 0.01"): plain | {"advantages": lowered},
    ("in groups", "in groups, centred"): runs["in groups"] | both,
    ("group mean", "group mean, centred"): runs["group mean"] | both,
}
for seed, ((_, name), settings) in enumerate(again.items(), start=12):
    history[name], last[name] = run(seed, **settings)
for before, name in (*again, ("in groups, centred", "group mean, centred")):
    middle, reach = between(at_the_end(name), at_the_end(before), together=4)
    print(
        f"{before:18} → {name:23} right {at_the_end(name).mean():.2f}   changed by {middle:+.3f} ± {reach:.3f}"
    )
for name in ("not centred", "in groups", "group mean"):
    print(f"{name:18} mean of all advantages: {curves([name], 'mean')[name].mean():+.3f}")
middle, reach = between(at_the_end("group mean, centred"), at_the_end("group mean"), together=4)
because = "In this run the mean of all advantages is a little below 0, so centring raises all of them."
print(how_far(guess_centred, middle, because, within=reach))

# %% [markdown]
# * **A constant works, too.** Subtracting 0.01 from all advantages gives about as many right answers as subtracting the
#   batch's mean. The constant also lowers the advantages of stuck prompts, which are otherwise about 0: all their
#   answers are pushed down a little. This probably keeps prompts from settling on a wrong answer; we have not tested
#   it.
# * **In groups**, centring recovers most of what the groups lost: with a critic, 0.50 of the answers are right,
#   compared to 0.53 with 128 prompts.
# * **Group mean** loses when it is centred. The advantages of a group sum to 0 over its completions, but the mean of
#   the batch is taken over *tokens*. This mean is below 0, because completions with a reward below the mean of their
#   group are longer on average. Subtracting it pushes up the answers of stuck prompts.
#
# So the effect of a step depends on the other steps. If the batch is not centred, the groups lose five answers in a
# hundred, and removing the critic has no effect that was found. If the batch is centred, removing the critic loses
# twelve.
#
# ## 6. How good must a baseline be?
#
# In the step "group mean", a learned critic and the mean of a group of eight were equally good baselines. Why? We
# measure how far each is from the true expected reward. For comparison with a baseline that is clearly worse, we add
# one more run: a critic that sees *nothing*. It is a single number for all prompts, the running mean of all rewards.
#
# **Guess:** the critic with one number per prompt ("not centred") is replaced by this single number. By how much does the
# share of right answers change? (The interval is made as above, though it is not one of the eight.)

# %%
guess_one_number = -0.15

# %%
history["one number"], last["one number"] = run(8, **plain | {"sees": "nothing"})
shown = {
    "one number": "one number for all",
    "not centred": "critic, one per prompt",
    "in groups": "critic, in groups",
}
shown["group mean"] = "mean of the group of 8"
lines = {label: curves([name], "off")[name] for name, label in shown.items()}
lines_figure(tens, lines, "update (128 completions each)", "error of the baseline (root mean square, reward)")
# Figure: error of four baselines over 120 updates. One number for all prompts ends at 0.5, the critic in groups at
# 0.14, and both the critic with one number per prompt and the mean of the group at 0.06.

# %%
for name, label in shown.items():
    error = curves([name], "off")[name][:, -1].mean()
    print(f"{label:24} off by {error:.2f} at the end,   right {at_the_end(name).mean():.2f}")
middle, reach = difference("one number", "not centred")
print(f"one number, against one per prompt: changed by {middle:+.3f} ± {reach:.3f}")
because = "No difference was found. On average the gradient is the same, whatever number is subtracted."
print(how_far(guess_one_number, middle, because, within=reach))

# %% [markdown]
# * The **mean of the group** is as accurate as the critic: both are off by 0.06 at the end. The mean is noisy, but it
#   belongs to the current policy. The critic is less noisy, but it belongs to older policies. With groups a prompt
#   occurs rarely, and there the critic is worse.
# * The **single number** is off by 0.5, because the expected reward of most prompts is about 0.1 or about 1.1, and the
#   number is in between. But the run is as good as the run with the critic. On this task the accuracy of the baseline
#   hardly matters.
#
# [The baseline](../docs/derivation/02_baseline.md) proves that *on average* any baseline works: you may subtract any
# number that does not depend on the completion itself. (The mean of a group contains the completion's own reward, so
# the gradient becomes $(G-1)/G$ of the true one; see [notebook 2](02_from_bandit_to_language.ipynb).) But 0 is such a
# number, too, and with it there are 14 fewer right answers in a hundred than with the single number. The average does
# not show this effect of finite samples: with 0, every sampled answer that is wrong but well formed is pushed up, and
# the right answer must be sampled before it can be pushed up more. In this task the noise of the other baselines has
# little effect. This is not a law: if a single update matters more, noise costs more.
#
# ## 7. Credit for single tokens
#
# With a group, all tokens of a completion have the same advantage. A critic that reads the text can distinguish good
# tokens from bad ones. We look at the trained critic of the run "λ = 1", second seed: its prediction after each text,
# and the resulting advantages for the completions `15` (right) and `14` (wrong) of `7+8=`.

# %%
table = last["λ = 1"].critic.reshape(SEEDS, 100, TEXTS)[1, task.prompts.index("7+8=")]
before, one, right, wrong = table[[0, 1 + 1, 12 + 11 * 1 + 5, 12 + 11 * 1 + 4]]
print(
    f"predicted after 7+8= {before:.2f}, after 7+8=1 {one:.2f}, after 7+8=15 {right:.2f}, after 7+8=14 {wrong:.2f}"
)
values, all_three = np.array([[before, one, right], [before, one, wrong]]), np.ones((2, 3))
rewards = np.array([[0.0, 0.0, 1.1], [0.0, 0.0, 0.1]])
pictures = {f"λ = {lam}": gae(rewards, values, all_three, lam) for lam in (0.0, 0.95, 1.0)}
pictures["one advantage for all tokens"] = (rewards.sum(-1, keepdims=True) - before) * all_three
token_grids(pictures, all_three, rows=["1 5 end", "1 4 end"], digits=2)
# Figure: advantages of the three tokens of a right and of a wrong completion for three values of lambda, and
# one advantage for all tokens. With lambda = 0 only the wrong digit 4 is strongly negative; with larger
# lambda the tokens before it are negative too.

# %% [markdown]
# After `7+8=1` the critic predicts 1.01, and after `7+8=14` only 0.02: it knows that the 4 was the mistake. With
# $\lambda = 0$ the advantages show this: the 1, which was right, has 0.08, and the 4 has $-0.99$. With $\lambda = 0.95$
# the 1 has a strongly negative advantage as well, $-0.79$. With one advantage for all tokens, as in GRPO, the end has a
# negative advantage too.
#
# **Guess:** should we then train PPO with $\lambda = 0$? With $\lambda = 0.95$, 0.54 of the answers were right. What
# share is right with $\lambda = 0$?

# %%
guess_lambda = 0.65

# %%
history["λ = 0"], last["λ = 0"] = run(9, **ppo | {"lam": 0.0})
middle, reach = difference("λ = 0", "PPO")
print(f"λ = 0, against λ = 0.95: changed by {middle:+.3f} ± {reach:.3f}")
because = (
    "The critic must learn first. For a text that it has not seen it predicts 0, and with λ = 0 "
    "the advantage of every token except the last depends on these predictions alone."
)
print(how_far(guess_lambda, at_the_end("λ = 0").mean(), because))

# %% [markdown]
# The critic gives the right credit only after it has learned the text, and by then the policy has probably learned most
# of it, too; we have not tested this. With $\lambda$ near 1 the advantages depend on the reward itself, and errors of
# the critic matter little.
#
# ## 8. Cost and conclusions
#
# Here the critic has $100 \cdot 133 = 13{,}300$ numbers, four times as many as the policy. For a language model the
# critic is usually a second network of the policy's size. Training with Adam takes about 16 bytes for each weight: 2
# for the weight and 2 for its gradient in half precision, and 4 each for a precise copy and for Adam's two moments.

# %%
print("numbers of the critic:", last["PPO"].critic[0].size, "  of the policy:", last["PPO"].logits[0].size)
print(f"a critic of 7 billion weights: {7e9 * 16 / 1e9:.0f} GB to train it")

# %% [markdown]
# What we have found, on this task:
#
# 1. A baseline matters a lot, but most of the effect comes from the mean of the batch; the critic adds five answers in
#    a hundred. If the batch is not centred, a number that is off by 0.5 is as good as a critic that is off by 0.06.
# 2. Subtracting a small number from *all* advantages matters about as much as the critic, and it changes the effect of
#    the other steps. If the batch is not centred, the groups lose answers, and no difference was found between the
#    group's mean and a critic. If the batch is centred, no loss from the groups was found for a critic, and the group's
#    mean is worse than the critic.
# 3. Only a critic can give credit within a text. No difference was found between $\lambda = 0.95$ and 1, and $\lambda =
#    0$ lost 13 answers in a hundred.
#
# What this task *cannot* show:
#
# * Our critic is a table and sees each prompt about 150 times. In the training of a language model a prompt occurs once
#   or a few times. There a critic must predict the reward of a prompt that it has never seen; a network may or may not
#   be able to do this. A group needs no memory at all.
# * Our texts have three tokens. In a text of thousands of tokens the credit for single tokens matters more, and a
#   critic can be wrong in more places.
# * A policy that is a table learns each prompt separately. In a network the prompts share their weights, and fewer
#   prompts per update may cost less.
#
# ## Try yourself
#
# **a.** In "group mean" the mean of all advantages is below 0. What happens if you lower them by a constant instead of
# centring? Write a function like `lowered` for `group`, which subtracts 0.05 from all advantages.
#
# <details><summary>Answer</summary>
#
# In a trial run with 32 seeds 0.47 of the answers were right instead of 0.43: better, but the interval of a single
# difference goes from 0.01 to 0.06, and we had tried 0.01, 0.02 and 0.1, too. With 0.1 it was 0.41: pushing everything
# down has a cost as well.
# </details>
#
# **b.** Take groups of 4 or 2: `"prompts": 32` or `64` in "group mean". The same completions cover more prompts, but the mean is
# noisier. What do you expect?
#
# <details><summary>Answer</summary>
#
# In a trial run with 16 seeds, groups of 4 did about as well as groups of 8, and groups of 2 no better: 0.47, 0.44 and
# 0.42 of the answers were right, each with a standard error of 0.01. The benefit of more prompts and the harm of a
# noisier mean, with more groups with equal rewards, nearly cancel.
# </details>
#
# **c.** What does the critic predict for a prompt that it sees for the first time?
#
# <details><summary>Answer</summary>
#
# It predicts 0, so the first completions of every prompt have advantages that are too high. A network would predict a
# value from similar prompts.
# </details>
#
# In the course: [`advantages/centered`](../exercises/02_advantages/02_centered.py) and
# [`advantages/leave_one_out`](../exercises/02_advantages/03_leave_one_out.py) are the group's baseline,
# [`advantages/group_normalized`](../exercises/02_advantages/01_group_normalized.py) is GRPO's,
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) is the surrogate of all runs, and
# [`training/update`](../exercises/07_training/03_update.py) is an update. Experiments have tested claims about groups:
# [group_mean](../docs/experiments/group_mean/README.md), [group_size](../docs/experiments/group_size/README.md) and
# [std_division](../docs/experiments/std_division/README.md).
