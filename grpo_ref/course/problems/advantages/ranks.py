"""Ranks instead of rewards."""

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
from grpo_ref.kernels.advantages import ranked


def _reference(rewards: Any) -> Any:
    return ranked(np.asarray(rewards, dtype=float))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (rng.integers(0, size + 1, (size, size + 1)) * rng.choice([0.1, 1.0, 100.0]),)


def _of(ranks: Any, scale: Any = None) -> Function:
    """Advantages from the 0-based rank, counted from the best."""

    def answer(rewards: Any) -> Any:
        r = np.asarray(rewards, dtype=float)
        return (scale or _scale)(ranks(r), r.shape[-1])

    return answer


def _scale(rank: Any, size: int) -> Any:
    return 2.0 - 4.0 * rank / (size - 1) if size > 1 else 0.0 * rank


def _mean_rank(r: Any) -> Any:
    higher = (r[..., None, :] > r[..., :, None]).sum(-1)
    equal = (r[..., None, :] == r[..., :, None]).sum(-1)
    return higher + (equal - 1) / 2


def _best_rank(r: Any) -> Any:
    return (r[..., None, :] > r[..., :, None]).sum(-1)


def _order(r: Any) -> Any:
    return np.argsort(np.argsort(-r, -1, kind="stable"), -1)


def _monotone(f: Function) -> str | None:
    rewards = np.array([[0.1, 2.0, 0.5, 0.5]])
    same = np.allclose(f(rewards), f(np.exp(3.0 * rewards)), atol=1e-9)
    return None if same else "a reward model that exaggerates, but orders alike, should change nothing"


PROBLEM = Problem(
    id="advantages/ranks",
    title="Ranks instead of rewards",
    function="rank_advantages",
    reference=_reference,
    background=(
        "A reward model for taste may order answers well while its numbers mean little. GOPO keeps the order alone."
    ),
    task=(
        "Write `rank_advantages(rewards)`:\n\n"
        "    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1),    rank 1 the best of its group, rank G the worst"
    ),
    inputs="rewards: (P, G), one row per prompt.",
    output="(P, G) advantages between -2 and 2; each row sums to zero.",
    constraints="Equal rewards share the mean of their ranks.\nA group of one gets 0.",
    notes="How ties are ranked is not said in the paper's abstract; the mean rank keeps the sum at zero.",
    source="GOPO (arXiv:2602.03876).",
    hints=(
        "How many completions of the group are better than this one? How many are just as good?",
        "Compare all pairs: r[:, :, None] with r[:, None, :].",
        "lead = (worse - better) counts, summed over the others; the advantage is 2 * lead / (G - 1).",
    ),
    checks=(
        Case(
            "Three different rewards",
            ([[0.1, 30.0, 0.2]],),
            np.array([[-2.0, 2.0, 0.0]]),
            why="ranks 3, 1 and 2",
            shown=True,
        ),
        Case(
            "A tie for the best",
            ([[5, 1, 5, 0]],),
            np.array([[4 / 3, -2 / 3, 4 / 3, -2]]),
            why="ranks 1.5, 3, 1.5 and 4; 2 - 4 · 0.5 / 3",
            shown=True,
        ),
        Case("Everyone agrees", ([[0.1, 0.1, 0.1]],), np.zeros((1, 3)), why="all have the mean rank"),
        Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="nobody to compare with"),
        Case(
            "Groups do not mix",
            ([[0, 1], [9, 8]],),
            np.array([[-2.0, 2.0], [2.0, -2.0]]),
            why="ranks within each row",
        ),
        Holds("A monotone distortion changes nothing", _monotone, why="only the order counts"),
        Unchanged((np.array([[1.0, 0.0, 3.0]]),)),
        Drawn("Random rewards agree", _draw, why="many ties, several scales"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "ties by position",
            _of(_order),
            "Equal rewards get different ranks here, by their place in the row.",
        ),
        Mutant(
            "ties share the best rank",
            _of(_best_rank),
            "Equal rewards share the mean of their ranks, not the best of them.",
        ),
        Mutant(
            "worst is first", _of(lambda r: _mean_rank(-r)), "The order is turned over: rank 1 is the best."
        ),
        Mutant("between -1 and 1", lambda r: _reference(r) / 2, "The best gets 2 and the worst -2."),
        Mutant(
            "divided by G",
            _of(_mean_rank, lambda rank, size: 2.0 - 4.0 * rank / size),
            "The divisor is G - 1, so that the worst gets -2 and the sum is zero.",
        ),
        Mutant(
            "group of one",
            _of(_mean_rank, lambda rank, size: 2.0 - 4.0 * rank / max(size - 1, 1)),
            "A group of one gets 2 here; it has nothing to compare with.",
        ),
        Mutant(
            "over the batch",
            lambda r: _reference(np.ravel(r)[None]).reshape(np.shape(r)),
            "The ranks are taken over the whole batch.",
        ),
        Mutant(
            "normalized",
            lambda r: (np.asarray(r) - np.mean(r, -1, keepdims=True)) / (np.std(r, -1, keepdims=True) + 1e-4),
            "These are normalized rewards, not ranks.",
        ),
        Mutant(
            "argsort once",
            _of(lambda r: np.argsort(-r, -1)),
            "argsort gives the order of the places, not the rank of each; it is needed twice.",
        ),
    ),
    others={"counting pairs": _of(_mean_rank)},
)
