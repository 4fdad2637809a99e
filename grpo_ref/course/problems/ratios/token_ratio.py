"""Exercise: the ratio of a token's new and old probability."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Mask, Real
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.levels import token_level


def _log_ratio(log_probs: Any, old_log_probs: Any, mask: Any) -> Any:
    is_token = np.asarray(mask) > 0
    return np.where(is_token, log_probs, 0.0) - np.where(is_token, old_log_probs, 0.0)


DOMAIN = Domain(
    {
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, -0.1), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of each token, in nats",
        ),
        "old_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-0.5, 0.5), (-25, 25), (5, 25), (-600, 600)),
            padding="mask",
            near="log_probs",
            meaning="log πold of the same tokens",
        ),
        "mask": Mask("N T"),
    },
    sizes={"N": (1, 3), "T": (0, 4)},
    large={"N": 40, "T": 200},
    rules=(
        Rule(
            "The two log-probabilities of a token differ by at most 700.",
            lambda values: bool((abs(_log_ratio(**values)) <= 700).all()),
        ),
    ),
)


def _reference(log_probs: Any, old_log_probs: Any, mask: Any) -> Any:
    log_ratio = np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float)
    return np.exp(token_level(log_ratio, np.asarray(mask)))


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
        "A language model is a policy: it gives every token that could come next a probability. GRPO lets the policy"
        " write answers (completions) and then changes it in several small steps. After the first step, the policy is"
        " no longer the one that wrote them. The ratio of a token says how much likelier the policy would write it"
        " now: 1 means that nothing has changed, 1.2 that the token is a fifth likelier. Every method of this"
        " chapter looks at this number. Models give log-probabilities, because a probability may be too small for"
        " a floating-point number while its logarithm is not."
    ),
    task=(
        "Write `token_ratio(log_probs, old_log_probs, mask)`. For every token,\n\n"
        "    r = πθ / πold = exp(log πθ - log πold)\n\n"
        "πθ is the probability of the token under the policy as it is now, πold the one under the policy that wrote"
        " it. Completions have different lengths, so they are padded to T entries. The mask is 1 where an entry is"
        " a token. Where it is 0, the entry is padding, and the result there is 1, whatever the padding holds: it"
        " may be NaN or infinite in both arrays."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, T) ratios.",
    constraints=("A log-probability of -800 is a number like any other, though exp(-800) alone would be 0."),
    notes="Trainers leave the padding as it comes out and drop it when they average.",
    source="Schulman et al. 2017, sec. 3 (arXiv:1707.06347).",
    hints=(
        "A quotient of probabilities is a difference of log-probabilities. What difference gives a ratio of 1?",
        "Put 0 where there is no token, take the difference, and exponentiate once.",
        "np.exp(np.where(m, log_probs, 0.0) - np.where(m, old_log_probs, 0.0)), with m = np.asarray(mask) > 0",
    ),
    checks=(
        Case(
            "Up, down and padding",
            ([[-1.0, -2.5, 9.0]], [[-1.5, -2.0, 7.0]], [[1, 1, 0]]),
            np.array([[np.exp(0.5), np.exp(-0.5), 1.0]]),
            why=(
                "The first token's log-probability rose by 0.5, so its ratio is exp(0.5); the second one's fell by"
                " 0.5, which gives exp(-0.5); the third entry is padding."
            ),
            shown=True,
        ),
        Case(
            "Quotients of probabilities",
            (np.log([[0.6, 0.2]]), np.log([[0.5, 0.4]]), [[1, 1]]),
            np.array([[1.2, 0.5]]),
            why="0.6/0.5 and 0.2/0.4",
        ),
        Case("On policy", (np.log([[0.3]]), np.log([[0.3]]), [[1]]), np.ones((1, 1)), why="the same policy"),
        Case(
            "Very unlikely tokens",
            ([[-800.0]], [[-801.0]], [[1]]),
            np.exp([[1.0]]),
            why="the difference is 1, though both probabilities are 0 as floating-point numbers",
        ),
        Case(
            "NaN in the padding",
            ([[-1.0, np.nan]], [[-1.0, np.inf]], [[1, 0]]),
            np.ones((1, 2)),
            why="what the padding holds never matters",
        ),
        Unchanged((np.log([[0.6]]), np.log([[0.5]]), np.array([[1]]))),
        FromDomain(),
        *found_cases(__file__),
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
            "The mask is not used: the ratio of padding is 1.",
        ),
        Mutant(
            "padding multiplied",
            _of(lambda a, b, m: np.exp((a - b) * m)),
            "NaN times 0 is NaN: what the padding holds reaches the result. Choose with np.where.",
        ),
        Mutant(
            "zero on padding",
            _of(lambda a, b, m: np.where(m > 0, _reference(a, b, m), 0.0)),
            "The ratio of padding is 1, not 0.",
        ),
        Mutant(
            "clipped", _of(lambda a, b, m: np.clip(_reference(a, b, m), 0.8, 1.2)), "Nothing is clipped here."
        ),
    ),
    others={
        "tokens picked out": _of(
            lambda a, b, m: np.exp(a - b, where=m > 0, out=np.ones_like(a)),
        )
    },
)
