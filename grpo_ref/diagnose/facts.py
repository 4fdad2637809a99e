"""Collect what is known of a run: its groups, batches, weights and averages.

A fact comes from the log or from the configuration. If both know it, they must agree. A relation is applied only if the
facts that it assumes are known.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from grpo_ref.diagnose.log import Log

EPS = 1e-4
"""The largest number that a trainer adds to the std of a group: TRL's."""
LARGEST_GROUP = 128
"""Largest group size that is looked for in advantages."""
Average = Literal["sequence_mean", "token_mean", "fixed_length"]
"""The averages of the loss over tokens that the relations know."""
SEQUENCE_MEAN: Average = "sequence_mean"
TOKEN_MEAN: Average = "token_mean"
FIXED_LENGTH: Average = "fixed_length"


@dataclass(frozen=True)
class Facts:
    """The known facts of a run. None means unknown: relations that need the fact are not tested.

    Attributes:
      group_size: completions per prompt, G.
      completions: completions of one generation batch, N = P G.
      window: generation batches that are averaged in one row.
      steps: optimizer steps of one row; the gradient's norm is that of the last one.
      kl_coef: weight of the KL penalty in the loss, β.
      has_bonus: true if the loss has an entropy bonus.
      average: the average of the loss over tokens, of the whole generation batch.
      on_policy: true if each batch is used for one step, so that every ratio is 1.
      budget: the largest number of tokens of a completion.
      weights: weight of each reward function; 1 for those that are missing. None if the weights are unknown.
      binary: the reward functions that give only 0 and 1.
      reward_std: "within" if `reward_std` is the mean over groups, "pooled" if it is over all completions.
      standardized: true if advantages are divided by the std of their group, with the divisor G - 1.
      divided_by_batch: true if advantages are divided by the std of the batch. TRL's share of groups with equal rewards is then
        1 if all rewards of the batch are equal, and 0 otherwise.
      kl_in_reward: true if the KL is subtracted from the rewards.
      loss_scale: the factor of the logged policy loss; None if it is unknown.
      vocabulary: number of tokens of the vocabulary.
      whole_vocabulary: true if sampling has no top-p, top-k or min-p.
      single_turn: true if a completion has one turn, so that all its tokens are the policy's.
      masks_truncated: true if truncated completions are masked out of the loss.
    """

    group_size: int | None = None
    completions: int | None = None
    window: int | None = None
    steps: int | None = None
    kl_coef: float | None = None
    has_bonus: bool | None = None
    average: Average | None = None
    on_policy: bool | None = None
    budget: int | None = None
    weights: Mapping[str, float] | None = None
    binary: frozenset[str] = frozenset()
    reward_std: Literal["within", "pooled"] | None = None
    standardized: bool | None = None
    divided_by_batch: bool | None = None
    kl_in_reward: bool | None = None
    loss_scale: float | None = 1.0
    vocabulary: int | None = None
    whole_vocabulary: bool | None = None
    single_turn: bool | None = None
    masks_truncated: bool | None = None


class Shown(NamedTuple):
    """A fact that the log itself shows.

    Attributes:
      name: name of the fact, an attribute of `Facts`.
      value: its value.
      formula: the relation that gives it, with the numbers put in.
      step: the step of the row.
      rows: number of rows that agree.
    """

    name: str
    value: Any
    formula: str
    step: int
    rows: int


def completions_of(mean: float, std: float) -> float | None:
    """Return N from the mean p and the standard deviation s of N zeros and ones: N = s² / (s² - p(1-p)).

    The standard deviation has the divisor N - 1, so s² = N/(N-1) p(1-p).

    Returns:
      N, or None if the two numbers do not show it: s² is not above p(1-p).

    >>> round(completions_of(0.25, 0.5), 6)  # 1, 0, 0, 0: s² = (9 + 3) / 16 / 3 = 1/4, and 1/4 / (1/4 - 3/16) = 4
    4.0
    """
    surplus = std**2 - mean * (1.0 - mean)
    return std**2 / surplus if surplus > 1e-9 else None


def groups_of(advantage: float, eps: float = 0.0) -> list[tuple[int, int]]:
    """Return every pair (G, k) for which k right answers among G give this advantage, rewards being 0 and 1.

    With the divisor G - 1, a right answer has sqrt((G-k)(G-1)/(G k)), a wrong one -sqrt(k(G-1)/(G(G-k))). A trainer that
    adds eps to the std s makes them smaller by a factor s/(s + eps), and s is at least 1/sqrt(G).

    >>> groups_of(1.7888544)  # one right answer of 5: sqrt(4 * 4 / 5)
    [(5, 1)]
    """
    sizes, right, up, down = _advantages()
    tolerance = (1e-5 + eps * np.sqrt(sizes)) * max(1.0, abs(advantage))
    fits = np.minimum(abs(advantage - up), abs(advantage - down)) < tolerance
    return list(zip(sizes[fits].tolist(), right[fits].tolist(), strict=True))


@cache
def _advantages() -> tuple[Any, Any, Any, Any]:
    """Return G, k and the advantages of a right and of a wrong answer, for all groups of 0 < k < G right answers."""
    pairs = [(size, right) for size in range(2, LARGEST_GROUP + 1) for right in range(1, size)]
    size, right = np.array(pairs).T
    up = np.sqrt((size - right) * (size - 1) / (size * right))
    return size, right, up, -np.sqrt(right * (size - 1) / (size * (size - right)))


def binary_components(log: Log) -> frozenset[str]:
    """Return the reward functions whose mean and std over all completions fit zeros and ones in every row.

    Zeros and ones have s² = N/(N-1) p(1-p) with one N for all rows.
    """
    return frozenset(name for name in log.components if _completions_by(log, name) is not None)


def from_log(log: Log) -> list[Shown]:
    """Return the facts that the numbers of a log show by themselves."""
    return [
        *_completions(log),
        *(_group_size(log) or _group_size_by_shares(log)),
        *_kl_coef(log),
        *_loss_scale(log),
        *_reward_std(log),
        *_weights(log),
    ]


def _completions_by(log: Log, name: str) -> tuple[int, int, float, float] | None:
    """Return N with the step and numbers of the row that shows it best, if all rows agree on one N; else None."""
    counts: list[tuple[int, int, float, float]] = []
    for row in log.rows:
        mean, std = row.get(f"component.mean/{name}"), row.get(f"component.std/{name}")
        if mean is None or std is None:
            continue
        if not 0.0 <= mean <= 1.0:
            return None
        if mean in (0.0, 1.0):
            if std > 1e-6:
                return None
            continue
        count = completions_of(mean, std)
        if count is None or count > 1e5:
            return None
        if abs(count - round(count)) > 0.05 + 0.02 * count:
            return None
        counts.append((round(count), row.step, mean, std))
    sizes = {count for count, *_ in counts}
    return counts[0] if len(sizes) == 1 and len(counts) > 1 else None


def _completions(log: Log) -> Iterator[Shown]:
    for name in log.components:
        shown = _completions_by(log, name)
        if shown is not None:
            count, step, mean, std = shown
            formula = f"rewards of 0 and 1 have s² = N/(N-1) p(1-p); p = {mean:g} and s = {std:g} of {name} give N = {count}"
            rows = sum(f"component.std/{name}" in row.values for row in log.rows)
            yield Shown("completions", count, formula, step, rows)
            return
    counts = {}
    for row in log.rows:
        total, prompt, length = (row.get(key) for key in ("tokens", "prompt_length.mean", "length.mean"))
        if total is not None and prompt is not None and length is not None and prompt + length > 0.0:
            counts[row.step] = total / (prompt + length)
    sizes = {round(count) for count in counts.values()}
    if (
        len(sizes) == 1
        and len(counts) > 1
        and all(abs(count - round(count)) < 0.02 for count in counts.values())
    ):
        (count,) = sizes
        formula = f"all tokens divided by the mean of prompt and completion give N = {count}"
        yield Shown("completions", count, formula, min(counts), len(counts))


def _group_size(log: Log) -> list[Shown]:
    """Return the one group size that all extreme advantages allow, rewards being 0 and 1.

    Standardized advantages reach 1 in groups of more than two. Advantages that stay below 1 are differences from the mean.
    """
    extremes = [
        abs(row.values[name])
        for row in log.rows
        for name in ("advantage.min", "advantage.max")
        if name in row.values
    ]
    if extremes and math.sqrt(0.5) + 1e-3 < max(extremes) < 1.0:
        return []
    possible: set[int] | None = None
    shown = (0, 0.0)
    rows = 0
    for row in log.rows:
        largest, smallest = row.get("advantage.max"), row.get("advantage.min")
        if largest is None or smallest is None or largest <= 0.0:
            continue
        sizes = {size for size, _ in groups_of(largest, EPS)} & {size for size, _ in groups_of(smallest, EPS)}
        rows += 1
        possible = sizes if possible is None else possible & sizes
        if largest > shown[1]:
            shown = (row.step, largest)
    if possible is not None and len(possible) == 1 and rows > 1:
        (size,) = possible
        formula = f"the largest advantage, {shown[1]:.5g}, is that of {size} rewards of 0 and 1"
        return [Shown("group_size", size, formula, shown[0], rows)]
    return []


def _group_size_by_shares(log: Log) -> list[Shown]:
    """Return the group size N / P, P being the fewest groups of which all shares of groups with equal rewards are parts.

    The share is that of one batch in each row, which the number of completions shows. Twenty rows with shares other than 0
    and 1 are needed, so that shares of P groups are not all shares of P/2 groups by chance.
    """
    completions = list(_completions(log))
    shares = [(step, share) for step, share in log.column("dead_share") if 0.0 < share < 1.0]
    if not completions or len(shares) < 20:
        return []
    count = completions[0].value
    for groups in range(2, count // 2 + 1):
        if count % groups == 0 and all(
            abs(share * groups - round(share * groups)) < 1e-3 for _, share in shares
        ):
            step, share = min(shares, key=lambda pair: pair[1])
            formula = (
                f"all shares of groups with equal rewards are multiples of 1/{groups}, as {share:.4g};"
                f" {count} completions in {groups} groups give G = {count // groups}"
            )
            return [Shown("group_size", count // groups, formula, step, len(shares))]
    return []


def _kl_coef(log: Log) -> Iterator[Shown]:
    """Yield β if the loss is the same multiple of the KL in every row, as for a mean per completion at ratio 1.

    Only losses with two digits count: transformers 4 rounds them to four decimals.
    """
    pairs = [
        (row.step, row.values["loss"], row.values["kl"])
        for row in log.rows
        if row.values.get("kl", 0.0) > 0.0 and row.values.get("loss", 0.0) > 200.0 * log.loss_digits
    ]
    if len(pairs) < 5:
        return
    step, loss, kl = max(pairs, key=lambda pair: pair[2])
    slope = loss / kl
    agrees = all(
        abs(one - slope * other) <= 2.0 * log.loss_digits + 1e-3 * abs(one) for _, one, other in pairs
    )
    if slope > 0.0 and agrees:
        yield Shown(
            "kl_coef", slope, f"loss = β KL; {loss:g} = β {kl:g} gives β = {slope:.3g}", step, len(pairs)
        )


def _loss_scale(log: Log) -> Iterator[Shown]:
    """Yield the factor of the policy loss if it is the same multiple of minus the mean advantage in every row."""
    pairs = [
        (row.step, row.values["policy_loss"], row.values["advantage.mean"])
        for row in log.rows
        if "policy_loss" in row.values and abs(row.values.get("advantage.mean", 0.0)) > 1e-3
    ]
    if len(pairs) < 3:
        return
    step, loss, mean = max(pairs, key=lambda pair: abs(pair[2]))
    scale = -loss / mean
    if (
        scale > 0.0
        and abs(loss) > 1e-5
        and all(abs(one + scale * other) <= 1e-6 + 1e-3 * abs(scale * other) for _, one, other in pairs)
    ):
        formula = f"policy loss = -scale (mean advantage); {loss:g} = -scale {mean:g} gives {scale:.4g}"
        yield Shown("loss_scale", scale, formula, step, len(pairs))


def _reward_std(log: Log) -> Iterator[Shown]:
    """Yield what `reward_std` is: the mean of the stds of the groups up to TRL 0.26, the std of all completions since 0.27.

    With one reward function, the std of all completions is the same multiple of that of the function in every row: its
    weight. If all groups have equal rewards, the mean of their stds is 0.
    """
    for row in log.rows:
        if row.get("dead_share") == 1.0 and row.values.get("reward_std", 0.0) > 1e-4:
            formula = f"all groups have equal rewards, and reward_std is {row.values['reward_std']:g}"
            yield Shown("reward_std", "pooled", formula, row.step, 1)
            return
    if len(log.components) != 1:
        return
    name = f"component.std/{log.components[0]}"
    pairs = [
        (row.step, row.values["reward_std"], row.values[name])
        for row in log.rows
        if "reward_std" in row.values and row.values.get(name, 0.0) > 1e-4
    ]
    if len(pairs) < 3:
        return
    ratios = [one / other for _, one, other in pairs]
    step = pairs[0][0]
    is_pooled = max(ratios) - min(ratios) <= 1e-3 * max(ratios)
    formula = f"reward_std / std of the reward function is {min(ratios):.4g} to {max(ratios):.4g}"
    yield Shown("reward_std", "pooled" if is_pooled else "within", formula, step, len(pairs))


def _weights(log: Log) -> Iterator[Shown]:
    """Yield the weights of the reward functions if the reward is the same weighted sum of their means in every row.

    The rows must be more than twice as many as the functions, and the means must tell the functions apart.
    """
    names = log.components
    rows = [
        [row.values["reward"], *(row.values[f"component.mean/{name}"] for name in names)]
        for row in log.rows
        if "reward" in row.values and all(f"component.mean/{name}" in row.values for name in names)
    ]
    values = np.array([row for row in rows if np.isfinite(row).all()])
    if not names or len(values) <= 2 * len(names):
        return
    reward, means = values[:, 0], values[:, 1:]
    weights, _, rank, _ = np.linalg.lstsq(means, reward, rcond=1e-6)
    if rank == len(names) and np.allclose(means @ weights, reward, rtol=0.0, atol=1e-4):
        fitted = {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}
        formula = " + ".join(f"{weight:g} x {name}" for name, weight in fitted.items())
        yield Shown("weights", fitted, f"reward = {formula}", log.rows[0].step, len(values))


def beyond_budget(log: Log, budget: int | None) -> list[Shown]:
    """Return the longest completion as a fact if it is longer than the budget, at which sampling stops."""
    longer = [(step, most) for step, most in log.column("length.max") if budget and most > budget * 1.001]
    if not longer:
        return []
    step, most = max(longer, key=lambda pair: pair[1])
    formula = f"sampling stops at the budget, and the longest completion has {most:g} tokens"
    return [Shown("budget", f"at least {most:g}", formula, step, len(longer))]


def averages_batches(log: Log) -> bool:
    """Return true if rows are means over several batches: a largest or smallest length is not a whole number."""
    extremes = ("length.min", "length.max", "ended_length.min", "ended_length.max")
    values = (row.values[name] for row in log.rows for name in extremes if name in row.values)
    return any(
        math.isfinite(value) and abs(value - round(value)) > 0.01 + log.digits * value for value in values
    )


def has_rows_for_weights(log: Log) -> bool:
    """Return true if the rows are enough to say whether any weights of the reward functions give the reward."""
    return 0 < 2 * len(log.components) < len(log.rows)


def joined(given: Facts, shown: list[Shown]) -> tuple[Facts, list[Shown]]:
    """Return the facts of a configuration, completed by those of the log, and the facts on which the two disagree.

    Where they disagree, the log counts, as it shows what ran.
    """
    contradicted = []
    known = {each.name: getattr(given, each.name) for each in fields(given)}
    for fact in shown:
        before = known[fact.name]
        if fact.name == "weights" and before is not None:
            continue  # the relation on the reward tests the weights of the configuration
        if before is not None and fact.name != "loss_scale" and not is_equal(before, fact.value):
            contradicted.append(fact)
        known[fact.name] = fact.value
    return replace(given, **known), contradicted


def is_equal(one: Any, other: Any) -> bool:
    """Return true if two values of a fact are equal, up to 2 % for numbers that a log shows."""
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.02)
    return bool(one == other)
