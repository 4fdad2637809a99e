# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12. Watching a network learn: from imitation to GRPO
#
# Language models learn in two stages. First they *imitate*: they learn to make given texts likely. Then they are
# *rewarded*: they write their own texts, a verifier decides which are right, and GRPO makes the right ones more likely.
# The reward is a single number for a whole text. It does not show which token was wrong.
#
# **The question: what does such a reward change in a network that already knows half of the task?** We train a small
# transformer (notebook 11 builds one by hand) in both stages. Before and after GRPO we look at its texts, at the
# probability of each token, at its attention, and at sums that it has never seen.

# %%
# %matplotlib inline
import numpy as np

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.course.guess import how_far
from grpo_ref.learning.held_out import GREEDY, held_out, held_out_rates
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.table import gather
from grpo_ref.learning.pretraining import PretrainConfig, pretrain
from grpo_ref.learning.rollout import sample
from grpo_ref.plots import attention_figure, dynamics_figure, lines_figure, token_probabilities
from grpo_ref.tasks.sums import right_completions

# %% [markdown]
# ## 1. The task
#
# `sums` asks for the sum of two numbers of two digits. Before the answer there is a **scratchpad**: digit and carry of the
# units, then of the tens, then the sum. For `35+47=` the units give 12, digit 2 and carry 1; the tens give 8 with it, digit
# 8 and carry 0; the sum is 082:
#
#     35+47=21.80.082
#
# There are 10,000 such questions. A fifth of them is **held out**: neither imitation nor GRPO ever sees them. A network
# that answers these questions has learned to add, and not only memorized 8,000 answers.

# %%
task = TASKS["sums"]()
seen = task.prompt_probs > 0.0
print("seen in training:", seen.sum(), " held out:", (~seen).sum())
print("is 35+47 held out?", not seen[task.prompts.index("35+47=")])

# %% [markdown]
# ## 2. Imitation, stopped early
#
# The network has two layers, each with two heads, and 48 numbers per token. In each step it imitates 256 right answers.
# We stop as soon as a tenth of its *samples* are right. This is early; part 7 shows what more imitation would do.

# %%
network = network_for(task, "transformer", {"width": 48, "heads": 2})
imitation = PretrainConfig(steps=200, learning_rate=2e-3, dtype="float64")
imitating = pretrain(task, network, imitation)


def imitate(until):
    for step in imitating:
        if step.step % 20 == 0:
            print(f"step {step.step:3}: loss {step.loss:.3f} nats a token, {step.reward:.2f} of texts right")
        if step.reward >= until or step.step == imitation.steps:
            return step


step = imitate(until=0.1)
policy = step.policy
before = policy.weights[None]
print("weights:", before.size)

# %% [markdown]
# If all 14 tokens are equally likely, the loss is log 14 = 2.64 nats. What does the network write now? Here are eight
# sums that were held out:


# %%
def said(params):
    drawn = sample(held_out(task), params, prompts=8, seed=1, policy=policy)
    texts = zip(drawn.prompts[0], drawn.tokens[0, :, 0], drawn.mask[0, :, 0], strict=True)
    for text, reward in zip(texts, drawn.rewards[0, :, 0], strict=True):
        print(f"{task.render(*text):16}", "right" if reward else "")


said(before)

# %% [markdown]
# ## 3. Which tokens does the network not know?
#
# Most answers look right and are wrong. An answer has ten tokens: units and their carry, a point, tens and their carry,
# a point, three digits of the sum, and the end.
#
# **Guess before you run the next cells:** for how many of the ten does the network give the right token a probability
# below 0.7? Some tokens are always in the same place, some can be copied, and some must be computed.
#
# In the next cell the network reads the right answers to all 2,000 held-out sums. Each bar is the probability of the
# next right token, as a mean over the sums.

# %%
guess_unknown = 8

# %%
asked = np.flatnonzero(~seen)
right = right_completions(np.stack(np.divmod(asked, 100), axis=-1))[None, :, None]
places = "units,carry,point,tens,carry,point,sum:\nhundreds,sum:\ntens,sum:\nunits,end".split(",")


def knows(params):
    visited = policy.at(params, 1.0).visit(task, asked[None], right, right)
    return np.exp(gather(visited.policy.log_probs, visited.states, right))[0, :, 0]


at_first = knows(before)
print("probabilities:", *(f"{p:.2f}" for p in at_first.mean(0)))
because = "Only units and tens must be computed. The form is always the same, and the rest can be copied or follows from the digit before."
print(how_far(guess_unknown, (at_first.mean(0) < 0.7).sum(), because))
token_probabilities({"after imitation": at_first.mean(0)}, places)
# Figure: probability of each of the ten right tokens after imitation: near 1 for points, carries and end,
# about 0.9 for the copied digits, 0.53 for the units and 0.37 for the tens.

# %% [markdown]
# It is two of the ten: the digits that must be computed, the units with 0.53 and the tens with 0.37. The network knows
# the points and the end. It knows each carry after it has read the digit before it. And it copies the sum from the
# scratchpad, with a probability of 0.91 for each digit.
#
# So the text has two weak places. But the reward does not show where they are.
#
# ## 4. GRPO
#
# Now we train with 300 updates. In each update the network gets 32 questions and writes 8 completions for each. The
# reward is 1 if the sum and the end are right, else 0. The scratchpad is not checked. Training takes most of a minute.
#
# Weights have 64 bits here, but your computer may still round the sixteenth digit differently. Each update
# increases such a difference, and after about a hundred updates a different token is sampled. So from here on the text
# gives the numbers of *our* run. If a cell contains the comment "nearly the same", your numbers will be similar but not
# equal.
#
# **Guess:** a group teaches nothing if all of its 8 completions have the same reward. Does the number of groups with
# equal rewards rise during training, or fall, or first one and then the other?

# %%
# yours: nearly the same
config = config_for(task, updates=300, prompts=32, learning_rate=1e-3)
history = []
for update in iter_train(task, GRPO, config, policy=policy):
    history.append(update.metrics)
after = update.state.params
dynamics_figure({"GRPO": history}, ("reward", "entropy", "length", "dead_groups", "grad_norm", "kl"))
# Figure: six panels over 300 updates of GRPO: the reward rises from 0.14 to 0.80, the entropy falls, the
# length stays near 10, the share of groups with equal rewards falls and then rises, the gradient norm stays
# large, and the KL rises to about 2 nats.

# %%
# yours: nearly the same
print("means of updates   1 to 20   81 to 100   281 to 300")
for name in ("reward", "steps", "entropy", "length", "dead_groups", "kl"):
    values = np.array([metrics[name][0] for metrics in history])
    print(f"{name:16}", *(f"{values[end - 20 : end].mean():9.3f}" for end in (20, 100, 300)))

# %% [markdown]
# | curve | what happens |
# |---|---|
# | reward | from 0.14 to 0.80; it hardly changes at first, and at the end |
# | entropy | from 0.43 to 0.06 nats per token: the network becomes sure |
# | length | near 10 from the beginning: the form was learned by imitation |
# | groups with equal rewards | first 0.48, then 0.29, then 0.63: they fall and then rise |
# | gradient norm | stays large: if one text of eight is wrong, its advantage is large, $-\sqrt 7 = -2.65$ |
# | KL to the reference | 2 nats for a whole completion at the end; it jumps at the start, because the first steps of Adam have full length whatever the gradient is |
#
# "Steps" is the share of texts that are right from the first token to the last. It is 0.79, hardly below the reward,
# although the scratchpad is never rewarded: a right scratchpad leads to a right sum.
#
# Why does the share of groups with equal rewards fall and then rise? There are two kinds of such groups:


# %%
# yours: nearly the same
def groups(params):
    rewards = sample(task, params, prompts=500, group_size=8, seed=2, policy=policy).rewards[0].mean(-1)
    wrong, right = (rewards == 0).mean(), (rewards == 1).mean()
    return f"all wrong {wrong:.2f}   mixed {1 - wrong - right:.2f}   all right {right:.2f}"


print("groups before:", groups(before))
print("groups after: ", groups(after))

# %% [markdown]
# Before training, most of these groups are all wrong; after training, they are all right. Only mixed groups teach. If
# no sample for a question is right, the question teaches nothing, so imitation has to come first. What does the network
# write now, with the same questions and the same random numbers?

# %%
# yours: nearly the same
said(after)

# %% [markdown]
# ## 5. What GRPO has changed
#
# **Guess:** the reward is one number for ten tokens. Which tokens has it changed?

# %%
# yours: nearly the same
at_last = knows(after)
print("probabilities:", *(f"{p:.2f}" for p in at_last.mean(0)))
token_probabilities({"after imitation": at_first.mean(0), "after GRPO": at_last.mean(0)}, places)
# Figure: probability of each of the ten right tokens after imitation and after GRPO: the units rise from 0.53
# to 0.98, the tens from 0.37 to 0.86, and the others are high in both.

# %% [markdown]
# The units rise from 0.53 to 0.98, the tens from 0.37 to 0.86. GRPO has found the two weak places by itself. How? All
# tokens of a completion have the same advantage. But a point occurs in right and in wrong completions, and its pushes
# cancel. The right digit occurs more often in right completions, and its pushes add up. Besides, the slope of a
# log-probability is one-hot minus $\pi$: where the network is sure, the slope is nearly 0.
#
# Has GRPO changed the attention? Here is the first layer, for a sum that was held out:


# %%
# yours: nearly the same
def looks(params):
    question, answer = np.array([[task.prompts.index("35+47=")]]), right[:, asked == 3547]
    visited = policy.at(params, 1.0).visit(task, question, answer, answer)
    return visited.kept.blocks[0].attended.weights[0, 0].swapaxes(-1, -2)


maps = {"after imitation": looks(before), "after GRPO": looks(after)}
attention_figure(maps, [*"35+47=21.80.082"])
# Figure: attention weights of two heads after imitation and after GRPO. The patterns before and after are
# nearly the same.

# %%
# yours: nearly the same
shown = {
    "head 1, = at the 7": (0, 5, 4),
    "head 2, = at the 5": (1, 5, 1),
    "head 2, to copy the 2": (1, 13, 6),
}
for what, place in shown.items():
    print(f"{what:22}", "before and after:", *(f"{weights[place]:.2f}" for weights in maps.values()))
moved = np.linalg.norm(after - before) / np.linalg.norm(before)
print("the weights have moved by", moved.round(3), "of their length")

# %% [markdown]
# The pictures are nearly the same. Before and after, `=` looks at the two digits of the units, one with each head, to
# write the units of the sum. GRPO has sharpened this a little. The network works in the same way as before. It could
# solve the task sometimes, and now it solves it nearly always.
#
# ## 6. Sums that the network has never seen


# %%
# yours: nearly the same
def rates(params):
    drawn = [held_out_rates(task, params, policy, prompts=2000, temperature=t)[0, 0] for t in (1.0, GREEDY)]
    return sample(task, params, prompts=2000, seed=1, policy=policy).rewards.mean(), *drawn


print("share of right sums        seen   held out   held out, greedy")
for name, params in {"after imitation": before, "after GRPO": after}.items():
    print(f"{name:20} {'   '.join(f'{rate:8.3f}' for rate in rates(params))}")

# %% [markdown]
# The network answers held-out sums as well as the sums of the training run: it has learned a rule. A table of logits
# would have learned nothing about held-out sums.
#
# *Greedy* takes the most likely token each time instead of sampling. The greedy share rises too, from 0.401 to 0.893:
# GRPO has not only made the network more certain of the answers that it preferred before.
#
# But the reward has nearly stopped rising, at 0.8. What is still wrong? The probability of the right tens is 0.86.
# **Guess:** for which sums are they wrong?

# %%
# yours: nearly the same
carried = asked // 100 % 10 + asked % 10 >= 10  # the units give a carry
tens = asked // 1000 + asked % 100 // 10  # the sum of the two tens digits, without the carry


def by_tens(sums):
    return np.array([[at_last[sums & (tens == each), 3].mean() for each in range(19)]])


lines = {"without a carry": by_tens(~carried), "with a carry": by_tens(carried)}
lines_figure(range(19), lines, "sum of the two tens digits", "probability of the right digit")
# Figure: probability of the right tens digit against the sum of the two tens digits. Without a carry it is
# near 1; with a carry it is high for odd sums and low for most even sums.

# %%
# yours: nearly the same
odd = tens % 2 == 1
cases = {"no carry": ~carried, "carry, odd": carried & odd, "carry, even": carried & ~odd}
for name, sums in cases.items():
    print(f"{name:12} {sums.sum():5} sums,  tens right {at_last[sums, 3].mean():.2f}")

# %% [markdown]
# Without a carry the tens are right, with 0.97. With a carry it depends on whether the tens digits have an odd or an
# even sum: 0.95 or 0.48. If this sum is odd, the network has learned to add the carry. If it is even, the network often
# forgets the carry, as in `53+58` above: 5 + 5 became 10 instead of 11. For two nines and a carry it is hardly ever
# right.
#
# This rule is unexpected, and no curve of part 4 shows it: a rule that works for some of the cases looks like a rule
# that works for all cases with some noise. When a reward stops rising, look at the prompts that are still wrong.
#
# ## 7. Comparison: more imitation
#
# In part 2 we only paused the imitation. Now we continue it for 80 more steps.

# %%
further = imitate(until=1.0).policy.weights[None]
print(f"{'120 + 80 steps':20} {'   '.join(f'{rate:8.3f}' for rate in rates(further))}")

# %% [markdown]
# After these 80 steps 0.94 of the held-out sums are right when sampled, and all of them when greedy. This is more than
# after 300 updates of GRPO, in a fraction of the time. A right answer gives the network the right token at each of ten
# places. A reward is one number for ten tokens, and only for the text that the network has sampled.
#
# So if you can write down right answers, imitate them. GRPO is for tasks in which a verifier can check answers but
# there are not enough right answers to imitate. It starts where imitation ends: the network could solve the task
# sometimes, and GRPO made it solve the task nearly always.
#
# ## Try yourself
#
# **a.** Take five times the learning rate in part 4, `5e-3`. Predict the reward after 50 updates.
#
# <details><summary>Answer</summary>
#
# It is 0.01: the first steps destroy what the network learned by imitation, nearly all groups have equal rewards, and
# after 300 updates only 0.14 are right. Do not reuse the learning rate of the imitation, 2e-3: in imitation each token
# has its own right answer.
# </details>
#
# **b.** The same number of completions in smaller groups: `prompts=128, group_size=2`.
#
# <details><summary>Answer</summary>
#
# The network learns equally well here: 0.80 at the end. At that point three of four groups have equal rewards, but
# there are four times as many groups.
# </details>
#
# **c.** Start GRPO when only 0.05 of the samples are right: `imitate(until=0.04)`.
#
# <details><summary>Answer</summary>
#
# After 300 updates 0.44 are right instead of 0.80. In update 50, four of five groups still have equal rewards, and the
# reward is about 0.04. GRPO needs a policy that is right sometimes.
# </details>
#
# **d.** Let GRPO go on, `updates=600`. What happens to the incomplete rule of part 6?
#
# <details><summary>Answer</summary>
#
# 0.92 of the samples are right at the end, and the tens with a carry and an even sum rise from 0.48 to 0.75. The
# network learns the exceptions one by one: two nines and a carry have risen from 0.01 to 0.90, while tens with a sum of
# 6 are still at 0.43.
# </details>
#
# In the course: [`training/update`](../exercises/07_training/03_update.py) is the update of GRPO, and [chapter
# 9](../exercises/09_network/README.md) is about the network, with
# [`network/grpo_step`](../exercises/09_network/07_grpo_step.py) at its end. [GRPO from scratch](../docs/neural.md) does
# the same with a larger network and more training, and measures the speed. The mean of a group replaces the critic of
# PPO: see [notebook 13](13_from_ppo_to_grpo.ipynb).
