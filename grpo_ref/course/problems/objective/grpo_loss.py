"""The loss of GRPO, token by token."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import CONSTANT, LEVELS, MIXED
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
from grpo_ref.loss import PolicyLoss, policy_loss
from grpo_ref.recipes import GRPO

OFFSETS = ((-0.5, 0.5), (-2.0, 2.0), (-30.0, 30.0))
DOMAIN = Domain(
    {
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of the tokens, in nats",
        ),
        "old_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold, at most 30 nats from log_probs",
        ),
        "ref_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πref, at most 30 nats from log_probs",
        ),
        "advantages": Real("N", (-100, 100), rows=(MIXED, LEVELS, CONSTANT), meaning="one per completion"),
        "mask": Mask("N T", empty_rows=False, nothing=False),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε"),
        "kl_coef": Scalar(0.04, (0, 10), at=(0,), meaning="β"),
    },
    sizes={"N": (1, 4), "T": (1, 5)},
    large={"N": 40, "T": 200},
)


def evaluated(
    log_probs: Any,
    old_log_probs: Any,
    ref_log_probs: Any,
    advantages: Any,
    mask: Any,
    clip: float = 0.2,
    kl_coef: float = 0.04,
) -> PolicyLoss:
    """Return GRPO's loss of N completions as one group, with its gradient."""
    new, old, ref, present = (
        np.asarray(x, dtype=float)[None] for x in (log_probs, old_log_probs, ref_log_probs, mask)
    )
    surrogate = replace(GRPO.surrogate, settings={"clip_low": clip, "clip_high": clip})
    recipe = replace(GRPO, surrogate=surrogate, kl_coef=kl_coef)
    advantages = np.asarray(advantages, dtype=float)[None]
    return policy_loss(new, advantages, present, recipe=recipe, old_log_probs=old, ref_log_probs=ref)


def _reference(*arguments: Any, **settings: float) -> Any:
    return float(evaluated(*arguments, **settings).loss)


def _of(surrogate: Any = None, kl: Any = None, mean: Any = None, sign: float = -1.0) -> Function:
    def answer(
        log_probs: Any,
        old_log_probs: Any,
        ref_log_probs: Any,
        advantages: Any,
        mask: Any,
        clip: float = 0.2,
        kl_coef: float = 0.04,
    ) -> Any:
        lp, old, ref, m = (
            np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs, mask)
        )
        a = np.asarray(advantages, dtype=float)[:, None]
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (lp, old, ref))
        gain = (surrogate or _surrogate)(np.exp(lp - old), a, clip)
        gain = gain - kl_coef * (kl or _k3)(lp - ref)
        return float(sign * (mean or _sequence_mean)(gain * m, m))

    return answer


def _surrogate(r: Any, a: Any, e: float) -> Any:
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)


def _k3(v: Any) -> Any:
    return np.expm1(-v) + v


def _sequence_mean(x: Any, m: Any) -> Any:
    return (x.sum(-1) / np.maximum(m.sum(-1), 1)).mean()


LP = np.log(np.array([[0.6, 0.5], [0.5, 0.9]]))
HALF = np.log(np.full((2, 2), 0.5))
A, MASK = np.array([1.0, -1.0]), np.array([[1, 1], [1, 0]])


def _on_policy(f: Function) -> str | None:
    value = np.asarray(f(HALF, HALF, HALF, np.array([2.0, -1.0]), MASK)).item()
    right = abs(value + 0.5) < 1e-8
    return None if right else "with equal policies only minus the mean advantage should be left"


PROBLEM = Problem(
    id="objective/grpo_loss",
    title="The loss of GRPO, token by token",
    function="grpo_loss",
    reference=_reference,
    background=(
        "This is the number that a trainer minimizes. The policy πθ, the model in training, has answered a"
        " prompt N"
        " times, and each answer (completion) has an advantage A: positive if it was better than the others,"
        " negative"
        " if it was worse. The ratio r says how much likelier a token has become since πold, the policy that"
        " wrote it."
        " Making tokens of good completions likelier pays, but only until the clip holds: beyond 1 ± ε"
        " nothing more is"
        " gained. A penalty keeps the policy near πref, the model from before the training; it is the"
        " estimate of the"
        " divergence that is called k3, see the chapter on KL. Then comes GRPO's average, over the tokens of"
        " each"
        " completion and over the completions, and a minus sign, since a loss goes down where the policy"
        " improves."
    ),
    task=(
        "Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,"
        " kl_coef=0.04)`:\n\n"
        "    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]\n"
        "    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref\n\n"
        "Every token has its own r and v; A = Aᵢ is the same for all tokens of a completion. ε is `clip`, β"
        " is"
        " `kl_coef`. m is the mask, which says what is a token, and |oᵢ| the number of tokens of completion"
        " i. Where m"
        " is 0 stands padding: it is not counted, and what the three arrays of log-probabilities hold there"
        " never"
        " matters, be it NaN or infinity."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number, to be minimized.",
    notes=(
        "DeepSeekMath used β = 0.04; TRL's default is 0, no penalty. TRL takes the penalty's weight as"
        " `beta` and ε as"
        " `epsilon`. `policy_loss` of this package computes the same with `recipe=GRPO`."
    ),
    kernel="grpo_ref.policy_loss",
    source='DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.',
    hints=(
        "Advantages are one per completion; advantages[:, None] lines them up with the tokens.",
        "Compute surrogate minus kl_coef times k3 for every token, then the mean of means, then the minus"
        " sign.",
        "gain = np.where(mask > 0, surrogate - kl_coef * k3, 0); -(gain.sum(-1) / mask.sum(-1)).mean()",
    ),
    checks=(
        Case(
            "One clipped token, no penalty",
            (LP, HALF, HALF, A, MASK, 0.1, 0.0),
            -0.025,
            why=(
                "clip is 0.1 and kl_coef 0. The first completion has A = 1 and the ratios 0.6 / 0.5 = 1.2,"
                " held at 1.1,"
                " and 1: mean 1.05. The second has A = -1 and one token of ratio 1: -1. Minus their mean is"
                " -0.025."
            ),
            shown=True,
        ),
        Holds(
            "On policy the loss is minus the mean advantage",
            _on_policy,
            why="every ratio is 1, every penalty 0",
        ),
        Case(
            "The penalty counts",
            (LP, LP, HALF, np.zeros(2), MASK, 0.2, 1.0),
            (np.log(1.2) + 1 / 1.2 - 1) / 4,
            why="k3 at v = log 1.2 for one token of two, in one completion of two",
        ),
        Case(
            "The defaults",
            (LP, HALF, HALF, A, MASK),
            -0.05 + 0.01 * (np.log(1.2) + 1 / 1.2 - 1),
            why="with a clip of 0.2 the ratio 1.2 counts as it is, and 0.04 k3 comes off one of two tokens",
        ),
        Case(
            "A bad token still too likely",
            (np.log([[0.9]]), np.log([[0.5]]), np.log([[0.9]]), [-1.0], [[1]], 0.2, 0.0),
            1.8,
            why="min(-1.8, -1.2) is not clipped",
        ),
        Unchanged((LP, HALF, HALF, A, MASK)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("objective for loss", _of(sign=1.0), "The minus sign is missing: a loss is minimized."),
        Mutant(
            "penalty with the wrong sign",
            _of(kl=lambda v: -_k3(v)),
            "The penalty has the wrong sign: it pushes the policy away from the reference.",
        ),
        Mutant("penalty forgotten", _of(kl=lambda v: 0.0 * v), "The penalty is missing."),
        Mutant("v turned over", _of(kl=lambda v: _k3(-v)), "v is log πθ - log πref; it is turned over here."),
        Mutant("k1", _of(kl=lambda v: v), "The penalty is the log-ratio itself; k3 is asked for."),
        Mutant("k2", _of(kl=lambda v: v**2 / 2), "The penalty is k2 here; k3 is asked for."),
        Mutant("not clipped", _of(surrogate=lambda r, a, e: r * a), "The ratio is never clipped."),
        Mutant(
            "clip without min",
            _of(surrogate=lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a),
            "The min is missing.",
        ),
        Mutant(
            "ratio turned over",
            _of(surrogate=lambda r, a, e: _surrogate(1 / r, a, e)),
            "The ratio is old over new here.",
        ),
        Mutant(
            "token mean",
            _of(mean=lambda x, m: x.sum() / m.sum()),
            "This averages over the tokens of the batch: that is the token mean of verl and TRL.",
        ),
        Mutant("padded mean", _of(mean=lambda x, m: x.mean()), "The padding is in the mean."),
        Mutant(
            "sum over tokens",
            _of(mean=lambda x, m: x.sum(-1).mean()),
            "The sum of a completion is not divided by its length.",
        ),
        Mutant(
            "clip fixed",
            lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: _reference(lp, old, ref, a, m, 0.2, kl_coef),
            "The argument clip is not used.",
        ),
    ),
    others={"Einstein sum": _of(mean=lambda x, m: np.einsum("nt,n->", x, 1 / m.sum(-1)) / len(x))},
)
