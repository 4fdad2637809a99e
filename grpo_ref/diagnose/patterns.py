"""Find patterns in the curves of a run: collapse, truncation, groups with equal rewards, instability.

A pattern is not a proof. `docs/howto/diagnose.md` has the error rates of all patterns. No pattern compares nats or lengths
with a fixed number, as these scales do not carry over from task to task: entropies and lengths are compared with the start
of the run, rewards with their noise and with the spread of a batch. Shares are compared with fixed numbers.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from grpo_ref.diagnose.facts import SEQUENCE_MEAN, TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import Log

FEWEST_ROWS = 10
"""Fewest rows of a curve that is judged."""
MOST_SPIKES = 0.2
"""Largest share of rows that are spikes. If more are high, the norm has risen for good."""
HUGE = 1e4
"""A gradient norm of so many medians of the rows before it counts as a spike by itself."""
LARGE_KL = 10.0
"""Mean KL in nats per token that no useful policy has: the log of a vocabulary of 150,000 tokens is 11.9."""
ROWS_AT_DROP = 5
"""Number of rows that are compared before and after a drop of the reward."""
SOLVED = 0.9
"""Mean of a reward of 0 and 1 from which on a task counts as solved: few groups with different rewards are then right."""


class Pattern(NamedTuple):
    """A pattern in the curves.

    Attributes:
      name: its short name, a key of `KINDS`.
      title: the pattern in a few words.
      evidence: the numbers, with the steps.
      step: the step at which it begins.
      advice: what to change, in general words.
      page: anchor of the section on this symptom in `docs/howto/symptoms.md`.
    """

    name: str
    title: str
    evidence: str
    step: int
    advice: str
    page: str


class Match(NamedTuple):
    """Title, evidence and step of a `Pattern`, and its advice if that of the kind does not fit."""

    title: str
    evidence: str
    step: int
    advice: str = ""


class Kind(NamedTuple):
    """A kind of pattern.

    Attributes:
      find: function that yields the pattern at most once.
      advice, page: those of the `Pattern`.
      hides: names of the patterns that this one explains. The report omits them.
    """

    find: Callable[[Log, Facts], Iterator[Match]]
    advice: str
    page: str
    hides: tuple[str, ...] = ()


Column = list[tuple[int, float]]


def patterns(log: Log, facts: Facts) -> list[Pattern]:
    """Return the patterns in a log, the most severe first, without those that another pattern explains."""
    matches = [
        Pattern(name, each.title, each.evidence, each.step, each.advice or kind.advice, kind.page)
        for name, kind in KINDS.items()
        for each in kind.find(log, facts)
    ]
    hidden = {name for pattern in matches for name in KINDS[pattern.name].hides}
    return [pattern for pattern in matches if pattern.name not in hidden]


# ---- numbers that end or break a run ---------------------------------------------------------------


def _not_a_number(log: Log, facts: Facts) -> Iterator[Match]:
    for quantity in ("loss", "policy_loss", "grad_norm", "kl", "reward"):
        for step, value in log.column(quantity):
            if not math.isfinite(value):
                yield Match(
                    f"{quantity} is {value} from step {step} on", f"{quantity} = {value} at step {step}", step
                )
                return


def _spikes(log: Log, facts: Facts) -> Iterator[Match]:
    """A gradient norm a hundred times the median of the first half, in three rows or more, but in few; or a huge one.

    The norm is near 0 when most groups have equal rewards, so it is also ten times that of four fifths of
    the rows, and of the first rows.
    """
    column = [(step, value) for step, value in _finite(log, "grad_norm") if value > 0.0]
    if len(column) < 2 * FEWEST_ROWS:
        return
    values = np.array([value for _, value in column])
    median = float(np.median(values[: len(values) // 2]))
    usual = (np.quantile(values, 1.0 - MOST_SPIKES), np.median(values[:FEWEST_ROWS]))
    most = max(100.0 * median, 10.0 * float(max(usual)))
    high = [(step, value) for step, value in column if value > most]
    huge = [
        place
        for place, value in enumerate(values)
        if place >= FEWEST_ROWS // 2 and value > HUGE * max(np.median(values[:place]), np.median(values))
    ]
    if huge and len(high) < 3:
        step, value = column[huge[0]]
        evidence = (
            f"gradient norm {value:.3g} at step {step}, median before it {np.median(values[: huge[0]]):.3g}"
        )
        yield Match("the gradient norm has a huge peak", evidence, step)
    elif 3 <= len(high) <= MOST_SPIKES * len(column):
        yield Match(
            "the gradient norm has spikes",
            f"{len(high)} rows above {most:.3g}, median of the first half {median:.3g}, first {high[0][1]:.3g} at step"
            f" {high[0][0]}",
            high[0][0],
        )


def _no_gradient(log: Log, facts: Facts) -> Iterator[Match]:
    """The gradient is exactly 0 to the end, after rows in which it was not. A task that is solved may end so."""
    column = log.column("grad_norm")
    zeros = 0
    while zeros < len(column) and column[-1 - zeros][1] == 0.0:
        zeros += 1
    if max(FEWEST_ROWS, len(column) // 10) <= zeros < len(column) and not _is_solved(log, facts):
        step = column[-zeros][0]
        yield Match("the gradient is 0 to the end", f"gradient norm 0 in the last {zeros} rows", step)


def _sampler_apart(log: Log, facts: Facts) -> Iterator[Match]:
    """The distance of sampler and learner grows. k3 is quadratic in the gap of the log-probabilities."""
    for quantity, factor in (("sampler.k3", 10.0), ("sampler.gap.mean", 4.0)):
        column = [(step, abs(value)) for step, value in _finite(log, quantity)]
        entropy = _finite(log, "entropy")
        if len(column) < FEWEST_ROWS:
            continue
        start, end = _ends(column, 0.1)[0], _ends(column)[1]
        least = 1e-3 * _ends(entropy, 0.1)[0] if len(entropy) >= FEWEST_ROWS else 0.0
        limit = factor * max(start, least)
        if limit > 0.0 and end > limit:
            yield Match(
                "sampler and learner drift apart",
                f"{quantity} {start:.3g} at the start, {end:.3g} at the end"
                + "".join(f"; after step {fall.step} the reward falls" for fall in _reward_falls(log, facts)),
                _begin(column, limit.__lt__),
            )
            return


def _sampler_differs(log: Log, facts: Facts) -> Iterator[Match]:
    """The distance is large from the start, compared with the entropy. Rounding in bfloat16 makes about 0.01 nats."""
    for quantity, share in (("sampler.k3", 0.02), ("sampler.gap.mean", 0.15)):
        column, entropy = _finite(log, quantity), _finite(log, "entropy")
        if min(len(column), len(entropy)) < FEWEST_ROWS:
            continue
        start, nats = abs(_ends(column, 0.1)[0]), _ends(entropy, 0.1)[0]
        if start > share * nats > 0.0:
            yield Match(
                "sampler and learner differ from the start",
                f"{quantity} {start:.3g} over the first tenth, where the entropy is {nats:.3g}",
                column[0][0],
            )
            return


# ---- the reward ------------------------------------------------------------------------------------


def _hacking(log: Log, facts: Facts) -> Iterator[Match]:
    """One reward rises while another falls by at least a twentieth of that."""
    curves = {name: log.column(f"component.mean/{name}") for name in log.components}
    curves = {name: column for name, column in curves.items() if len(column) >= 2 * FEWEST_ROWS}
    changes = {name: _change(column) for name, column in curves.items()}
    rising = [name for name, change in changes.items() if change.last - change.first > 5.0 * change.noise]
    for name, change in changes.items():
        drop = change.first - change.last
        best = max(rising, key=lambda each: changes[each].last - changes[each].first, default="")
        gain = changes.get(best, change)
        least = max(5.0 * change.noise, 0.2 * abs(change.first), 0.05 * (gain.last - gain.first))
        if rising and drop > least:
            yield Match(
                f"the reward {best} rises while {name} falls",
                f"{best} {gain.first:.3g} over the first fifth, {gain.last:.3g} over the last; {name} {change.first:.3g} and"
                f" {change.last:.3g}",
                curves[name][len(curves[name]) // 5][0],
            )
            return


def _reward_drops(log: Log, facts: Facts) -> Iterator[Match]:
    """Most of a fall from the best to the end happens between two rows."""
    column = _reward(log)
    fall = _fall(column)
    if fall is None:
        return
    values, width = np.array([value for _, value in column]), ROWS_AT_DROP
    means = np.convolve(values, np.ones(width) / width, "valid")
    place = int(np.argmax(means[:-width] - means[width:])) + width
    first = place - width  # the drop is between two of the rows around this place
    place = first + 1 + int(np.argmax(values[first : place + width - 1] - values[first + 1 : place + width]))
    before, after = (
        float(part.mean()) for part in (values[max(place - width, 0) : place], values[place : place + width])
    )
    noise = _noise_of_row(column) / math.sqrt(width)
    if before - after > max(0.6 * (fall.best - fall.last), 5.0 * noise):
        yield Match(
            f"the reward drops from {before:.3g} to {after:.3g}",
            f"means of the {width} rows before step {column[place][0]} and from it on; {fall.last:.3g} over the last tenth",
            column[place][0],
        )


class Fall(NamedTuple):
    """A fall of the reward: the best running mean, the place of its first row, and the mean of the last tenth."""

    best: float
    place: int
    last: float


def _fall(column: Column) -> Fall | None:
    """Return the fall of a reward from its best, if it is beyond noise and not only at the end; else None."""
    if len(column) < 2 * FEWEST_ROWS:
        return None
    smooth = _smoothed(column)
    place = int(np.argmax(smooth))
    best, last = smooth[place], _ends(column, 0.1)[1]
    spread = max(smooth) - min(smooth)
    noise = _noise(column) * math.sqrt(2.0)  # of a mean over a tenth
    if best - last > max(0.15 * spread, 5.0 * noise, 1e-9 * abs(best)) and place < 0.8 * len(smooth):
        return Fall(best, place, last)
    return None


def _reward_falls(log: Log, facts: Facts) -> Iterator[Match]:
    column = _reward(log)
    fall = _fall(column)
    if fall is None:
        return
    width, left = _width(column), fall.best - 0.2 * (fall.best - fall.last)
    begin = _begin(
        column, lambda value: value < left
    )  # a reward may stay at its best for long before it falls
    evidence = f"best mean of {width} rows {fall.best:.3g} at step {column[fall.place][0]}, {fall.last:.3g} over the last tenth"
    if fall.place < width:
        advice = "Lower the learning rate, and read completions from the first steps and from the last ones."
        yield Match("the reward only falls", evidence, begin, advice)
    else:
        yield Match("the reward falls from its best", evidence, begin)


def _collapse(log: Log, facts: Facts) -> Iterator[Match]:
    entropy, reward = log.column("entropy"), _reward(log)
    if min(len(entropy), len(reward)) < FEWEST_ROWS:
        return
    start, end = _ends(entropy, 0.1)[0], _ends(entropy)[1]
    first, last = _ends(reward)
    is_flat = abs(last - _middle(reward)) < 0.1 * max(abs(max(_smoothed(reward)) - first), 1e-9) + 0.01
    if start > 0.0 and end < 0.1 * start and is_flat and not _is_solved(log, facts):
        yield Match(
            f"the entropy collapsed to {end / start:.1%} of its start, and the reward does not rise",
            f"entropy {start:.3g} at the start, {end:.3g} at the end; reward {last:.3g} over the last fifth",
            _begin(entropy, lambda value: value < 0.1 * start),
        )


def _zeros_and_ones(log: Log, facts: Facts) -> list[str]:
    """Return the reward functions that give only 0 and 1. One that is always 0 cannot be distinguished from them."""
    always_0 = {
        name for name in log.components if not any(mean for _, mean in log.column(f"component.mean/{name}"))
    }
    return sorted((facts.binary | always_0) & set(log.components))


def _format_first(log: Log, facts: Facts) -> Iterator[Match]:
    """A reward of 0 and 1 is learned, and another stays where it is, far below."""
    changes = {
        name: _change(column)
        for name in _zeros_and_ones(log, facts)
        if len(column := log.column(f"component.mean/{name}")) >= 3 * FEWEST_ROWS
    }
    learned = [
        name
        for name, change in changes.items()
        if change.last - change.first > 5.0 * change.noise and change.last > 0.5
    ]
    for name, change in changes.items():
        is_flat = change.last - change.first < max(2.0 * change.noise, 0.01)
        if learned and name not in learned and is_flat and change.last < 0.3:
            other = changes[learned[0]]
            yield Match(
                f"{learned[0]} is learned, {name} is not",
                f"{learned[0]} {other.first:.3g} over the first fifth, {other.last:.3g} over the last; {name}"
                f" {change.first:.3g} and {change.last:.3g}",
                log.rows[0].step,
            )
            return


def _constant_reward(log: Log, facts: Facts) -> Iterator[Match]:
    """One of several reward functions has the same mean in every row."""
    for name in log.components if len(log.components) > 1 else ():
        column = log.column(f"component.mean/{name}")
        values = [value for _, value in column]
        if len(values) >= 2 * FEWEST_ROWS and max(values) == min(values) and not _is_solved(log, facts):
            evidence = f"its mean is {values[0]:g} in all {len(values)} rows"
            yield Match(f"the reward {name} is always {values[0]:g}", evidence, column[0][0])
            return


def _never_solved(log: Log, facts: Facts) -> Iterator[Match]:
    """A reward of 0 and 1 is nearly always 0, or the score is always the same, from the start to the end."""
    scores = [row for row in log.rows if {"score.min", "score.max"} <= row.values.keys()]
    if len(scores) >= 2 * FEWEST_ROWS:
        alike = [row.values["score.min"] == row.values["score.max"] for row in scores]
        if np.mean(alike[: len(alike) // 5]) > 0.8 and np.mean(alike[-(len(alike) // 5) :]) > 0.8:
            yield Match(
                "all scores of a batch are equal",
                f"in {sum(alike)} of {len(alike)} rows the smallest score is the largest",
                _begin(
                    [(row.step, float(same)) for row, same in zip(scores, alike, strict=True)],
                    lambda share: share > 0.5,
                ),
            )
            return
    for name in _zeros_and_ones(log, facts):
        column = log.column(f"component.mean/{name}")
        if len(column) >= 2 * FEWEST_ROWS and max(_ends(column)) < 0.02:
            first, last = _ends(column)
            yield Match(
                f"{name} is almost never above 0",
                f"mean {first:.2g} over the first fifth, {last:.2g} over the last",
                column[0][0],
            )
            return


def _no_contrast(log: Log, facts: Facts) -> Iterator[Match]:
    """Most groups have equal rewards, before the task is solved or from the start."""
    column, reward = _dead_share(log), _reward(log)
    if len(column) < FEWEST_ROWS or len(reward) < FEWEST_ROWS:
        return
    start, end = _start(column), _ends(column)[1]
    if end > 0.8 and (start > 0.7 or not _is_solved(log, facts)):
        mean = _ends(reward)[1]
        side = ""
        if log.components and set(log.components) <= set(
            _zeros_and_ones(log, facts)
        ):  # else the best reward is unknown
            solved = np.mean([_ends(log.column(f"component.mean/{name}"))[1] for name in log.components])
            side = f", so most prompts are {'always' if solved > 0.5 else 'never'} solved"
        yield Match(
            f"{end:.0%} of the groups have equal rewards at the end of the run",
            f"mean share over the last fifth {end:.2f}; mean reward there {mean:.3g}{side}; {_cost(log, facts)}",
            _begin(column, lambda value: value > 0.8),
        )


def _dead_share(log: Log) -> Column:
    """Return the share of groups with equal rewards; without it, 1 where it must be 1, and 0 elsewhere.

    It must be 1 where no advantage differs from 0, or where the standard deviation of the rewards is 0.
    """
    if log.column("dead_share"):
        return log.column("dead_share")
    extremes = [row for row in log.rows if {"advantage.min", "advantage.max"} <= row.values.keys()]
    if extremes:
        return [
            (row.step, float(row.values["advantage.min"] == row.values["advantage.max"] == 0.0))
            for row in extremes
        ]
    return [(step, float(std == 0.0)) for step, std in log.column("reward_std")]


def _cost(log: Log, facts: Facts) -> str:
    """Return how many completions, and how many hours of sampling, were in groups with equal rewards."""
    column = _dead_share(log)
    share = float(np.mean([value for _, value in column]))
    text = f"in the whole run {share:.0%} of the completions"
    if facts.completions and facts.window:
        text += f" ({share * len(column) * facts.completions * facts.window:,.0f})"
    dead, seconds = dict(column), _finite(log, "generation_seconds")
    lost = sum(dead[step] * value for step, value in seconds if step in dead)
    if lost:
        text += f" and {lost / 3600.0:.1f} hours of sampling"
    return f"{text} gave no gradient"


def _solved_at_the_start(log: Log, facts: Facts) -> Iterator[Match]:
    """A score is at its largest value from the start. For logs without the share of groups with equal rewards."""
    if log.column("dead_share") or len(log.column("score.mean")) < 2 * FEWEST_ROWS:
        return
    start = _start(_relative_score(log))
    if start > 0.95:
        yield Match(
            "most prompts are solved from the start",
            f"the mean score over the first rows is {start:.1%} of the way from the smallest to the largest score",
            log.rows[0].step,
        )


def _nothing_learned(log: Log, facts: Facts) -> Iterator[Match]:
    """The reward stays within its noise, and the noise is small compared with the spread of a batch."""
    column = _reward(log)
    if len(column) < 3 * FEWEST_ROWS or _is_solved(log, facts):
        return
    first, last = _ends(column)
    noise, spread = _noise(column) * math.sqrt(2.0), _spread(log)
    if spread is None:
        spread = max(abs(first), abs(last))
    if abs(last - first) <= min(0.15 * spread, 3.0 * noise) and 2.0 * noise < 0.3 * spread:
        yield Match(
            "the reward does not change",
            f"mean reward {first:.3g} over the first fifth, {last:.3g} over the last; expected noise {noise:.2g}",
            column[0][0],
        )


def _kl_explodes(log: Log, facts: Facts) -> Iterator[Match]:
    """A mean KL over tokens of more than 10 nats, which is near the log of a vocabulary. k3 has e^x: one token may do it."""
    column = log.column("kl") if log.trainer != "grpo_ref" else []
    high = [(step, kl) for step, kl in column if kl > LARGE_KL]
    if high:
        step, most = max(high, key=lambda pair: pair[1])
        yield Match(
            f"the KL has peaks of up to {most:.3g} nats per token",
            f"{len(high)} of {len(column)} rows above {LARGE_KL:g}, the highest at step {step}",
            high[0][0],
        )


def _kl_pulls(log: Log, facts: Facts) -> Iterator[Match]:
    """The gradient of β KL is about β sqrt(2 KL) per token; that of the reward is at most the mean |A|, below 1."""
    column = _finite(log, "kl")
    if not facts.kl_coef or len(column) < 2 * FEWEST_ROWS:
        return
    pull = [(step, facts.kl_coef * math.sqrt(2.0 * max(kl, 0.0))) for step, kl in column]
    _, end = _ends(pull)
    if end > 0.3:
        yield Match(
            "the KL penalty pulls harder than the reward",
            f"β sqrt(2 KL) is {end:.2g} over the last fifth, with β = {facts.kl_coef:g} and KL {_ends(column)[1]:.2g};"
            " advantages are about 1",
            _begin(pull, lambda value: value > 0.3),
        )


# ---- lengths and entropy ---------------------------------------------------------------------------


def _never_ends(log: Log, facts: Facts) -> Iterator[Match]:
    """Nearly all completions are cut off from the start on."""
    column = log.column("truncated")
    if len(column) >= FEWEST_ROWS and min(_ends(column)) > 0.9:
        start, end = _ends(column)
        evidence = f"share of truncated completions {start:.2f} over the first fifth, {end:.2f} over the last"
        yield Match("hardly any completion ends by itself", evidence, column[0][0])


def _truncation(log: Log, facts: Facts) -> Iterator[Match]:
    column = log.column("truncated")
    if (
        not column and facts.budget and facts.single_turn
    ):  # at least the rows of which every completion is cut off
        budget = facts.budget
        column = [(step, float(mean >= budget)) for step, mean in _finite(log, "length.mean")]
    if len(column) < FEWEST_ROWS:
        return
    start, end = _ends(column)
    if (end > 0.3 and end >= start - 0.05) or end > max(0.15, 3.0 * start):
        limit = min(0.3, 0.8 * end)
        yield Match(
            f"more than {limit:.0%} of the completions are cut off at the budget",
            f"share of truncated completions {start:.2f} over the first fifth, {end:.2f} over the last",
            _begin(column, limit.__lt__),
        )


def _length_collapses(log: Log, facts: Facts) -> Iterator[Match]:
    """The completions end with less than a tenth of their first length."""
    column = _finite(log, "length.mean")
    if len(column) < FEWEST_ROWS:
        return
    start, end = _start(column), _ends(column)[1]
    if end < 0.1 * start:
        yield Match(
            f"the completions shrink to a mean of {end:.3g} tokens",
            f"mean length {start:.4g} in the first rows, {end:.3g} over the last fifth",
            _begin(column, (0.1 * start).__gt__),
        )


def _entropy_rises(log: Log, facts: Facts) -> Iterator[Match]:
    column = log.column("entropy")
    if len(column) < FEWEST_ROWS:
        return
    start, end = _ends(column, 0.1)[0], _ends(column)[1]
    if start > 0.0 and end > 1.3 * start:
        yield Match(
            "the entropy rises",
            f"entropy {start:.3g} at the start, {end:.3g} at the end",
            _begin(column, lambda value: value > 1.3 * start),
        )


# ---- the code --------------------------------------------------------------------------------------


def _ratio_fixed(log: Log, facts: Facts) -> Iterator[Match]:
    """Several steps on a batch, and the KL to the old policy is 0. A policy that moves has ratios other than 1."""
    moved = [value for _, value in _finite(log, "old_kl")]
    if facts.on_policy is False and len(moved) >= FEWEST_ROWS and max(map(abs, moved)) < 1e-9:
        yield Match(
            "the ratio stays 1 although each batch is used for several steps",
            f"the KL to the old policy is 0 in {len(moved)} rows",
            log.rows[0].step,
        )


def _reference_moves(log: Log, facts: Facts) -> Iterator[Match]:
    """The KL does not grow while the reward changes. A policy that learns moves away from a constant reference."""
    column = [(step, kl) for step, kl in _finite(log, "kl") if kl > 0.0]
    reward = _reward(log)
    early = float(np.mean([kl for _, kl in column[1:4]])) if len(column) > 4 else 0.0
    column, reward = column[len(column) // 5 :], reward[len(reward) // 5 :]
    if min(len(column), len(reward)) < 3 * FEWEST_ROWS:
        return
    change, (start, end) = _change(reward), _ends(column)
    if abs(change.last - change.first) > 5.0 * change.noise and end < min(1.2 * start, 3.0 * early):
        yield Match(
            "the KL does not grow while the reward changes",
            f"kl is {early:.3g} in the first rows, {start:.3g} after a fifth of the run and {end:.3g} at last; reward {change.first:.3g} and {change.last:.3g}",
            column[0][0],
        )


def _clips_much(log: Log, facts: Facts) -> Iterator[Match]:
    column = _finite(log, "clip")
    if len(column) < FEWEST_ROWS:
        return
    worst = max(_smoothed(column))
    if worst > 0.1:
        yield Match(
            f"{worst:.0%} of the tokens are clipped",
            f"largest mean share over {_width(column)} rows {worst:.2f}",
            _begin(column, lambda value: value > 0.1) if _ends(column)[1] > 0.1 else column[0][0],
        )


def _loss_apart(log: Log, facts: Facts) -> Iterator[Match]:
    """With one step per batch and a mean over all tokens, the policy loss is a multiple of the mean advantage."""
    rows = [row.values for row in log.rows if {"policy_loss", "advantage.mean"} <= row.values.keys()]
    if facts.on_policy is not True or facts.average != TOKEN_MEAN or len(rows) < FEWEST_ROWS:
        return
    loss, mean = (np.array([row[name] for row in rows]) for name in ("policy_loss", "advantage.mean"))
    usable = np.isfinite(loss) & (np.abs(mean) > 20.0 * log.loss_digits + 1e-3)
    if usable.sum() < FEWEST_ROWS:
        return
    scales = -loss[usable] / mean[usable]
    middle = float(np.median(scales))
    apart = float(np.median(np.abs(scales - middle))) / max(abs(middle), 1e-9)
    if apart > 0.01 or not 1e-5 < middle < 1.01:
        yield Match(
            "the policy loss does not follow the advantages",
            f"-(policy loss) / (mean advantage over tokens) has the median {middle:.3g}, and half of the rows differ from it by"
            f" {apart:.1%} or more; it should be the same in every row, and at most 1",
            log.rows[0].step,
        )


def _loss_scaled(log: Log, facts: Facts) -> Iterator[Match]:
    """The logged policy loss is a small multiple of the mean advantage."""
    scale = facts.loss_scale
    if scale is not None and scale < 0.2 and facts.average != SEQUENCE_MEAN:
        yield Match(
            f"the policy loss is {1.0 / scale:.4g} times too small",
            f"policy loss = -{scale:.3g} (mean advantage over tokens) in every row",
            log.rows[0].step,
        )


# ---- curves ----------------------------------------------------------------------------------------


class Change(NamedTuple):
    """The means of the first and last fifth of a curve, and the noise of their difference."""

    first: float
    last: float
    noise: float


def _change(column: Column) -> Change:
    return Change(*_ends(column), _noise(column) * math.sqrt(2.0))


def _finite(log: Log, quantity: str) -> Column:
    return [(step, value) for step, value in log.column(quantity) if math.isfinite(value)]


def _reward(log: Log) -> Column:
    return _finite(log, "reward") or _finite(log, "score.mean") or _finite(log, "shaped.mean")


def _relative_score(log: Log) -> Column:
    """Return the mean scores between the smallest score of the run, 0, and the largest, 1."""
    least = min((value for _, value in _finite(log, "score.min")), default=math.nan)
    most = max((value for _, value in _finite(log, "score.max")), default=math.nan)
    return [
        (step, (value - least) / (most - least) if most > least else math.nan)
        for step, value in _finite(log, "score.mean")
    ]


def _is_solved(log: Log, facts: Facts) -> bool:
    """Return true if the rewards of 0 and 1 are nearly all 1 at the end, or the score is near its largest value.

    If the share of groups with equal and high rewards is logged, it counts instead of the score.
    """
    names = [name for name in log.components if (facts.weights or {}).get(name, 1.0) != 0.0]
    if names and set(names) <= facts.binary:
        columns = [log.column(f"component.mean/{name}") for name in names]
    else:
        columns = [log.column("good_share") or _relative_score(log)]
    return all(len(column) >= 3 and _ends(column)[1] > SOLVED for column in columns)


def _spread(log: Log) -> float | None:
    """Return the standard deviation of the rewards of a batch; for scores, a quarter of their range. None if unknown."""
    stds = [value for _, value in _finite(log, "reward_std") if value > 0.0]
    if stds:
        return float(np.median(stds))
    ranges = [
        row.values["score.max"] - row.values["score.min"]
        for row in log.rows
        if {"score.max", "score.min"} <= row.values.keys()
    ]
    return float(np.median(ranges)) / 4.0 if ranges and np.median(ranges) > 0.0 else None


def _ends(column: Column, share: float = 0.2) -> tuple[float, float]:
    """Return the means of the first and of the last part of a curve."""
    values = [value for _, value in column]
    count = max(int(len(values) * share), 3)
    return float(np.mean(values[:count])), float(np.mean(values[-count:]))


def _start(column: Column) -> float:
    """Return the mean of the first rows: a fiftieth, at least three."""
    return float(np.mean([value for _, value in column[: max(len(column) // 50, 3)]]))


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


def _noise_of_row(column: Column) -> float:
    """Return the standard deviation of a row around the curve, from the differences of neighbours."""
    steps = np.diff([value for _, value in column])
    return float(np.sqrt(np.mean(steps**2) / 2.0))


def _noise(column: Column) -> float:
    """Return the standard error of a mean over a fifth of a curve."""
    return _noise_of_row(column) / math.sqrt(max(len(column) // 5, 1))


KINDS: Mapping[str, Kind] = {
    "nan": Kind(
        _not_a_number,
        "Continue from a checkpoint before this step with a lower learning rate; look for completions without tokens and for"
        " log-probabilities of the sampler that are NaN.",
        "the-loss-is-nan",
    ),
    "spikes": Kind(
        _spikes, "Lower the learning rate or the limit of the gradient norm.", "grad-norm-has-spikes"
    ),
    "no_gradient": Kind(
        _no_gradient,
        "Nothing is learned after this step. Look at the rewards there: those of a group may be equal, or all completions are"
        " masked. Continue from a checkpoint before it.",
        "grad-norm-is-0",
    ),
    "length_collapses": Kind(
        _length_collapses,
        "Read completions. Look for a term that punishes length, such as a KL that is summed over tokens in the reward, or"
        " for a reward that short answers get.",
        "the-length-shrinks",
    ),
    "sampler_apart": Kind(
        _sampler_apart,
        "Check the synchronization of the weights and the precision of the sampler; limit the weights against it.",
        "sampler-and-learner-differ",
    ),
    "sampler_differs": Kind(
        _sampler_differs,
        "Compare temperature, precision and weights of sampler and learner.",
        "sampler-and-learner-differ",
    ),
    "loss_apart": Kind(
        _loss_apart,
        "Compare the mask of the loss with that of the completions, and the old log-probabilities with those of the policy.",
        "the-loss-is-negative",
    ),
    "hacking": Kind(
        _hacking,
        "Read completions. Lower the weight of the reward that rises, limit it, or make the KL penalty stronger.",
        "the-reward-rises-the-accuracy-does-not",
    ),
    "ratio_fixed": Kind(
        _ratio_fixed,
        "Check that the old log-probabilities are those of the policy that sampled, not computed again in each step.",
        "the-clip-ratio-is-0",
    ),
    "reference_moves": Kind(
        _reference_moves,
        "Check that the reference is a constant copy of the start. It may be updated with the policy, or be another model.",
        "the-kl-is-negative-rises-or-explodes",
    ),
    "reward_drops": Kind(
        _reward_drops,
        "A policy seldom changes so much in one step: check the data, the reward function, tools and the environment at this"
        " step. Then continue from a checkpoint before it.",
        "the-reward-falls",
        hides=("reward_falls",),
    ),
    "reward_falls": Kind(
        _reward_falls,
        "Go back to the checkpoint of the best step, and lower the learning rate.",
        "the-reward-falls",
    ),
    "collapse": Kind(
        _collapse,
        "Use a lower learning rate, a wider upper clip (with several steps per batch), or an entropy bonus.",
        "the-entropy-collapses",
        hides=("nothing_learned",),
    ),
    "format_first": Kind(
        _format_first,
        "Use easier prompts, more completions per prompt or examples to imitate, so that some answers are right.",
        "the-reward-is-0-from-the-start",
        hides=("never_solved", "constant_reward"),
    ),
    "constant_reward": Kind(
        _constant_reward,
        "A constant reward teaches nothing. Read completions and call the function on them: it may never match, or always.",
        "the-reward-is-0-from-the-start",
        hides=("never_solved",),
    ),
    "never_solved": Kind(
        _never_solved,
        "Read completions and call the reward function on them: it may never match. Otherwise use easier prompts, more"
        " completions per prompt or examples to imitate, so that some answers are right.",
        "the-reward-is-0-from-the-start",
        hides=("nothing_learned",),
    ),
    "dead": Kind(
        _no_contrast,
        "Train on prompts that are solved sometimes, resample groups with equal rewards, or use larger groups.",
        "most-completions-give-no-gradient",
        hides=("nothing_learned",),
    ),
    "solved_at_start": Kind(
        _solved_at_the_start,
        "Train on harder prompts: groups in which all answers are right give no gradient.",
        "most-completions-give-no-gradient",
    ),
    "kl_explodes": Kind(
        _kl_explodes,
        "Lower the learning rate or the limit of the gradient norm. If rewards and lengths are as before at these steps, single"
        " tokens did it that the policy hardly samples any more: the estimate k3 grows like e^x there, and so does its gradient.",
        "the-kl-is-negative-rises-or-explodes",
    ),
    "kl_pulls": Kind(
        _kl_pulls,
        "Lower β, or refresh the reference now and then.",
        "the-kl-is-negative-rises-or-explodes",
        hides=("nothing_learned",),
    ),
    "never_ends": Kind(
        _never_ends,
        "Read a few completions, and check the end-of-sequence token and the chat template. Then raise the budget. Do not mask"
        " truncated completions: nothing would be left to train on.",
        "the-length-explodes",
        hides=("truncation",),
    ),
    "truncation": Kind(
        _truncation,
        "Raise the budget, add a soft penalty for long completions (as in DAPO), or mask truncated completions.",
        "the-length-explodes",
    ),
    "nothing_learned": Kind(
        _nothing_learned,
        "Use a higher learning rate (1e-5 to 1e-4 with LoRA), a smaller β, or more updates.",
        "the-reward-does-not-rise",
    ),
    "clips_much": Kind(
        _clips_much,
        "Use fewer steps per batch or a lower learning rate.",
        "the-clip-ratio-is-high",
    ),
    "loss_scaled": Kind(
        _loss_scaled,
        "Check that the mini-batch is not larger than the batch: a loss that is averaged over both is too small. Adam hides"
        " most of it, but the limit of the gradient norm never acts.",
        "grad-norm-is-0",
    ),
    "entropy_rises": Kind(
        _entropy_rises,
        "Lower the weight of the entropy bonus; without a bonus, compare sampler and learner.",
        "the-entropy-rises",
    ),
}
"""The kinds of patterns, the most severe first."""
