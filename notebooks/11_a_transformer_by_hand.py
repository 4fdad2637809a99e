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
# In the notebooks so far the policy was a table with a row of logits for each state, and each row was learned
# separately. A language model *computes* its row of logits from all previous tokens. The network that computes it is a
# **transformer**. It is simpler than its fame suggests: it has a few kinds of layers, and each is a few lines of NumPy.
#
# **The question: how does the network get from a character to the probability of the next one, and how does the
# gradient of the loss reach each weight?** We follow one sum through the network, forward and backward, and check every
# slope. At the end the network imitates sums until it can write them.
#
# Some cells ask for a **guess**. Replace `None` by your guess before you run the next cell. That cell prints how far
# off you were, and why. (You remember better what you have guessed wrongly.) A guess within 5 % of the answer counts as
# right. You can also unfold the answer below.

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
# `differences` is the check of notebook 2: the **central difference** $(f(x + h) - f(x - h)) / 2h$, for one number of $x$
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
# Our network is small: 8 numbers per token, and one layer with two heads. Its weights are random. Token $t$ at place
# $i$ becomes the row $x_i = E_t + P_i$: the embedding of the token plus the embedding of its position. Looking up a row
# of $E$ is the same as multiplying $E$ by a row that is 1 in one column and 0 elsewhere. So the embedding is a matrix
# product, like most of what follows.

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
# Before each of its two parts the layer divides every row by its **root mean square**, and multiplies each column by a
# learned gain:
#
# $$ y = g \, \frac{x}{\sqrt{\text{mean}(x^2)}} $$
#
# **Guess 1:** we make $x$ ten times as large. By what factor does $y$ change? **Guess 2:** the slope $\partial
# L/\partial y$ stays the same. By what factor does $\partial L/\partial x$ change?

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
        "The row is divided by its own size, which is ten times as large.",
    )
)
print(
    how_far(
        guess_slope,
        np.linalg.norm(back_10) / np.linalg.norm(back),
        "If a row is ten times as long, a step of the same length turns it by a tenth of the angle.",
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **1** and **0.1**. The value does not change. The slope becomes a tenth: only the direction of $x$ matters, and if a
# row is ten times as long, a step of the same length turns it by a tenth of the angle. (The norm adds $10^{-6}$ under
# the root, so that a row of zeros causes no division by 0. This is why the mean squares after the norm are a little
# below 1.)
# </details>
#
# ## 3. Attention: each token takes a mean
#
# So far the tokens do not interact. In attention each token has a **query** $q_i$ (its question), a **key** $k_j$ (its
# label) and a **value** $v_j$ (its information). All three are products of the normalized row with a weight. The better
# a key fits the query, the larger the weight of its value in the output of the token:
#
# $$ S_{ij} = \frac{q_i \cdot k_j}{\sqrt d}, \qquad A_{ij} = \frac{e^{S_{ij}}}{\sum_{m \le i} e^{S_{im}}} \ \ (j \le i),
#    \qquad o_i = \sum_{j \le i} A_{ij}\, v_j . $$
#
# A token may not look at later tokens, because the network has to predict them. The two heads work side by side, each
# with $d = 4$ of the 8 columns.


# %%
def split(columns):
    return columns.reshape(len(read), -1, 2, 4).transpose(1, 2, 0, 3)


q, k, v = split(layers.linear(rows, weights["0.qkv"]))
outputs, attended = layers.attention(q, k, v)
A = np.swapaxes(attended.weights, -1, -2)  # the library stores the keys first, which is faster
attention_figure({"at random": A}, text)
# Figure: attention weights of two untrained heads, with a row and a column for each of 15 tokens. All weights
# above the diagonal are 0, and the rest has no clear pattern.

# %% [markdown]
# A row is a token that looks, and a column is a token that it looks at. Black is 1 and white is 0. All weights above
# the diagonal are 0, and each row sums to 1. The weights are random, so the pattern means nothing yet.
#
# **Guess 1:** what is the weight in the upper left corner, $A_{11}$? **Guess 2:** we replace the last token by another
# one. For how many of the 14 tokens before it does the output change?

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
# **1** and **0**. The first token can look only at itself. The outputs before the last token do not change, because
# these tokens may not look at the last one. This makes a transformer fast to train: one pass predicts the next token at
# all 15 places, and no prediction can use the token that it predicts.
# </details>
#
# ## 4. Attention, backward
#
# From the layers after attention we know, by the chain rule, the slope $g_i = \partial L / \partial o_i$: the effect of
# a small change of each output on the loss $L$. From it we need the slopes for $q$, $k$ and $v$. We go through the
# three formulas from right to left.
#
# **Values.** $v_j$ is in every $o_i$ with weight $A_{ij}$, so its slope is $\ \partial L/\partial v_j = \sum_i A_{ij}\,
# g_i$.
#
# **Weights.** From $o_i = \sum_j A_{ij} v_j$ follows $\ \partial L/\partial A_{ij} = g_i \cdot v_j$.
#
# **Scores.** A row of $A$ is a softmax, so raising one score reduces all other weights:
# $\partial A_{im}/\partial S_{ij} = A_{im}\,(\mathbb 1[m = j] - A_{ij})$. Summed over the weights that a score changes,
#
# $$ \frac{\partial L}{\partial S_{ij}} = \sum_m (g_i \cdot v_m)\, A_{im}\, (\mathbb 1[m = j] - A_{ij})
#    = A_{ij} \Big( g_i \cdot v_j - g_i \cdot \sum_m A_{im} v_m \Big) = A_{ij}\, ( g_i \cdot v_j - g_i \cdot o_i ) . $$
#
# **Queries and keys.** They are in the scores only:
# $\ \partial L/\partial q_i = \sum_j \frac{\partial L}{\partial S_{ij}} \frac{k_j}{\sqrt d}, \quad
#    \partial L/\partial k_j = \sum_i \frac{\partial L}{\partial S_{ij}} \frac{q_i}{\sqrt d}$.
#
# Look at the formula for the scores once more. It is the gradient of the bandit in notebook 2: probability, times
# reward minus expected reward. The tokens are the arms, $g_i \cdot v_j$ is the reward of token $j$, and $g_i \cdot o_i$
# is the mean. Attention learns to look at tokens that are *better than the mean*, as GRPO does with completions.


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
# Figure: left, the slopes by hand against the slopes by differences for 360 numbers: all points lie on the
# diagonal. Right, their differences, which are rounding errors.

# %% [markdown]
# These are 360 numbers: queries, keys and values of 15 tokens in two heads. In the left picture they lie on the line.
# In the right picture, derivative and finite difference agree to about ten digits.
#
# **Guess:** suppose that all tokens have the same value row $v_j$. What is then the largest slope of a query?

# %%
guess_same = None

# %%
to_queries, _, _ = by_hand(slope, q, k, np.ones_like(v), A)
print(
    how_far(
        guess_same,
        abs(to_queries).max().round(12),
        "If all arms have the same reward, there is nothing to choose.",
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **0**. Every $g_i \cdot v_j$ is then equal to the mean. If all arms have the same reward, there is nothing to choose,
# as in a group with equal rewards.
# </details>
#
# ## 5. The rest of the layer, and the logits
#
# The output of the heads is multiplied by a weight and *added* to $x$: a layer changes the rows, it does not replace
# them. The second part works on each token separately: a norm, a product to 32 numbers, a nonlinear function (GELU,
# which keeps large numbers and reduces negative ones to nearly 0), and a product back to 8 numbers, which are added to
# $x$ again. After a last norm, a product with the embeddings gives the logits: the more a row is like the embedding of
# a token, the more likely this token comes next.

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
# This is a whole transformer. The library's version has two more axes in front, one for networks that are trained in
# parallel and one for sequences. Otherwise it computes the same:

# %%
flat = joined(weights, network.shapes())[None]
parts = views(flat, network.shapes())
theirs, kept = network.forward(parts, read[None, None])
print("weights:", flat.size)
print("largest difference of the logits:", abs(theirs[0, 0] - logits).max().round(12))

# %% [markdown]
# ## 6. The loss, and its slope at the logits
#
# To imitate means to make the next token of the text likely. The loss is the **cross-entropy**, the mean of $-\log
# \pi(\text{next token})$:
#
# $$ L = -\frac1T \sum_i \log \pi_i(t_{i+1}), \qquad \pi_i = \text{softmax}(z_i), \qquad
#    \frac{\partial L}{\partial z_i} = \frac1T \big( \pi_i - \text{one-hot}(t_{i+1}) \big) . $$
#
# In words: the right token is pushed up, and all others are pushed down in proportion to their probability.
#
# **Guess 1:** the weights are random, the logits are near 0, and there are 14 tokens. What is the loss at the start,
# approximately? **Guess 2:** what is the sum of the slopes of all 14 logits at one place?

# %%
guess_loss, guess_sum = None, None


# %%
def cross_entropy(logits, following):
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    right = layers.one_hot(following, 14, logits)
    return -(right * log_probs).sum(-1).mean(), (np.exp(log_probs) - right) / following.size


loss, slope = cross_entropy(logits, following)
print(
    how_far(
        guess_loss,
        loss,
        "A network that knows nothing gives 1/14 to each of the 14 tokens, and log 14 = 2.639.",
    )
)
print(
    how_far(
        guess_sum, abs(slope.sum(-1)).max().round(12), "Probabilities sum to 1: if one rises, others fall."
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **2.64** and **0**. A network that knows nothing gives each token the probability 1/14, and $-\log(1/14) = \log 14 =
# 2.639$ nats; this network has 2.670. If a network starts with a much larger loss, it is sure of something that it
# cannot know: its first weights are too large. The slopes of one place sum to 0 because the probabilities sum to 1: if
# one rises, others fall.
# </details>
#
# ## 7. The whole network, backward
#
# Backward, the same layers are visited in the opposite order: each layer receives the slope of its output and returns
# the slope of its input. Where something was added to $x$, the slope goes to both summands. If a weight is used at
# several places, its slope is the sum over these places. `pull_back` does all this and returns a slope for each of the
# 1032 weights. We check 60 of them, chosen at random:


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
# Figure: left, the slopes by hand against the slopes by differences for 60 weights: all points lie on the
# diagonal. Right, their differences, which are tiny.

# %% [markdown]
# All 60 agree. (Embeddings and positions agree least: these weights are small, so a step of $10^{-5}$ is large for
# them.)
#
# What does such a slope mean? It predicts the change of the loss if this one weight changes. Here is the test for the
# largest slope of all:

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
# ## 8. Learning by imitation
#
# Now we take a network with two layers and 32 numbers per token. In each of 400 steps it reads 64 sums with their right
# answers, the function above computes the gradient, and Adam takes a step.
#
# **Guess:** the answer can be computed from the question, but the question itself cannot be predicted. After the first
# digit it has three more digits, whose values are equally likely. They are 3 of the 15 predicted tokens. What is the
# lowest loss that any network can reach, to two digits after the point?

# %%
guess_lowest = None

# %%
lowest = 3 * np.log(10) / 15
print(
    how_far(
        guess_lowest,
        lowest,
        "Each of three digits costs log 10 = 2.303, and the other twelve tokens cost nothing: 3 times 2.303 / 15.",
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# **0.46**. Each of the three digits costs $\log 10 = 2.303$ nats, the other twelve tokens cost nothing, and
# $3 \cdot 2.303 / 15 = 0.461$. Compare a loss with the lowest *possible* loss, not with 0.
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
lines |= {"no knowledge: log 14": np.full((1, len(steps)), np.log(14))}
lines |= {"lowest possible loss": np.full((1, len(steps)), lowest)}
lines_figure(steps, lines, "step of imitation", "loss (nats per token)")
# Figure: the loss of imitation over 400 steps falls from log 14 = 2.64, the loss without knowledge, to nearly
# the lowest possible loss, 0.46.

# %%
policy = NeuralPolicy(pupil, begin[0])
for step, params in pupils.items():  # the same four sums and the same random numbers each time
    drawn = sample(task, params, prompts=4, policy=policy)
    said = zip(drawn.prompts[0], drawn.tokens[0, :, 0], drawn.mask[0, :, 0], strict=True)
    print(f"after {step:3} steps:", "  ".join(task.render(*one) for one in said))

# %% [markdown]
# The loss falls to 0.487, near the lowest possible loss of 0.461. In what order does the network learn? After 50 steps
# the form is roughly right: digits, points, an end. After 200 steps there is a scratchpad with wrong digits, and they
# are *copied* into the sum, with one error (a 7 instead of the 8). After 400 steps three of the four sums are right.
# The network first learns common tokens, then tokens that can be copied, and last the tokens that must be computed.
#
# How likely was each token of our sum after these numbers of steps?


# %%
def looked_at(params):
    logits, kept = pupil.forward(views(params, pupil.shapes()), read[None, None])
    probs = np.exp(logits[0, 0]) / np.exp(logits[0, 0]).sum(-1, keepdims=True)
    first_layer = kept.blocks[0].attended.weights[0, 0].swapaxes(-1, -2)
    return probs[np.arange(len(read)), following][5:], first_layer


stages = {f"after {step} steps": looked_at(params) for step, params in pupils.items()}
token_probabilities({name: probs for name, (probs, _) in stages.items()}, [*text[6:], "end"])
# Figure: probability of each token of the sum after 0, 50, 200 and 400 steps. The points and the end come
# first, then the copied digits, and last the computed digits.

# %% [markdown]
# The points and the end are learned first, then the copies, and last the 5 and the first 6, which must be computed.
#
# ## 9. Where the network looks
#
# **Before you look at the figure:** at `=` the network must write the units of the sum, and at the first point the
# tens. Which tokens should it look at in these two places? And where should it look when it writes the 6 and the 5 of
# 065?

# %%
_, looks = stages["after 400 steps"]
attention_figure({"layer 1": looks}, text)
# Figure: attention weights of the four heads after 400 steps. At the equals sign some heads look at the two
# units digits; at the first point a head looks at the two tens digits.

# %%
for place, head in ((5, 4), (8, 3), (8, 4), (12, 1), (13, 1)):
    seen = {f"the {text[j]} at {j}": looks[head - 1, place, j].round(2) for j in (0, 1, 3, 4, 6, 7, 9)}
    most = sorted(seen, key=seen.get, reverse=True)[:2]
    print(
        f"{text[place]} at {place:2}, head {head}:  ",
        ",  ".join(f"{seen[name]:.2f} on {name}" for name in most),
    )

# %% [markdown]
# The network has learned from the examples that units are added to units:
#
# * `=`, where the 5 is written, looks at the 7 and the 8 (head 4; heads 2 and 3 as well).
# * The point at place 8, where the first 6 is written, looks at the 2 and the 3 with head 3, and at the carry with head
#   4.
# * In the sum, head 1 looks at the digit of the scratchpad that is copied next.
#
# All of this was learned from random weights, examples, and the slopes that you have checked. In notebook 12 the
# network continues to learn, from rewards instead of examples.
#
# ## Try yourself
#
# **a.** In part 4, remove $g_i \cdot o_i$ from `by_hand`. Which of the 360 points leave the line?
#
# <details><summary>Answer</summary>
#
# The 240 points of queries and keys. The slopes of the values do not depend on the scores.
# </details>
#
# **b.** Set `weights["positions"]` to 0. Can the network with one layer still distinguish `27+` from `72+`? Can a
# network with two layers?
#
# <details><summary>Answer</summary>
#
# With one layer it cannot: the last token takes a mean of the values before it, and a mean does not depend on their
# order. The logits after `27+` and `72+` are the same. With two layers they differ: in the first layer the second digit
# can look at the first digit, but not the other way round, so the order changes the rows that the second layer reads.
# </details>
#
# **c.** Make the embeddings ten times as large at the start, in part 1. What is the first loss, and why?
#
# <details><summary>Answer</summary>
#
# It is 2.939 instead of 2.670, which is worse than no knowledge. The output layer uses the embedding again, and each
# row is still similar to its own embedding. So the network tends to repeat every token, and in our text no token is
# repeated.
# </details>
#
# In the course, [chapter 9](../exercises/09_network/README.md): [`network/attention`](../exercises/09_network/01_attention.py),
# [`network/attention_slope`](../exercises/09_network/02_attention_slope.py),
# [`network/norm_slope`](../exercises/09_network/03_norm_slope.py),
# [`network/cross_entropy`](../exercises/09_network/04_cross_entropy.py) and
# [`network/imitation_step`](../exercises/09_network/06_imitation_step.py). A larger network, trained for longer, is in
# [GRPO from scratch](../docs/neural.md).
