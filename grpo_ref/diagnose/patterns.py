"""Find patterns in the curves of a run: collapse, truncation, groups with equal rewards, instability.

A pattern is not a proof. No pattern compares nats or lengths with a fixed number, as these scales do not carry over from task
to task: entropies are compared with the start of the run, rewards with their noise.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grpo_ref.diagnose.facts import TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import Log

FEWEST_ROWS = 10
"""Fewest rows of a curve that is judged."""
MOST_SPIKES = 0.2
"""Largest share of rows that are spikes. If more are high, the norm has risen for good."""


class Pattern(NamedTuple):
    """A pattern in the curves.

    Attributes:
      name: its short name, a key of the table of error rates.
      title: the pattern in a few words.
      evidence: the numbers, with the steps.
      step: the step at which it begins.
      advice: what to change, in general words; `advice.py` gives the trainer's keys.
      page: anchor of the section on this symptom in `docs/howto/symptoms.md`.
    """

    name: str
    title: str
    evidence: str
    step: int
    advice: str
    page: str


Column = list[tuple[int, float]]


def patterns(log: Log, facts: Facts) -> list[Pattern]:
    """Return the patterns in a log, the most severe first. A flat reward is not reported beside a collapse."""
    all_patterns = [pattern for find in FINDERS for pattern in find(log, facts)]
    names = {pattern.name for pattern in all_patterns}
    return [
        pattern for pattern in all_patterns if pattern.name != "nothing_learned" or "collapse" not in names
    ]


def _ends(column: Column, share: float = 0.2) -> tuple[float, float]:
    """Return the means of the first and of the last part of a curve."""
    values = [value for _, value in column]
    count = max(int(len(values) * share), 3)
    return float(np.mean(values[:count])), float(np.mean(values[-count:]))


def _begin(column: Column, is_in: Callable[[float], bool]) -> int:
    """Return the step from which a smoothed curve is in a region until its end; the last step if it never is."""
    width = max(len(column) // 20, 1)
    sums = np.concatenate([[0.0], np.cumsum([value for _, value in column])])
    begin = len(column) - 1
    for place in reversed(range(len(column))):
        first = max(place - width + 1, 0)
        if not is_in(float(sums[place + 1] - sums[first]) / (place + 1 - first)):
            break
        begin = place
    return column[begin][0]


def _reward(log: Log) -> Column:
    return log.column("reward") or log.column("score.mean") or log.column("shaped.mean")


def _not_a_number(log: Log, facts: Facts) -> Iterator[Pattern]:
    for quantity in ("loss", "policy_loss", "grad_norm", "kl", "reward"):
        for step, value in log.column(quantity):
            if not math.isfinite(value):
                yield Pattern(
                    "nan",
                    f"{quantity} is {value} from step {step} on",
                    f"{quantity} = {value} at step {step}",
                    step,
                    "Continue from a checkpoint before this step with a lower learning rate; look for completions without"
                    " tokens and for log-probabilities of the sampler that are NaN.",
                    "the-loss-is-nan",
                )
                return


def _spikes(log: Log, facts: Facts) -> Iterator[Pattern]:
    """A gradient norm a hundred times the median of the first half, in three rows or more, but in few."""
    column = [
        (step, value) for step, value in log.column("grad_norm") if math.isfinite(value) and value > 0.0
    ]
    if len(column) < 2 * FEWEST_ROWS:
        return
    values = np.array([value for _, value in column])
    median = float(np.median(values[: len(values) // 2]))
    high = [(step, value) for step, value in column if value > 100.0 * median]
    if 3 <= len(high) <= MOST_SPIKES * len(column):
        yield Pattern(
            "spikes",
            "the gradient norm has spikes",
            f"{len(high)} rows above 100 times the median of the first half ({median:.3g}), first {high[0][1]:.3g} at step"
            f" {high[0][0]}",
            high[0][0],
            "Lower the learning rate or the limit of the gradient norm.",
            "grad-norm-has-spikes",
        )


def _no_contrast(log: Log, facts: Facts) -> Iterator[Pattern]:
    column = log.column("dead_share")
    if len(column) < FEWEST_ROWS:
        return
    _, end = _ends(column)
    if end > 0.8:
        mean = _ends(_reward(log))[1] if len(_reward(log)) >= 3 else math.nan
        side = "most prompts are always solved" if mean > 0.5 else "most prompts are never solved"
        yield Pattern(
            "dead",
            f"{end:.0%} of the groups have equal rewards at the end of the run",
            f"mean share over the last fifth {end:.2f}; mean reward there {mean:.3g}, so {side}",
            _begin(column, lambda value: value > 0.8),
            "Train on prompts that are solved sometimes, resample groups with equal rewards, or use larger groups.",
            "reward_std-is-0",
        )


def _collapse(log: Log, facts: Facts) -> Iterator[Pattern]:
    entropy, reward = log.column("entropy"), _reward(log)
    if min(len(entropy), len(reward)) < FEWEST_ROWS:
        return
    start, end = _ends(entropy, 0.1)[0], _ends(entropy)[1]
    best = max(_smoothed(reward))
    first, last = _ends(reward)
    is_flat = abs(last - _middle(reward)) < 0.1 * max(abs(best - first), 1e-9) + 0.01
    is_below = last < 0.9 if set(log.components) <= facts.binary and log.components else True
    if start > 0.0 and end < 0.1 * start and is_flat and is_below:
        yield Pattern(
            "collapse",
            "the entropy collapsed, and the reward does not rise any more",
            f"entropy {start:.3g} at the start, {end:.3g} at the end; reward {last:.3g} over the last fifth",
            _begin(entropy, lambda value: value < 0.1 * start),
            "Use a lower learning rate, a wider upper clip (with several steps per batch), or an entropy bonus.",
            "the-entropy-collapses",
        )


def _entropy_rises(log: Log, facts: Facts) -> Iterator[Pattern]:
    column = log.column("entropy")
    if len(column) < FEWEST_ROWS:
        return
    start, end = _ends(column, 0.1)[0], _ends(column)[1]
    if start > 0.0 and end > 1.3 * start:
        yield Pattern(
            "entropy_rises",
            "the entropy rises",
            f"entropy {start:.3g} at the start, {end:.3g} at the end",
            _begin(column, lambda value: value > 1.3 * start),
            "Lower the weight of the entropy bonus; without a bonus, compare sampler and learner.",
            "the-entropy-rises",
        )


def _reward_falls(log: Log, facts: Facts) -> Iterator[Pattern]:
    column = _reward(log)
    if len(column) < 2 * FEWEST_ROWS:
        return
    smooth = _smoothed(column)
    place = int(np.argmax(smooth))
    best, last = smooth[place], _ends(column, 0.1)[1]
    spread = max(smooth) - min(smooth)
    noise = _noise(column) * math.sqrt(2.0)  # of a mean over a tenth
    if best - last > max(0.15 * spread, 5.0 * noise) and place < 0.8 * len(smooth):
        yield Pattern(
            "reward_falls",
            "the reward falls from its best",
            f"best mean of {_width(column)} rows {best:.3g} at step {column[place][0]}, {last:.3g} over the last tenth",
            column[place][0],
            "Go back to the checkpoint of the best step, and lower the learning rate.",
            "the-reward-falls",
        )


def _nothing_learned(log: Log, facts: Facts) -> Iterator[Pattern]:
    column, dead = _reward(log), log.column("dead_share")
    if len(column) < 3 * FEWEST_ROWS:
        return
    first, last = _ends(column)
    noise = _noise(column) * math.sqrt(2.0)
    range_ = (
        1.0 if log.components and set(log.components) <= facts.binary else max(abs(first), abs(last), 1e-9)
    )
    if abs(last - first) < min(0.03 * range_, 2.0 * noise) and (not dead or _ends(dead)[1] < 0.9):
        yield Pattern(
            "nothing_learned",
            "the reward does not change",
            f"mean reward {first:.3g} over the first fifth, {last:.3g} over the last; expected noise {noise:.2g}",
            column[0][0],
            "Use a higher learning rate (1e-5 to 1e-4 with LoRA), a smaller β, or more updates.",
            "the-reward-does-not-rise",
        )


def _truncation(log: Log, facts: Facts) -> Iterator[Pattern]:
    column = log.column("truncated")
    if len(column) < FEWEST_ROWS:
        return
    start, end = _ends(column)
    if end > 0.3 and end >= start - 0.05:
        yield Pattern(
            "truncation",
            f"{end:.0%} of the completions are cut off at the budget",
            f"share of truncated completions {start:.2f} at the start, {end:.2f} at the end",
            _begin(column, lambda value: value > 0.3),
            "Raise the budget, punish overlong completions softly, or mask truncated completions.",
            "the-length-explodes",
        )


def _length_is_rewarded(log: Log, facts: Facts) -> Iterator[Pattern]:
    """The mean of -(loss - β KL), or of the mean advantage over tokens, is Cov(A, L) / mean(L)."""
    column = log.column("advantage.mean")
    if not column and facts.on_policy and facts.average == TOKEN_MEAN and facts.kl_coef is not None:
        column = [
            (row.step, facts.kl_coef * row.values.get("kl", 0.0) - row.values["loss"])
            for row in log.rows
            if "loss" in row.values and (facts.kl_coef == 0.0 or "kl" in row.values)
        ]
    values = np.array([value for _, value in column if math.isfinite(value)])
    if len(values) < 30 or not values.std():
        return
    z = float(values.mean() / (values.std(ddof=1) / math.sqrt(len(values))))
    if abs(z) > 4.0:
        word = "longer" if z > 0.0 else "shorter"
        yield Pattern(
            "length_rewarded",
            f"{word} completions are rewarded",
            f"mean of Cov(A, L) / mean(L) over {len(values)} rows is {values.mean():.3g}, {abs(z):.1f} standard errors from 0",
            column[0][0],
            "If length should not matter, use dr_grpo's fixed denominator or a length penalty.",
            "the-length-explodes" if z > 0.0 else "the-length-shrinks",
        )


def _sampler_apart(log: Log, facts: Facts) -> Iterator[Pattern]:
    for quantity in ("sampler.k3", "sampler.gap.mean"):
        column = [(step, abs(value)) for step, value in log.column(quantity) if math.isfinite(value)]
        if len(column) < FEWEST_ROWS:
            continue
        start, end = _ends(column, 0.1)[0], _ends(column)[1]
        limit = 10.0 * start
        if start > 0.0 and end > limit:
            yield Pattern(
                "sampler_apart",
                "sampler and learner drift apart",
                f"{quantity} {start:.3g} at the start, {end:.3g} at the end",
                _begin(column, limit.__lt__),
                "Check the synchronization of the weights and the precision of the sampler; limit the weights against it.",
                "sampler-and-learner-differ",
            )
            return


def _smoothed(column: Column) -> list[float]:
    """Return the running means of a curve."""
    values = np.array([value for _, value in column])
    width = _width(column)
    return [float(mean) for mean in np.convolve(values, np.ones(width) / width, "valid")]


def _width(column: Column) -> int:
    return max(len(column) // 10, 1)


def _middle(column: Column) -> float:
    values = [value for _, value in column]
    third = len(values) // 3
    return float(np.mean(values[third : 2 * third]))


def _noise(column: Column) -> float:
    """Return the standard error of a mean over a fifth of a curve, from the differences of neighbours."""
    values = np.array([value for _, value in column])
    steps = np.diff(values)
    return float(np.sqrt(np.mean(steps**2) / 2.0) / math.sqrt(max(len(values) // 5, 1)))


FINDERS: Sequence[Callable[[Log, Facts], Iterator[Pattern]]] = (
    _not_a_number,
    _spikes,
    _sampler_apart,
    _reward_falls,
    _collapse,
    _no_contrast,
    _truncation,
    _nothing_learned,
    _entropy_rises,
    _length_is_rewarded,
)
"""The functions that find patterns, the most severe first."""
