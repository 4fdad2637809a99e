"""Explain numbers that look alarming and are right under the configuration.

These are the questions that people ask most often about their curves. A remark is made only if the log shows the number
and the facts that explain it are known.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from grpo_ref.diagnose.facts import SEQUENCE_MEAN, TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import Log

LARGE_NORM = 1e3
"""A gradient norm above this number is not called right."""


class Remark(NamedTuple):
    """A number that is as it must be.

    Attributes:
      title: the number, in a few words.
      reason: why it is right, in one or two sentences, with the formula.
      advice: which number to look at instead, in one sentence, or "".
      page: anchor of the section on this symptom in `docs/howto/symptoms.md`.
    """

    title: str
    reason: str
    advice: str
    page: str


def remarks(log: Log, facts: Facts) -> list[Remark]:
    """Return the remarks on a log."""
    return [remark for make in MAKERS for remark in make(log, facts)]


def _values(log: Log, quantity: str) -> list[float]:
    return [value for _, value in log.column(quantity)]


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _no_clip(log: Log, facts: Facts) -> Iterator[Remark]:
    values = [value for name in ("clip", "clip_low", "clip_high") for value in _values(log, name)]
    if values and max(values) == 0.0 and facts.on_policy:
        yield Remark(
            "the clip share is 0 in every row",
            "Each batch is used for one step, so the policy that is updated is the policy that sampled: every ratio is 1,"
            " and a clip cannot act.",
            "More steps per batch would use the clip; they are not needed.",
            "the-clip-ratio-is-0",
        )


def _loss_at_0(log: Log, facts: Facts) -> Iterator[Remark]:
    losses = _values(log, "loss")
    if not losses or facts.average != SEQUENCE_MEAN or facts.on_policy is not True or facts.kl_coef is None:
        return
    if abs(losses[0]) <= 10.0 * log.loss_digits + 1e-6 or facts.kl_coef == 0.0:
        rest = (
            "nothing else is in the loss" if facts.kl_coef == 0.0 else "only β KL is left, which starts at 0"
        )
        yield Remark(
            "the loss is near 0"
            + (" and grows" if facts.kl_coef and abs(losses[-1]) > 10.0 * log.loss_digits else ""),
            "The advantages of a group sum to 0 and every ratio is 1, so the policy part of a mean per completion is 0;"
            f" {rest}. The gradient is not 0.",
            "Look at the reward instead of the loss.",
            "the-loss-is-0",
        )


def _negative_loss(log: Log, facts: Facts) -> Iterator[Remark]:
    losses = _values(log, "loss")
    share = _share([loss < 0.0 for loss in losses])
    if facts.average == TOKEN_MEAN and facts.on_policy and share > 0.2:
        yield Remark(
            f"the loss is negative in {share:.0%} of the rows",
            "With a mean over all tokens, loss - β KL = -Cov(A, L) / mean(L): it is negative if longer completions have the"
            " higher advantages, and positive if shorter ones have.",
            "The sign says whether length is rewarded, not whether training goes well.",
            "the-loss-is-negative",
        )


def _norm_above_limit(log: Log, facts: Facts) -> Iterator[Remark]:
    norms = _values(log, "grad_norm")
    middle = sorted(norms)[len(norms) // 2] if norms else math.inf
    is_calm = middle < LARGE_NORM and max(norms) <= 100.0 * middle  # false with NaN too
    if is_calm and _share([norm > 1.0 for norm in norms]) > 0.2:
        yield Remark(
            "the gradient norm is above 1",
            "Trainers log the norm before it is clipped. The step uses the clipped gradient.",
            "",
            "grad-norm-is-above-1",
        )


def _negative_old_kl(log: Log, facts: Facts) -> Iterator[Remark]:
    values = _values(log, "old_kl")
    if values and min(values) < -1e-6 and facts.on_policy is not True:
        yield Remark(
            "the KL to the old policy is negative in some rows",
            "It is the mean of log πold - log πθ over sampled tokens, the estimate k1. Its expectation is never negative; the"
            " estimate from one batch can be.",
            "",
            "the-kl-is-negative-rises-or-explodes",
        )


def _components_differ(log: Log, facts: Facts) -> Iterator[Remark]:
    for row in log.rows:
        spread = [value for name, value in row.values.items() if name.startswith("component.std/")]
        if (
            row.values.get("reward_std") == 0.0
            and spread
            and max(spread) > 0.0
            and facts.reward_std == "within"
        ):
            yield Remark(
                "reward_std is 0 while a reward function has a std above 0",
                "reward_std is the mean of the stds within groups: every group agrees, and the groups differ. Such a batch has"
                " no gradient.",
                "Look at the share of groups with equal rewards.",
                "reward_std-is-0",
            )
            return


def _length_is_rewarded(log: Log, facts: Facts) -> Iterator[Remark]:
    """The mean of -(loss - β KL), or of the mean advantage over tokens, is Cov(A, L) / mean(L)."""
    column = log.column("advantage.mean") if facts.single_turn and facts.standardized else []
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
        yield Remark(
            f"{word} completions are rewarded",
            f"The mean of Cov(A, L) / mean(L) over {len(values)} rows is {values.mean():.3g}, {abs(z):.1f} standard errors from 0.",
            "Look at the share that is cut off at the budget, and for rewards that depend on length or format.",
            "the-length-explodes" if z > 0.0 else "the-length-shrinks",
        )


def _solved(log: Log, facts: Facts) -> Iterator[Remark]:
    column = log.column("dead_share")
    if len(column) < 10 or not facts.binary or not set(log.components) <= facts.binary:
        return
    last = len(column) // 5
    share = sum(value for _, value in column[-last:]) / last
    means = [log.column(f"component.mean/{name}")[-last:] for name in log.components]
    if share > 0.8 and all(sum(value for _, value in mean) > 0.9 * len(mean) for mean in means):
        yield Remark(
            f"{share:.0%} of the groups have equal rewards at the end",
            "Nearly all rewards are 1 there: the task is solved, and a group in which all answers are right has no gradient.",
            "Stop, or go on with harder prompts.",
            "reward_std-is-0",
        )


def _single_dead_rows(log: Log, facts: Facts) -> Iterator[Remark]:
    values = _values(log, "dead_share")
    groups = facts.completions // facts.group_size if facts.completions and facts.group_size else None
    if (
        groups == 1
        and any(value == 1.0 for value in values)
        and _share([value == 1.0 for value in values]) < 0.8
    ):
        yield Remark(
            "all groups have equal rewards in single rows",
            "Each step has one group, so its share of groups with equal rewards is 0 or 1.",
            "Look at the mean over many rows.",
            "reward_std-is-0",
        )


MAKERS: tuple[Callable[[Log, Facts], Iterator[Remark]], ...] = (
    _no_clip,
    _loss_at_0,
    _negative_loss,
    _norm_above_limit,
    _negative_old_kl,
    _components_differ,
    _single_dead_rows,
    _length_is_rewarded,
    _solved,
)
"""The functions that make remarks."""
