# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 3. Reading training dynamics
#
# A training run is a patient that cannot speak. All it shows is curves, and the reward alone says little: it can rise
# while everything goes wrong, and stand still for half a dozen different reasons.
#
# **The question: which curve tells what?** We look at a healthy run, make five sick ones on purpose, and learn to tell
# them apart. Each run takes less than a second, so break them in your own way too.
#
# For a run of your own trainer, `grpo-ref diagnose LOG CONFIG` reads its log, and [What the curves of a run mean](../docs/howto/symptoms.md)
# answers the questions below under the names of TRL's, verl's and other trainers' metrics.
#
# Before a run you are asked for a **guess**. The one that stands there is a first thought, so that the notebook runs without you;
# put in yours. A number within 5 % of the answer counts as right.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import DAPO, GRPO, TASKS, config_for, iter_train
from grpo_ref.course.guess import how_far
from grpo_ref.diversity import has_collapsed
from grpo_ref.learning.rollout import sample
from grpo_ref.plots import dynamics_figure, lines_figure

# %% [markdown]
# Everything below uses `run`: train, keep the numbers of each update, and the policies at the end.


# %%
def run(task, recipe=GRPO, **settings):
    config, history = config_for(task, **{"seeds": 4, "updates": 60, **settings}), []
    for update in iter_train(task, recipe, config):
        history.append(update.metrics)
    return history, update.state


no_kl, strong_kl = replace(GRPO, kl_coef=0.0), replace(GRPO, kl_coef=0.2)
arithmetic, names = TASKS["arithmetic"](), TASKS["names"]()

# %% [markdown]
# ## A healthy run
#
# `arithmetic` answers prompts like `7+8=`, digit by digit: reward 1 for the right answer, and 0.1 for any well-formed
# number on top.

# %%
healthy, _ = run(arithmetic, prompts=40)
dynamics_figure({"healthy": healthy})

# %% [markdown]
# | curve | says | healthy here | TRL; verl | symptoms |
# |---|---|---|---|---|
# | reward | what the verifier gives, on average | rises, fast at first | `reward`; `critic/score/mean` | [does not rise](../docs/howto/symptoms.md#the-reward-does-not-rise), [falls](../docs/howto/symptoms.md#the-reward-falls) |
# | KL to the reference | how far the policy is from where it started | rises and slows down | `kl`; `actor/kl_loss` | [rises, explodes](../docs/howto/symptoms.md#the-kl-is-negative-rises-or-explodes) |
# | entropy | how undecided each token is | falls, but not to 0 while there is something to learn | `entropy`; `actor/entropy` | [collapses](../docs/howto/symptoms.md#the-entropy-collapses), [rises](../docs/howto/symptoms.md#the-entropy-rises) |
# | gradient norm | how hard the update pulls | some size until the end | `grad_norm`; `actor/grad_norm` | [is 0](../docs/howto/symptoms.md#grad-norm-is-0), [has spikes](../docs/howto/symptoms.md#grad-norm-has-spikes) |
# | length | tokens per completion | finds the length of the answers | `completions/mean_length`; `response_length/mean` | [explodes](../docs/howto/symptoms.md#the-length-explodes), [shrinks](../docs/howto/symptoms.md#the-length-shrinks) |
# | groups with equal rewards (in the figures: without contrast) | their share: all advantages are 0, nothing is learned | rises as answers become right; some prompts settle on a wrong one | `frac_reward_zero_std`; not logged | [reward_std is 0](../docs/howto/symptoms.md#reward_std-is-0) |
# | clipped tokens | share whose gradient the clip sets to 0 | 0: one step per batch, every ratio is 1 | `clip_ratio/region_mean`; `actor/pg_clipfrac` | [is 0](../docs/howto/symptoms.md#the-clip-ratio-is-0), [is high](../docs/howto/symptoms.md#the-clip-ratio-is-high) |
# | distinct bigrams | variety of what is said | no steady fall | not logged | |
# | log-likelihood under the reference | does it still sound like the reference? | only follows the length: the reference is uniform | not logged | |
#
# One rule for all of them: **no curve means anything alone.** The diagnosis is in pairs.
#
# ## Sick 1: steps too large
#
# Ten times the learning rate.
#
# **Guess:** what share of the groups has equal rewards at the end of the hasty run?

# %%
guess_dead = 0.2

# %%
hasty, _ = run(arithmetic, prompts=40, learning_rate=3.0)
because = "The first steps have made it sure of answers that it hardly tried; the completions of a group are copies, so nothing can be compared."
print(f"healthy, share of groups with equal rewards at the end: {healthy[-1]['dead_groups'].mean():.2f}")
print(how_far(guess_dead, hasty[-1]["dead_groups"].mean(), because))
dynamics_figure({"healthy": healthy, "learning rate x 10": hasty}, ("reward", "entropy", "dead_groups"))

# %% [markdown]
# **Read:** the reward shoots up, stops low, and never moves again. The entropy falls at once: the policy is sure of
# answers that it has hardly tried. Then all completions of a group are equal, and so are their rewards. There is no gradient left.
# It has not converged, it is stuck.
#
# **Pair:** equal rewards in the groups *and* a low reward. (Equal rewards at the highest possible reward are success.)
#
# **In a log,** `grpo-ref diagnose` says "the entropy collapsed, and the reward does not rise any more": see
# [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses).
#
# ## Sick 2: no KL penalty
#
# `names` starts from a letter model of real first names, and pays for names of eight to ten letters. The verifier does
# not ask whether it still is a name.
#
# **Guess:** one run has a KL penalty, and one has none. Which one has the higher reward after 100 updates, `"with"` or `"without"`?

# %%
guess_reward = "with"

# %%
settings = {"updates": 100, "prompts": 8, "learning_rate": 0.2}
kept, kept_state = run(names, strong_kl, **settings)
free, free_state = run(names, no_kl, **settings)
panels = ("reward", "kl", "entropy", "ref_log_prob", "distinct_bigrams", "dead_groups")
rewards = {"with": kept[-1]["reward"].mean(), "without": free[-1]["reward"].mean()}
because = f"Rewards of {rewards['without']:.2f} and {rewards['with']:.2f}. The penalty is a brake; what it protects is not in the reward."
print(how_far(guess_reward, max(rewards, key=rewards.get), because))
dynamics_figure({"KL penalty 0.2": kept, "no KL penalty": free}, panels)

# %% [markdown]
# **Read:** judged by its reward, the run without a penalty is much the better one. The other curves tell how it does
# that: the KL is larger, the entropy nearly 0, the variety of bigrams a third. It has found a few strings that pay.
# They are not even unlikely ones (the log-likelihood has come back up); they are always the same. No curve replaces
# looking at samples:


# %%
def said(state):
    batch = sample(names, state.params[:1], prompts=6, group_size=5, seed=3)
    groups = zip(batch.prompts[0], batch.tokens[0], batch.mask[0], strict=True)
    return [[names.render(prompt, *one) for one in zip(*group, strict=True)] for prompt, *group in groups]


for with_kl, without in zip(said(kept_state), said(free_state), strict=True):
    print(f"{'  '.join(with_kl):60} |  {'  '.join(without)}")

# %% [markdown]
# **Pair:** reward up *and* entropy near 0 (or KL without end): the reward is being hacked. The penalty has its price,
# too: a lower reward, and its KL is still rising slowly. [The KL in the loss](../docs/derivation/08_kl_in_the_loss.md) derives the
# penalty; [notebook 6](06_kl_and_reward_hacking.ipynb) hacks the reward at length, and the laboratory has tested what the penalty
# prevents: [hacked_names](../docs/experiments/README.md#hacked_names).
#
# **In a log** there are no samples, so no command decides this: see
# [the reward rises, the accuracy does not](../docs/howto/symptoms.md#the-reward-rises-the-accuracy-does-not).
#
# ## Sick 3: collapse
#
# When a policy has only one answer left, three curves fall together: entropy, distinct bigrams, and the width of the
# rewards (their spread over the batch). One of them falling is learning; `has_collapsed` warns when all three are below
# half of what they were. An entropy bonus is one cure; is it a good one?
#
# **Guess:** how many of the four seeds without a penalty have collapsed, and how many of those with an entropy bonus?

# %%
guess_free, guess_bonus = 4, 4

# %%
bonus, bonus_state = run(names, no_kl, entropy_coef=0.05, **settings)
three = ("entropy", "distinct_bigrams", "reward_width")
runs = {"KL penalty 0.2": kept, "no KL penalty": free, "none, but an entropy bonus": bonus}
collapsed = {}
for label, history in runs.items():
    collapsed[label] = has_collapsed(*(np.stack([m[name] for m in history]) for name in three))
    print(f"{label:27}", collapsed[label])
because = "Nothing pays for a second answer, so it goes."
print(how_far(guess_free, collapsed["no KL penalty"].sum(), because))
because = "The bonus pays for being undecided. What for is another question."
print(how_far(guess_bonus, collapsed["none, but an entropy bonus"].sum(), because))
dynamics_figure(runs, (*three, "reward", "kl", "ref_log_prob"))

# %% [markdown]
# **Read:** the bonus stops the collapse in all four seeds, and keeps most of the reward. But look at the lower right:
# its names become less and less likely under the reference. Entropy wants *any* variety, the KL penalty wants the
# reference's. **Pair:** entropy kept up *and* the log-likelihood falling: variety made of noise. **In a log:**
# [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses) and [rises](../docs/howto/symptoms.md#the-entropy-rises).
#
# ## Sick 4: nearly all groups have equal rewards
#
# Only right answers pay now, two completions per prompt, eight prompts. At first one answer in two hundred is right.
#
# How likely is it that a group has equal rewards? If each of $G$ completions is right with probability $p$, independently, they are
# all right with probability $p^G$ and all wrong with probability $(1-p)^G$, so
#
# $$ P(\text{equal rewards}) = p^G + (1 - p)^G . $$
#
# **Guess:** what is it for groups of 16 at the start, with $p = 1/200$?

# %%
guess_no_contrast = 0.5

# %%
p, sizes = 1 / 200, (2, 8, 16, 64)
because = "0.995 to the power of 16: all sixteen are wrong in nine groups of ten. In groups of 2 it is 0.99."
print(how_far(guess_no_contrast, p**16 + (1 - p) ** 16, because))
passes = np.linspace(0, 1, 21)
lines = {f"groups of {G}": (passes**G + (1 - passes) ** G)[None] for G in sizes}
lines_figure(passes, lines, "probability that a completion is right", "groups with equal rewards (share)")

# %% [markdown]
# The larger the group, the wider the range in which it teaches something; but near 0 and near 1 no group does. Now the runs:

# %%
hard = TASKS["arithmetic"](format_weight=0.0)
runs = {
    "groups of 2": run(hard, prompts=8, group_size=2)[0],
    "groups of 16": run(hard, prompts=8, group_size=16)[0],
    "groups of 2, resampled": run(hard, replace(GRPO, keep=DAPO.keep), prompts=8, group_size=2, resamples=10)[
        0
    ],
}
dynamics_figure(runs, ("reward", "dead_groups", "entropy"))

# %% [markdown]
# **Read:** with groups of 2, nearly every group has equal rewards, so most updates have no gradient at all, and the reward hardly
# leaves the floor. Nothing is broken; there is just nothing to compare. Larger groups find a right answer more often,
# and so does resampling such groups, up to ten times here (DAPO's dynamic sampling). Both cost more completions. **In a log,**
# `grpo-ref diagnose` says which share of the groups has equal rewards at the end of the run: see
# [most completions give no gradient](../docs/howto/symptoms.md#most-completions-give-no-gradient), with the prices. In the course:
# [`advantages/mixed_groups`](../exercises/02_advantages/04_mixed_groups.py); in the laboratory:
# [dead_groups](../docs/experiments/README.md#dead_groups).
#
# **Pair:** equal rewards *and* a reward at the floor *and* an entropy as high as at the start: too hard for so few tries.
# In sick 1 rewards were equal too, but the entropy was low.
#
# ## Sick 5: much clipping
#
# Each batch is used for four steps instead of one. From the second step on, the policy is no longer the one that drew
# the batch: ratios leave 1, and the clip begins to work.

# %%
runs = {
    "1 step per batch": run(arithmetic, prompts=40)[0],
    "4 steps": run(arithmetic, prompts=40, epochs=4)[0],
    "4 steps, learning rate 1.0": run(arithmetic, prompts=40, epochs=4, learning_rate=1.0)[0],
}
dynamics_figure(runs, ("correct", "clip", "approx_kl", "ess", "entropy", "dead_groups"))

# %% [markdown]
# **Read:** at first half of the tokens are clipped in both runs with four steps. With a moderate learning rate that is
# fine: it learns *more* from the same completions. With a large one it gets stuck like sick 1. The share of clipped
# tokens does not tell the two apart; at the end the sick one clips less, because tokens with A = 0 are never clipped.
# What does tell: how far the policy moves within one batch. The KL from old to new is ten times larger, and the effective
# sample size (what share of the tokens still has a say when they are weighted by their ratios) falls below 0.8. The clip
# takes away the push of a token; it does not hold the policy.
#
# **Pair:** clipping *and* a large KL from old to new (`actor/ppo_kl` of verl): fewer steps, or smaller ones. **In a log:**
# [the clip ratio is high](../docs/howto/symptoms.md#the-clip-ratio-is-high).
#
# ## Which is which?
#
# One more, without a name, beside the healthy run. Its reward is flat, as in sick 4. What is wrong? Write what you suspect, in
# one of these words: `"rate"` (steps too large), `"penalty"` (too strong a KL penalty), `"hard"` (nearly all groups have equal rewards),
# `"collapse"`. (To see the chart first, run the cell once, and then again with your guess.)

# %%
guess_patient = "hard"

# %%
mystery, _ = run(arithmetic, replace(GRPO, kl_coef=5.0), prompts=40)
panels = ("reward", "kl", "entropy", "dead_groups", "grad_norm", "ref_log_prob")
because = "Rewards differ and the gradient is large, so there is something to learn; but the KL stays near 0."
print(how_far(guess_patient, "penalty", because))
dynamics_figure({"healthy": healthy, "patient": mystery}, panels)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Rewards differ in every group and the gradient is large, so there is something to learn. But the KL stays near 0 and the
# entropy near its highest value, log 11 = 2.40 nats: the policy is not allowed to move. `kl_coef` is 5, as you saw in
# the cell.
# </details>
#
# | reward | together with | suspect | in a log |
# |---|---|---|---|
# | low, flat | equal rewards in the groups, entropy low | steps too large | [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses) |
# | low, flat | equal rewards in the groups, entropy high | too hard, groups too small | [reward_std is 0](../docs/howto/symptoms.md#reward_std-is-0) |
# | low, flat | different rewards, gradient, KL near 0 | penalty too strong | [the reward does not rise](../docs/howto/symptoms.md#the-reward-does-not-rise) |
# | high | entropy near 0, KL large | reward hacking, collapse | [the reward rises, the accuracy does not](../docs/howto/symptoms.md#the-reward-rises-the-accuracy-does-not) |
# | any | KL from old to new large | too many or too large steps per batch | [the clip ratio is high](../docs/howto/symptoms.md#the-clip-ratio-is-high) |
# | falling | everything else as usual | a sign is wrong: see [chapter 8](../exercises/08_clinic/README.md) | [the reward falls](../docs/howto/symptoms.md#the-reward-falls) |
#
# ## Try yourself
#
# **a.** Give sick 1 the cure: which `kl_coef` lets a learning rate of 3.0 learn again, if any?
#
# <details><summary>Answer</summary>
#
# None. About 0.15 of the answers are right whether it is 0, 0.1 or 1. The first ten steps make the policy sure of
# itself, and a token of probability $\pi \approx 1$ moves its logits by a factor $\pi(1-\pi) \approx 0$: not even the
# penalty can pull it back. The cure is the learning rate.
# </details>
#
# **b.** In sick 3, raise the entropy bonus to 0.2. Predict the six curves first.
#
# <details><summary>Answer</summary>
#
# The entropy *rises* above where it started, the reward falls back, and the log-likelihood under the reference drops
# without end: the policy is paid for noise.
# </details>
#
# **c.** Which run above would you stop first if you could see only the reward?
#
# <details><summary>Answer</summary>
#
# Probably the one with the KL penalty on `names`, the healthiest of the three: reward alone prefers the collapsed one.
# </details>
#
# In the course: [`clinic/read_the_curve`](../exercises/08_clinic/01_read_the_curve.py) asks for the diagnosis by a program, and the
# rest of [the chapter](../exercises/08_clinic/README.md) has broken trainers to mend, such as
# [`clinic/falling_reward`](../exercises/08_clinic/02_falling_reward.py) and
# [`clinic/idle_clip`](../exercises/08_clinic/05_idle_clip.py). [Notebook 9](09_the_clinic.ipynb) has six patients.
