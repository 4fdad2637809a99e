"""Wrong answers to `network/next_token`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.next_token.tests import log_probs_of, named, reference


def _softmax(z):
    exponentials = np.exp(z - z.max(initial=-np.inf))
    return exponentials / exponentials.sum()


def _log_softmax(z):
    return z - z.max() - np.log(np.exp(z - z.max()).sum())


def _unstable(z):
    return np.exp(z) / np.exp(z).sum()


def _appended(old, new):
    return np.vstack([old, new])


def _first_above(probs, u):
    return int((probs.cumsum()[:-1] <= u).sum())


def _answer(
    project=lambda x, w: x @ w,
    score=lambda q, keys: keys @ q / np.sqrt(len(q)),
    weights=_softmax,
    seen=_appended,
    returned=_appended,
    logits=lambda e, x, o: e @ (x + o),
    probs=lambda z, t: _softmax(z / t),
    pick=_first_above,
    log_prob=lambda z, t, b: np.log(_softmax(z / t)[b]),
):
    """Return an answer. Its `seen` and `returned` receive the cache and the new row, and return the rows that
    the token attends to and the rows of the new cache.
    """

    def answer(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
        keys, values, wq, wk, wv, e = (
            np.asarray(each, float) for each in (keys, values, wq, wk, wv, embeddings)
        )
        x = e[token]
        q, k, v = (project(x, w) for w in (wq, wk, wv))
        o = weights(score(q, seen(keys, k))) @ seen(values, v)
        z = logits(e, x, o)
        chosen = pick(probs(z, temperature), uniform)
        cache = returned(keys, k), returned(values, v)
        return chosen, float(log_prob(z, temperature, chosen)), *cache

    return answer


def _with(**changes):
    """Return the right answer to changed arguments. Each change receives all arguments by name."""

    def answer(*arguments, **keywords):
        given = named(arguments, keywords)
        return reference(**given | {name: change(given) for name, change in changes.items()})

    return answer


def _returning(change):
    """Return the right answer with its cache changed by `change`, which receives the arguments by name."""

    def answer(*arguments, **keywords):
        given = named(arguments, keywords)
        chosen, log_prob, keys, values = reference(**given)
        return chosen, log_prob, *change(given, keys, values)

    return answer


def _row(given, weights):
    return np.asarray(given["embeddings"], float)[given["token"]] @ np.asarray(given[weights], float)


def _query_cached(given, keys, values):
    return _appended(keys[:-1], _row(given, "wq")), values


def _scaled_key_cached(given, keys, values):
    return _appended(keys[:-1], keys[-1] / np.sqrt(keys.shape[-1])), values


def _next_token_cached(given, keys, values):
    later = given | {"token": reference(**given)[0]}
    return _appended(keys[:-1], _row(later, "wk")), _appended(values[:-1], _row(later, "wv"))


def _log_prob_of_the_newest(*arguments, **keywords):
    given = named(arguments, keywords)
    chosen, _, keys, values = reference(**given)
    del given["uniform"]
    return chosen, float(log_probs_of(**given)[0][given["token"]]), keys, values


def _into_the_same_list(*arguments, **keywords):
    value = reference(*arguments, **keywords)
    for cache, grown in zip(arguments[1:3], value[2:], strict=True):
        if isinstance(cache, list):
            cache.append(grown[-1].tolist())
    return value


def _cache_projected_again(*arguments, **keywords):
    chosen, log_prob, *_ = _with(
        keys=lambda given: np.asarray(given["keys"], float) @ np.asarray(given["wk"], float),
        values=lambda given: np.asarray(given["values"], float) @ np.asarray(given["wv"], float),
    )(*arguments, **keywords)
    return chosen, log_prob, *reference(*arguments, **keywords)[2:]


WRONG = (
    Mutant(
        "appends to the lists that were given",
        _into_the_same_list,
        "Appends to the caller's lists; return new arrays.",
    ),
    Mutant(
        "cache not extended",
        _answer(returned=lambda old, new: old),
        "Returns the cache without the key and the value of the newest token.",
    ),
    Mutant(
        "not itself",
        _answer(seen=lambda old, new: old if len(old) else np.zeros((1, len(new)))),
        "Attends to the earlier tokens only; the newest token sees itself too.",
    ),
    Mutant(
        "itself alone",
        _answer(seen=lambda old, new: new[None]),
        "Attends to the newest token only and ignores the cache.",
    ),
    Mutant(
        "in front",
        _answer(returned=lambda old, new: np.vstack([new, old])),
        "Puts the newest key and value in the first row of the cache; they belong in the last.",
    ),
    Mutant(
        "a window",
        _answer(returned=lambda old, new: np.vstack([old, new])[-max(len(old), 1) :]),
        "Drops the oldest key and value from the cache.",
    ),
    Mutant("query cached", _returning(_query_cached), "Adds the query to the cache instead of the key."),
    Mutant(
        "scaled key cached",
        _returning(_scaled_key_cached),
        "Divides the cached key by √D; the scores are divided, not the keys.",
    ),
    Mutant(
        "the next token cached",
        _returning(_next_token_cached),
        "Adds the key and the value of the sampled token to the cache, not those of the newest token.",
    ),
    Mutant(
        "cache projected again",
        _cache_projected_again,
        "Multiplies the cached rows by Wk and Wv; they are keys and values already.",
    ),
    Mutant(
        "not scaled",
        _answer(score=lambda q, keys: keys @ q),
        "Does not divide the scores of the attention by √D.",
    ),
    Mutant(
        "divided by D",
        _answer(score=lambda q, keys: keys @ q / len(q)),
        "Divides the scores by D; the formula has the root of D.",
    ),
    Mutant(
        "weights transposed",
        _answer(project=lambda x, w: w @ x),
        "Multiplies W by x from the right; x W is `x @ w`.",
    ),
    Mutant(
        "x not added", _answer(logits=lambda e, x, o: e @ o), "Omits x; the logits are products with x + o."
    ),
    Mutant(
        "o not added", _answer(logits=lambda e, x, o: e @ x), "Omits o; the logits are products with x + o."
    ),
    Mutant(
        "temperature not used",
        _answer(probs=lambda z, t: _softmax(z), log_prob=lambda z, t, b: _log_softmax(z)[b]),
        "Ignores the temperature.",
    ),
    Mutant(
        "log-probability at temperature 1",
        _answer(log_prob=lambda z, t, b: _log_softmax(z)[b]),
        "Returns the log-probability at temperature 1, although the token is sampled at τ.",
    ),
    Mutant(
        "log-probability divided by the temperature",
        _answer(log_prob=lambda z, t, b: _log_softmax(z)[b] / t),
        "Divides the log-probability by τ; the logits are divided, before the softmax.",
    ),
    Mutant(
        "temperature for the log-probability alone",
        _answer(probs=lambda z, t: _softmax(z)),
        "Samples the token at temperature 1, although its log-probability is at τ.",
    ),
    Mutant(
        "multiplied by the temperature",
        _with(temperature=lambda given: 1.0 / given["temperature"]),
        "Multiplies the logits by τ instead of dividing them.",
    ),
    Mutant(
        "temperature in the attention too",
        _with(wq=lambda given: np.asarray(given["wq"], float) / given["temperature"]),
        "Divides the scores of the attention by τ too; τ divides only the logits.",
    ),
    Mutant(
        "greedy",
        _answer(pick=lambda probs, u: int(probs.argmax())),
        "Takes the most probable token and ignores u.",
    ),
    Mutant(
        "from the other end",
        _with(uniform=lambda given: 1.0 - given["uniform"]),
        "Uses 1 - u instead of u, or sums the probabilities from the last token.",
    ),
    Mutant(
        "the token before",
        _answer(pick=lambda probs, u: max(_first_above(probs, u) - 1, 0)),
        "Takes the token before the right one; the next token is the first whose sum is larger than u.",
    ),
    Mutant(
        "sorted first",
        _answer(pick=lambda probs, u: int(np.argsort(-probs)[_first_above(-np.sort(-probs), u)])),
        "Sorts the probabilities before it sums them; the sums run over the tokens in their order.",
    ),
    Mutant(
        "probability",
        _answer(log_prob=lambda z, t, b: _softmax(z / t)[b]),
        "Returns the probability of the token, without the logarithm.",
    ),
    Mutant(
        "log-probability of the newest token",
        _log_prob_of_the_newest,
        "Returns the log-probability of the newest token, not of the sampled one.",
    ),
    Mutant(
        "scores overflow",
        _answer(weights=_unstable),
        "Exponentiates large scores of the attention, which overflow; subtract the maximum first.",
    ),
    Mutant(
        "logits overflow",
        _answer(probs=lambda z, t: _unstable(z / t), log_prob=lambda z, t, b: np.log(_unstable(z / t)[b])),
        "Exponentiates large logits, which overflow; subtract the maximum first.",
    ),
)
