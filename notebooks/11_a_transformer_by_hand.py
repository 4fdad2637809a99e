# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11. A transformer by hand
#
# Up to here the policy was a table: a row of logits for each situation, and each row learned by itself. A language model
# *computes* its row of logits, from all the tokens so far. The network that does so is a **transformer**, and there is
# less in it than its fame suggests: a handful of kinds of layers, each a few lines of NumPy.
#
# **The question: what happens between a character and the probability of the next one, and how does a mistake find its
# way back to each weight?** We follow one sum through the network, forward and backward, check every slope, and at the
# end let the network imitate sums until it can speak.
#
# Some cells ask for a **guess**. Write it in place of `None` before you run the next cell, which says how far off it was, and
# why: what one has predicted wrongly, one remembers. Within 5 % of the answer counts as right. The answer can be unfolded below,
# too.

# %%
# %matplotlib inline
import numpy as np

from grpo_ref import TASKS
from grpo_ref.course.guess import how_far
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies import layers
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.parameters import joined, views
from grpo_ref.learning.policies.transformer import Transformer
from grpo_ref.learning.rollout import sample
from grpo_ref.plots import attention_figure, gradient_agreement, lines_figure, token_probabilities


def differences(f, x, h=1e-5):
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.reshape([(f(x + step) - f(x - step)) / (2 * h) for step in steps], x.shape)


# %% [markdown]
# `differences` is the judge of notebook 2: the **central difference** $(f(x + h) - f(x - h)) / 2h$, for one number of $x$
# at a time.
#
# ## 1. A character becomes a row of numbers
#
# The task `sums` asks for the sum of two numbers, with the carries written out. The units of `27+38` give 15, so digit 5
# and carry 1; the tens give 6 with that carry, so digit 6 and carry 0; and the sum is 065. There are 14 tokens: ten
# digits, `+`, `=`, a point, and the end. The network reads all tokens but the last, and at each place predicts the next.

# %%
task = TASKS["sums"]()
text = [*"27+38=51.60.065"]
tokens = np.array([task.vocabulary.index(sign) for sign in text])
read, following = tokens, np.append(tokens[1:], task.vocabulary.index(""))
print("reads    ", *text)
print("predicts ", *text[1:], "end")
print("as tokens", *read)

# %% [markdown]
# Our network is small: 8 numbers a token, one layer with two heads. Its weights are drawn at random. Token $t$ at place
# $i$ becomes the row $x_i = E_t + P_i$: what it is, plus where it stands. To look a row up is to multiply with a row that
# is 1 in one column and 0 elsewhere, so the embedding is a product with a weight, like most of what follows.

# %%
network = Transformer(vocabulary=14, context=16, width=8, layers=1, heads=2)
weights = network.init(np.random.default_rng(0))
hot = layers.one_hot(read, 14, weights["embedding"])
x = hot @ weights["embedding"] + weights["positions"][: len(read)]
print("one-hot of 7: ", hot[1].astype(int))
print("its row x:    ", x[1].round(3))
for name, weight in weights.items():
    print(f"{name:12}", weight.shape)

# %% [markdown]
# ## 2. A norm keeps the rows at one size
#
# Before each of its two parts the layer divides every row by its **root mean square**, and multiplies with a gain for each
# column, which is learned:
#
# $$ y = g \, \frac{x}{\sqrt{\text{mean}(x^2)}} $$
#
# **Guess 1:** we make $x$ ten times as large. By what factor does $y$ change? **Guess 2:** the slope $\partial L/\partial y$
# that arrives is the same. By what factor does $\partial L/\partial x$ change, the slope that is handed on?

# %%
guess_value, guess_slope = None, None

# %%
gain = weights["0.norm"]  # all 1 at the start
(rows, kept), (rows_10, kept_10) = layers.rms_norm(x, gain), layers.rms_norm(10 * x, gain)
back, back_10 = (layers.rms_norm_back(hot[:, :8], each, gain)[0] for each in (kept, kept_10))
print("mean square of the first rows:", (x**2).mean(-1).round(5)[:4])
print("after the norm:               ", (rows**2).mean(-1).round(3)[:4])
print(
    how_far(
        guess_value,
        np.linalg.norm(rows_10) / np.linalg.norm(rows),
        "The row is divided by its own size, ten times as much.",
    )
)
print(
    how_far(
        guess_slope,
        np.linalg.norm(back_10) / np.linalg.norm(back),
        "A step of the same length turns a row that is ten times as long by a tenth of the angle.",
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **1** and **0.1**. The value stays as it is. The slope becomes a tenth: only the direction of $x$ counts, and a step of the
# same length turns a row that is ten times as long by a tenth of the angle. (The norm adds $10^{-6}$ under the root, so that
# a row of zeros does no harm. This is why the mean squares after it are a little below 1.)
# </details>
#
# ## 3. Attention: each token takes a mean
#
# Up to here each token is alone. In attention it asks a question, its **query** $q_i$; each token offers a label, its
# **key** $k_j$, and something to say, its **value** $v_j$. All three are products of the normalized row with a weight.
# The better a key fits the query, the larger its share in what the token takes home:
#
# $$ S_{ij} = \frac{q_i \cdot k_j}{\sqrt d}, \qquad A_{ij} = \frac{e^{S_{ij}}}{\sum_{m \le i} e^{S_{im}}} \ \ (j \le i),
#    \qquad o_i = \sum_{j \le i} A_{ij}\, v_j . $$
#
# A token may not look at those after it: they are what it has to predict. The two heads do this side by side, each with
# $d = 4$ of the 8 columns.


# %%
def split(columns):
    return columns.reshape(len(read), -1, 2, 4).transpose(1, 2, 0, 3)


q, k, v = split(layers.linear(rows, weights["0.qkv"]))
outputs, attended = layers.attention(q, k, v)
A = np.swapaxes(attended.weights, -1, -2)  # the library keeps them keys first, which is faster
attention_figure({"at random": A}, text)

# %% [markdown]
# A row is a token that looks, a column one that is looked at; black is 1 and white is 0. Nothing is above the diagonal,
# and each row sums to 1. The weights are random, so the pattern means nothing yet.
#
# **Guess 1:** what is the weight in the upper left corner, $A_{11}$? **Guess 2:** the last token is exchanged for another
# one. How many of the 14 tokens before it take home something else?

# %%
guess_corner, guess_changed = None, None

# %%
other = v.copy()
other[:, -1] = 100.0
changed = (layers.attention(q, k, other)[0] != outputs).any(axis=(0, 2))
print(how_far(guess_corner, A[0, 0, 0], "The first token can look only at itself."))
print(how_far(guess_changed, changed[:-1].sum(), "None of them may look at a token after it."))

# %% [markdown]
# <details><summary>Answer</summary>
#
# **1** and **0**. The first token can look only at itself. And none of the tokens before the last one notices the exchange:
# they may not look there. This is what makes a transformer fast to train: one pass predicts the next token at all 15
# places, and none of them can cheat.
# </details>
#
# ## 4. The way back through attention
#
# Whatever comes after attention tells it, by the chain rule, what a small change of each output would do to the loss $L$:
# the slope $g_i = \partial L / \partial o_i$. Attention must hand on what a change of $q$, $k$ and $v$ would do. It goes
# through the three formulas from the right to the left.
#
# **Values.** $v_j$ is in every $o_i$ with weight $A_{ij}$, so it gets back $\ \partial L/\partial v_j = \sum_i A_{ij}\, g_i$.
#
# **Weights.** From $o_i = \sum_j A_{ij} v_j$ follows $\ \partial L/\partial A_{ij} = g_i \cdot v_j$.
#
# **Scores.** A row of $A$ is a softmax, and to raise one score takes weight from all others:
# $\partial A_{im}/\partial S_{ij} = A_{im}\,(\mathbb 1[m = j] - A_{ij})$. Summed over the weights that a score changes,
#
# $$ \frac{\partial L}{\partial S_{ij}} = \sum_m (g_i \cdot v_m)\, A_{im}\, (\mathbb 1[m = j] - A_{ij})
#    = A_{ij} \Big( g_i \cdot v_j - g_i \cdot \sum_m A_{im} v_m \Big) = A_{ij}\, ( g_i \cdot v_j - g_i \cdot o_i ) . $$
#
# **Queries and keys.** They are in the scores only:
# $\ \partial L/\partial q_i = \sum_j \frac{\partial L}{\partial S_{ij}} \frac{k_j}{\sqrt d}, \quad
#    \partial L/\partial k_j = \sum_i \frac{\partial L}{\partial S_{ij}} \frac{q_i}{\sqrt d}$.
#
# Look at the line of the scores once more. It is the gradient of the bandit in notebook 2: probability, times reward minus
# expected reward. The tokens are the arms, $g_i \cdot v_j$ is what token $j$ pays, $g_i \cdot o_i$ is the mean. Attention
# learns to look at what is *better than the mean*, as GRPO does with completions.


# %%
def by_hand(slope, q, k, v, A):
    to_scores = A * (slope @ v.swapaxes(-1, -2) - (slope * (A @ v)).sum(-1, keepdims=True))
    to_scores = to_scores / np.sqrt(q.shape[-1])
    return to_scores @ k, to_scores.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ slope


slope = np.random.default_rng(1).normal(size=outputs.shape)  # let L be the sum of slope times outputs
slopes = by_hand(slope, q, k, v, A)
theirs = layers.attention_back(slope, attended)
print("the library's is the same:", all(map(np.allclose, slopes, theirs)))


# %%
def loss_of(qkv):
    return (slope * layers.attention(*qkv)[0]).sum()


gradient_agreement(np.stack(slopes), differences(loss_of, np.stack([q, k, v])), "∂L/∂(q, k, v)")

# %% [markdown]
# 360 numbers: queries, keys and values of 15 tokens in two heads. On the left they lie on the line; on the right,
# derivation and difference agree to about ten digits.
#
# **Guess:** suppose that all tokens say the same: every $v_j$ is one and the same row. What is then the largest slope of a
# query?

# %%
guess_same = None

# %%
to_queries, _, _ = by_hand(slope, q, k, np.ones_like(v), A)
print(
    how_far(
        guess_same, abs(to_queries).max().round(12), "If all arms pay the same there is nothing to choose."
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **0**. Every $g_i \cdot v_j$ is the mean then. If all arms pay the same there is nothing to choose, as in a group of equal
# rewards.
# </details>
#
# ## 5. The rest of the layer, and the logits
#
# What the heads bring home is multiplied with a weight and *added* to $x$; a layer corrects the rows, it does not replace
# them. Then each token thinks by itself: a norm, a product to 32 numbers, a bend (GELU, which lets large numbers pass and
# holds negative ones back), a product back to 8, added again. A last norm, and a product with the embeddings gives the
# logits: the more a row looks like the embedding of a token, the likelier that token comes next.

# %%
heads = outputs.transpose(1, 0, 2).reshape(len(read), 8)
x = x + layers.linear(heads, weights["0.out"])
rows, _ = layers.rms_norm(x, weights["0.mlp_norm"])
active, _ = layers.gelu(layers.linear(rows, weights["0.up"]))
x = x + layers.linear(active, weights["0.down"])
rows, _ = layers.rms_norm(x, weights["norm"])
logits = rows @ weights["embedding"].T
print("after 2, logits of 0 to 9:", logits[0, :10].round(3))

# %% [markdown]
# That is a whole transformer. The library's has a leading axis for networks that are trained side by side, and one for
# sequences; else it does the same:

# %%
flat = joined(weights, network.shapes())[None]
parts = views(flat, network.shapes())
theirs, kept = network.forward(parts, read[None, None])
print("weights:", flat.size)
print("largest difference of the logits:", abs(theirs[0, 0] - logits).max().round(12))

# %% [markdown]
# ## 6. The loss, and its slope at the logits
#
# To imitate is to make what follows likely. The loss is the **cross-entropy**, the mean of $-\log \pi(\text{next token})$:
#
# $$ L = -\frac1T \sum_i \log \pi_i(t_{i+1}), \qquad \pi_i = \text{softmax}(z_i), \qquad
#    \frac{\partial L}{\partial z_i} = \frac1T \big( \pi_i - \text{one-hot}(t_{i+1}) \big) . $$
#
# In words: what was too likely goes down, the right token goes up.
#
# **Guess 1:** the weights are random, the logits near 0, and there are 14 tokens. What is the loss at the start, about?
# **Guess 2:** what is the sum of the slopes of all 14 logits at one place?

# %%
guess_loss, guess_sum = None, None


# %%
def cross_entropy(logits, following):
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    right = layers.one_hot(following, 14, logits)
    return -(right * log_probs).sum(-1).mean(), (np.exp(log_probs) - right) / following.size


loss, slope = cross_entropy(logits, following)
print(how_far(guess_loss, loss, "Who knows nothing gives each of 14 tokens 1/14, and log 14 = 2.639."))
print(
    how_far(
        guess_sum, abs(slope.sum(-1)).max().round(12), "Probabilities sum to 1: if one rises, others fall."
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **2.64** and **0**. Who knows nothing gives each token the probability 1/14, and $-\log(1/14) = \log 14 = 2.639$ nats; this
# network has 2.670. A network that begins with much more is sure of something that it cannot know: its first weights are
# too large. The slopes of one place sum to 0 because the probabilities sum to 1: if one rises, others fall.
# </details>
#
# ## 7. The whole way back
#
# Backward is the same list of layers in the opposite order: each gets the slope of what it gave, and hands on the slope of
# what it got. Where something was added to $x$, the slope goes both ways, and a weight that is used at several places gets
# the sum of what comes back from each. `pull_back` does all this; it returns a slope for each of the 1032 weights. We
# judge 60 of them, drawn at random:


# %%
def loss_and_gradient(network, flat, read, following):
    parts = views(flat, network.shapes())
    logits, kept = network.forward(parts, read)
    loss, slope = cross_entropy(logits, following)
    return loss, joined(network.pull_back(parts, kept, slope), network.shapes())


given = read[None, None], following[None, None]
_, gradient = loss_and_gradient(network, flat, *given)
chosen = np.random.default_rng(2).choice(flat.size, 60, replace=False)


# %%
def loss_with(some):
    moved = flat.copy()
    moved[0, chosen] = some
    return loss_and_gradient(network, moved, *given)[0]


gradient_agreement(gradient[0, chosen], differences(loss_with, flat[0, chosen]), "∂L/∂weight")

# %% [markdown]
# All 60 agree. (Embeddings and positions are off most: these weights are small, so a step of $10^{-5}$ is a long
# one for them.)
#
# And what does such a number mean? It predicts what the loss does if that one weight moves. Here for the steepest of all:

# %%
steepest = abs(gradient[0]).argmax()
moved = flat.copy()
moved[0, steepest] += 0.001
after, _ = loss_and_gradient(network, moved, *given)
print(f"steepest slope            {gradient[0, steepest]:.4f}")
print(f"loss before               {loss:.6f}")
print(f"predicted, 0.001 further  {loss + 0.001 * gradient[0, steepest]:.6f}")
print(f"loss there                {after:.6f}")

# %% [markdown]
# ## 8. It learns to speak
#
# Now a network of two layers and 32 numbers a token. In each of 400 steps it reads 64 sums with their right answers, gets
# its gradient from the function above, and Adam takes a step.
#
# **Guess:** the answer can be computed from the question, but the question cannot be known: after the first digit come
# three others, all values equally likely, and they are 3 of the 15 tokens that are predicted. What is the lowest loss that
# any network can reach, to two digits after the point?

# %%
guess_lowest = None

# %%
lowest = 3 * np.log(10) / 15
print(
    how_far(
        guess_lowest,
        lowest,
        "Three digits cost log 10 = 2.303 each, the other twelve tokens nothing: 3 times 2.303 / 15.",
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **0.46**. Each of the three digits costs $\log 10 = 2.303$ nats, the other twelve tokens nothing, and
# $3 \cdot 2.303 / 15 = 0.461$. Compare a loss with what *can* be known, not with 0.
# </details>

# %%
pupil = Transformer(vocabulary=14, context=16, width=32, layers=2, heads=4)
begin = joined(pupil.init(np.random.default_rng(0)), pupil.shapes())[None]
examples = task.examples
texts = np.hstack([task.prompt_tokens[examples.prompts], examples.tokens])


def batch(generator):
    chosen = texts[generator.integers(len(texts), size=64)]
    return chosen[None, :, :-1], chosen[None, :, 1:]


# %%
adam, generator = Adam(3e-3, b2=0.95), np.random.default_rng(1)
flat, state, losses, pupils = begin, adam.init(begin), [], {0: begin}
for step in range(1, 401):
    loss, gradient = loss_and_gradient(pupil, flat, *batch(generator))
    flat, state = adam.step(flat, gradient, state)
    losses.append(loss)
    if step in (50, 200, 400):
        pupils[step] = flat
print("loss at first", losses[0].round(3), " and at last", losses[-1].round(3))

# %%
steps = np.array([1, *range(20, 401, 20)])
lines = {"imitation": np.array(losses)[None, steps - 1]}
lines |= {"knows nothing: log 14": np.full((1, len(steps)), np.log(14))}
lines |= {"knows all that can be known": np.full((1, len(steps)), lowest)}
lines_figure(steps, lines, "step of imitation", "loss (nats per token)")

# %%
policy = NeuralPolicy(pupil, begin[0])
for step, params in pupils.items():  # the same four sums and the same random numbers each time
    drawn = sample(task, params, prompts=4, policy=policy)
    said = zip(drawn.prompts[0], drawn.tokens[0, :, 0], drawn.mask[0, :, 0], strict=True)
    print(f"after {step:3} steps:", "  ".join(task.render(*one) for one in said))

# %% [markdown]
# The loss falls to 0.487, near the 0.461 that cannot be known. In what order does the network learn? After 50 steps it has
# roughly the form: digits, points, an end. After 200 there is a scratchpad with wrong digits, and with one slip (a 7 for the
# 8) they are *copied* into the sum. After 400 three of the four sums are right. What is common comes first, then what can be
# copied, and what must be computed comes last.
#
# How likely was each token of our sum in these stages?


# %%
def looked_at(params):
    logits, kept = pupil.forward(views(params, pupil.shapes()), read[None, None])
    probs = np.exp(logits[0, 0]) / np.exp(logits[0, 0]).sum(-1, keepdims=True)
    first_layer = kept.blocks[0].attended.weights[0, 0].swapaxes(-1, -2)
    return probs[np.arange(len(read)), following][5:], first_layer


stages = {f"after {step} steps": looked_at(params) for step, params in pupils.items()}
token_probabilities({name: probs for name, (probs, _) in stages.items()}, [*text[6:], "end"])

# %% [markdown]
# The points and the end are there first, the copies later, and the 5 and the first 6, which must be computed, last.
#
# ## 9. Where it looks
#
# **Before you look:** at `=` the network must write the units of the sum, at the first point the tens. Which tokens should it
# look at in either place? And where, when it writes the 6 and the 5 of 065?

# %%
_, looks = stages["after 400 steps"]
attention_figure({"layer 1": looks}, text)

# %%
for place, head in ((5, 4), (8, 3), (8, 4), (12, 1), (13, 1)):
    seen = {f"the {text[j]} at {j}": looks[head - 1, place, j].round(2) for j in (0, 1, 3, 4, 6, 7, 9)}
    most = sorted(seen, key=seen.get, reverse=True)[:2]
    print(
        f"{text[place]} at {place:2}, head {head}:  ",
        ",  ".join(f"{seen[name]:.2f} on {name}" for name in most),
    )

# %% [markdown]
# Nobody has told it that units are added to units:
#
# * `=`, which is to write the 5, looks at the 7 and the 8 (head 4; heads 2 and 3 as well).
# * The point at place 8, which is to write the first 6, looks at the 2 and the 3 with head 3, and at the carry with head 4.
# * In the sum, head 1 looks at the digit of the scratchpad that is copied next.
#
# All of this came from random weights, examples, and the slopes that you have checked. In notebook 12 the examples end, and
# the network goes on learning from rewards.
#
# ## Try yourself
#
# **a.** In part 4, leave $g_i \cdot o_i$ out of `by_hand`. Which of the 360 points leave the line?
#
# <details><summary>Answer</summary>
#
# Those of queries and keys, 240 of them. The slopes of the values do not go through the scores.
# </details>
#
# **b.** Set `weights["positions"]` to 0. Does the network of one layer still tell `27+` from `72+`? Does one of two layers?
#
# <details><summary>Answer</summary>
#
# With one layer it does not: the last token takes a mean of the values before it, and a mean knows no order. The logits after
# `27+` and `72+` are the same. With two layers they differ: the second digit has seen the first one, but not the other way
# round, and this shows in what the two pass on.
# </details>
#
# **c.** Make the embeddings ten times as large at the start, in part 1. What does the loss begin with, and why?
#
# <details><summary>Answer</summary>
#
# With 2.939 instead of 2.670, worse than knowing nothing. The head is the embedding again, and each row still resembles the
# embedding it began with. So the network is inclined to say every token twice, and in our text no token follows itself.
# </details>
#
# In the course, [chapter 9](../exercises/09_network/README.md): [`network/attention`](../exercises/09_network/01_attention.py),
# [`network/attention_slope`](../exercises/09_network/02_attention_slope.py),
# [`network/norm_slope`](../exercises/09_network/03_norm_slope.py),
# [`network/cross_entropy`](../exercises/09_network/04_cross_entropy.py) and
# [`network/imitation_step`](../exercises/09_network/06_imitation_step.py). A larger network, trained for longer, is in
# [GRPO from scratch](../docs/neural.md).
