"""The tests of `network/next_token`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import REQUIRED, Case, Domain, Holds, Real, Rule, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.heads import ROWS
from grpo_ref.learning.policies import layers, table
from grpo_ref.learning.policies.sampling import distribution_functions, inverted

MARGIN = 1e-8


def _numbers(axes, largest, usual, meaning):
    within = (-largest, largest)
    return Real(axes, within, usual=(usual, (-3.0, 3.0), within), rows=ROWS, meaning=meaning)


def _beside_the_sums(given):
    sums = np.exp(log_probs_of(**{name: given[name] for name in given if name != "uniform"})[0]).cumsum()
    return bool((np.abs(sums - given["uniform"]) >= MARGIN).all())


DOMAIN = Domain(
    {
        "token": Whole((0, "V - 1"), meaning="the newest token of the text"),
        "keys": _numbers("N D", 100.0, (-2.0, 2.0), "the keys of the N tokens before it, one row each"),
        "values": _numbers("N D", 100.0, (-2.0, 2.0), "their values, one row each"),
        "wq": _numbers("D D", 10.0, (-1.0, 1.0), "Wq, the weights of the query"),
        "wk": _numbers("D D", 10.0, (-1.0, 1.0), "Wk, the weights of the key"),
        "wv": _numbers("D D", 10.0, (-1.0, 1.0), "Wv, the weights of the value"),
        "embeddings": _numbers("V D", 10.0, (-1.0, 1.0), "E, a row of D numbers for each token"),
        "uniform": Scalar(
            REQUIRED,
            (10.0 * MARGIN, 1.0 - 10.0 * MARGIN),
            usual=((0.001, 0.999),),
            meaning="u, a random number below 1",
        ),
        "temperature": Scalar(
            1.0, (0.01, 100.0), usual=((0.3, 2.0), (0.01, 100.0)), at=(0.5, 2.0), meaning="τ"
        ),
    },
    sizes={"N": (0, 4), "D": (1, 4), "V": (1, 5)},
    large={"N": 40, "D": 20, "V": 60},
    rules=(
        Rule(
            "u is at least 1e-8 away from every sum π[0] + ... + π[b], so that rounding does not choose the token.",
            _beside_the_sums,
        ),
    ),
)


def log_probs_of(token, keys, values, wq, wk, wv, embeddings, temperature=1.0):
    """Return log π (V,) of every token that may follow, and the extended keys and values."""
    wq, wk, wv, e = (np.asarray(each, float) for each in (wq, wk, wv, embeddings))
    x = e[[token]]
    grown = np.concatenate([keys, x @ wk]), np.concatenate([values, x @ wv])
    o = layers.attention(x @ wq, *grown)[0]
    return table.log_softmax((x + o) @ e.T, temperature=temperature)[0], *grown


def named(arguments, keywords):
    """Return the function's arguments by name."""
    return {"temperature": 1.0, **dict(zip(DOMAIN.arguments, arguments, strict=False)), **keywords}


def reference(*arguments, **keywords):
    given = named(arguments, keywords)
    uniform = np.asarray([given.pop("uniform")], float)
    log_probs, keys, values = log_probs_of(**given)
    sums = distribution_functions(np.exp(log_probs))
    chosen = int(inverted(sums, np.zeros(1, dtype=np.int64), uniform)[0])
    return chosen, float(log_probs[chosen]), keys, values


WQ = np.array([[0.8, -0.5], [0.3, 1.1]])

WK = np.array([[-0.6, 1.2], [0.9, 0.4]])

WV = np.array([[1.5, -0.7], [-0.2, 0.6]])

EMBEDDINGS = np.array([[1.0, -0.4], [0.2, 0.9], [-0.8, 0.5]])

WEIGHTS = (WQ, WK, WV, EMBEDDINGS)

KEYS, VALUES = np.array([[0.5, -1.0], [2.0, 0.3]]), np.array([[1.0, 0.2], [-0.4, 0.9]])

EMPTY = np.zeros((0, 2))


def _same_without_a_cache(f):
    """Compare five steps with one causal pass over the whole text."""
    tokens, log_probs, keys, values = [1], [], EMPTY, EMPTY
    for uniform in (0.9, 0.1, 0.5, 0.3, 0.7):
        token, log_prob, keys, values = f(tokens[-1], keys, values, *WEIGHTS, uniform, 0.7)
        tokens.append(int(token))
        log_probs.append(float(log_prob))
    x = EMBEDDINGS[tokens[:-1]]
    o = layers.attention(x @ WQ, x @ WK, x @ WV)[0]
    expected = table.log_softmax((x + o) @ EMBEDDINGS.T, temperature=0.7)[np.arange(5), tokens[1:]]
    kept = np.shape(keys) == np.shape(values) == (5, 2) and np.allclose([keys, values], [x @ WK, x @ WV])
    if not kept:
        return "after five steps the cache does not hold the keys and values of the five tokens"
    same = np.allclose(log_probs, expected)
    return None if same else "five steps give other log-probabilities than one pass over all of the text"


def _as_often_as_it_says(f):
    """Compare each token's share of evenly spaced uniform numbers with its probability."""
    uniforms = (np.arange(40) + 0.5) / 40
    drawn = [f(0, KEYS, VALUES, *WEIGHTS, uniform, 2.0)[:2] for uniform in uniforms.tolist()]
    for token, log_prob in drawn:
        share = np.mean([other == token for other, _ in drawn])
        if abs(share - np.exp(log_prob)) > 1 / 40:
            return f"token {token} came for {share:.1%} of 40 even numbers u; its log-probability says {np.exp(log_prob):.1%}"
    return None


CHECKS = (
    Case(
        "One number a token",
        (0, [[0.0]], [[0.0]], [[np.log(3.0)]], [[1.0]], [[4.0]], [[1.0], [0.0]], 0.9, 2.0),
        (1, -np.log1p(np.exp(2.0)), np.array([[0.0], [1.0]]), np.array([[0.0], [4.0]])),
        why=(
            "x = 1, so q = log 3, k = 1 and v = 4. The scores with the keys 0 and 1 are 0 and log 3, exponentials 1"
            " and 3, so the weights are 1/4 and 3/4, and o = 0/4 + 4 · 3/4 = 3. x + o = 4; the products with the"
            " embeddings are 4 and 0, the logits 2 and 0, since τ = 2. The exponentials are 7.389 and 1, so"
            " π = 0.8808, 0.1192. 0.8808 is not larger than u = 0.9, the next sum, 1, is: token 1, and"
            " log 0.1192 = -2.1269."
        ),
        shown=True,
    ),
    Case(
        "The first token",
        (
            1,
            EMPTY,
            EMPTY,
            [[1.0, 2.0], [3.0, 4.0]],
            [[1.0, 0.0], [5.0, -1.0]],
            [[9.0, 9.0], [0.0, np.log(3.0) - 1.0]],
            [[1.0, 0.0], [0.0, 1.0]],
            0.2,
        ),
        (0, np.log(0.25), np.array([[5.0, -1.0]]), np.array([[0.0, np.log(3.0) - 1.0]])),
        why=(
            "Nothing is cached, so the token sees itself alone: o = v, whatever the score is. x = (0, 1), so k and v"
            " are the second rows of Wk and Wv, and x + o = (0, log 3). E is the identity: the logits are 0 and"
            " log 3, and π = 1/4, 3/4. 1/4 is larger than u = 0.2: token 0, and log 1/4 = -1.38629."
        ),
        shown=True,
    ),
    Case(
        "Four numbers a token",
        (
            0,
            [[np.log(9.0), 0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.0, 8.0]],
            np.diag([1.0, 0.0, 0.0, 0.0]),
            np.zeros((4, 4)),
            np.diag([4.0, 0.0, 0.0, 0.0]),
            [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
            0.9,
        ),
        (
            1,
            -np.log1p(np.exp(-4.0)),
            np.array([[np.log(9.0), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
            np.array([[0.0, 0.0, 0.0, 8.0], [4.0, 0.0, 0.0, 0.0]]),
        ),
        why=(
            "√4 = 2, so the scores are log 9 / 2 = log 3 and 0, the weights 3/4 and 1/4, o = (1, 0, 0, 6);"
            " x + o = (2, 0, 0, 6), logits 2 and 6"
        ),
    ),
    Case(
        "Scores and logits of 10000",
        (
            0,
            [[100.0], [-100.0]],
            [[2.0], [7.0]],
            [[10.0]],
            [[10.0]],
            [[0.4]],
            [[10.0], [-10.0]],
            0.9,
            0.012,
        ),
        (0, 0.0, np.array([[100.0], [-100.0], [100.0]]), np.array([[2.0], [7.0], [4.0]])),
        why=(
            "scores 10000, -10000 and 10000: a half, nothing and a half, so o = 3; the logits are 130/0.012 and"
            " minus that"
        ),
    ),
    Case(
        "A low temperature and a likely token beside it",
        (0, [[1.0]], [[1.0]], [[0.0]], [[0.0]], [[0.0]], [[2.0], [1.999], [-2.0]], 0.8, 0.01),
        (
            1,
            -np.log1p(np.exp(0.25)),
            np.array([[1.0], [0.0]]),
            np.array([[1.0], [0.0]]),
        ),
        why="all scores are 0, so o = 1/2 and x + o = 2.5; the logits are 500, 499.75 and -500",
    ),
    Holds(
        "The same as without a cache",
        _same_without_a_cache,
        why="a cache saves work and changes nothing",
    ),
    Holds(
        "A token comes as often as its log-probability says",
        _as_often_as_it_says,
        why="the log-probability is that of the distribution that was drawn from",
    ),
    Unchanged((0, KEYS.tolist(), VALUES.tolist(), *WEIGHTS, 0.5)),
)
