"""Wrong answers to `network/next_token`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.next_token.tests import log_probs_of, named, reference


def _softmax(z):
    exponentials = np.exp(z - z.max(initial=-np.inf))
    return exponentials / exponentials.sum()


def _unstable(z):
    return np.exp(z) / np.exp(z).sum()


def _added(old, new):
    return np.vstack([old, new])


def _score(q, keys):
    return keys @ q / np.sqrt(len(q))


def _first_above(probs, u):
    return int((probs.cumsum()[:-1] <= u).sum())


def _of(
    project=lambda x, w: x @ w,
    score=_score,
    weights=_softmax,
    seen=_added,
    kept=_added,
    logits=lambda e, x, o: e @ (x + o),
    probs=lambda z, t: _softmax(z / t),
    pick=_first_above,
    told=lambda z, t, b: np.log(_softmax(z / t)[b]),
):
    """Return an answer. Its `seen` and `kept` receive the cache and the new row, and return the rows that are
    attended to and the rows that are returned.
    """

    def answer(
        token,
        keys,
        values,
        wq,
        wk,
        wv,
        embeddings,
        uniform,
        temperature=1.0,
    ):
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


def _with(**changes):
    """Return the right answer to changed arguments. Each change receives all arguments by name."""

    def answer(*arguments, **keywords):
        given = named(arguments, keywords)
        return reference(**given | {name: change(given) for name, change in changes.items()})

    return answer


def _returning(change):
    """Return the right answer with its key and value changed by `change`, which receives the arguments by
    name.
    """

    def answer(*arguments, **keywords):
        given = named(arguments, keywords)
        chosen, log_prob, keys, values = reference(**given)
        return chosen, log_prob, *change(given, keys, values)

    return answer


def _row(given, weights):
    return np.asarray(given["embeddings"], float)[given["token"]] @ np.asarray(given[weights], float)


def _query_kept(given, keys, values):
    return _added(keys[:-1], _row(given, "wq")), values


def _scaled_key_kept(given, keys, values):
    return _added(keys[:-1], keys[-1] / np.sqrt(keys.shape[-1])), values


def _of_the_next(given, keys, values):
    later = given | {"token": reference(**given)[0]}
    return _added(keys[:-1], _row(later, "wk")), _added(values[:-1], _row(later, "wv"))


def _of_the_given(*arguments, **keywords):
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


def _projected_again(given, name, weights):
    return np.asarray(given[name], float) @ np.asarray(given[weights], float)


def _looking_at_projected(*arguments, **keywords):
    chosen, log_prob, *_ = _with(
        keys=lambda given: _projected_again(given, "keys", "wk"),
        values=lambda given: _projected_again(given, "values", "wv"),
    )(*arguments, **keywords)
    return chosen, log_prob, *reference(*arguments, **keywords)[2:]


WRONG = (
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
    Mutant("not scaled", _of(score=lambda q, keys: keys @ q), "The scores of the attention lack the 1/√D."),
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
    Mutant("no residual", _of(logits=lambda e, x, o: e @ o), "x is missing: the logits are E (x + o) / τ."),
    Mutant("no attention", _of(logits=lambda e, x, o: e @ x), "o is missing: the logits are E (x + o) / τ."),
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
)
