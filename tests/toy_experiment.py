"""A made-up experiment whose result is known beforehand, for the tests of what handles experiments."""

import os
import time

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)


def shifted(*, by, seeds, seed):
    """The same noise in every arm, plus a constant."""
    noise = np.array([np.random.default_rng([seed, run]).normal() for run in range(seeds)])
    return {"level": noise + by, "curve": np.stack([noise, noise + by], axis=-1)}


def slow_square(*, number, seeds, seed):
    """The process that did the work and the square of a number, after a while."""
    time.sleep(0.3)
    return {"square": np.full(seeds, float(number) ** 2), "process": np.full(seeds, float(os.getpid()))}


TOY = Experiment(
    name="toy",
    title="Is high higher than low?",
    group="toy",
    claim="More is more, whatever | else.",
    source="nobody",
    run="Numbers are drawn.",
    measured="Their level.",
    arms={"low": arm(shifted, by=0.0), "high": arm(shifted, by=1.0)},
    predictions=(
        Prediction("High is higher than low", "level", "high", "more", "low"),
        Prediction("Low is one below two", "level", "low", "less", 2.0, margin=0.5),
    ),
    panels=(Curves("curve", "level (units)"), Points("level", "level (units)")),
    exhibit=lambda: "| a sample |\n|---|\n| of nothing |",
)


def on_a_task(*, gain, rate, seeds, seed):
    """Best at a rate of 0.3; the task adds much that all arms share, and a little that they do not."""
    task = np.random.default_rng([seed, 1])
    shared, own = task.normal(), 0.1 * task.normal()
    return {
        "level": shifted(by=shared + gain * (1.0 + own) - (rate - 0.3) ** 2, seeds=seeds, seed=seed)["level"]
    }


def with_other(*, gain, rate, seeds, seed):
    """Return the levels of `on_a_task`, and a second measure that falls with the rate on every task."""
    found = on_a_task(gain=gain, rate=rate, seeds=seeds, seed=seed)
    return found | {"other": found["level"] * 0.0 - rate}


RATES = Tuning("rate", (0.1, 0.3, 1.0), by="level")
FAMILY = Experiment(
    name="family",
    title="Does the family differ?",
    group="toy",
    claim="More is more on every task.",
    source="nobody",
    run="Numbers are drawn.",
    measured="Their level.",
    arms={"low": tuned(on_a_task, RATES, gain=0.0), "high": tuned(on_a_task, RATES, gain=1.0)},
    predictions=(
        Prediction("High is higher than low", "level", "high", "more", "low", main=True),
        Prediction("High is far higher than low", "level", "high", "more", "low", margin=2.0),
    ),
    panels=(Grid("level (units)"), Points("level", "level (units)")),
    family="Each task adds a number of its own.",
)
