"""The gradient of GRPO's loss, by hand."""

from typing import Any

import numpy as np

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
from grpo_ref.course.problems.objective.grpo_loss import DOMAIN, HALF, LP, MASK, A, evaluated


def _reference(*arguments: Any, **settings: float) -> Any:
    return evaluated(*arguments, **settings).gradient[0]


def _of(slope: Any = None, kl: Any = None, weight: Any = None, sign: float = -1.0) -> Function:
    def answer(
        log_probs: Any,
        old_log_probs: Any,
        ref_log_probs: Any,
        advantages: Any,
        mask: Any,
        clip: float = 0.2,
        kl_coef: float = 0.04,
    ) -> Any:
        m = np.asarray(mask, dtype=float)
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (log_probs, old_log_probs, ref_log_probs))
        a = np.asarray(advantages, dtype=float)[:, None] * m
        total = (slope or _slope)(np.exp(lp - old), a, clip) - kl_coef * (kl or _kl)(lp - ref)
        return sign * (weight or _weight)(m) * total

    return answer


def _slope(r: Any, a: Any, e: float) -> Any:
    return np.where(((a > 0) & (r > 1 + e)) | ((a < 0) & (r < 1 - e)), 0.0, r * a)


def _kl(v: Any) -> Any:
    return -np.expm1(-v)


def _weight(m: Any) -> Any:
    return m / m.sum(-1, keepdims=True) / len(m)


def _downhill(f: Function) -> str | None:
    others = HALF, HALF, A, MASK
    before = evaluated(LP, *others).loss
    after = evaluated(LP - 1e-3 * np.asarray(f(LP, *others)), *others).loss
    return None if after < before else "a small step against the gradient should lower the loss"


PROBLEM = Problem(
    id="objective/grpo_gradient",
    title="The gradient of GRPO's loss, by hand",
    function="grpo_gradient",
    reference=_reference,
    background=(
        "A trainer lets an autograd engine differentiate the loss. By hand you see which tokens are pushed,"
        " and how"
        " hard: a token that the clip holds is not pushed by its advantage any more, whatever its value adds"
        " to the"
        " loss; every other token is pushed by its ratio times its advantage; and the penalty pulls each"
        " token back"
        " toward the reference."
    ),
    task=(
        "Write `grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,"
        " kl_coef=0.04)`, the"
        " derivative of the loss of `objective/grpo_loss` with respect to each number of `log_probs`:\n\n"
        "    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]\n"
        "    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref\n\n"
        "Every token has its own r and v; A = Aᵢ is the same for all tokens of a completion. ε is `clip`, β"
        " is"
        " `kl_coef`. m is the mask, which says what is a token, and |oᵢ| the number of tokens of completion"
        " i. log πold,"
        " log πref and the advantages are constants: only `log_probs` is varied. The min has a kink where r"
        " is exactly 1+ε or 1-ε; there the slope is still that of the unclipped term r A. So with A > 0 the"
        " advantage"
        " stops pushing where r > 1+ε, with A < 0 where r < 1-ε, and nowhere else. Where m is 0 stands"
        " padding: the"
        " derivative is exactly 0 there, and what the arrays of log-probabilities hold never matters, be it"
        " NaN or"
        " infinity."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, T) ∂L/∂log πθ of each token, exactly 0 on padding.",
    notes=(
        "The kernels of this package decide by the sign of A and by r, too. Asking which of the two products"
        " is the smaller"
        " one gives the same on paper, but in low precision rounding makes products equal that are not."
        " `policy_loss` of this package gives the gradient beside the loss."
    ),
    kernel="grpo_ref.policy_loss",
    source="DeepSeekMath (arXiv:2402.03300); TRL `GRPOTrainer._compute_loss`, differentiated.",
    hints=(
        "Three derivatives: of the surrogate, of the penalty, and the weight of each token in the mean.",
        "dr/d log πθ = r, so a token that is not clipped has slope r A; the penalty has slope 1 - e⁻ᵛ.",
        "-(mask / mask.sum(-1, keepdims=True) / N) * (np.where(clipped, 0, ratio * A) - kl_coef *"
        " -np.expm1(-v))",
    ),
    checks=(
        Case(
            "One clipped token, no penalty",
            (LP, HALF, HALF, A, MASK, 0.1, 0.0),
            np.array([[0.0, -0.25], [0.5, 0.0]]),
            why=(
                "clip is 0.1 and kl_coef 0. The first token has A = 1 and the ratio 0.6 / 0.5 = 1.2 > 1.1:"
                " it is held, its"
                " slope is 0. The others have the ratio 1 and the slope A. The weights are 1/2 · 1/2 in the"
                " completion of"
                " two tokens and 1/2 in that of one, and there is one minus sign; the last entry is padding."
            ),
            shown=True,
        ),
        Case(
            "A wider clip",
            (LP, HALF, HALF, A, MASK, 0.5, 0.0),
            np.array([[-0.3, -0.25], [0.5, 0.0]]),
            why="the ratio 1.2 lies inside 1 ± 0.5, so its token has the slope 1.2",
        ),
        Case(
            "Whole numbers",
            (
                np.array([[-1, -2]]),
                np.array([[-1, -2]]),
                np.array([[-1, -2]]),
                np.array([3]),
                np.array([[1, 1]]),
            ),
            np.array([[-1.5, -1.5]]),
            why="all inputs may be integers, and the result is not: -3 / 2",
        ),
        Case(
            "A bad token still too likely",
            (np.log([[0.9]]), np.log([[0.5]]), np.log([[0.9]]), [-1.0], [[1]], 0.2, 0.0),
            np.array([[1.8]]),
            why="ratio 1.8, A < 0: not clipped, slope -1.8, and the minus sign",
        ),
        Case(
            "The penalty alone",
            (LP, LP, HALF, np.zeros(2), MASK, 0.2, 1.0),
            np.array([[(1 - 1 / 1.2) / 4, 0.0], [0.0, 0.0]]),
            why="slope 1 - 1/1.2 of the token that moved, weight 1/4",
        ),
        Case(
            "On policy",
            (HALF, HALF, HALF, A, MASK, 0.2, 0.5),
            np.array([[-0.25, -0.25], [0.5, 0.0]]),
            why="minus weight times advantage: the loss is 0 there, its gradient is not",
        ),
        Case(
            "On the bound itself",
            (HALF, HALF, HALF, A, MASK, 0.0, 0.5),
            np.array([[-0.25, -0.25], [0.5, 0.0]]),
            why="a clip of 0 puts the ratio 1 on both bounds, where the slope is still A",
        ),
        Holds("A step against it lowers the loss", _downhill, why="it is the gradient of a loss"),
        Unchanged((LP, HALF, HALF, A, MASK)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("sign", _of(sign=1.0), "The sign is turned over: this is the gradient of the objective."),
        Mutant("never clipped", _of(slope=lambda r, a, e: r * a), "A clipped token has no slope."),
        Mutant(
            "only inside the band",
            _of(slope=lambda r, a, e: np.where(abs(r - 1) > e, 0.0, r * a)),
            "Outside the band a token still has a slope if its advantage calls it back.",
        ),
        Mutant(
            "held on the bound",
            _of(
                slope=lambda r, a, e: np.where(
                    ((a > 0) & (r >= 1 + e)) | ((a < 0) & (r <= 1 - e)), 0.0, r * a
                )
            ),
            "On the bound itself the token still has its slope: only beyond it the clip holds.",
        ),
        Mutant(
            "ratio forgotten",
            _of(slope=lambda r, a, e: np.where(_slope(r, a, e) == 0, 0.0, a)),
            "dr/d log πθ is r, not 1.",
        ),
        Mutant(
            "the value for the slope",
            _of(slope=lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)),
            "This is the value of the surrogate: a clipped token has a value, but no slope.",
        ),
        Mutant("penalty forgotten", _of(kl=lambda v: 0 * v), "The penalty has a slope as well."),
        Mutant(
            "penalty with the wrong sign",
            _of(kl=lambda v: np.expm1(-v)),
            "The penalty's slope has the wrong sign: it pushes away from the reference.",
        ),
        Mutant(
            "penalty of k1", _of(kl=lambda v: np.ones_like(v)), "This is the slope of k1; k3's is 1 - e⁻ᵛ."
        ),
        Mutant("penalty of k2", _of(kl=lambda v: v), "This is the slope of k2; k3's is 1 - e⁻ᵛ."),
        Mutant(
            "the penalty's value",
            _of(kl=lambda v: np.expm1(-v) + v),
            "This is the value of k3, not its slope.",
        ),
        Mutant(
            "token mean",
            _of(weight=lambda m: m / m.sum()),
            "Every completion counts the same: divide by its own length, then by N.",
        ),
        Mutant(
            "not divided by N",
            _of(weight=lambda m: m / m.sum(-1, keepdims=True)),
            "The mean over the completions is missing.",
        ),
        Mutant(
            "padded length", _of(weight=lambda m: m / m.size), "It divides by T, not by the number of tokens."
        ),
        Mutant(
            "clip fixed",
            lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: _reference(lp, old, ref, a, m, 0.2, kl_coef),
            "The argument clip is not used.",
        ),
    ),
    others={"three factors": _of()},
)
