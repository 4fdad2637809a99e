"""GSPO's ratio of a whole sequence."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels.levels import sequence_mean_level


def _reference(log_ratio: Any, mask: Any) -> Any:
    log_ratio, mask = np.asarray(log_ratio, dtype=float), np.asarray(mask)
    return np.exp(np.where(mask != 0, sequence_mean_level(log_ratio, mask), -np.inf).max(-1))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    lengths = rng.integers(1, size + 2, size + 1)
    mask = (np.arange(size + 1) < lengths[:, None]).astype(float)
    return np.where(mask > 0, rng.normal(size=mask.shape) * 0.3, 7.0), mask


def _wrong(formula: Any) -> Function:
    return lambda log_ratio, mask: formula(np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=float))


TABLE, MASK = np.array([[0.1, 0.3, 9.0], [0.6, 0.0, 0.3]]), np.array([[1, 1, 0], [1, 1, 1]])

PROBLEM = Problem(
    id="ratios/sequence_ratio",
    title="One ratio for the whole answer",
    function="sequence_ratio",
    reference=_reference,
    background=(
        "The reward is given to an answer, not to a token; so GSPO takes the ratio of the answer too. The plain product"
        " of the token ratios explodes with the length, so it takes their geometric mean."
    ),
    task=(
        "Write `sequence_ratio(log_ratio, mask)`, one ratio per completion:\n\n"
        "    s = exp( 1/|o| Σₜ log rₜ ),    the sum over the |o| tokens of the completion"
    ),
    inputs="log_ratio: (N, T) log πθ - log πold of each token; padding holds arbitrary numbers.\nmask: (N, T) 1 on tokens, 0 on padding; every row has at least one token.",
    output="(N,) ratios.",
    source='Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071); TRL `importance_sampling_level="sequence"`.',
    hints=(
        "Average first, exponentiate last.",
        "The padding must count neither in the sum nor in the length.",
        "np.exp((log_ratio * mask).sum(-1) / mask.sum(-1))",
    ),
    checks=(
        Case(
            "Two tokens and padding", (TABLE, MASK), np.exp([0.2, 0.3]), why="0.4 / 2 and 0.9 / 3", shown=True
        ),
        Case("One token", ([[0.5, 3.0]], [[1, 0]]), np.exp([0.5]), why="its own ratio"),
        Case("On policy", (np.zeros((2, 3)), np.ones((2, 3))), np.ones(2), why="every ratio is 1"),
        Unchanged((TABLE, MASK)),
        Drawn("Random completions agree", _draw, why="ragged, with garbage in the padding"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "product",
            _wrong(lambda x, m: np.exp((x * m).sum(-1))),
            "This is the product of the ratios; GSPO takes its |o|-th root.",
        ),
        Mutant(
            "mean of the ratios",
            _wrong(lambda x, m: (np.exp(x) * m).sum(-1) / m.sum(-1)),
            "This averages ratios; the log-ratios are averaged, which gives the geometric mean.",
        ),
        Mutant(
            "padded length",
            _wrong(lambda x, m: np.exp((x * m).mean(-1))),
            "It divides by T, not by the number of tokens.",
        ),
        Mutant(
            "padding in the sum",
            _wrong(lambda x, m: np.exp(x.sum(-1) / m.sum(-1))),
            "The padding is in the sum.",
        ),
        Mutant("no mask", _wrong(lambda x, m: np.exp(x.mean(-1))), "The mask is not used."),
        Mutant(
            "no exponential",
            _wrong(lambda x, m: (x * m).sum(-1) / m.sum(-1)),
            "This is the logarithm of the ratio.",
        ),
        Mutant("inverted", lambda x, m: 1 / _reference(x, m), "The ratio is turned over: new over old."),
        Mutant(
            "over the batch",
            _wrong(lambda x, m: np.full(len(x), np.exp((x * m).sum() / m.sum()))),
            "Each completion has a ratio of its own.",
        ),
        Mutant(
            "one per token",
            _wrong(lambda x, m: np.exp((x * m).sum(-1, keepdims=True) / m.sum(-1, keepdims=True)) * m),
            "One ratio per completion is asked for, not one per token.",
        ),
    ),
    others={
        "a loop": lambda x, m: np.array(
            [np.exp(np.mean([a for a, b in zip(r, k, strict=True) if b])) for r, k in zip(x, m, strict=True)]
        )
    },
)
