"""A reward for every step."""

from typing import Any

import numpy as np

from grpo_ref.advantages import step_suffix_sums
from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import (
    BINARY,
    CONSTANT,
    LEVELS,
    MIXED,
    NEAR_TIES,
    ONE_FAR_OUT,
    SCALED_ROWS,
    SOME_CONSTANT,
    Pattern,
)
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

ALIKE = Pattern(
    "equal within some groups",
    lambda source, values: np.where(
        source.flags((*values.shape[:-2], 1, 1)), np.round(values[..., :1, :1]), values
    ),
)
DOMAIN = Domain(
    {
        "step_rewards": Real(
            "P G T",
            (-10, 10),
            rows=(
                MIXED,
                BINARY,
                LEVELS,
                CONSTANT,
                SOME_CONSTANT,
                ALIKE,
                NEAR_TIES,
                SCALED_ROWS,
                ONE_FAR_OUT,
            ),
            padding="step_ends",
            meaning="the reward of the step that ends at a token, for the T tokens of each of G completions to P prompts",
        ),
        "step_ends": Mask("P G T", meaning="1 where a step ends, 0 elsewhere"),
        "eps": Scalar(1e-4, (1e-4, 1), at=(1,), meaning="added to the standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "T": (1, 6)},
    large={"P": 40, "G": 40, "T": 40},
)
GROUP, COMPLETION, BATCH = (1, 2), 2, (0, 1, 2)


def _reference(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
    return step_suffix_sums(
        np.asarray(step_rewards, dtype=float), np.asarray(step_ends, dtype=float), ddof=0, eps=eps
    )


def _of(scores: Any = None, spread: Any = None, read: Any = None) -> Function:
    """Return an answer with another way to score the steps, or to spread the scores over the tokens."""

    def answer(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
        ends = np.asarray(step_ends) > 0
        rewards = (read or _read)(np.asarray(step_rewards, dtype=float), ends)
        return (spread or _suffix_sums)(np.where(ends, (scores or _scored)(rewards, ends, eps), 0.0))

    return answer


def _read(rewards: Floats, ends: Bools) -> Any:
    return np.where(ends, rewards, 0.0)


def _mean(values: Any, ends: Bools, axis: Any = GROUP) -> Any:
    count = np.maximum(ends.sum(axis, keepdims=True), 1)
    return np.where(ends, values, 0.0).sum(axis, keepdims=True) / count


def _std(rewards: Any, ends: Bools, axis: Any = GROUP) -> Any:
    return np.sqrt(_mean((rewards - _mean(rewards, ends, axis)) ** 2, ends, axis))


def _sample_std(rewards: Any, ends: Bools) -> Any:
    count = ends.sum(GROUP, keepdims=True)
    return _std(rewards, ends) * np.sqrt(count / np.maximum(count - 1, 1))


def _scored(rewards: Any, ends: Bools, eps: float, axis: Any = GROUP) -> Any:
    return (rewards - _mean(rewards, ends, axis)) / (_std(rewards, ends, axis) + eps)


def _suffix_sums(scores: Any) -> Any:
    return np.cumsum(scores[..., ::-1], -1)[..., ::-1]


def _mean_of_means(rewards: Any, ends: Bools) -> Any:
    return _mean(_mean(rewards, ends, COMPLETION), np.asarray(ends.any(COMPLETION, keepdims=True)))


def _over_all_tokens(rewards: Any, ends: Bools, eps: float) -> Any:
    return (rewards - rewards.mean(GROUP, keepdims=True)) / (rewards.std(GROUP, keepdims=True) + eps)


def _summed_first(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
    ends = np.asarray(step_ends) > 0
    totals = _suffix_sums(_read(np.asarray(step_rewards, dtype=float), ends))
    return np.where(_suffix_sums(ends) > 0, _scored(totals, ends, eps), 0.0)


def _own_step_alone(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
    ends = np.asarray(step_ends) > 0
    alone = _of(spread=lambda scores: scores)(step_rewards, ends, eps)
    for t in reversed(range(ends.shape[-1] - 1)):
        alone[..., t] = np.where(ends[..., t], alone[..., t], alone[..., t + 1])
    return alone


def _mean_of_steps(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
    later = _suffix_sums(np.asarray(step_ends) > 0)
    return _reference(step_rewards, step_ends, eps) / np.maximum(later, 1)


def _last_goes_on(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
    ends, length = np.asarray(step_ends) > 0, np.shape(step_ends)[-1]
    sums = _reference(step_rewards, ends, eps)
    last = length - 1 - np.argmax(ends[..., ::-1], -1)[..., None]
    return np.where(np.arange(length) > last, np.take_along_axis(sums, last, -1), sums)


def _in_one_row(scores: Any) -> Any:
    return _suffix_sums(scores.reshape(len(scores), 1, -1)).reshape(scores.shape)


def _raw_if_alone(rewards: Any, ends: Bools, eps: float) -> Any:
    alone = ends.sum(GROUP, keepdims=True) == 1
    return np.where(alone, rewards, _scored(rewards, ends, eps))


def _one_pass_std(rewards: Any, ends: Bools) -> Any:
    return np.sqrt(np.maximum(_mean(rewards**2, ends) - _mean(rewards, ends) ** 2, 0.0))


def _nearly_tied(rewards: Any, ends: Bools, eps: float) -> Any:
    gaps = np.where(ends, rewards - _mean(rewards, ends), 0.0)
    tied = abs(gaps).max(GROUP, keepdims=True) <= 1e-9 * abs(rewards).max(GROUP, keepdims=True)
    return np.where(tied, 0.0, _scored(rewards, ends, eps))


def _of_size(places: Any, most: int = 128) -> Function:
    """Return an answer that is right for the first entries along one axis, and 0 for the rest."""

    def answer(step_rewards: Any, step_ends: Any, eps: float = 1e-4) -> Any:
        whole = _reference(step_rewards, step_ends, eps)
        left = np.zeros_like(whole)
        left[places(most)] = whole[places(most)]
        return left

    return answer


def _half(apart: float) -> float:
    """Return the magnitude of the scores of two steps whose rewards differ by this much."""
    return 0.5 * apart / (0.5 * apart + 1e-4)


WIDE, NARROW = 2.0**-27, 2.0**-40
REWARDS = np.array(
    [[[3.0, 9.0, 1.0, 0.0], [0.0, 2.0, 5.0, 9.0]], [[0.5, 0.0, 0.0, 2.0], [9.0, 9.0, 9.0, 9.0]]]
)
ENDS = np.array([[[1, 0, 1, 0], [1, 1, 1, 0]], [[1, 0, 0, 1], [0, 0, 0, 0]]])


def _shift(f: Function) -> str | None:
    same = np.allclose(f(REWARDS, ENDS), f(REWARDS + 3.0, ENDS), atol=1e-9)
    return None if same else "3 more for every step should change nothing"


def _first_tokens(f: Function) -> str | None:
    first = np.asarray(f(REWARDS, ENDS))[:, :, 0].sum(1)
    balanced = np.allclose(first, 0.0, atol=1e-9)
    return None if balanced else "the advantages of the first tokens of a group should sum to 0"


PROBLEM = Problem(
    id="advantages/process",
    title="A reward for every step",
    function="process_advantages",
    reference=_reference,
    background=(
        "The policy, the language model in training, answers each prompt G times; these answers (completions)"
        " form the prompt's group. With one reward per completion, which is called outcome supervision, all"
        " tokens of a completion get the same advantage: in a solution of ten steps whose last one is wrong,"
        " the nine right steps are blamed as well. With process supervision every step is judged, for example"
        " every line of a proof, and has a reward of its own. A token is then worth what comes of it: the"
        " steps that end at it or after it. It has no part in the steps that were over before it."
    ),
    task=(
        "Write `process_advantages(step_rewards, step_ends, eps=1e-4)`. It has two parts. First the reward of each"
        " step is standardized among all steps of the group. Then each token gets the sum of the standardized"
        " rewards of those steps of its own completion that end at this token or later:\n\n"
        "    sᵢⱼ = (rᵢⱼ - mean(R)) / (std(R) + eps)\n"
        "    Aᵢₜ = Σⱼ sᵢⱼ      over the steps j of completion i whose last token is t or a later one\n\n"
        "rᵢⱼ is the reward of step j of completion i, and R are the rewards of all steps of all completions to one"
        " prompt, put together: each step counts once in the mean and in the standard deviation, so a completion of"
        " many steps counts more than one of few. The standard deviation is the one of a population: it divides the"
        " sum of squares by the number of steps in R, not by one less. eps is added to it.\n\n"
        "A token at which a step ends has a 1 in `step_ends`, and `step_rewards` has the reward of that step at the"
        " same place. Where `step_ends` is 0, no step ends, and what `step_rewards` holds there never matters, be it"
        " a number, NaN or infinity."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G, T) advantages, one per token.",
    constraints=(
        "Tokens after the last step of their completion get 0, and a completion without a step gets 0 everywhere.\n"
        "A group with a single step gets 0, since this step is its own mean; so does a group whose steps all have"
        " the same reward, and a group without any step.\n"
        "Completions may have different numbers of steps. The steps of a group of one completion are compared with"
        " one another.\n"
        "Groups do not mix: the steps of one prompt are never compared with those of another one."
    ),
    notes=(
        "The paper says neither which divisor the standard deviation has nor whether anything is added to it; both"
        " are chosen here as in the exercise on GDPO. No trainer has this built in. It can be trained: compare"
        " `grpo-ref train arithmetic --recipe process_grpo`, where every token of the answer is a step with a reward"
        " of its own, with `--recipe grpo`, where the answer as a whole has one reward."
    ),
    kernel="grpo_ref.step_suffix_sums",
    source="DeepSeekMath, sec. 4.1.3, process supervision (arXiv:2402.03300).",
    hints=(
        "Which two axes hold the steps of one group? And in which direction does the sum over steps run?",
        "np.where(step_ends > 0, ..., 0.0) leaves out what is no step; cumsum along a row that is turned round by"
        " [..., ::-1] sums from the end.",
        "scores = np.where(ends, (rewards - mean) / (std + eps), 0.0), mean and std over the steps of axes (1, 2),"
        " divided by their number (at least 1); then scores[..., ::-1].cumsum(-1)[..., ::-1]",
    ),
    checks=(
        Case(
            "Two completions of two steps",
            ([[[3, 9, 3], [1, 1, 9]]], [[[1, 0, 1], [1, 1, 0]]], 1),
            np.array([[[1.0, 0.5, 0.5], [-1.0, -0.5, 0.0]]]),
            why=(
                "The four steps have the rewards 3, 3, 1 and 1; the two 9 belong to no step. Their mean is 2 and their"
                " standard deviation 1, so the steps of the first completion get (3 - 2) / (1 + 1) = 0.5 each and those"
                " of the second -0.5. In the first completion both steps end at its first token or later: 0.5 + 0.5 ="
                " 1. Only the second step ends at its second token or later: 0.5. In the second completion no step"
                " ends at the last token: 0."
            ),
            shown=True,
        ),
        Case(
            "Where no step ends, anything may stand",
            ([[[np.nan, 4.0, np.inf], [0.0, np.nan, 7.0]]], [[[0, 1, 0], [1, 0, 0]]], 0.5),
            np.array([[[0.8, 0.8, 0.0], [-0.8, 0.0, 0.0]]]),
            why=(
                "There are two steps, with the rewards 4 and 0: their mean is 2 and so is their standard deviation."
                " 2 / (2 + 0.5) = 0.8 for the tokens up to the end of the first, -2 / 2.5 = -0.8 for those up to the"
                " end of the second."
            ),
            shown=True,
        ),
        Case(
            "A completion of many steps counts more",
            ([[[1, 1, 1], [5, 0, 0]]], [[[1, 1, 1], [1, 0, 0]]], 1),
            np.array([[[-3.0, -2.0, -1.0], [3.0, 0.0, 0.0]]]) / (1.0 + np.sqrt(3.0)),
            why="mean (1 + 1 + 1 + 5) / 4 = 2, std √((1 + 1 + 1 + 9) / 4) = √3; the steps have -1 and 3 over √3 + 1",
        ),
        Case(
            "A group of one completion",
            ([[[0.0, 1.0]]], [[[1, 1]]]),
            np.array([[[0.0, 0.5 / 0.5001]]]),
            why="its two steps are compared with one another: ±0.5 / (0.5 + 1e-4), which cancel at the first token",
        ),
        Case(
            "A single step",
            ([[[0.0, 3.0], [0.0, 0.0]]], [[[0, 1], [0, 0]]]),
            np.zeros((1, 2, 2)),
            why="it is its own mean",
        ),
        Case(
            "A group without any step",
            ([[[2, 5], [7, 1]], [[4, 0], [0, 0]]], [[[0, 0], [0, 0]], [[1, 0], [0, 1]]], 2),
            np.array([[[0.0, 0.0], [0.0, 0.0]], [[0.5, 0.0], [-0.5, -0.5]]]),
            why="nothing to sum, and no 0/0; in the other group mean and std are 2: ±2 / (2 + 2)",
        ),
        Case(
            "A completion without a step",
            ([[[4, 9], [9, 9], [9, 0]]], [[[1, 0], [0, 0], [0, 1]]], 2),
            np.array([[[0.5, 0.0], [0.0, 0.0], [-0.5, -0.5]]]),
            why="it gets 0 and is no part of mean 2 and std 2",
        ),
        Case(
            "All steps are equal",
            ([[[1, 1, 1], [1, 1, 1]]], [[[1, 0, 1], [0, 1, 0]]]),
            np.zeros((1, 2, 3)),
            why="no contrast, no signal, and no 0/0",
        ),
        Case(
            "Groups do not mix",
            ([[[0, 2]], [[8, 2]]], [[[1, 1]], [[1, 1]]], 1),
            np.array([[[0.0, 0.5]], [[0.0, -0.75]]]),
            why="mean 1 and std 1 in the first group, 5 and 3 in the second: 1 / (1 + 1) and -3 / (3 + 1)",
        ),
        Case(
            "Truth values as a mask",
            ([[[4.0, 9.0], [9.0, 0.0]]], np.array([[[True, False], [False, True]]]), 2),
            np.array([[[0.5, 0.0], [-0.5, -0.5]]]),
            why="a mask may be bool; mean and std are 2",
        ),
        Case(
            "Two steps a hair apart",
            ([[[8.0], [8.0 + WIDE]], [[8.0], [8.0 + NARROW]]], [[[1], [1]], [[1], [1]]]),
            np.array([[[-1.0], [1.0]]]) * [[[_half(WIDE)]], [[_half(NARROW)]]],
            why=(
                "the steps of a group are 2⁻²⁷ or 2⁻⁴⁰ apart, d say, and their deviations ±d/2 are exact in floating"
                " point: ±(d/2) / (d/2 + 1e-4). The squares of the rewards do not hold such a difference any more"
            ),
        ),
        Case(
            "A completion of 300 steps",
            (np.tile([1.0, -1.0], 150)[None, None], np.ones((1, 1, 300)), 1),
            np.tile([0.0, -0.5], 150)[None, None],
            why="the mean of 1, -1, 1, -1 and so on is 0 and the std 1: ±0.5, which cancel in pairs from the end",
        ),
        Case(
            "A group of 300 completions",
            (np.tile([[[0.0, 1.0], [0.0, -1.0]]], (1, 150, 1)), np.tile([[[0, 1]]], (1, 300, 1)), 1),
            np.tile([[[0.5, 0.5], [-0.5, -0.5]]], (1, 150, 1)),
            why="one step in each, 1 and -1 by turns, at the last token: ±1 / (1 + 1) for both tokens",
        ),
        Case(
            "300 prompts",
            (np.tile([[[0.0, 2.0]]], (300, 1, 1)), np.ones((300, 1, 2)), 1),
            np.tile([[[0.0, 0.5]]], (300, 1, 1)),
            why="in each group mean and std are 1: -0.5 and 0.5, which cancel at the first token",
        ),
        Holds("The same for every step changes nothing", _shift, why="only differences within a group count"),
        Holds(
            "The first tokens of a group sum to 0",
            _first_tokens,
            why="every step ends at its completion's first token or later, and all steps of a group sum to 0",
        ),
        Unchanged((REWARDS, ENDS)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "sums from the start",
            _of(spread=lambda s: np.cumsum(s, -1)),
            "The sum runs from the first token to this one; it should run from this one to the last.",
        ),
        Mutant(
            "own end left out",
            _of(spread=lambda s: _suffix_sums(s) - s),
            "A step that ends at the token itself is left out; it counts.",
        ),
        Mutant(
            "not spread over the tokens",
            _of(spread=lambda s: s),
            "Only tokens at which a step ends get anything, and only this one step.",
        ),
        Mutant(
            "own step alone",
            _own_step_alone,
            "A token gets the step to which it belongs alone; later steps count as well.",
        ),
        Mutant(
            "one number for the completion",
            _of(spread=lambda s: s.sum(-1, keepdims=True) + 0.0 * s),
            "All tokens of a completion get the sum of all its steps, also of those that were over before.",
        ),
        Mutant(
            "mean of the steps",
            _mean_of_steps,
            "The standardized rewards are averaged; they are summed.",
        ),
        Mutant(
            "the last step goes on",
            _last_goes_on,
            "Tokens after the last step get what this step got; they get 0.",
        ),
        Mutant(
            "the whole group as one row",
            _of(spread=_in_one_row),
            "The sum goes on over the completions that follow; each has its own.",
        ),
        Mutant(
            "summed first",
            _summed_first,
            "The raw rewards are summed before they are standardized; it is the other way round.",
        ),
        Mutant(
            "each completion by itself",
            _of(lambda r, e, eps: _scored(r, e, eps, COMPLETION)),
            "Mean and standard deviation are those of one completion; R are the steps of the whole group.",
        ),
        Mutant(
            "whole batch as one group",
            _of(lambda r, e, eps: _scored(r, e, eps, BATCH)),
            "Mean and standard deviation are taken over all prompts; every prompt has its own.",
        ),
        Mutant(
            "mean of means",
            _of(lambda r, e, eps: (r - _mean_of_means(r, e)) / (_std(r, e) + eps)),
            "The mean is that of the completions' means; every step counts once.",
        ),
        Mutant(
            "over all tokens",
            _of(_over_all_tokens),
            "Mean and standard deviation count a 0 for every token at which no step ends; only steps count.",
        ),
        Mutant(
            "sample standard deviation",
            _of(lambda r, e, eps: (r - _mean(r, e)) / (_sample_std(r, e) + eps)),
            "This looks like the sample standard deviation, ddof=1; here the divisor is the number of steps.",
        ),
        Mutant(
            "variance for std",
            _of(lambda r, e, eps: (r - _mean(r, e)) / (_std(r, e) ** 2 + eps)),
            "It divides by the variance.",
        ),
        Mutant("not divided", _of(lambda r, e, eps: r - _mean(r, e)), "The mean is taken off, and no more."),
        Mutant("not centered", _of(lambda r, e, eps: r / (_std(r, e) + eps)), "The mean is not taken off."),
        Mutant(
            "a single step keeps its reward",
            _of(_raw_if_alone),
            "A group with a single step gets its reward; it is its own mean and gets 0.",
        ),
        Mutant(
            "reads where no step ends",
            _of(read=lambda r, e: r, scores=_over_all_tokens),
            "Rewards are read where no step ends.",
        ),
        Mutant(
            "NaN made 0",
            lambda r, e, eps=1e-4: _suffix_sums(
                _over_all_tokens(np.nan_to_num(np.asarray(r, float), posinf=0.0, neginf=0.0), e, eps)
            ),
            "NaN and infinity are replaced, but ordinary numbers where no step ends are read.",
        ),
        Mutant(
            "NaN times 0",
            lambda r, e, eps=1e-4: _suffix_sums(
                _scored(np.asarray(r, float), np.asarray(e) > 0, eps) * np.asarray(e)
            ),
            "NaN where no step ends spreads: NaN times 0 is NaN.",
        ),
        Mutant(
            "eps left out",
            lambda r, e, eps=1e-4: _of()(r, e, 0.0),
            "eps is not used: where all steps are equal, 0 is divided by 0.",
        ),
        Mutant("eps fixed", lambda r, e, eps=1e-4: _reference(r, e), "The argument eps is not used."),
        Mutant(
            "eps under the root",
            _of(lambda r, e, eps: (r - _mean(r, e)) / np.sqrt(_std(r, e) ** 2 + eps)),
            "eps is added to the variance; it belongs to the standard deviation.",
        ),
        Mutant(
            "larger of std and eps",
            _of(lambda r, e, eps: (r - _mean(r, e)) / np.maximum(_std(r, e), eps)),
            "eps is added, not used as a floor.",
        ),
        Mutant(
            "one-pass variance",
            _of(lambda r, e, eps: (r - _mean(r, e)) / (_one_pass_std(r, e) + eps)),
            "The variance is the mean of the squares less the square of the mean, which loses small differences.",
        ),
        Mutant(
            "nearly equal taken for equal",
            _of(_nearly_tied),
            "Steps that differ by less than some part of their size are taken to be equal.",
        ),
        Mutant(
            "128 tokens at most",
            _of_size(lambda most: (..., slice(most))),
            "Tokens from some place on get 0.",
        ),
        Mutant(
            "128 completions at most",
            _of_size(lambda most: (slice(None), slice(most))),
            "Completions of a large group get 0 from some place on.",
        ),
        Mutant(
            "128 prompts at most",
            _of_size(lambda most: (slice(most),)),
            "Prompts of a large batch get 0 from some place on.",
        ),
    ),
    others={"in the steps of the statement": _of()},
)
