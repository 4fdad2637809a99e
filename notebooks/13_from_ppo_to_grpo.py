# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13. From PPO to GRPO: what becomes of the critic
#
# GRPO is a shortened PPO (proximal policy optimization). PPO trains two things at once: the **policy**, which writes, and
# the **critic**, which predicts how much reward a half-written text will still earn. A text that earns more than the critic
# predicted is pushed up. GRPO throws the critic away. It writes several completions of the same prompt and lets their mean
# reward say what was to be expected.
#
# **The question: what did the critic do for PPO, and what does one lose, or win, when the mean of a group takes its
# place?** Two steps lead from no baseline to PPO, and six more to GRPO. Each step changes one thing only. All runs learn the
# same task from the same number of completions, and every step has an interval. Before some results you are asked for a
# guess. One that is off by at most 5 % of the answer counts as right; where the answer is a difference with an interval, so does
# one inside the interval.
#
# Three pages say more: [the baseline](../docs/derivation/02_baseline.md), [the clip](../docs/derivation/04_clip.md) and
# [the group](../docs/derivation/05_group.md).

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
# The task `arithmetic` has 100 prompts, from `0+0=` to `9+9=`. A completion has at most three tokens, each a digit or the
# end. It is **well formed** if it is a number with an end after it, and the number does not begin with a zero (but 0 itself
# is one). The right sum with an end after it earns 1.1; any other number that is well formed earns 0.1; all else earns 0.
#
# The policy is a table of logits with one row for each prompt and position, so $100 \cdot 3 \cdot 11 = 3300$ numbers are
# learned. The policy knows the prompt and the position, and not what it has written. In every update of every run 128
# completions are written, and then the policy takes four steps of Adam on them.

# %%
task = TASKS["arithmetic"](max_length=3)
SEEDS, UPDATES, STEPS = 32, 120, 4
LENGTH, TEXTS = task.max_length, 1 + 11 + 11**2
print("prompts:", len(task.prompts), "  logits of the policy:", task.ref_logits.size)
print("texts that can stand before a token, for each prompt:", TEXTS)

# %% [markdown]
# ## 2. The critic
#
# The critic is a function $V$ of the text so far, $o_{<t}$. It should be the reward that is to be expected from there:
#
# $$ V(o_{<t}) = \mathbb{E}[R \mid o_{<t}] . $$
#
# Here it is a table too. After a prompt there can stand nothing, one of 11 tokens, or two of them, so it has
# $1 + 11 + 121 = 133$ numbers for each prompt, and all begin at 0. (Texts with an end in them never come up.) To learn, it makes
# half the squared error $\tfrac12 (V - R)^2$ smaller. The derivative with respect to $V$ is $V - R$, so one step of gradient
# descent is
#
# $$ V \leftarrow V + \alpha\,(R - V): $$
#
# move a share $\alpha$ of the way to what came out. We take $\alpha = 0.3$, and the mean of $R - V$ over all tokens there: over
# all tokens of the batch that were written after the same text. (Part 5 has a critic that sees the prompt only. There all
# tokens of a completion stand at the same place, so that a completion of three tokens counts three times.)
#
# **What it is used for.** The critic's errors from token to token are
#
# $$ \delta_t = V(o_{\le t}) - V(o_{<t}) \quad\text{before the last token}, \qquad \delta_T = R - V(o_{<T}) \quad\text{at it.} $$
#
# A token that makes the prospects better has a positive $\delta_t$. **Generalized advantage estimation** (GAE) gives a
# token its own error and a share $\lambda$ of the advantage of the next token:
#
# $$ A_t = \delta_t + \lambda\, A_{t+1} = \sum_{s \ge t} \lambda^{s-t}\, \delta_s . $$
#
# For $\lambda = 1$ the sum telescopes, because every $V$ but the first is added once and subtracted once:
#
# $$ A_t = \big(V(o_{\le t}) - V(o_{<t})\big) + \big(V(o_{\le t+1}) - V(o_{\le t})\big) + \dots + \big(R - V(o_{<T})\big)
#    = R - V(o_{<t}) . $$
#
# For $\lambda = 0$ only the token's own error is left, and the critic is believed in everything. PPO mostly takes 0.95.
#
# **Guess:** before the three tokens of a completion the critic says 0.4, 0.7 and 0.9; the reward is 1. What is the
# advantage of the *first* token, with $\lambda = 1$? (The value that stands there is somebody's first thought. Put in yours.)


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
because = "With λ = 1 the errors 0.3, 0.2 and 0.1 are added up: R - V = 1 - 0.4. The 0.4 was expected anyway."
print(how_far(guess_advantage, gae(*one, 1.0)[0], because))

# %% [markdown]
# ## 3. The update
#
# PPO divides all advantages of a batch by one number, the root mean square of all advantages of the batch, so that they are
# about 1 in size. Most implementations *centre* them before: they subtract the mean of all advantages of the batch. Then PPO
# makes the clipped surrogate $\min(\rho A,\ \mathrm{clip}(\rho, 0.8, 1.2)\, A)$ larger
# ([notebook 4](04_gallery_of_surrogates.ipynb) draws it). GRPO has the same surrogate. So we take the library's loss for all
# runs and switch off its KL penalty; runs differ only in where the advantages come from, in how they are scaled, and in how
# the 128 completions are spread over prompts.
#
# So our PPO is a simple one. Its loss is a mean over the tokens of each completion and then over completions, as in GRPO, where
# PPO mostly takes the mean over all tokens of the batch. Its critic learns from $R$, in one step for each batch, where most
# implementations let it learn from $A + V$, in as many steps as the policy. And no reward is discounted, $\gamma = 1$.

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
# The next cell holds three functions that make advantages. They differ in the baseline: in what is subtracted from the reward.
# `critic` reads its table, gives the advantages by GAE, and learns. It can read the whole text so far, or be allowed to see the
# prompt alone, or nothing at all. `group` subtracts the mean of the siblings, and can divide by their standard deviation (of the
# sample, with $G - 1$, as in the library's recipe). `nothing` leaves the reward as it is. Each of them writes down its
# baseline, so that we can look at it later. A run has `settings`: which of the three functions makes its `advantages`, its
# number of `prompts`, its `scaling`, and what the function wants to know.


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
# One update draws the completions, asks the baseline for advantages, scales them, and takes four steps. `now` holds what
# changes: logits, Adam's moments, the critic, and the random numbers. `run` trains 32 seeds side by side and returns, for
# each update, the share of right answers, the mean of all advantages before they are scaled, and how far the baseline was off
# (part 6).
#
# What the baseline should have been is known here, because the policy is a table: the expected reward of a prompt is the
# probability of the right answer plus 0.1 times that of a well-formed number, and both are sums of products of
# probabilities.


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
    found = {"right": batch.components[..., 1].mean((1, 2))} | errors(now.baseline, batch, policy)
    return found | {"mean": given.sum((1, 2, 3)) / batch.mask.sum((1, 2, 3))}


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
# ## 4. What a critic is worth
#
# First PPO, and beside it two runs without a critic. All of them write 128 completions of 128 prompts in an update. With no
# baseline $A = R$, and the batch is scaled. The second subtracts the mean of the batch before: it is centred and scaled. PPO has
# the critic as well.
#
# **Guess:** with PPO, what share of the answers is right in the last ten of 120 updates? At the start one answer in 121 is
# right if the sum has one digit, and one in 1331 if it has two.

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
    found = {name: np.array([each[what] for each in history[name]]).T for name in names}
    return {name: curve.reshape(len(curve), -1, 10).mean(-1) for name, curve in found.items()}  # means of ten


def at_the_end(name):
    return curves([name])[name][:, -1]


right, formed = chances(policy_of(last["PPO"].logits))
rare = right < 0.1
print(f"prompts answered right nearly always (above 0.9): {(right > 0.9).mean():.2f}")
print(f"prompts answered right hardly ever (below 0.1):   {rare.mean():.2f}")
print(f"  of these, the median probability of a well-formed number: {np.median(formed[rare]):.3f}")
print(f"  of these, the median probability of the right one:        {np.median(right[rare]):.5f}")
because = (
    "Every prompt is learned by itself, and 43 % of them are stuck: they write a wrong number nearly always. "
    "It earns 0.1, the critic says 0.1, and nothing is left to learn from."
)
print(how_far(guess_ppo, at_the_end("PPO").mean(), because))

# %%
tens = np.arange(10, UPDATES + 1, 10)
lines_figure(
    tens, curves(["no baseline", "centred", "PPO"]), "update (128 completions each)", "right answers (share)"
)

# %% [markdown]
# What to see: all three learn. With the reward itself as the advantage, every token of a completion that has earned anything is
# pushed up, those of a well-formed wrong answer too, for its 0.1. Once the mean of the batch is more than 0.1, centring turns
# that around. This is most of what PPO is ahead: 0.35 of the answers are right with no baseline, 0.50 in the centred run, and
# 0.54 with PPO. What the critic adds is the smaller part.
#
# No run learns all prompts. PPO answers 43 in a hundred hardly ever right, and these are not merely late. In the median they
# write well-formed numbers with a probability of 0.985, and the right one about once in six thousand. All other numbers earn
# the same 0.1, so the contrast is gone.
#
# ## 5. Step by step to GRPO
#
# | run | what is new in it |
# |---|---|
# | no baseline | 128 prompts with one completion each; $A = R$; the batch is scaled |
# | centred | the mean of all advantages of the batch is subtracted |
# | PPO | the critic; it reads the text; $\lambda = 0.95$ |
# | λ = 1 | $A_t = R - V(o_{<t})$: the critic is a baseline and nothing else |
# | critic sees the prompt only | one number for each prompt, so all tokens of a completion have the same advantage |
# | not centred | the mean of the batch is no longer subtracted from the advantages |
# | in groups | 16 prompts with 8 completions each, in place of 128 with one |
# | group mean | the critic is gone; the mean reward of the 8 siblings is the baseline |
# | GRPO | divided by the standard deviation of the group, in place of the root mean square of all advantages of the batch |
#
# **Guess:** by how much does the share of right answers change in the step "group mean", in which the critic leaves? (0.1
# would be ten answers in a hundred more.)

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
# The next cell subtracts from the right answers of each run those of the run before it. There are 32 seeds in either, so
# the interval is the difference plus or minus $q\sqrt{s_1^2/32 + s_2^2/32}$, where $s_1$ and $s_2$ are the standard
# deviations of the seeds and $q$ is a quantile of Student's t. It is chosen so that all eight intervals hold *together* with a
# probability of at least 95 %.


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
because = f"The interval, from {middle - reach:+.2f} to {middle + reach:+.2f}, holds 0: no difference was found. Part 6 looks at why."
print(how_far(guess_change, middle, because, within=reach))

# %%
rows = {f"{before} → {name}": found for (before, name), found in steps.items()}
intervals_figure(
    rows, "change of the right answers at the end (share);\nintervals that hold together with 95 %"
)

# %%
chosen = ["PPO", "not centred", "in groups", "group mean", "GRPO"]
means = {name: curve.mean(0, keepdims=True) for name, curve in curves(chosen).items()}
lines_figure(tens, means, "update (128 completions each)", f"right answers (share, mean of {SEEDS} seeds)")

# %%
for name in ("not centred", "in groups", "group mean"):
    print(f"{name:12} mean error of the baseline: {curves([name], 'bias')[name].mean():+.3f}")
for prompts in (128, 16):
    print(
        f"{prompts:3} prompts an update: a given prompt is among them in {1 - 0.99**prompts:.0%} of the updates"
    )

# %% [markdown]
# What to see, from the top of the first figure to its bottom:
#
# * **Centred**, the batch's mean alone, brings 14 answers in a hundred, far more than any other step.
# * **PPO**: the critic brings five more.
# * **λ = 1** and **a critic that sees the prompt only** change nothing that could be found. To know more in the middle of a
#   text has not helped, in texts of three tokens.
# * **Not centred** costs five answers in a hundred. The critic follows the policy with a delay, so that its predictions are too
#   low, by 0.02 on average. But a mean error alone is not what costs: the next two steps move it to $-0.09$ and then to 0, and
#   the second of them changes nothing that could be found. What centring does we look at below.
# * **In groups** costs five more. Now an update hears of 16 prompts instead of 128, so that a given prompt comes up in 15 % of
#   the updates and not in 72 %. The critic suffers, too: it is further behind, by 0.09.
# * **Group mean**: the critic leaves, and no difference is found. If there is one, it is smaller than four answers in a hundred.
# * **GRPO**: the division by the standard deviation of the group costs about six. It makes the advantages of a group large
#   in which one completion of eight is right, but just as large where one of eight has the 0.1 for its form. Whether that is
#   the reason we have not tested.
#
# All runs had Adam's learning rate 0.05. Does one of the two want another one? Here are the ends of the way once more, with 16
# seeds at other rates, and by how much they differ from the run with 0.05 (intervals that hold together with 95 %, now for five):

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
# None of the rates tried is clearly better than 0.05, for either of them. So with the same 15,360 completions PPO is ahead of GRPO
# here, by 16 or 17 answers in a hundred. On this way, the steps that cost something are three: the batch is no longer centred, the
# completions come in groups, and the group is divided by its standard deviation.
#
# ### What centring does
#
# Would it be the same in another order? "Not centred" came before the groups. So here are "in groups" and "group mean" once
# more, but centred. And a third run tries whether centring has to be the batch's mean at all: it is "not centred", and takes
# a constant from all advantages, 0.01.
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
because = "There the mean of all advantages is a little below 0, so that centring raises them all."
print(how_far(guess_centred, middle, because, within=reach))

# %% [markdown]
# * **A constant does it, too.** Where 0.01 is taken from all advantages, about as many answers are right as where the batch's
#   mean is. It lowers the advantages of stuck prompts as well, which are about 0 by themselves: all that they write is pushed
#   down a little, whatever it is. Probably this keeps prompts from settling on a wrong answer; we have not looked further.
# * **In groups**, a centred critic gets back what the groups had cost: 0.50 of the answers are right, beside 0.53 with 128
#   prompts.
# * **Group mean** loses when it is centred. The advantages of a group sum to 0 over its completions, but the mean of the batch is
#   taken over *tokens*. It is below 0, which says that completions with less reward than their siblings are longer on average. To
#   subtract it pushes up what stuck prompts write.
#
# So what a step costs depends on the others. Where the batch is not centred, the groups cost five answers in a hundred and the
# critic's leaving nothing that could be found. Where it is centred, it is the critic's leaving that costs, twelve.
#
# ## 6. How good must a baseline be?
#
# Why did it make no difference, in the step "group mean", whether a learned critic or the mean of eight siblings is the
# baseline? Let us see how far each is from the true expected reward. And to have something that is surely worse, here is one more
# run: a critic that sees *nothing*. It is a single number for all prompts, the running mean of all rewards.
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
shown["group mean"] = "mean of the 8 siblings"
lines = {label: curves([name], "off")[name] for name, label in shown.items()}
lines_figure(tens, lines, "update (128 completions each)", "error of the baseline (root mean square, reward)")

# %%
for name, label in shown.items():
    error = curves([name], "off")[name][:, -1].mean()
    print(f"{label:24} off by {error:.2f} at the end,   right {at_the_end(name).mean():.2f}")
middle, reach = difference("one number", "not centred")
print(f"one number, against one per prompt: changed by {middle:+.3f} ± {reach:.3f}")
because = "No difference was found. On average the gradient stays the same, whatever number is subtracted."
print(how_far(guess_one_number, middle, because, within=reach))

# %% [markdown]
# * The **mean of the siblings** is as near to the truth as the critic: both are off by 0.06 at the end. The mean is noisy, but
#   of the policy as it is now; the critic is less noisy, but of a policy that was. In groups, where a prompt comes up seldom,
#   the critic is the worse one of the two.
# * The **single number** is off by 0.5, since most prompts are worth either about 0.1 or about 1.1 and it lies in between. And
#   yet it does as well as the critic. On this task the precision of the baseline hardly matters.
#
# That any baseline will do *on average* is proved in [the baseline](../docs/derivation/02_baseline.md): any number that does not
# depend on the completion itself may be subtracted. (The mean of a group holds the completion's own reward, so that the gradient
# becomes $(G-1)/G$ of the true one; see [notebook 2](02_from_bandit_to_language.ipynb).) But 0 is a number, too, and with it 14
# answers in a hundred fewer are right than with the single number. A finite sample feels what the average does not: with 0
# every wrong but well-formed answer that is drawn is pushed up, and the right one must be drawn before it can be pushed up more.
# That the noise of the others does so little here is a finding about this task, and no law: where a single update decides much,
# noise costs more.
#
# ## 7. What the critic knows and a group does not
#
# A group gives all tokens of a completion the same advantage. A critic that reads the text can tell the good tokens from the
# bad one. Here is that of the run "λ = 1", after the training of its second seed: what it predicts after each text, and what
# advantage follows for the completions `15` (right) and `14` (wrong) of `7+8=`.

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

# %% [markdown]
# After `7+8=1` the critic predicts 1.01, after `7+8=14` only 0.02: it knows that the 4 was the mistake. With $\lambda = 0$ this
# is what the tokens are told. The 1, which was right, gets 0.08, and the 4 gets $-0.99$. With $\lambda = 0.95$ most of the
# blame goes to the 1 as well, $-0.79$, and with one advantage for all tokens, as in GRPO, the end is blamed too.
#
# **Guess:** so let us take PPO with $\lambda = 0$. With $\lambda = 0.95$, 0.54 of the answers were right. What share is it now?

# %%
guess_lambda = 0.65

# %%
history["λ = 0"], last["λ = 0"] = run(9, **ppo | {"lam": 0.0})
middle, reach = difference("λ = 0", "PPO")
print(f"λ = 0, against λ = 0.95: changed by {middle:+.3f} ± {reach:.3f}")
because = (
    "A critic must learn first. Where it has not been it says 0, and with λ = 0 "
    "nothing but its word counts for every token but the last."
)
print(how_far(guess_lambda, at_the_end("λ = 0").mean(), because))

# %% [markdown]
# The credit is there only after the critic has learned the text in question, and by then the policy has probably learned most of
# it, too; we have not tested that. With $\lambda$ near 1 the reward itself speaks, and errors of the critic matter little.
#
# ## 8. What it costs, and what follows
#
# The critic has $100 \cdot 133 = 13{,}300$ numbers here, four times as many as the policy. In a language model it is mostly a
# second network of the policy's size. Training with Adam takes about 16 bytes for each weight: 2 for the weight and 2 for its
# gradient in half precision, and 4 each for a precise copy and for Adam's two moments.

# %%
print("numbers of the critic:", last["PPO"].critic[0].size, "  of the policy:", last["PPO"].logits[0].size)
print(f"a critic of 7 billion weights: {7e9 * 16 / 1e9:.0f} GB to train it")

# %% [markdown]
# What we have found, in this laboratory:
#
# 1. A baseline matters a lot, but most of that is the mean of the batch, and the critic adds five answers in a hundred. Where the
#    batch is not centred, a number that is off by 0.5 did as well as a critic that is off by 0.06.
# 2. A small number that is taken from *all* advantages matters about as much as the critic, and it decides which step costs how
#    much. Where the batch is not centred, the group's mean costs nothing that could be found beside a critic, and the groups
#    have a price. Where it is centred, no price of the groups was found for a critic, and the group's mean is worse than the
#    critic.
# 3. The credit within a text, which only a critic can give, brought nothing that could be found for $\lambda = 0.95$ beside 1, and
#    $\lambda = 0$ lost 13 answers in a hundred.
#
# What we have *not* found, because it cannot be seen here:
#
# * Our critic is a table and meets each prompt about 150 times. A prompt of a language model comes up once or a few times.
#   There a critic must predict a prompt that it has never seen, as a network may or may not do; a group needs no
#   memory at all.
# * Our texts have three tokens. In a text of thousands of tokens there is more credit to give, and there are more places at
#   which a critic can be wrong.
# * A policy that is a table learns each prompt by itself. In a network the prompts share their weights, and to hear of
#   fewer prompts in an update may cost less.
#
# ## Try yourself
#
# **a.** In "group mean" the mean of all advantages is below 0. What if they are lowered by a constant instead of centred? Write
# a function like `lowered` around `group`, which takes 0.05 from all advantages.
#
# <details><summary>Answer</summary>
#
# In a trial run with 32 seeds 0.47 of the answers were right instead of 0.43: better, but the interval of a single difference
# goes from 0.01 to 0.06, and we had tried 0.01, 0.02 and 0.1, too. With 0.1 it was 0.41: to push everything down costs as well.
# </details>
#
# **b.** Take groups of 4 or 2: `"prompts": 32` or `64` in "group mean". The same completions cover more prompts, but the mean is
# noisier. What do you expect?
#
# <details><summary>Answer</summary>
#
# In a trial run with 16 seeds, groups of 4 did about as well as groups of 8, and groups of 2 no better: 0.47, 0.44 and 0.42 of
# the answers were right, each with a standard error of 0.01. More prompts and a noisier mean, with more groups without
# contrast, about cancel.
# </details>
#
# **c.** What does the critic do with a prompt that it meets for the first time?
#
# <details><summary>Answer</summary>
#
# It predicts 0, so that the first completions of every prompt have advantages that are too high. A network would predict
# something from similar prompts.
# </details>
#
# In the course: [`advantages/centered`](../exercises/02_advantages/02_centered.py) and
# [`advantages/leave_one_out`](../exercises/02_advantages/03_leave_one_out.py) are the group's baseline,
# [`advantages/group_normalized`](../exercises/02_advantages/01_group_normalized.py) is GRPO's,
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) the surrogate of all runs, and
# [`training/update`](../exercises/07_training/03_update.py) an update. The laboratory has tested claims about groups:
# [group_mean](../docs/experiments/README.md#group_mean), [group_size](../docs/experiments/README.md#group_size) and
# [std_division](../docs/experiments/README.md#std_division).
