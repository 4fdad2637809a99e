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


def _away_from_the_sums(given):
    sums = np.exp(log_probs_of(**{name: given[name] for name in given if name != "uniform"})[0]).cumsum()
    return bool((np.abs(sums - given["uniform"]) >= MARGIN).all())


DOMAIN = Domain(
    {
        "token": Whole((0, "V - 1"), meaning="the newest token"),
        "keys": _numbers("N D", 100.0, (-2.0, 2.0), "keys of the N earlier tokens"),
        "values": _numbers("N D", 100.0, (-2.0, 2.0), "values of the N earlier tokens"),
        "wq": _numbers("D D", 10.0, (-1.0, 1.0), "Wq, weights of the query"),
        "wk": _numbers("D D", 10.0, (-1.0, 1.0), "Wk, weights of the key"),
        "wv": _numbers("D D", 10.0, (-1.0, 1.0), "Wv, weights of the value"),
        "embeddings": _numbers("V D", 10.0, (-1.0, 1.0), "E, one row per token"),
        "uniform": Scalar(
            REQUIRED, (1e-6, 1.0 - 1e-6), usual=((0.001, 0.999),), meaning="u, a random number"
        ),
        "temperature": Scalar(
            1.0,
            (0.01, 100.0),
            usual=((0.3, 2.0), (0.01, 100.0)),
            at=(0.5, 2.0),
            meaning="τ, divides the logits",
        ),
    },
    sizes={"N": (0, 4), "D": (1, 4), "V": (1, 5)},
    large={"N": 40, "D": 20, "V": 60},
    rules=(
        Rule("u is at least 1e-8 away from every sum π[0] + ... + π[b].", _away_from_the_sums),
        Rule(
            "The log-probability is 0 or at most -1e-6.",
            lambda values: not -1e-6 < reference(**values)[1] < 0.0,
        ),
    ),
)


def log_probs_of(token, keys, values, wq, wk, wv, embeddings, temperature=1.0):
    """Return log π (V,) of every token that may follow, and the extended keys and values."""
    wq, wk, wv, e = (np.asarray(each, float) for each in (wq, wk, wv, embeddings))
    x = e[[token]]
    cache = np.concatenate([keys, x @ wk]), np.concatenate([values, x @ wv])
    o = layers.attention(x @ wq, *cache)[0]
    return table.log_softmax((x + o) @ e.T, temperature=temperature)[0], *cache


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
    complete = np.shape(keys) == np.shape(values) == (5, 2) and np.allclose([keys, values], [x @ WK, x @ WV])
    if not complete:
        return "after five steps the cache does not hold the keys and values of the five tokens"
    same = np.allclose(log_probs, expected)
    return None if same else "five steps give other log-probabilities than one pass over the whole text"


def _frequencies(f):
    """Compare each token's share of evenly spaced uniform numbers with its probability."""
    uniforms = (np.arange(40) + 0.5) / 40
    sampled = [f(0, KEYS, VALUES, *WEIGHTS, uniform, 2.0)[:2] for uniform in uniforms.tolist()]
    for token, log_prob in sampled:
        share = np.mean([other == token for other, _ in sampled])
        if abs(share - np.exp(log_prob)) > 1 / 40:
            return (
                f"token {token} was sampled for {share:.1%} of 40 evenly spaced numbers u, but its"
                f" log-probability says {np.exp(log_prob):.1%}"
            )
    return None


LOG3 = np.log(3.0)

CHECKS = (
    Case(
        "A cache of one token, at temperature 2",
        (
            0,
            [[0.0, 0.0]],
            [[4.0, 0.0]],
            [[2.0, np.sqrt(2.0) * LOG3], [3.0, 4.0]],
            [[0.0, 1.0], [5.0, -1.0]],
            [[0.0, 4.0], [9.0, 9.0]],
            [[1.0, 0.0], [0.0, 1.0]],
            0.9,
            2.0,
        ),
        (1, -np.log1p(np.exp(-0.5)), np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[4.0, 0.0], [0.0, 4.0]])),
        why=(
            "q = (2, √2 log 3), k = (0, 1) and v = (0, 4). The scores are 0 and log 3, so the weights are 1/4 and 3/4,"
            " and x + o = (2, 3). The logits are (1, 1.5), and only the last sum is above 0.9."
        ),
        shown=True,
    ),
    Case(
        "Equal scores, three tokens",
        (
            1,
            [[1.0, 1.0]],
            [[2.0 * LOG3, -2.0]],
            [[0.0, 0.0], [0.0, 0.0]],
            [[7.0, 7.0], [5.0, -1.0]],
            [[9.0, 9.0], [0.0, 0.0]],
            [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            0.5,
        ),
        (1, -np.log(7.0), np.array([[1.0, 1.0], [5.0, -1.0]]), np.array([[2.0 * LOG3, -2.0], [0.0, 0.0]])),
        why=(
            "Both scores are 0, so o is half of the cached value and x + o = (log 3, 0). π = (3/7, 1/7, 3/7), and the"
            " second sum, 4/7, is the first above 0.5."
        ),
        shown=True,
    ),
    Case(
        "One number per token",
        (0, [[0.0]], [[0.0]], [[LOG3]], [[1.0]], [[4.0]], [[1.0], [0.0]], 0.9, 2.0),
        (1, -np.log1p(np.exp(2.0)), np.array([[0.0], [1.0]]), np.array([[0.0], [4.0]])),
        why=(
            "q = log 3, k = 1 and v = 4. The scores are 0 and log 3, so o = 3 and x + o = 4. The logits are 2 and 0,"
            " π = (0.8808, 0.1192), and the first sum is not above 0.9."
        ),
    ),
    Case(
        "An empty cache",
        (
            1,
            EMPTY,
            EMPTY,
            [[1.0, 2.0], [3.0, 4.0]],
            [[1.0, 0.0], [5.0, -1.0]],
            [[9.0, 9.0], [0.0, LOG3 - 1.0]],
            [[1.0, 0.0], [0.0, 1.0]],
            0.2,
        ),
        (0, np.log(0.25), np.array([[5.0, -1.0]]), np.array([[0.0, LOG3 - 1.0]])),
        why="The token sees only itself, so o = v and x + o = (0, log 3). π = (1/4, 3/4), and 1/4 is above 0.2.",
    ),
    Case(
        "Four numbers per token",
        (
            0,
            [[2.0 * LOG3, 0.0, 0.0, 0.0]],
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
            np.array([[2.0 * LOG3, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
            np.array([[0.0, 0.0, 0.0, 8.0], [4.0, 0.0, 0.0, 0.0]]),
        ),
        why=(
            "√4 = 2, so the scores are log 3 and 0, the weights 3/4 and 1/4, and x + o = (2, 0, 0, 6). The logits are 2"
            " and 6."
        ),
    ),
    Case(
        "Scores and logits of 10000",
        (0, [[100.0], [-100.0]], [[2.0], [7.0]], [[10.0]], [[10.0]], [[0.4]], [[10.0], [-10.0]], 0.9, 0.012),
        (0, 0.0, np.array([[100.0], [-100.0], [100.0]]), np.array([[2.0], [7.0], [4.0]])),
        why=(
            "The scores are 10000, -10000 and 10000, so the weights are 1/2, 0 and 1/2, and o = 3. The logits are"
            " 130/0.012 and -130/0.012."
        ),
    ),
    Case(
        "A low temperature and two close logits",
        (0, [[1.0]], [[1.0]], [[0.0]], [[0.0]], [[0.0]], [[2.0], [1.999], [-2.0]], 0.8, 0.01),
        (1, -np.log1p(np.exp(0.25)), np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]])),
        why="All scores are 0, so o = 1/2 and x + o = 2.5. The logits are 500, 499.75 and -500.",
    ),
    Holds(
        "Equal to a pass without a cache",
        _same_without_a_cache,
        why="A cache saves computation and does not change the results.",
    ),
    Holds(
        "Tokens have the reported probabilities",
        _frequencies,
        why="The token is sampled from the distribution whose log-probability is returned.",
    ),
    Unchanged((0, KEYS.tolist(), VALUES.tolist(), *WEIGHTS, 0.5)),
)
