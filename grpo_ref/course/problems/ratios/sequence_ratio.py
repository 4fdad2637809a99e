"""GSPO's ratio of a whole sequence."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Mask, Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.levels import sequence_mean_level

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "N T",
            (-600, 600),
            usual=((-0.5, 0.5), (-30, 30), (-600, 600)),
            padding="mask",
            meaning="log πθ - log πold of each token, in nats",
        ),
        "mask": Mask("N T", empty_rows=False, nothing=False),
    },
    sizes={"N": (1, 3), "T": (1, 5)},
    large={"N": 40, "T": 200},
)


def _reference(log_ratio: Any, mask: Any) -> Any:
    log_ratio, mask = np.asarray(log_ratio, dtype=float), np.asarray(mask)
    return np.exp(np.where(mask != 0, sequence_mean_level(log_ratio, mask), -np.inf).max(-1))


def _wrong(formula: Any, *, keep_padding: bool = False) -> Function:
    def answer(log_ratio: Any, mask: Any) -> Any:
        x, m = np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=float)
        return formula(x if keep_padding else np.where(m > 0, x, 0.0), m)

    return answer


TABLE, MASK = np.array([[0.1, 0.3, 9.0], [0.6, 0.0, 0.3]]), np.array([[1, 1, 0], [1, 1, 1]])

PROBLEM = Problem(
    id="ratios/sequence_ratio",
    title="One ratio for the whole answer",
    function="sequence_ratio",
    reference=_reference,
    background=(
        "The reward is given to a whole answer (a completion), not to a token; so GSPO takes one ratio for the whole"
        " answer too. How much likelier would the policy (the language model) write it now than when it did? The probability of an answer is the product of those of its"
        " tokens, so the obvious choice is the product of the token ratios. It explodes or vanishes with the length:"
        " 1.01 to the power of 1000 is 20959. GSPO takes the geometric mean of the token ratios instead, which is a"
        " number of the size of a single token's ratio, whatever the length."
    ),
    task=(
        "Write `sequence_ratio(log_ratio, mask)`, one ratio for each completion:\n\n"
        "    s = exp( 1/|o| Σₜ log rₜ )\n\n"
        "The sum runs over the tokens of the completion, and |o| is how many there are. log rₜ = log πθ - log πold is"
        " the log-ratio of token t. Completions have different lengths, so they are padded to T entries. The mask is"
        " 1 where an entry is a token. Where it is 0, the entry is padding: it counts neither in the sum nor in |o|,"
        " even if it is NaN or infinite."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N,) ratios.",
    constraints="The product of the token ratios may be too large for a floating-point number; s never is.",
    notes=(
        'TRL calls this `importance_sampling_level="sequence"`. With so small a spread of ratios GSPO clips much'
        " closer to 1: at 1 - 0.0003 and 1 + 0.0004."
    ),
    source="Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071).",
    hints=(
        "Is a mean of logarithms the same as the logarithm of a mean? Average first, exponentiate last.",
        "The padding must count neither in the sum nor in the length; NaN times 0 is NaN, so use np.where.",
        "np.exp(np.where(mask > 0, log_ratio, 0.0).sum(-1) / mask.sum(-1)), both made arrays by np.asarray",
    ),
    checks=(
        Case(
            "Two tokens and padding",
            (TABLE, MASK),
            np.exp([0.2, 0.3]),
            why=(
                "First completion: (0.1 + 0.3) / 2 = 0.2, and exp(0.2) = 1.2214; the 9 is padding. Second one:"
                " (0.6 + 0 + 0.3) / 3 = 0.3."
            ),
            shown=True,
        ),
        Case("One token", ([[0.5, 3.0]], [[1, 0]]), np.exp([0.5]), why="its own ratio"),
        Case("On policy", (np.zeros((2, 3)), np.ones((2, 3))), np.ones(2), why="every ratio is 1"),
        Case(
            "NaN in the padding",
            ([[0.5, np.nan]], [[1, 0]]),
            np.exp([0.5]),
            why="what it holds never matters",
        ),
        Case(
            "A product that is too large",
            ([[600.0, 600.0, 300.0]], [[1, 1, 1]]),
            np.exp([500.0]),
            why="exp(1500) is too large for a floating-point number, its cube root is not",
        ),
        Unchanged((TABLE, MASK)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "product",
            _wrong(lambda x, m: np.exp(x.sum(-1))),
            "This is the product of the ratios; GSPO takes its |o|-th root.",
        ),
        Mutant(
            "root of the product",
            _wrong(lambda x, m: np.where(m > 0, np.exp(x), 1.0).prod(-1) ** (1 / m.sum(-1))),
            "The product of the ratios over- or underflows before the root is taken: average the logarithms.",
        ),
        Mutant(
            "divided by all tokens",
            _wrong(lambda x, m: np.exp(x.sum(-1) / m.sum())),
            "Each sum is divided by the completion's own number of tokens, not by that of the batch.",
        ),
        Mutant(
            "axis kept",
            _wrong(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True))),
            "One number per completion is asked for: shape (N,), not (N, 1).",
        ),
        Mutant(
            "mean of the ratios",
            _wrong(lambda x, m: (np.exp(x) * m).sum(-1) / m.sum(-1)),
            "This averages ratios; the log-ratios are averaged, which gives the geometric mean.",
        ),
        Mutant(
            "padded length",
            _wrong(lambda x, m: np.exp(x.mean(-1))),
            "It divides by T, not by the number of tokens.",
        ),
        Mutant(
            "padding in the sum",
            _wrong(lambda x, m: np.exp(x.sum(-1) / m.sum(-1)), keep_padding=True),
            "The padding is in the sum.",
        ),
        Mutant(
            "padding multiplied",
            _wrong(lambda x, m: np.exp((x * m).sum(-1) / m.sum(-1)), keep_padding=True),
            "NaN times 0 is NaN: what the padding holds reaches the result. Choose with np.where.",
        ),
        Mutant(
            "no mask", _wrong(lambda x, m: np.exp(x.mean(-1)), keep_padding=True), "The mask is not used."
        ),
        Mutant(
            "no exponential",
            _wrong(lambda x, m: x.sum(-1) / m.sum(-1)),
            "This is the logarithm of the ratio.",
        ),
        Mutant("inverted", lambda x, m: 1 / _reference(x, m), "The ratio is turned over: new over old."),
        Mutant(
            "over the batch",
            _wrong(lambda x, m: np.full(len(x), np.exp(x.sum() / m.sum()))),
            "Each completion has a ratio of its own.",
        ),
        Mutant(
            "one per token",
            _wrong(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True)) * m),
            "One ratio per completion is asked for, not one per token.",
        ),
    ),
    others={
        "a loop": lambda x, m: np.array(
            [np.exp(np.mean([a for a, b in zip(r, k, strict=True) if b])) for r, k in zip(x, m, strict=True)]
        )
    },
)
