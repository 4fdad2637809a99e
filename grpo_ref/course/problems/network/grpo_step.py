"""One step of GRPO."""

from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.course.grading.domain.arguments import REQUIRED, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
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
from grpo_ref.course.problems.tiny_network import (
    LARGE,
    SIZES,
    central_differences,
    moved,
    network_and_texts,
    network_mutants,
    over_tokens,
    place_by_place,
    read,
    way_back,
)
from grpo_ref.surrogates import clipped

DOMAIN = Domain(
    network_and_texts("G L", "m, 1 on the tokens that were written, 0 on prompt and padding")
    | {
        "rewards": Whole(
            (-5, 5), axes="G", usual=((-5, 5), (0, 1), (-1, 2)), meaning="r, one for each completion"
        ),
        "old_log_probs": Real(
            "G L",
            (-10, 0),
            usual=((-2.5, -0.2), (-10, 0)),
            whole=False,
            meaning="log πold of each token, when it was written",
        ),
        "learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="length of the step"),
        "clip": Scalar(0.2, (0.05, 0.9), meaning="ε, how far the ratio may go"),
    },
    sizes={"G": (2, 5)} | SIZES,
    large={"G": 20} | LARGE,
)


def _advantages(rewards: Any) -> Any:
    return group_normalized(rewards, ddof=0)


def _slope(log_ratio: Any, advantages: Any, clip: float) -> Any:
    return clipped(log_ratio, advantages, clip_low=clip, clip_high=clip).slope


def _held(log_ratio: Any, advantages: Any, clip: float) -> Any:
    ratio = np.exp(log_ratio)
    return ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))


def _after_the_first(old_log_probs: Any) -> Any:
    return old_log_probs[:, 1:]


def _of(
    advantages: Any = _advantages,
    log_ratio: Any = np.subtract,
    slope: Any = _slope,
    held: Any = _held,
    read: Any = read,
    weights: Any = over_tokens,
    back: Any = way_back,
    old: Any = _after_the_first,
    direction: float = 1.0,
) -> Function:
    """Return an answer. Its `slope` and `held` receive the log-ratio, A and ε, its `log_ratio` the new and
    the old log-probabilities.
    """

    def answer(
        embeddings: Any,
        weight: Any,
        tokens: Any,
        mask: Any,
        rewards: Any,
        old_log_probs: Any,
        learning_rate: float,
        clip: float = 0.2,
    ) -> Any:
        seen, shares = read(embeddings, weight, tokens), weights(mask)
        of_each = advantages(np.asarray(rewards, float)[None])[0][:, None]
        given = log_ratio(seen.log_probs, old(np.asarray(old_log_probs, float))), of_each, clip
        new = moved(seen, shares * slope(*given), direction * learning_rate, back)
        return *new, float((shares * held(*given)).sum())

    return answer


_reference = _of()


def _by_ratio(formula: Any) -> Any:
    return lambda log_ratio, advantages, clip: formula(np.exp(log_ratio), advantages, clip)


def _held_if(is_held: Any) -> Function:
    """Return an answer that clips other tokens."""
    held = _by_ratio(is_held)
    return _of(slope=lambda *given: np.where(held(*given), 0.0, np.exp(given[0]) * given[1]), held=held)


def _held_not_counted(embeddings: Any, weight: Any, *rest: Any, **clip: float) -> Any:
    *new, share = _reference(embeddings, weight, *rest, **clip)
    moving = 1.0 - share if share < 1.0 else 1.0
    given = (np.asarray(each, float) for each in (embeddings, weight))
    return *(old + (step - old) / moving for old, step in zip(given, new, strict=True)), share


EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])
TOKENS = np.array([[0, 1, 1, 2], [0, 2, 0, 1], [0, 1, 2, 0]])
MASK = np.array([[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]])
REWARDS, BEGINNING = np.array([1, 0, 0]), np.full((3, 1), -1.0)
SINCE = np.array([[-0.1, 0.5, -0.4], [0.3, -0.6, 0.0], [0.0, 0.1, 0.7]])
OLD = np.concatenate([BEGINNING, read(EMBEDDINGS, WEIGHT, TOKENS).log_probs - SINCE], axis=1)


def _objective(embeddings: Any, weight: Any) -> float:
    ratio = np.exp(read(embeddings, weight, TOKENS).log_probs - OLD[:, 1:])
    advantages = _advantages(REWARDS[None].astype(float))[0][:, None]
    terms = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages)
    return float((over_tokens(MASK) * terms).sum())


def _is_the_slope(f: Function) -> str | None:
    given = EMBEDDINGS, WEIGHT
    returned = f(*given, TOKENS, MASK, REWARDS, OLD, 0.5)
    slopes = central_differences(_objective, *given)
    for name, old, new, slope in zip("EW", given, returned, slopes, strict=False):
        if not np.allclose(new, old + 0.5 * slope, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of J"
    return None


def _is_held_in_the_end(f: Function) -> str | None:
    embeddings, weight = EMBEDDINGS, WEIGHT
    old = np.concatenate([np.zeros((2, 1)), read(embeddings, weight, BOTH).log_probs], axis=1)
    shares = []
    for _ in range(12):
        embeddings, weight, share = f(embeddings, weight, BOTH, WRITTEN, [0, 1], old, 1.0)
        shares.append(float(share))
    rises = abs(shares[0]) < 1e-6 and abs(shares[-1] - 1.0) < 1e-6
    return None if rises else f"in twelve steps on one batch the share rises from 0 to 1, here it is {shares}"


A = np.log(3.0) / 2.0
"""Number with tanh(A) = 1/2."""
TWO, ONE = np.array([[A], [5.0 * A]]), np.array([[1.0]])
"""After token 0, the probabilities are 1/4 and 3/4: the logits are A/2 and 5 A/2, and 2 A is log 3."""
BOTH, WRITTEN = [[0, 0], [0, 1]], [[0, 1], [0, 1]]
U = 1.0 / 1.0002
HALF, QUARTER, THREE = np.log([0.5, 0.25, 0.75])

PROBLEM = Problem(
    id="network/grpo_step",
    title="One step of GRPO",
    function="grpo_step",
    reference=_reference,
    background=(
        "The network that has learned to speak is rewarded now. It has continued one prompt G times, and each"
        " continuation, a completion, has got a reward. From there on everything is known: the group says what was"
        " better than expected, the ratio how far the policy has moved since it wrote this, the clip how far is far"
        " enough, and the slope goes back through the softmax and the network to its weights. This is the whole of GRPO"
        " from rewards to weights, in about fifteen lines; what trainers add is size."
    ),
    task=(
        "Write `grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2)`: one step"
        " of gradient ascent on\n\n"
        "    J = Σ m min(ρ A, clip(ρ, 1 - ε, 1 + ε) A) / Σ m\n"
        "    A[i] = (r[i] - mean(r)) / (std(r) + 1e-4)\n"
        "    ρ[i, t] = exp(log π(tokens[i, t] | tokens[i, t - 1]) - old_log_probs[i, t])\n\n"
        "The network is that of `network/imitation_step`: with E for `embeddings` and W for `weight`, after a token x\n\n"
        "    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)\n\n"
        "where E[x] is row x of E, (E[x] W)[d] = Σ_c E[x, c] W[c, d] and z[a] = Σ_d E[a, d] h[d]. Both sums of J run"
        " over all completions i and all places t ≥ 1: nothing comes before a first token. The mean and the standard"
        " deviation run over the G rewards; std divides by G, not by G - 1. A holds for all tokens of its"
        " completion. Every token of the batch counts the same, however long its completion is. A and the old"
        " log-probabilities are constants.\n\n"
        "A token is held by the clip if A > 0 and ρ > 1 + ε, or if A < 0 and ρ < 1 - ε. It still counts in Σ m, but it"
        " pushes no more: the slope of its min(...) is 0. Every other token has ∂ min(...)/∂ log π = ρ A. Return"
        " E + learning_rate · ∂J/∂E, W + learning_rate · ∂J/∂W, and the share of the tokens that are held,"
        " Σ m [held] / Σ m."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output=(
        "A tuple: the new E, of shape (V, D), the new W, of shape (D, D), and the share of the tokens that the clip"
        " holds."
    ),
    constraints=(
        "Nothing comes before the first token, t = 0: its entries of the mask and of old_log_probs do not matter, and"
        " neither do the old log-probabilities where the mask is 0.\n"
        "If no token counts, or all rewards are equal (a dead group: every A is 0), E and W stay as they are, and the"
        " share is 0.\n"
        "Logits may lie thousands apart: a softmax that does not take off the largest one first overflows."
    ),
    notes=(
        "The mean over the tokens of the batch is verl's and TRL's default; the paper of GRPO takes it over each"
        " completion first, and the paper of DAPO over each group first, as in chapter 5. With several prompts, each has its own mean and std, and all tokens share"
        " one Σ m. In the first step on a batch every ρ is 1, and nothing is held."
    ),
    source="Shao et al. 2024, GRPO, sec. 4.1 (arXiv:2402.03300); verl `token-mean`, for the mean.",
    hints=(
        "Imitation raises every log π by the weight m / Σ m. By what does this step raise the log π of a token? From"
        " there on the way to E and W is the same.",
        "The push of a token is g = m / Σ m · ρ A, or 0 if it is held. At the logits it is g (one-hot - π), at the exit"
        " that times h, and at the entrance that times E and 1 - h², then times Wᵀ for E and E[x]ᵀ for W.",
        "dz = push[:, None] * (np.eye(V)[after] - probs); du = (dz @ E) * (1 - h**2); dE = dz.T @ h; np.add.at(dE,"
        " before, du @ W.T); dW = E[before].T @ du",
    ),
    checks=(
        Case(
            "On policy",
            (TWO, ONE, BOTH, WRITTEN, [1, 0], [[0.0, QUARTER], [0.0, THREE]], 1.0),
            (
                np.array([[A + U / 4.0 - 1.5 * A * U], [5.0 * A - U / 4.0]]),
                np.array([[1.0 - 1.5 * A**2 * U]]),
                0.0,
            ),
            why=(
                "The rows are a = log 3 / 2 and 5 a, and W is 1. Both completions have one token after token 0, where"
                " h = 1/2 and π is 1/4 and 3/4, just as when they were written: ρ = 1. Mean and std of the rewards are"
                " 1/2, so A is ±u with u = 0.5 / 0.5001. Each token has the weight 1/2, so the slope at the logits is"
                " u/2 (3/4, -3/4) - u/2 (-1/4, 1/4) = u/2 (1, -1). At the exit the rows get u/4 and -u/4. At the entrance"
                " the slope of h is u/2 (a - 5 a) = -2 a u, and that of E[0] W is -2 a u (1 - 1/4) = -0.823794: times W it"
                " goes to E[0], times E[0] = a to W. So E[0] becomes 0.549306 + 0.249950 - 0.823794 = -0.024538, E[1]"
                " 2.746531 - 0.249950 = 2.496581, and W 1 - 0.452515 = 0.547485."
            ),
            shown=True,
        ),
        Case(
            "One token is held",
            (TWO, ONE, BOTH, WRITTEN, [0, 1], [[-1.0, HALF], [-1.0, THREE]], 2.0),
            (
                np.array([[A - 0.125 * U + 0.75 * A * U], [5.0 * A + 0.125 * U]]),
                np.array([[1.0 + 0.75 * A**2 * U]]),
                0.5,
            ),
            why=(
                "The first completion is bad, and ρ = 1/4 / 1/2 = 1/2 has fallen below 0.8: it is held, but still counts"
                " as one of two tokens. The second one has ρ = 1 and A = u. The slope at the logits is u/2 (-1/4, 1/4);"
                " at the exit that is -u/16 and u/16, at the entrance u/8 (5 a - a) = a u/2, times 3/4. The step is twice"
                " that."
            ),
            shown=True,
        ),
        Case(
            "A good token that has become rarer, a bad one that has become likelier",
            (TWO, ONE, BOTH, WRITTEN, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
            (
                np.array([[A + U * 3.0 / 16.0 - 9.0 / 8.0 * A * U], [5.0 * A - U * 3.0 / 16.0]]),
                np.array([[1.0 - 9.0 / 8.0 * A**2 * U]]),
                0.0,
            ),
            why="ρ = 1/2 and 3/2, and nothing is held: u/4 (3/4, -3/4) - 3 u/4 (-1/4, 1/4) = 3 u/8 (1, -1)",
        ),
        Case(
            "Both are held",
            (TWO, ONE, BOTH, WRITTEN, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0),
            (TWO, ONE, 1.0),
            why="ρ = 1/2 with A < 0, and 3/2 with A > 0: nothing moves",
        ),
        Case(
            "A wide clip",
            (TWO, ONE, BOTH, WRITTEN, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0, 0.6),
            (
                np.array([[A - U * 3.0 / 16.0 + 9.0 / 8.0 * A * U], [5.0 * A + U * 3.0 / 16.0]]),
                np.array([[1.0 + 9.0 / 8.0 * A**2 * U]]),
                0.0,
            ),
            why="1/2 and 3/2 lie within 1 ± 0.6",
        ),
        Case(
            "A long and a short completion",
            (
                TWO,
                ONE,
                [[0, 0, 0], [0, 1, 0]],
                [[0, 1, 1], [0, 1, 0]],
                [1, 0],
                [[0.0, QUARTER, QUARTER], [0.0, THREE, 0.0]],
                1.0,
            ),
            (
                np.array([[A + U * 7.0 / 24.0 - 7.0 / 4.0 * A * U], [5.0 * A - U * 7.0 / 24.0]]),
                np.array([[1.0 - 7.0 / 4.0 * A**2 * U]]),
                0.0,
            ),
            why="three tokens count alike: u/3 (3/4, -3/4) twice, and -u/3 (-1/4, 1/4): 7 u/12 (1, -1)",
        ),
        Case(
            "A dead group",
            (TWO, ONE, BOTH, WRITTEN, [3, 3], [[0.0, HALF], [0.0, HALF]], 1.0),
            (TWO, ONE, 0.0),
            why="all rewards are equal, so every advantage is 0, and what has no advantage is not held",
        ),
        Case(
            "No token at all",
            (TWO, ONE, BOTH, [[1, 0], [1, 0]], [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
            (TWO, ONE, 0.0),
            why="only first tokens are marked, and nothing comes before those",
        ),
        Case(
            "Logits of 1000",
            ([[1000.0], [1000.0], [0.0]], ONE, BOTH, WRITTEN, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
            (np.array([[1000.0 + U / 2.0], [1000.0 - U / 2.0], [0.0]]), ONE, 0.0),
            why="h = 1, π = 1/2, 1/2, 0, and tanh is flat there: u/2 (1, -1, 0) times h",
        ),
        Holds("The step is the slope of J", _is_the_slope, why="checked by central differences"),
        Holds("On one batch, the clip takes hold", _is_held_in_the_end, why="that is what it is for"),
        Unchanged((EMBEDDINGS, WEIGHT, TOKENS, MASK, REWARDS, OLD, 1.0)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        *network_mutants(_of),
        Mutant("downhill", _of(direction=-1.0), "The sign is turned over: J is to grow."),
        Mutant(
            "not centered",
            _of(lambda r: r / (r.std(-1, keepdims=True) + 1e-4)),
            "The mean of the group is not taken off the rewards.",
        ),
        Mutant("centered only", _of(group_centered), "The advantages are not divided by the std."),
        Mutant(
            "sample standard deviation",
            _of(lambda r: group_normalized(r, ddof=1)),
            "This looks like the sample standard deviation, ddof=1; here it divides by G.",
        ),
        Mutant(
            "1e-4 under the root",
            _of(lambda r: (r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + 1e-4)),
            "1e-4 is added to the standard deviation, not to the variance.",
        ),
        Mutant("1e-6", _of(lambda r: group_normalized(r, ddof=0, eps=1e-6)), "1e-4 is added to the std."),
        Mutant(
            "never held",
            _held_if(lambda r, a, e: np.zeros(np.broadcast_shapes(r.shape, a.shape), dtype=bool)),
            "A token that the clip holds has the slope 0.",
        ),
        Mutant(
            "held whenever outside",
            _held_if(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e)),
            "Outside the band only those tokens are held that moved with their advantage.",
        ),
        Mutant(
            "the other two held",
            _held_if(lambda r, a, e: ((a < 0) & (r > 1 + e)) | ((a > 0) & (r < 1 - e))),
            "The wrong two of the four cases are held: a good token is held above 1 + ε, a bad one below 1 - ε.",
        ),
        Mutant(
            "held above only",
            _held_if(lambda r, a, e: (a > 0) & (r > 1 + e)),
            "A bad token that has become rare enough is held too.",
        ),
        Mutant(
            "band of the log-ratio",
            _held_if(lambda r, a, e: ((a > 0) & (np.log(r) > e)) | ((a < 0) & (np.log(r) < -e))),
            "1 - ε and 1 + ε are bounds of the ratio, not -ε and ε of its logarithm.",
        ),
        Mutant(
            "ratio's slope left out",
            _of(slope=lambda *given: np.where(_held(*given), 0.0, given[1])),
            "The slope of ρ A with respect to log π is ρ A, not A.",
        ),
        Mutant(
            "clipped ratio as a factor",
            _of(slope=_by_ratio(lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a)),
            "That is the clipped value; where the clip holds a token, the slope is 0.",
        ),
        Mutant(
            "the value for the slope",
            _of(slope=_by_ratio(lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a))),
            "This is the value of the surrogate; where the clip holds a token, the slope is 0.",
        ),
        Mutant(
            "old log-probabilities not used",
            _of(log_ratio=lambda new, old: 0.0 * new),
            "The old log-probabilities are not used: the ratio is 1 everywhere.",
        ),
        Mutant(
            "ratio upside down",
            _of(log_ratio=lambda new, old: old - new),
            "The ratio is π/πold, not πold/π.",
        ),
        Mutant(
            "old ones of the token before",
            _of(old=lambda old_log_probs: old_log_probs[:, :-1]),
            "Off by one: old_log_probs[t] belongs to tokens[t].",
        ),
        Mutant(
            "held tokens not counted",
            _held_not_counted,
            "A token that is held still counts in Σ m.",
        ),
        Mutant(
            "clip fixed",
            lambda e, w, t, m, r, old, lr, clip=0.2: _reference(e, w, t, m, r, old, lr, 0.2),
            "The argument clip is not used.",
        ),
        Mutant(
            "learning rate forgotten",
            lambda e, w, t, m, r, old, lr, clip=0.2: _reference(e, w, t, m, r, old, 1.0, clip),
            "The learning rate is not used.",
        ),
        Mutant(
            "share of all that is outside",
            _of(held=_by_ratio(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e))),
            "The share counts tokens that are held; one that its advantage calls back is not.",
        ),
        Mutant(
            "share of those not held",
            _of(held=lambda *given: ~_held(*given)),
            "This is the share of the tokens that are not held.",
        ),
    ),
    others={
        "comparing the branches": _of(
            slope=_by_ratio(lambda r, a, e: np.where(r * a <= np.clip(r, 1 - e, 1 + e) * a, r * a, 0.0))
        ),
        "place by place": _of(back=place_by_place),
    },
)
