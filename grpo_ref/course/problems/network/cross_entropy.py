"""Learning by imitation."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Mask, Real, Whole
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, NEAR_TIES, OFFSET_ROWS
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies import table

DOMAIN = Domain(
    {
        "logits": Real(
            "B T V",
            (-1000.0, 1000.0),
            usual=((-3.0, 3.0), (-30.0, 30.0), (-1000.0, 1000.0)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS),
            meaning="z, what the network says of each place, one row of V numbers",
        ),
        "tokens": Whole(
            (0, "V - 1"), axes="B T", meaning="the token that stands in each place of the example"
        ),
        "mask": Mask("B T", meaning="m, 1 where a token is to be learned, 0 on prompt and padding"),
    },
    sizes={"B": (1, 4), "T": (1, 4), "V": (1, 5)},
    large={"B": 20, "T": 30, "V": 60},
    rules=(Rule("At least one entry of the mask is 1.", lambda values: bool(np.any(values["mask"]))),),
)


def _reference(logits: Any, tokens: Any, mask: Any) -> Any:
    logits, mask = np.asarray(logits, float), np.asarray(mask, float)
    policy = table.policy_of(logits.reshape(-1, logits.shape[-1]))
    states, chosen = np.arange(mask.size).reshape(1, *mask.shape), np.asarray(tokens)[None]
    weights = mask[None] / mask.sum()
    slope = table.pull_back(-weights, states, chosen, policy.probs)
    return -float((weights * table.gather(policy.log_probs, states, chosen)).sum()), slope.reshape(
        logits.shape
    )


def _of(
    loss: Any = lambda log_probs: -log_probs,
    slope: Any = lambda probs, one_hot: probs - one_hot,
    weights: Any = lambda mask: mask / mask.sum(),
    log_probs: Any = table.log_softmax,
) -> Function:
    """Return an answer. Its `loss` receives the log-probability of each token, its `slope` π and the one-hot
    tokens.
    """

    def answer(logits: Any, tokens: Any, mask: Any) -> Any:
        z, m = np.asarray(logits, float), np.asarray(mask, float)
        one_hot, logs, shares = np.eye(z.shape[-1])[np.asarray(tokens)], log_probs(z), weights(m)
        value = (shares * loss((logs * one_hot).sum(-1))).sum()
        return float(value), shares[..., None] * slope(np.exp(logs), one_hot)

    return answer


def _with(value: Any = None, slope: Any = None) -> Function:
    """Return the right answer with its value or its slope changed afterwards."""

    def answer(logits: Any, tokens: Any, mask: Any) -> Any:
        right = _reference(logits, tokens, mask)
        m = np.asarray(mask, float)
        return value(right[0], m) if value else right[0], slope(right[1], m) if slope else right[1]

    return answer


def _shifted(logits: Any, tokens: Any, mask: Any) -> Any:
    return _reference(logits, np.roll(np.asarray(tokens), -1, axis=-1), mask)


def _mean_of_means(mask: Any) -> Any:
    lengths = mask.sum(-1, keepdims=True)
    return mask / np.maximum(lengths, 1.0) / (lengths > 0).sum()


def _bare_log_softmax(logits: Any) -> Any:
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


LOGITS = np.array([[[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]], [[-0.7, 0.2, 0.1], [2.0, 2.0, -1.0]]])
TOKENS, MASK = np.array([[2, 0], [1, 1]]), np.array([[1, 1], [1, 0]])
H = 1e-6


def _is_the_derivative(f: Function) -> str | None:
    slope, numerical = np.asarray(f(LOGITS, TOKENS, MASK)[1]), np.zeros(LOGITS.shape)
    for place in np.ndindex(LOGITS.shape):
        step = np.zeros(LOGITS.shape)
        step[place] = H
        ends = [_reference(LOGITS + sign * step, TOKENS, MASK)[0] for sign in (1.0, -1.0)]
        numerical[place] = (ends[0] - ends[1]) / (2.0 * H)
    return None if np.allclose(slope, numerical, atol=1e-8) else "the slope differs from a central difference"


def _elsewhere_does_not_matter(f: Function) -> str | None:
    logits, tokens = LOGITS.copy(), TOKENS.copy()
    logits[1, 1], tokens[1, 1] = [-9.0, 5.0, 700.0], 0
    (loss, slope), (other, others) = f(LOGITS, TOKENS, MASK), f(logits, tokens, MASK)
    same = (
        np.allclose(loss, other) and np.allclose(slope, others) and np.allclose(np.asarray(slope)[1, 1], 0.0)
    )
    return None if same else "a place where the mask is 0 has reached the loss or has a slope"


PROBLEM = Problem(
    id="network/cross_entropy",
    title="Learning by imitation",
    function="cross_entropy",
    reference=_reference,
    background=(
        "Before a model is rewarded it learns to speak, by imitation: it reads examples, and every token of an example"
        " is made likelier after what came before it. The number that falls on the way is the cross-entropy, the mean"
        " of -log π(token). It is a policy gradient with the simplest of all advantages: whatever stands in the example"
        " is good. Pretraining, fine-tuning on chosen answers and the first stage of nearly every recipe for reasoning"
        " models are this loss; they differ in what is masked. Prompts are not learned, and padding is not either."
    ),
    task=(
        "Write `cross_entropy(logits, tokens, mask)`: the loss, and its slope with respect to the logits,\n\n"
        "    loss = -Σ m log π(token) / Σ m\n"
        "    ∂loss/∂z[b, t, a] = m[b, t] (π[b, t, a] - 1[a = tokens[b, t]]) / Σ m\n\n"
        "π[b, t] is the softmax of the row z[b, t] of logits, and π(token) its entry for the token that stands there."
        " 1[a = token] is 1 for that token and 0 for all others. The sums run over all places of all examples, so that"
        " every token of the batch counts the same. Logits may be large: a difference of a thousand is a probability"
        " of 0, not an overflow, and its logarithm is about -1000, not -∞."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple: the loss, a number in nats, and its slope of shape (B, T, V), which is 0 where the mask is 0.",
    constraints=(
        "tokens[b, t] is the token that the row logits[b, t] speaks of: nothing has to be shifted here.\n"
        "Logits and tokens are as described where the mask is 0, too, but do not matter there."
    ),
    notes=(
        "PyTorch's `cross_entropy` marks what is not learned by the token -100 (`ignore_index`) and takes the same mean."
        " A network that knows nothing has a loss of log V. grpo_ref computes this in"
        " grpo_ref.learning.pretraining.likelihood_gradient, by the policy gradient of chapter 7."
    ),
    source="Goodfellow, Bengio and Courville, Deep Learning, sec. 5.5 and 6.2.2.",
    hints=(
        "You have written the two halves: the log-softmax in chapter 1, its way back in chapter 7. What is g here?",
        "g = -m / Σ m for each token. np.take_along_axis picks the tokens' log-probabilities, np.eye(V)[tokens] is 1[·].",
        "w = mask / mask.sum(); -(w * picked).sum(), w[..., None] * (np.exp(log_probs) - np.eye(V)[tokens])",
    ),
    checks=(
        Case(
            "A fair coin",
            ([[[0.0, 0.0]]], [[0]], [[1]]),
            (np.log(2.0), np.array([[[-0.5, 0.5]]])),
            why="π = 1/2, 1/2, so the loss is log 2 = 0.693147, and the slope 1/2 - 1 and 1/2.",
            shown=True,
        ),
        Case(
            "Two tokens and a prompt",
            (
                [[[5.0, -5.0], [0.0, 0.0]], [[np.log(3.0), 0.0], [7.0, 7.0]]],
                [[1, 0], [1, 0]],
                [[0, 1], [1, 0]],
            ),
            (
                np.log(8.0) / 2.0,
                np.array([[[0.0, 0.0], [-0.25, 0.25]], [[0.375, -0.375], [0.0, 0.0]]]),
            ),
            why=(
                "Two places count, one of each example, with -log 1/2 and -log 1/4: the mean is log 8 / 2 = 1.03972."
                " Their slopes are half of (1/2 - 1, 1/2) and of (3/4, 1/4 - 1); the others are 0."
            ),
            shown=True,
        ),
        Case(
            "A long and a short example",
            (np.tile([np.log(3.0), 0.0], (2, 3, 1)), [[0, 0, 0], [1, 0, 0]], [[1, 1, 1], [1, 0, 0]]),
            (
                np.log(4.0) - 0.75 * np.log(3.0),
                np.array(
                    [
                        [[-0.0625, 0.0625], [-0.0625, 0.0625], [-0.0625, 0.0625]],
                        [[0.1875, -0.1875], [0.0, 0.0], [0.0, 0.0]],
                    ]
                ),
            ),
            why="four tokens count alike: three with π = 3/4, one with π = 1/4",
        ),
        Case(
            "Logits of 1000",
            ([[[1000.0, 0.0], [0.0, -1000.0]]], [[1, 0]], [[1, 1]]),
            (500.0, np.array([[[0.5, -0.5], [0.0, 0.0]]])),
            why="the first token has the log-probability -1000, the second one 0",
        ),
        Holds("It is the derivative", _is_the_derivative, why="checked by central differences"),
        Holds(
            "Where the mask is 0 nothing matters",
            _elsewhere_does_not_matter,
            why="that is what a mask is for",
        ),
        Unchanged((LOGITS, TOKENS, MASK)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("sum for mean", _of(weights=lambda mask: mask), "The loss is a mean: divide by Σ m."),
        Mutant(
            "mean over all places",
            _of(weights=lambda mask: mask / mask.size),
            "What is masked is counted below: divide by Σ m, not by the number of all places.",
        ),
        Mutant(
            "mean of means",
            _of(weights=_mean_of_means),
            "Every token counts the same; here each example does, whatever its length.",
        ),
        Mutant(
            "mask not used",
            _of(weights=lambda mask: np.ones_like(mask) / mask.size),
            "The mask is not used: prompt and padding are learned too.",
        ),
        Mutant(
            "slope without the mean",
            _with(slope=lambda slope, mask: slope * mask.sum()),
            "The slope lacks the factor 1/Σ m that the loss has.",
        ),
        Mutant(
            "slope on masked places",
            _of(
                slope=lambda probs, one_hot: probs - one_hot,
                weights=lambda mask: np.where(mask > 0, mask, 1.0) / mask.sum(),
            ),
            "There is a slope where the mask is 0.",
        ),
        Mutant(
            "log-likelihood",
            _of(loss=lambda log_probs: log_probs, slope=lambda probs, one_hot: one_hot - probs),
            "The sign is turned over: this grows when the examples get likelier.",
        ),
        Mutant(
            "sign of the slope",
            _with(slope=lambda slope, mask: -slope),
            "The slope is that of the log-likelihood; the loss has the opposite sign.",
        ),
        Mutant(
            "one-hot only",
            _of(slope=lambda probs, one_hot: -one_hot),
            "π is missing in the slope: raising one logit lowers all other tokens.",
        ),
        Mutant(
            "of the probability",
            _of(slope=lambda probs, one_hot: (probs * one_hot).sum(-1, keepdims=True) * (probs - one_hot)),
            "This is the slope of -π(token), not of -log π(token).",
        ),
        Mutant(
            "perplexity",
            _with(value=lambda loss, mask: np.exp(loss)),
            "This is the perplexity, e to the loss.",
        ),
        Mutant(
            "base 2", _with(value=lambda loss, mask: loss / np.log(2.0)), "The logarithm is the natural one."
        ),
        Mutant(
            "overflow", _of(log_probs=_bare_log_softmax), "Large logits overflow; subtract the maximum first."
        ),
        Mutant(
            "a small number inside",
            _of(log_probs=lambda logits: np.log(np.exp(table.log_softmax(logits)) + 1e-12)),
            "A small number inside the logarithm floors every log-probability.",
        ),
        Mutant(
            "shifted", _shifted, "The tokens are shifted once more; tokens[b, t] belongs to logits[b, t]."
        ),
    ),
    others={
        "place by place": _of(
            loss=lambda log_probs: np.negative(log_probs), slope=lambda p, e: p * (1.0 - e) + (p - 1.0) * e
        )
    },
)
