"""The loss of GRPO, token by token."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.loss import PolicyLoss, policy_loss
from grpo_ref.recipes import GRPO


def evaluated(
    log_probs: Any,
    old_log_probs: Any,
    ref_log_probs: Any,
    advantages: Any,
    mask: Any,
    clip: float = 0.2,
    kl_coef: float = 0.04,
) -> PolicyLoss:
    """GRPO's loss of N completions as one group, with its gradient."""
    new, old, ref, present = (
        np.asarray(x, dtype=float)[None] for x in (log_probs, old_log_probs, ref_log_probs, mask)
    )
    surrogate = replace(GRPO.surrogate, settings={"clip_low": clip, "clip_high": clip})
    recipe = replace(GRPO, surrogate=surrogate, kl_coef=kl_coef)
    advantages = np.asarray(advantages, dtype=float)[None]
    return policy_loss(new, advantages, present, recipe=recipe, old_log_probs=old, ref_log_probs=ref)


def _reference(*arguments: Any, **settings: float) -> Any:
    return float(evaluated(*arguments, **settings).loss)


def draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    """Ragged completions with garbage in the padding, and a clip and a weight of the penalty."""
    mask = (np.arange(size + 1) < rng.integers(1, size + 2, (size + 1, 1))).astype(float)
    arrays = [np.where(mask > 0, x, -50.0) for x in np.log(rng.uniform(0.1, 1.0, (3, *mask.shape)))]
    return *arrays, rng.normal(size=len(mask)), mask, rng.uniform(0.1, 0.5), rng.uniform(0.0, 0.5)


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
INPUTS = "log_probs, old_log_probs, ref_log_probs: (N, T) of the sampled tokens, in nats; padding holds arbitrary numbers.\nadvantages: (N,) one per completion.\nmask: (N, T) 1 on tokens, 0 on padding; every completion has at least one.\nclip: ε. kl_coef: β."


def _on_policy(f: Function) -> str | None:
    value = f(HALF, HALF, HALF, np.array([2.0, -1.0]), MASK)
    return (
        None
        if abs(value + 0.5) < 1e-8
        else "with equal policies only minus the mean advantage should be left"
    )


PROBLEM = Problem(
    id="objective/grpo_loss",
    title="The loss of GRPO, token by token",
    function="grpo_loss",
    reference=_reference,
    background="All the parts are there: ratio, clip, penalty, average. This is what a trainer minimizes.",
    task=(
        "Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04)`:\n\n"
        "    L = -1/N Σᵢ 1/|oᵢ| Σₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]\n"
        "    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref"
    ),
    inputs=INPUTS,
    output="A number, to be minimized.",
    source='DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.',
    hints=(
        "Advantages are one per completion; advantages[:, None] lines them up with the tokens.",
        "Compute surrogate minus kl_coef times k3 for every token, then the mean of means, then the minus sign.",
        "gain = np.where(mask > 0, surrogate - kl_coef * k3, 0); -(gain.sum(-1) / mask.sum(-1)).mean()",
    ),
    checks=(
        Case(
            "One clipped token, no penalty",
            (LP, HALF, HALF, A, MASK, 0.1, 0.0),
            -0.025,
            why="ratios 1.2 and 1, the first clipped at 1.1: mean 1.05; the other completion -1; minus half their sum",
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
            "A bad token still too likely",
            (np.log([[0.9]]), np.log([[0.5]]), np.log([[0.9]]), [-1.0], [[1]], 0.2, 0.0),
            1.8,
            why="min(-1.8, -1.2) is not clipped",
        ),
        Unchanged((LP, HALF, HALF, A, MASK)),
        Drawn("Random batches agree", draw, why="ragged, garbage in the padding, both signs"),
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
            "This averages over tokens: that is DAPO's loss.",
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
