"""How much likelier has this token become?"""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels.levels import token_level


def _reference(log_probs: Any, old_log_probs: Any, mask: Any) -> Any:
    log_ratio = np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float)
    return np.exp(token_level(log_ratio, np.asarray(mask)))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    mask = (np.arange(size + 1) < rng.integers(1, size + 2, (size, 1))).astype(float)
    log_probs, old = np.log(rng.uniform(0.05, 1.0, (2, *mask.shape)))
    return np.where(mask > 0, log_probs, 3.0), np.where(mask > 0, old, -5.0), mask


def _of(formula: Any) -> Function:
    return lambda log_probs, old_log_probs, mask: formula(
        *(np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, mask))
    )


PROBLEM = Problem(
    id="ratios/token_ratio",
    title="How much likelier has this token become?",
    function="token_ratio",
    reference=_reference,
    background=(
        "The completions were written by the policy as it was. The ratio says how much likelier each of their tokens is"
        " under the policy as it is now; everything that clips looks at this number."
    ),
    task="Write `token_ratio(log_probs, old_log_probs, mask)`:\n\n    r = πθ / πold = exp(log πθ - log πold),    and 1 on padding",
    inputs="log_probs, old_log_probs: (N, T) log-probabilities of the sampled tokens, in nats; padding holds arbitrary numbers.\nmask: (N, T) 1 on tokens, 0 on padding.",
    output="(N, T) ratios.",
    constraints="A log-probability of -800 is a number like any other: exp of it alone would be 0.",
    source="Schulman et al. 2017, sec. 3 (arXiv:1707.06347).",
    hints=(
        "A quotient of probabilities is a difference of log-probabilities.",
        "Take the difference first; exponentiate once.",
        "np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))",
    ),
    checks=(
        Case(
            "Up, down and padding",
            (np.log([[0.6, 0.2, 0.9]]), np.log([[0.5, 0.4, 0.1]]), [[1, 1, 0]]),
            np.array([[1.2, 0.5, 1.0]]),
            why="0.6/0.5, 0.2/0.4, and 1 where there is no token",
            shown=True,
        ),
        Case("On policy", (np.log([[0.3]]), np.log([[0.3]]), [[1]]), np.ones((1, 1)), why="the same policy"),
        Case(
            "Very unlikely tokens",
            ([[-800.0]], [[-801.0]], [[1]]),
            np.exp([[1.0]]),
            why="the difference is 1, though both probabilities are 0 as floating-point numbers",
        ),
        Unchanged((np.log([[0.6]]), np.log([[0.5]]), np.array([[1]]))),
        Drawn("Random tokens agree", _draw, why="ragged, with garbage in the padding"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "logarithm",
            _of(lambda a, b, m: np.where(m > 0, a - b, 1.0)),
            "This is the logarithm of the ratio.",
        ),
        Mutant(
            "inverted",
            _of(lambda a, b, m: 1 / _reference(a, b, m)),
            "The ratio is turned over: new over old.",
        ),
        Mutant(
            "exponentiated first",
            _of(lambda a, b, m: np.where(m > 0, np.exp(a) / np.exp(b), 1.0)),
            "Both exponentials are 0 for very unlikely tokens; subtract first.",
        ),
        Mutant(
            "quotient of logs",
            _of(lambda a, b, m: np.where(m > 0, a / b, 1.0)),
            "Logarithms are subtracted, not divided.",
        ),
        Mutant(
            "difference",
            _of(lambda a, b, m: np.where(m > 0, np.exp(a) - np.exp(b), 1.0)),
            "This is the difference of the probabilities.",
        ),
        Mutant(
            "padding kept",
            _of(lambda a, b, m: np.exp(a - b)),
            "The padding holds arbitrary numbers; its ratio is 1.",
        ),
        Mutant(
            "zero on padding",
            _of(lambda a, b, m: np.exp((a - b) * m) * m),
            "The ratio of padding is 1, not 0.",
        ),
        Mutant(
            "clipped", _of(lambda a, b, m: np.clip(_reference(a, b, m), 0.8, 1.2)), "Nothing is clipped here."
        ),
    ),
    others={"a product": _of(lambda a, b, m: np.exp((a - b) * m))},
)
