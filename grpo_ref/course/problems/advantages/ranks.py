"""Ranks instead of rewards."""

from typing import Any

import numpy as np

from grpo_ref.advantages import ranked
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import GROUPS, HAIRS_APART
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

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G", (-1e4, 1e4), rows=(*GROUPS, HAIRS_APART), meaning="one row per prompt, a group in each"
        )
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def _reference(rewards: Any) -> Any:
    return ranked(np.asarray(rewards, dtype=float))


def _of(ranks: Any, scale: Any = None) -> Function:
    """Return an answer that computes advantages from the 0-based rank, counted from the best."""

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
        "The policy, the language model in training, answers a prompt G times; these answers (completions)"
        " form a group, and each gets a reward. Where the reward comes from a model of people's taste, the"
        " order of the answers may be right while the numbers mean little: is the step from 0.1 to 0.2 the"
        " same as that from 30 to 31? GOPO keeps the order alone. The best of a group gets the advantage 2,"
        " the worst -2, and the others lie evenly in between, whatever the rewards are."
    ),
    task=(
        "Write `rank_advantages(rewards)`:\n\n"
        "    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1)\n\n"
        "The best completion of a group of G has rank 1, the worst rank G. Equal rewards share the mean of the ranks"
        " that they take up together: two at the top, on the places 1 and 2, have rank 1.5 each. Rewards are"
        " compared exactly; a difference of 1e-12 makes one better."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G) advantages between -2 and 2; each row sums to zero.",
    constraints=("A group of one completion gets 0, and so does a group in which all rewards are equal."),
    notes=(
        "The abstract does not say how ties are ranked; the mean rank keeps the sum of a group at 0. No"
        " trainer has it built in."
    ),
    kernel="grpo_ref.ranked",
    source="GOPO, abstract (arXiv:2602.03876).",
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
            why="30 is the best, rank 1: 2 - 0 = 2. Then 0.2, rank 2: 2 - 4/2 = 0. Then 0.1, rank 3: 2 - 8/2 = -2.",
            shown=True,
        ),
        Case(
            "A tie for the best",
            ([[5, 1, 5, 0]],),
            np.array([[4 / 3, -2 / 3, 4 / 3, -2]]),
            why="The two best share the ranks 1 and 2: 2 - 4 · 0.5/3 = 4/3. Ranks 3 and 4 give 2 - 8/3 and 2 - 12/3.",
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
        Case(
            "The smallest differences",
            (np.array([[0.1, np.nextafter(0.1, 1.0)], [1e-20, 0.0], [1e-20, 1e-20]]),),
            np.array([[-2.0, 2.0], [2.0, -2.0], [0.0, 0.0]]),
            why="rewards are compared exactly",
        ),
        Holds("A monotone distortion changes nothing", _monotone, why="only the order counts"),
        Unchanged((np.array([[1.0, 0.0, 3.0]]),)),
        FromDomain(),
        *found_cases(__file__),
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
