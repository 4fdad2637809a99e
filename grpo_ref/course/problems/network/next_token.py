"""One token more."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import REQUIRED, Range, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
    copied,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.problems.heads import ROWS
from grpo_ref.learning.policies import layers, table
from grpo_ref.learning.policies.sampling import distribution_functions, inverted

MARGIN = 1e-8
"""Smallest distance of the uniform number from a sum of probabilities, so that rounding does not choose the
token.
"""


def _numbers(axes: str, largest: float, usual: Range, meaning: str) -> Real:
    within = (-largest, largest)
    return Real(axes, within, usual=(usual, (-3.0, 3.0), within), rows=ROWS, meaning=meaning)


def _beside_the_sums(given: Any) -> bool:
    sums = np.exp(_log_probs_of(**{name: given[name] for name in given if name != "uniform"})[0]).cumsum()
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


def _log_probs_of(
    token: Any, keys: Any, values: Any, wq: Any, wk: Any, wv: Any, embeddings: Any, temperature: Any = 1.0
) -> Any:
    """Return log π (V,) of every token that may follow, and the extended keys and values."""
    wq, wk, wv, e = (np.asarray(each, float) for each in (wq, wk, wv, embeddings))
    x = e[[token]]
    grown = np.concatenate([keys, x @ wk]), np.concatenate([values, x @ wv])
    o = layers.attention(x @ wq, *grown)[0]
    return table.log_softmax((x + o) @ e.T, temperature=temperature)[0], *grown


def _named(arguments: Any, keywords: Any) -> dict[str, Any]:
    """Return the function's arguments by name."""
    return {"temperature": 1.0, **dict(zip(DOMAIN.arguments, arguments, strict=False)), **keywords}


def _reference(*arguments: Any, **keywords: Any) -> Any:
    given = _named(arguments, keywords)
    uniform = np.asarray([given.pop("uniform")], float)
    log_probs, keys, values = _log_probs_of(**given)
    sums = distribution_functions(np.exp(log_probs))
    chosen = int(inverted(sums, np.zeros(1, dtype=np.int64), uniform)[0])
    return chosen, float(log_probs[chosen]), keys, values


def _softmax(z: Any) -> Any:
    exponentials = np.exp(z - z.max(initial=-np.inf))
    return exponentials / exponentials.sum()


def _unstable(z: Any) -> Any:
    return np.exp(z) / np.exp(z).sum()


def _added(old: Any, new: Any) -> Any:
    return np.vstack([old, new])


def _score(q: Any, keys: Any) -> Any:
    return keys @ q / np.sqrt(len(q))


def _first_above(probs: Any, u: float) -> int:
    return int((probs.cumsum()[:-1] <= u).sum())


def _of(
    project: Any = lambda x, w: x @ w,
    score: Any = _score,
    weights: Any = _softmax,
    seen: Any = _added,
    kept: Any = _added,
    logits: Any = lambda e, x, o: e @ (x + o),
    probs: Any = lambda z, t: _softmax(z / t),
    pick: Any = _first_above,
    told: Any = lambda z, t, b: np.log(_softmax(z / t)[b]),
) -> Function:
    """Return an answer. Its `seen` and `kept` receive the cache and the new row, and return the rows that are
    attended to and the rows that are returned.
    """

    def answer(
        token: Any,
        keys: Any,
        values: Any,
        wq: Any,
        wk: Any,
        wv: Any,
        embeddings: Any,
        uniform: Any,
        temperature: Any = 1.0,
    ) -> Any:
        keys, values, wq, wk, wv, e = (
            np.asarray(each, float) for each in (keys, values, wq, wk, wv, embeddings)
        )
        x = e[token]
        q, k, v = (project(x, w) for w in (wq, wk, wv))
        o = weights(score(q, seen(keys, k))) @ seen(values, v)
        z = logits(e, x, o)
        chosen = pick(probs(z, temperature), uniform)
        return chosen, float(told(z, temperature, chosen)), kept(keys, k), kept(values, v)

    return answer


def _with(**changes: Any) -> Function:
    """Return the right answer to changed arguments. Each change receives all arguments by name."""

    def answer(*arguments: Any, **keywords: Any) -> Any:
        given = _named(arguments, keywords)
        return _reference(**given | {name: change(given) for name, change in changes.items()})

    return answer


def _returning(change: Any) -> Function:
    """Return the right answer with its key and value changed by `change`, which receives the arguments by
    name.
    """

    def answer(*arguments: Any, **keywords: Any) -> Any:
        given = _named(arguments, keywords)
        chosen, log_prob, keys, values = _reference(**given)
        return chosen, log_prob, *change(given, keys, values)

    return answer


def _row(given: Any, weights: str) -> Any:
    return np.asarray(given["embeddings"], float)[given["token"]] @ np.asarray(given[weights], float)


def _query_kept(given: Any, keys: Any, values: Any) -> Any:
    return _added(keys[:-1], _row(given, "wq")), values


def _scaled_key_kept(given: Any, keys: Any, values: Any) -> Any:
    return _added(keys[:-1], keys[-1] / np.sqrt(keys.shape[-1])), values


def _of_the_next(given: Any, keys: Any, values: Any) -> Any:
    later = given | {"token": _reference(**given)[0]}
    return _added(keys[:-1], _row(later, "wk")), _added(values[:-1], _row(later, "wv"))


def _of_the_given(*arguments: Any, **keywords: Any) -> Any:
    given = _named(arguments, keywords)
    chosen, _, keys, values = _reference(**given)
    del given["uniform"]
    return chosen, float(_log_probs_of(**given)[0][given["token"]]), keys, values


def _into_the_same_list(*arguments: Any, **keywords: Any) -> Any:
    value = _reference(*arguments, **keywords)
    for cache, grown in zip(arguments[1:3], value[2:], strict=True):
        if isinstance(cache, list):
            cache.append(grown[-1].tolist())
    return value


def _projected_again(given: Any, name: str, weights: str) -> Any:
    return np.asarray(given[name], float) @ np.asarray(given[weights], float)


def _looking_at_projected(*arguments: Any, **keywords: Any) -> Any:
    chosen, log_prob, *_ = _with(
        keys=lambda given: _projected_again(given, "keys", "wk"),
        values=lambda given: _projected_again(given, "values", "wv"),
    )(*arguments, **keywords)
    return chosen, log_prob, *_reference(*arguments, **keywords)[2:]


WQ = np.array([[0.8, -0.5], [0.3, 1.1]])
WK = np.array([[-0.6, 1.2], [0.9, 0.4]])
WV = np.array([[1.5, -0.7], [-0.2, 0.6]])
EMBEDDINGS = np.array([[1.0, -0.4], [0.2, 0.9], [-0.8, 0.5]])
WEIGHTS = (WQ, WK, WV, EMBEDDINGS)
KEYS, VALUES = np.array([[0.5, -1.0], [2.0, 0.3]]), np.array([[1.0, 0.2], [-0.4, 0.9]])
EMPTY = np.zeros((0, 2))


def _same_without_a_cache(f: Function) -> str | None:
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


def _as_often_as_it_says(f: Function) -> str | None:
    """Compare each token's share of evenly spaced uniform numbers with its probability."""
    uniforms = (np.arange(40) + 0.5) / 40
    drawn = [f(0, KEYS, VALUES, *WEIGHTS, uniform, 2.0)[:2] for uniform in uniforms.tolist()]
    for token, log_prob in drawn:
        share = np.mean([other == token for other, _ in drawn])
        if abs(share - np.exp(log_prob)) > 1 / 40:
            return f"token {token} came for {share:.1%} of 40 even numbers u; its log-probability says {np.exp(log_prob):.1%}"
    return None


PROBLEM = Problem(
    id="network/next_token",
    title="One token more",
    function="next_token",
    reference=_reference,
    background=(
        "A language model writes one token at a time: the network reads the newest token and says how likely every"
        " token of the vocabulary is to come next, and one of them is drawn. Attention needs the keys and values of all"
        " tokens so far. But since no token sees what comes after it, the keys and values of the earlier tokens never"
        " change. They are kept, in the key/value cache, and a step computes those of the newest token only. In training"
        " with rewards, much of the time goes into such steps. Two things are kept of each for the update: the token,"
        " and its log-probability, which is the log π_old in the ratio of chapter 3."
    ),
    task=(
        "Write `next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0)`, one such step for a"
        " network of one layer with one head. The row of the token gives a query, a key and a value. The key and the"
        " value become the last rows of the cache, and then the token looks at the whole cache, itself included:\n\n"
        "    x = E[token],  q = x Wq,  k = x Wk,  v = x Wv\n"
        "    keys' = keys with the row k below,  values' = values with the row v below\n"
        "    s[j] = q · keys'[j] / √D,  A = softmax(s),  o = Σ_j A[j] values'[j]\n\n"
        "The output o is added to x (the residual connection). The products of this sum with the rows of E, divided by"
        " the temperature τ, are the logits. The next token is drawn as in chapter 1: it is the first one at which the"
        " sum of the probabilities so far is larger than u.\n\n"
        "    z[b] = E[b] · (x + o) / τ,  π = softmax(z)\n"
        "    next = min { b : π[0] + ... + π[b] > u },  log-probability = log π[next]\n\n"
        "x W is the product of a row with a matrix, `x @ w`, and q · k is the sum of the products. The temperature"
        " divides the logits alone, not the scores of the attention. The log-probability is that of the distribution"
        " from which the token was drawn, temperature included."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output=(
        "A tuple of four: the next token, a whole number from 0 to V - 1; its log-probability, a number in nats; and"
        " keys' and values', each of shape (N + 1, D)."
    ),
    constraints=(
        "The cache is empty before the first token: N = 0, arrays of shape (0, D). Then o = v.\n"
        "Every result is finite, however large the scores and the logits are and however low the temperature is.\n"
        "keys' and values' are new: what was given stays as it is, lists too."
    ),
    notes=(
        "The temperature of a log-probability has to be the same everywhere. With 0.6 where the token is drawn and 1"
        " where the update computes it again, the ratio is not 1 although nothing was trained. TRL divides the logits by"
        " the temperature when it trains. vLLM returns log-probabilities of temperature 1 unless it is told otherwise"
        ' (logprobs_mode="processed_logprobs"); until TRL told it, ratios of the two were wrong (TRL\'s issue 4159).'
        " prime-rl once divided the log-probabilities by the temperature instead of the logits (its pull request"
        " 697).\n\n"
        "A transformer has several layers and heads, norms, an MLP and positions, which are left out here. The step is"
        " the same: grpo_ref.learning.policies.transformer.Transformer.extend."
    ),
    source="Vaswani et al. 2017, sec. 3.2.1 and 3.4 (arXiv:1706.03762); Shazeer 2019, sec. 2.4 (arXiv:1911.02150).",
    hints=(
        "Which of q, k and v does a later token still need? And what does the newest token look at when the cache is"
        " empty?",
        "np.vstack([keys, x @ wk]) is a new array. A softmax occurs twice: subtract the maximum in both. The second"
        " one as a log-softmax gives the log-probabilities; their exponentials are what np.cumsum adds up.",
        "weights = np.exp(scores - scores.max()); logits = E @ (x + weights @ values / weights.sum()) / temperature;"
        " next = int(np.argmax(np.cumsum(np.exp(log_probs)) > uniform))",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "the cache itself grown",
            _into_the_same_list,
            "The lists that were given have grown; make new ones.",
        ),
        Mutant(
            "cache not grown",
            _of(kept=lambda old, new: old),
            "The cache that is returned lacks the newest token's key and value.",
        ),
        Mutant(
            "not itself",
            _of(seen=lambda old, new: old if len(old) else np.zeros((1, len(new)))),
            "The newest token sees itself too: its key and value belong to those that it looks at.",
        ),
        Mutant(
            "itself alone",
            _of(seen=lambda old, new: new[None]),
            "What is cached is not looked at.",
        ),
        Mutant(
            "in front",
            _of(kept=lambda old, new: np.vstack([new, old])),
            "The newest key and value are the last rows of the cache, not the first.",
        ),
        Mutant(
            "a window",
            _of(kept=lambda old, new: np.vstack([old, new])[-max(len(old), 1) :]),
            "The oldest key and value are dropped from the cache.",
        ),
        Mutant("query kept", _returning(_query_kept), "The cache holds keys, not queries."),
        Mutant(
            "scaled key kept",
            _returning(_scaled_key_kept),
            "The key is kept divided by √D: the next step would divide it once more.",
        ),
        Mutant(
            "key and value of the next token",
            _returning(_of_the_next),
            "The cache gets the key and value of the token that was given, not of the one that was drawn.",
        ),
        Mutant(
            "cache projected again",
            _looking_at_projected,
            "The cache holds keys and values; they are not multiplied with Wk and Wv again.",
        ),
        Mutant(
            "not scaled", _of(score=lambda q, keys: keys @ q), "The scores of the attention lack the 1/√D."
        ),
        Mutant(
            "divided by D",
            _of(score=lambda q, keys: keys @ q / len(q)),
            "The scores are divided by D, not by its root.",
        ),
        Mutant(
            "weights transposed",
            _of(project=lambda x, w: w @ x),
            "This is W x; x W has the row on the left: x @ w.",
        ),
        Mutant(
            "no residual", _of(logits=lambda e, x, o: e @ o), "x is missing: the logits are E (x + o) / τ."
        ),
        Mutant(
            "no attention", _of(logits=lambda e, x, o: e @ x), "o is missing: the logits are E (x + o) / τ."
        ),
        Mutant(
            "temperature not used",
            _of(probs=lambda z, t: _softmax(z), told=lambda z, t, b: np.log(_softmax(z)[b])),
            "The temperature is not used.",
        ),
        Mutant(
            "log-probability at temperature 1",
            _of(told=lambda z, t, b: z[b] - z.max() - np.log(np.exp(z - z.max()).sum())),
            "The token is drawn at the temperature, and its log-probability is that of temperature 1.",
        ),
        Mutant(
            "log-probability divided by the temperature",
            _of(told=lambda z, t, b: (z[b] - z.max() - np.log(np.exp(z - z.max()).sum())) / t),
            "The log-probability is divided by the temperature; it is the logits that are, before the softmax.",
        ),
        Mutant(
            "temperature for the log-probability alone",
            _of(probs=lambda z, t: _softmax(z)),
            "The token is drawn at temperature 1.",
        ),
        Mutant(
            "multiplied with the temperature",
            _with(temperature=lambda given: 1.0 / given["temperature"]),
            "The logits are divided by the temperature.",
        ),
        Mutant(
            "temperature in the attention too",
            _with(wq=lambda given: np.asarray(given["wq"], float) / given["temperature"]),
            "The scores of the attention are divided by the temperature too.",
        ),
        Mutant(
            "greedy",
            _of(pick=lambda probs, u: int(probs.argmax())),
            "This takes the likeliest token and never draws one.",
        ),
        Mutant(
            "from the other end",
            _with(uniform=lambda given: 1.0 - given["uniform"]),
            "The sums of the probabilities begin with token 0, not with the last one.",
        ),
        Mutant(
            "the token before",
            _of(pick=lambda probs, u: max(_first_above(probs, u) - 1, 0)),
            "The token is the first one whose sum is larger than u, not the last one whose sum is not.",
        ),
        Mutant(
            "sorted first",
            _of(pick=lambda probs, u: int(np.argsort(-probs)[_first_above(-np.sort(-probs), u)])),
            "The sums run over the tokens in their order; here the likeliest come first.",
        ),
        Mutant(
            "probability",
            _of(told=lambda z, t, b: _softmax(z / t)[b]),
            "This is the probability, without the logarithm.",
        ),
        Mutant(
            "log-probability of the token before",
            _of_the_given,
            "The log-probability is that of the token that was drawn, not of the one that was given.",
        ),
        Mutant(
            "scores overflow",
            _of(weights=_unstable),
            "Large scores of the attention overflow; subtract their maximum first.",
        ),
        Mutant(
            "logits overflow",
            _of(probs=lambda z, t: _unstable(z / t), told=lambda z, t, b: np.log(_unstable(z / t)[b])),
            "Large logits overflow; subtract their maximum first.",
        ),
    ),
    others={
        "the reference with the cache copied first": lambda *arguments, **keywords: _reference(
            *copied(arguments), **copied(keywords)
        ),
        "counting the sums": _of(),
    },
)
