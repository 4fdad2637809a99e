"""Claim: when entropy, diversity and the width of the rewards all drop, the policy is collapsing."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.diversity import has_collapsed
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.drawn_synonyms import FAMILY, answered, at_start, drawn_synonyms
from grpo_ref.recipes import GRPO

PLAIN = replace(GRPO, kl_coef=0.0)
UPDATES = 240
LOOKS = tuple(range(UPDATES // 5, UPDATES + 1, UPDATES // 10))
"""Updates after which somebody looks whether there is an alarm."""
SIGNALS = ("entropy", "distinct_bigrams", "reward_width")
SHARES = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Fraction of its first value below which a signal counts as fallen."""
NO_PRESSURE, ONE_RIGHT, BONUS = "no pressure", "one right answer", "bonus 0.3"
KINDS: Mapping[str, Mapping[str, Any]] = {
    NO_PRESSURE: {},
    ONE_RIGHT: {"right": 1, "hint": 2.0},
    BONUS: {"entropy_coef": 0.3},
}


@lru_cache(maxsize=256)
def run_of(kind: str, wrong: int | None, seeds: int, seed: int) -> tuple[Mapping[str, Floats], Bools]:
    """A training that several alarms watch: its curves (S, U), and in which updates it has collapsed.

    It has when of the right answers beyond the first, which the reference gives, more than half are lost.
    """
    options = dict(KINDS[kind])
    bonus = options.pop("entropy_coef", 0.0)
    drawn = drawn_synonyms(seed, wrong=wrong, **options)
    found = answered(drawn, PLAIN, SIGNALS, updates=UPDATES, entropy_coef=bonus, seeds=seeds, seed=seed)
    return found, found["modes"] - 1.0 < (at_start(drawn)["modes"] - 1.0) / 2.0


def alarms(found: Mapping[str, Floats], signals: tuple[str, ...], share: float) -> Bools:
    """(S, looks) what `has_collapsed` says of the training until each look; the signals may be fewer."""
    three = (signals * 3)[:3]
    told = [has_collapsed(*(found[name][:, :look].T for name in three), share=share) for look in LOOKS]
    return np.stack(told, axis=-1)


def watched(
    *,
    signals: tuple[str, ...] = SIGNALS,
    share: float = 0.5,
    wrong: int | None = None,
    seeds: int,
    seed: int,
) -> Measures:
    """An alarm beside three trainings on a drawn task: does it tell those that collapse from the others?

    Args:
      signals: which of the three the alarm watches.
      share: of its first value, below which a signal counts as fallen.
      wrong: how many verdicts of 8 are wrong, if that is not drawn.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    runs = {kind: run_of(kind, wrong, seeds, seed) for kind in KINDS}
    given = {kind: alarms(found, signals, share) for kind, (found, _) in runs.items()}
    alarm = {kind: told.any(-1) for kind, told in given.items()}
    collapse = {kind: gone[:, -1] for kind, (_, gone) in runs.items()}
    good = np.stack([~gone for gone in collapse.values()])
    false: Floats = (np.stack(list(alarm.values())) & good).sum(0) / good.sum(0)
    caught = alarm[NO_PRESSURE] & collapse[NO_PRESSURE]
    gone = runs[NO_PRESSURE][1]
    last = np.where(gone, -1, np.arange(UPDATES)).max(-1) + 1  # updates until nothing comes back
    first = np.where(caught, np.array(LOOKS)[given[NO_PRESSURE].argmax(-1)], UPDATES)
    return {
        "false alarms": false,
        "unnoticed": (collapse[NO_PRESSURE] & ~caught).astype(np.float64),
        "told apart": caught - false,
        "lag": np.where(collapse[NO_PRESSURE], first - last, 0).astype(np.float64),
        "too late": (collapse[NO_PRESSURE] & (first - last > UPDATES / 10.0)).astype(np.float64),
    }


def run_alone(*, kind: str, wrong: int | None = None, seeds: int, seed: int) -> Measures:
    """One training: whether it collapses, and whether the alarm is given, for several shares."""
    found, gone = run_of(kind, wrong, seeds, seed)
    told = np.stack([alarms(found, SIGNALS, share) for share in SHARES], axis=1)
    given = np.where(told.any(-1), 1.0, 0.0)
    return {
        "collapse": gone[:, -1].astype(np.float64),
        "alarm": given[:, SHARES.index(0.5)],
        "alarm by share": given,
        "final right": found["right"][:, -1],
    }


def _alarm(signals: tuple[str, ...], **settings: Any) -> Arm:
    return tuned(watched, Tuning("share", SHARES, by="told apart"), signals=signals, **settings)


CORRECT = "no luck"
"""Name of the arms in which all rewards are correct."""
THREE, ENTROPY, HALF, NO_LUCK = (
    "three signals",
    "entropy alone",
    "three signals, at a half",
    f"three signals, {CORRECT}",
)
FEW = 0.2
"""The share of false alarms, or of collapses that are not noticed, that one would put up with."""


def _few(says: str, measure: str, left: str, *, main: bool = False) -> Prediction:
    return Prediction(says, measure, left, "less", FEW, 0.0, main)


EXPERIMENT = Experiment(
    name="collapse_alarm",
    title="Can entropy, n-grams and reward width warn of a collapse?",
    group="divergence",
    claim="If response entropy, the share of distinct n-grams and the width of the rewards all drop during"
    " training, you have a collapse problem.",
    source="Wang et al. 2025, RAGEN (arXiv:2504.20073), for the width of the rewards; Cui et al. 2025, The"
    " entropy mechanism (arXiv:2505.22617), for the entropy; a book chapter on GRPO (2026, not public), sec."
    " 7.5.1, for all three together",
    family=FAMILY,
    run=f"GRPO without a KL penalty learns each task three times, for {UPDATES} updates: without pressure"
    " toward variety; with an entropy bonus of 0.3; and with a single right answer per prompt, whose tokens"
    " the reference likes by 2 nats more, so that it is learned and nothing can collapse. The alarm is"
    " checked after every tenth of the training. It is raised if, for each signal, the mean over the last"
    " tenth so far is below a share of the mean over the first tenth. This share is the threshold: it is"
    " chosen for each alarm, or is a half (“at a half”). Another alarm watches the entropy alone. In the"
    f" variants with “{CORRECT}” in the name, all rewards are correct.",
    measured="A run has collapsed if, of the right answers beyond the first that the reference gives (by the"
    " exponential of the entropy among them), more than half are lost in the end. False alarms: the share of"
    " the runs without a collapse in which the alarm is raised. Unnoticed: the share of the runs without"
    " pressure that collapse without an alarm. The threshold is chosen by the share of the runs without"
    " pressure that collapse with an alarm, minus the false alarms, which is also the measure of row 3. The"
    " lag is the number of updates from the collapse to the alarm, or to the end of the run. The alarm is too"
    " late if the lag is more than a tenth of the training.",
    arms={
        THREE: _alarm(SIGNALS),
        ENTROPY: _alarm(("entropy",)),
        HALF: arm(watched),
        NO_LUCK: _alarm(SIGNALS, wrong=0),
    }
    | {kind: arm(run_alone, kind=kind) for kind in KINDS}
    | {f"{kind}, {CORRECT}": arm(run_alone, kind=kind, wrong=0) for kind in (NO_PRESSURE, ONE_RIGHT)},
    predictions=(
        _few("Few of the runs that do not collapse give the alarm", "false alarms", THREE, main=True),
        _few("Few runs collapse unnoticed", "unnoticed", THREE, main=True),
        Prediction(
            "Three signals tell more than the entropy alone", "told apart", THREE, "more", ENTROPY, 0.05
        ),
        _few("With a share of a half, too, few alarms are false", "false alarms", HALF),
        _few("With a share of a half, too, few runs collapse unnoticed", "unnoticed", HALF),
        _few("Without wrong verdicts, too, few alarms are false", "false alarms", NO_LUCK),
        _few("Without wrong verdicts, too, few runs collapse unnoticed", "unnoticed", NO_LUCK),
        _few("With one right answer there are few alarms, at a half", "alarm", ONE_RIGHT),
        _few("Nor without wrong verdicts", "alarm", f"{ONE_RIGHT}, {CORRECT}"),
        Prediction(
            "The alarm comes at most a tenth of the training after the collapse",
            "lag",
            THREE,
            "less",
            UPDATES / 10.0,
        ),
        _few("Few collapses are noticed later than that, or not at all", "too late", THREE),
        Prediction("Most runs without pressure collapse", "collapse", NO_PRESSURE, "more", 0.5),
        _few("Few runs with a bonus collapse", "collapse", BONUS),
        Prediction("With a bonus most completions become right, too", "final right", BONUS, "more", 0.5),
    ),
    panels=(
        Curves(
            "alarm by share",
            "runs with an alarm (share)",
            xlabel="share of its first value below which a signal has fallen",
            x=SHARES,
            arms=tuple(KINDS),
        ),
        Curves(
            "alarm by share",
            "runs with an alarm (share), no wrong verdicts",
            xlabel="share of its first value below which a signal has fallen",
            x=SHARES,
            arms=(f"{NO_PRESSURE}, {CORRECT}", f"{ONE_RIGHT}, {CORRECT}"),
        ),
    ),
)
