"""Wrong answers to `clinic/idle_clip`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import changed, mistakes_on_bandits
from grpo_ref.course.exercises.clinic.idle_clip.tests import of, reference


def _unless(is_clipped):
    """Return the slope r A, set to 0 where the condition on (r, A, clip) is true."""

    def slope(log_ratio, advantages, clip):
        ratio = np.exp(log_ratio)
        return np.where(is_clipped(ratio, advantages, clip), 0.0, ratio * advantages)

    return slope


def _without_ratio(log_ratio, advantages, clip):
    return np.where(RIGHT.slope(log_ratio, advantages, clip) == 0.0, 0.0, advantages)


def _clipped_product(log_ratio, advantages, clip):
    ratio = np.exp(log_ratio)
    return np.minimum(ratio * advantages, np.clip(ratio, 1.0 - clip, 1.0 + clip) * advantages)


def _policy_of_the_step_before():
    """Return a stage that remembers the log-probabilities of one step. A ratio of 1 begins a batch."""
    before = None

    def old(then, now):
        nonlocal before
        result = then if before is None or np.array_equal(then, now) else before
        before = now
        return result

    return old


def _policy_before_all_updates(payoffs, *others, **keywords):
    uniform = -np.log(np.shape(payoffs)[-1])
    return of(replace(RIGHT, old=lambda then, now: np.full_like(now, uniform)))(payoffs, *others, **keywords)


WRONG = (
    as_given(
        of(replace(RIGHT, old=lambda then, now: now)),
        "Uses a ratio of 1 in every step: `old` is the current policy, or the slope is A without a clip.",
    ),
    Mutant(
        "never clipped",
        of(replace(RIGHT, slope=stages.never_clipped)),
        "Never clips: a pull beyond its bound keeps the slope r A.",
    ),
    Mutant(
        "max for min",
        of(
            replace(
                RIGHT,
                slope=_unless(lambda r, a, clip: ((a > 0) & (r < 1.0 - clip)) | ((a < 0) & (r > 1.0 + clip))),
            )
        ),
        "Takes the larger of the two products; J has the smaller.",
    ),
    Mutant(
        "clipped on both sides",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: abs(r - 1.0) > clip))),
        "Clips on both sides for every advantage; a pull with A > 0 has only the upper bound, with A < 0 only the"
        " lower.",
    ),
    Mutant(
        "clipped above only",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a > 0) & (r > 1.0 + clip)))),
        "Clips only where A > 0; a pull with A < 0 has slope 0 below 1 - clip.",
    ),
    Mutant(
        "clipped below only",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a < 0) & (r < 1.0 - clip)))),
        "Clips only where A < 0; a pull with A > 0 has slope 0 above 1 + clip.",
    ),
    Mutant(
        "clipped on the bound",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: np.sign(a) * (r - 1.0) >= clip))),
        "Clips a pull whose ratio is on its bound; the slope there is r A.",
    ),
    Mutant(
        "inverse lower bound",
        of(
            replace(
                RIGHT,
                slope=_unless(
                    lambda r, a, clip: ((a > 0) & (r > 1 + clip)) | ((a < 0) & (r < 1 / (1 + clip)))
                ),
            )
        ),
        "Uses the lower bound 1 / (1 + clip); it is 1 - clip.",
    ),
    Mutant(
        "slope without the ratio",
        of(replace(RIGHT, slope=_without_ratio)),
        "Uses A for the slope of a pull that is not clipped; the slope is r A.",
    ),
    Mutant(
        "value for slope",
        of(replace(RIGHT, slope=_clipped_product)),
        "Uses the bound times A for the slope of a clipped pull; the slope is 0.",
    ),
    Mutant(
        "old from the step before",
        lambda *arguments, **keywords: of(replace(RIGHT, old=_policy_of_the_step_before()))(
            *arguments, **keywords
        ),
        "Takes `old` from the step before; it belongs to the policy that sampled the batch.",
    ),
    Mutant(
        "old from before all updates",
        _policy_before_all_updates,
        "Takes `old` from the policy before all updates; it belongs to the policy that sampled the batch.",
    ),
    Mutant(
        "one step",
        changed(reference, lambda given: given | {"steps": 1}),
        "Takes one step on each batch; `steps` is ignored.",
    ),
    Mutant(
        "clip ignored",
        changed(reference, lambda given: given | {"clip": 0.2}),
        "Ignores `clip` and always uses its default, 0.2.",
    ),
    *mistakes_on_bandits(of),
)
