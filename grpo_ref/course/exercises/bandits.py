"""Shared parts of the exercises with a table of bandits.

These are the toy loop as a function, the allowed inputs, common mistakes, and a test that the loop learns.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.arrays import Floats
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop, normalized
from grpo_ref.course.author import (
    CONSTANT,
    LEVELS,
    MIXED,
    SOME_CONSTANT,
    Domain,
    Function,
    Mutant,
    Pattern,
    Real,
    Rule,
    Scalar,
    Source,
)
from grpo_ref.course.grading.domain.rows import IN_ORDER
from grpo_ref.learning.policies.table import policy_of

NEAR = 1e-9
"""Rounding may decide between two numbers that are this close."""


def _some_groups_equal(source: Source, values: Floats) -> Floats:
    """Make all payoffs equal in some groups, as in an update without a gradient."""
    chosen = source.flags((*values.shape[:2], 1, 1))
    return np.where(chosen, values[:, :, :1, :1], values)


def _at_both_ends(source: Source, values: Floats) -> Floats:
    """Make every payoff the largest or the smallest possible one. The caller clips them to the range."""
    return np.where(source.flags(values.shape), np.inf, -np.inf)


PAYOFFS = Real(
    "U P G V",
    (-20, 20),
    usual=((0, 1), (-3, 3)),
    rows=(
        MIXED,
        LEVELS,
        CONSTANT,
        SOME_CONSTANT,
        IN_ORDER,
        Pattern("equal within some groups", _some_groups_equal),
        Pattern("at both ends", _at_both_ends),
    ),
    meaning="reward of arm v for pull g of prompt p",
)
UNIFORMS = Real(
    "U P G", (0, 0.999), at=(0, 0.25, 0.5, 0.75), whole=False, meaning="random numbers, one for each pull"
)
LEARNING_RATE = Scalar(2.0, (0.01, 5), usual=((0.1, 3),), at=(0.01, 1, 5), meaning="step size")
ONE_STEP_WITHOUT_A_CLIP = Rule(
    "If `clip` is 0, `steps` is 1.", lambda values: values["clip"] > 0 or values["steps"] == 1
)
SIZES = {"U": (1, 4), "P": (1, 3), "G": (1, 5), "V": (2, 4)}
LARGE = {"U": 12, "P": 12, "G": 40}


def on_bandits(loop: ToyLoop, **settings: Any) -> Function:
    """Return the loop as a function (payoffs (U, P, G, V), uniforms (U, P, G), learning_rate) -> logits (P,
    V).
    """

    def train(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        start = np.zeros((payoffs.shape[1], payoffs.shape[-1]))
        return loop(start, verify, uniforms[..., None], learning_rate, **settings)

    return train


def without_ties(text: str, of: Callable[[ToyLoop], Function], loop: ToyLoop = RIGHT) -> Rule:
    """Return the rule that rounding decides no sample and no clip while the right program trains.

    A number may equal a cumulative probability in the first update if 2 or 4 tokens are equally likely,
    because their cumulative probabilities have no rounding error.

    Args:
      text: the rule, as a sentence of the statement.
      of: makes the exercise's function of a loop.
      loop: the right loop.
    """

    def holds(values: Mapping[str, Any]) -> bool:
        clear: list[bool] = []
        starts_uniform = not np.any(values.get("start", 0.0))

        def walk(probs: Any, uniforms: Any) -> Any:
            states, tokens, mask = loop.walk(probs, uniforms)
            distance = np.abs(probs.cumsum(-1)[states][..., :-1] - uniforms[..., None])
            is_exact = not clear and starts_uniform and probs.shape[-1] in (2, 4)
            clear.append(bool(np.all((distance > NEAR) | ((distance == 0) & is_exact))))
            return states, tokens, mask

        def slope(log_ratio: Any, advantages: Any, clip: float) -> Any:
            distance = np.abs(np.exp(log_ratio) - 1.0 - clip * np.sign(advantages))
            clear.append(bool(np.all((distance > NEAR) | (log_ratio == 0) | (advantages == 0))))
            return loop.slope(log_ratio, advantages, clip)

        of(replace(loop, walk=walk, slope=slope))(**values)
        return all(clear)

    return Rule(text, holds)


NO_ARM_BY_ROUNDING = "Rounding never decides which arm is selected."
BANDITS = Domain(
    {"payoffs": PAYOFFS, "uniforms": UNIFORMS, "learning_rate": LEARNING_RATE},
    sizes=SIZES,
    large=LARGE,
    rules=(without_ties(NO_ARM_BY_ROUNDING, on_bandits),),
)
"""Domain of the loops whose only arguments are payoffs, uniforms and a learning rate."""


def learns_bandits(train: Function) -> str | None:
    """Return None if both prompts' best arms have probability above 0.9 after 150 updates."""
    rng = np.random.default_rng(0)
    means = np.array([[0.1, 0.5, 0.2, 0.3], [0.9, 0.4, 0.6, 0.5]])
    payoffs = (rng.random((150, 2, 16, 4)) < means[:, None]).astype(float)
    probs = policy_of(np.asarray(train(payoffs, rng.random((150, 2, 16)), 4.0), dtype=float)).probs
    worst = probs[np.arange(2), means.argmax(-1)].min()
    if worst > 0.9:
        return None
    return f"after 150 updates each best arm should have a probability above 0.9, but one has {worst:.2f}"


def changed(function: Function, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Function:
    """Return the function with its arguments changed first. `change` gets the given arguments by name."""
    signature = inspect.signature(function)

    def answer(*arguments: Any, **keywords: Any) -> Any:
        return function(**change(dict(signature.bind(*arguments, **keywords).arguments)))

    return answer


def first_update_repeated(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a change that puts the argument's first entry in the place of every entry."""
    return lambda given: given | {name: np.broadcast_to(np.asarray(given[name])[:1], np.shape(given[name]))}


def _last_update(given: dict[str, Any]) -> dict[str, Any]:
    return given | {name: given[name][-1:] for name in ("payoffs", "uniforms") if name in given}


def mistakes_of_a_loop(
    of: Callable[[ToyLoop], Function], loop: ToyLoop, learning_rate: float
) -> tuple[Mutant, ...]:
    """Return wrong answers that fit every training exercise.

    Args:
      of: makes the exercise's function of a loop.
      loop: the right loop.
      learning_rate: default of the exercise's argument `learning_rate`.
    """
    right = of(loop)
    return (
        Mutant(
            "downhill",
            of(replace(loop, direction=-1.0)),
            "Moves the logits downhill: choices with a positive advantage become less likely.",
        ),
        Mutant(
            "no baseline",
            of(replace(loop, advantage=raw_rewards)),
            "Uses the rewards as advantages; the mean of the group is not subtracted.",
        ),
        Mutant(
            "sum for mean",
            of(replace(loop, weight=token_sum)),
            "Adds up the gradients of the batch without dividing by their number.",
        ),
        Mutant(
            "equal counts as larger",
            of(replace(loop, walk=lambda probs, uniforms: loop.walk(probs, np.nextafter(uniforms, -1.0)))),
            "Accepts a cumulative probability equal to the random number; it must be larger.",
        ),
        Mutant(
            "another default",
            changed(right, lambda given: {"learning_rate": 1.0} | given),
            f"Uses 1 for `learning_rate` if it is omitted; the default is {learning_rate:g}.",
        ),
        Mutant(
            "learning rate ignored",
            changed(right, lambda given: given | {"learning_rate": learning_rate}),
            f"Ignores `learning_rate` and always uses its default, {learning_rate:g}.",
        ),
        Mutant(
            "the same numbers in every update",
            changed(right, first_update_repeated("uniforms")),
            "Uses the random numbers of the first update in every update.",
        ),
        Mutant(
            "the last update only",
            changed(right, _last_update),
            "Begins every update with the initial logits, so only the last update counts.",
        ),
    )


def mistakes_on_bandits(of: Callable[[ToyLoop], Function], loop: ToyLoop = RIGHT) -> tuple[Mutant, ...]:
    """Return wrong answers that fit every exercise with several prompts."""
    return (
        *mistakes_of_a_loop(of, loop, 2.0),
        Mutant(
            "baseline of the batch",
            of(replace(loop, advantage=stages.batch_baseline)),
            "Subtracts the mean reward of the whole batch; each prompt needs the mean of its own group.",
        ),
        Mutant(
            "divided by the standard deviation",
            of(replace(loop, advantage=normalized)),
            "Divides the advantages by the standard deviation of the group; A is only the difference.",
        ),
        Mutant(
            "divided by G",
            of(replace(loop, weight=lambda mask: mask / mask.shape[1])),
            "Divides by G only; J is a mean over all P G pulls.",
        ),
        Mutant(
            "the same rewards in every update",
            changed(of(loop), first_update_repeated("payoffs")),
            "Reads the rewards of the first update in every update.",
        ),
    )


def without(mistakes: tuple[Mutant, ...], *names: str) -> tuple[Mutant, ...]:
    """Return the mistakes that do not have these names."""
    return tuple(each for each in mistakes if each.name not in names)
