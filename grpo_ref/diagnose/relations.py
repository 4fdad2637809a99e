"""State what must hold between the numbers of a log, whatever the data and the model are.

A relation says that a number lies between two others. A number outside shows a mistake in the code, in the data, in the
logging, or a fact that is not as assumed. A row may be the mean over several generation batches (`Facts.window`): a
relation that is linear in the logged numbers survives averaging; others become an inequality or are not applied.

Notation: P prompts with G completions each, N = P G; p the mean of rewards of 0 and 1; f the share of groups in which all
rewards are equal; A an advantage; L a length. Each function has the proof of its relation.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from grpo_ref.diagnose.facts import FIXED_LENGTH, SEQUENCE_MEAN, TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import Log, Row

CLIPS = ("clip", "clip_low", "clip_high", "dual_clip")
SHARES = (*CLIPS, "truncated", "dead_share", "aborted", "sampler.capped")
BOUNDARY = 2e-6
"""Absolute rounding that every comparison allows. Tables of notebooks have six decimals."""
ROUNDINGS = 10.0
"""Number of roundings of a console that every comparison allows, as a relation multiplies and adds numbers."""
FEWEST_OF_SCORES = 5
"""Fewest rows in which scores and advantages are compared."""
MOST_ROWS = 20_000
"""Largest number of rows that are tested."""


class Bound(NamedTuple):
    """The bounds of one number in one row.

    Attributes:
      value: the number.
      low, high: its bounds.
      slack: the rounding that is allowed outside.
      formula: the relation with the numbers put in.
    """

    value: float
    low: float
    high: float
    slack: float
    formula: str

    @property
    def is_broken(self) -> bool:
        """True if the number is outside its bounds."""
        return not self.low - self.slack <= self.value <= self.high + self.slack


Test = Callable[[Row, Facts, Log], Iterator[Bound]]


class Relation(NamedTuple):
    """A relation between numbers of a row.

    Attributes:
      code: its short name, "R2".
      statement: the relation as a sentence with the formula.
      quantities: the quantities that a row needs, each a name, or a tuple of which one suffices.
      facts: the facts that must be known.
      otherwise: the assumption that could be false instead, in one sentence.
      test: the function that yields the bounds. It may yield none.
    """

    code: str
    statement: str
    quantities: tuple[str | tuple[str, ...], ...]
    facts: tuple[str, ...]
    otherwise: str
    test: Test


def weight_of(name: str, facts: Facts) -> float:
    """Return the weight of a reward function; 1 if nothing else is known."""
    return 1.0 if facts.weights is None else facts.weights.get(name, 1.0)


# ---- rewards ---------------------------------------------------------------------------------------


def reward_sum(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the mean of a weighted sum is the weighted sum of the means. Linear."""
    means = {name: row.values.get(f"component.mean/{name}") for name in log.components}
    known = {name: mean for name, mean in means.items() if mean is not None}
    if len(known) < len(means):
        return
    total = sum(weight_of(name, facts) * mean for name, mean in known.items())
    terms = " + ".join(f"{weight_of(name, facts):g} x {mean:.5g}" for name, mean in known.items())
    size = sum(map(abs, known.values()))
    slack = 1e-6 * (1.0 + size) + log.digits * size  # a table of a notebook has six decimals
    yield Bound(
        row.values["reward"],
        total,
        total,
        slack,
        f"reward {row.values['reward']:.6g}, sum {terms} = {total:.6g}",
    )


def binary_std(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: x² = x for 0 and 1, so the mean square is p, and s² = N/(N-1) (p - p²).

    The root is concave, so the mean of several batches is at most the value of the mean.
    """
    assert facts.completions is not None
    for name in sorted(facts.binary):
        mean, std = row.get(f"component.mean/{name}"), row.get(f"component.std/{name}")
        if mean is None or std is None:
            continue
        count = facts.completions
        most = math.sqrt(max(count / (count - 1) * mean * (1.0 - mean), 0.0))
        formula = (
            f"{name}: s = {std:.5g}, sqrt({count}/{count - 1} x {mean:.5g} x {1.0 - mean:.5g}) = {most:.5g}"
        )
        yield Bound(std, most if facts.window == 1 else 0.0, most, 0.0, formula)


def within_pooled(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: (N-1) S² = (G-1) Σ s_g² + G Σ (m_g - m)² >= (G-1) Σ s_g²; then Jensen for the mean of s_g.

    For a weighted sum of rewards, Minkowski's inequality bounds the std by the weighted sum of the stds. Linear.
    """
    stds = {name: row.get(f"component.std/{name}") for name in log.components}
    known = {name: std for name, std in stds.items() if std is not None}
    if not known or len(known) < len(stds):
        return
    pooled = sum(abs(weight_of(name, facts)) * std for name, std in known.items())
    std = row.values["reward_std"]
    if facts.reward_std == "pooled":
        low = pooled if len(known) == 1 else 0.0
        yield Bound(std, low, pooled, 0.0, f"std {std:.5g}, weighted sum of the stds {pooled:.5g}")
        return
    size, count = facts.group_size, facts.completions
    factor = math.sqrt(2.0)
    if size is not None and size > 1:
        factor = math.sqrt(size / (size - 1))
        if count is not None and count > size:
            factor = math.sqrt((count - 1) / (count - count / size))
    formula = f"mean std within groups {std:.5g}, {factor:.4g} times the std of all completions {pooled:.5g}"
    yield Bound(std, 0.0, factor * pooled, 0.0, formula)


def std_of_live_groups(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a group with k right answers has s² = k(G-k)/(G(G-1)), least at k = 1 and most in the middle. Linear."""
    (name,) = log.components
    assert facts.group_size is not None
    size, weight = facts.group_size, abs(weight_of(name, facts))
    live = 1.0 - row.values["dead_share"]
    half = math.sqrt((size // 2) * (size - size // 2) / (size * (size - 1)))
    low, high, std = weight * live / math.sqrt(size), weight * live * half, row.values["reward_std"]
    yield Bound(
        std,
        low,
        high,
        0.0,
        f"mean std {std:.5g}, share of live groups {live:.4g}, bounds {low:.5g} and {high:.5g}",
    )


def dead_if_no_std(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the std of a group is 0 if and only if all its rewards are equal."""
    dead, std = row.values["dead_share"], row.values["reward_std"]
    if dead == 1.0 or std == 0.0:
        both = float(dead == 1.0 and std < 1e-7)
        yield Bound(both, 1.0, 1.0, 0.0, f"share of groups with equal rewards {dead:g}, mean std {std:g}")


def whole_groups(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a share of P groups is a multiple of 1/P."""
    assert facts.group_size is not None
    assert facts.completions is not None
    assert facts.window is not None
    groups = facts.completions / facts.group_size * facts.window
    number = row.values["dead_share"] * groups
    yield Bound(
        number,
        round(number),
        round(number),
        1e-3,
        f"{row.values['dead_share']:g} of {groups:g} groups = {number:.4g}",
    )


def floor_of_dead_share(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a live group has at least one 1 and one 0, so 1 - f <= G p and 1 - f <= G (1-p). Linear."""
    (name,) = log.components
    assert facts.group_size is not None
    mean, dead = row.values[f"component.mean/{name}"], row.values["dead_share"]
    least = 1.0 - facts.group_size * min(mean, 1.0 - mean)
    yield Bound(dead, least, 1.0, 0.0, f"f = {dead:.4g}, 1 - G min(p, 1-p) = {least:.4g} with p = {mean:.4g}")


def expected_dead_share(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a group with pass rate q is dead with h(q) = q^G + (1-q)^G. h is convex, so E f >= h(p) (Jensen).

    Five standard errors of f and of p, and one group, are allowed for sampling.
    """
    (name,) = log.components
    assert facts.group_size is not None
    assert facts.completions is not None
    assert facts.window is not None
    size, mean, dead = facts.group_size, row.values[f"component.mean/{name}"], row.values["dead_share"]
    groups = facts.completions / size * facts.window
    least = mean**size + (1.0 - mean) ** size
    slope = size * abs(mean ** (size - 1) - (1.0 - mean) ** (size - 1))
    error = math.sqrt(least * (1.0 - least) / groups) + slope * math.sqrt(
        mean * (1.0 - mean) / (groups * size)
    )
    low = least - 5.0 * error - 1.0 / groups
    yield Bound(
        dead, low, 1.0, 0.0, f"f = {dead:.4g}, p^G + (1-p)^G = {least:.4g} with p = {mean:.4g}, G = {size}"
    )


# ---- ratio and clip --------------------------------------------------------------------------------


def shares(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a share is a part of a whole."""
    for name in SHARES:
        share = row.get(name)
        if share is not None:
            yield Bound(share, 0.0, 1.0, 0.0, f"{name} = {share:g}")


def still_policy(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the old log-probabilities are those of the policy itself, so r = exp(0) = 1 at every token.

    TRL takes them from the same forward pass. Others may compute them in one of their own, which rounds differently, so that a
    share of 1 % may be clipped.
    """
    for name in (*CLIPS, "old_kl"):
        value = row.get(name)
        if value is not None:
            slack = 1e-7 if log.trainer in ("trl", "ms_swift") else 1e-2
            yield Bound(value, 0.0, 0.0, slack, f"{name} = {value:g} while every batch is used once")


def sides(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the clip acts below for A < 0 and above for A > 0, and a token has one sign of A."""
    low, high, both = (row.values[name] for name in ("clip_low", "clip_high", "clip"))
    yield Bound(both, low + high, low + high, 1e-7, f"clip {both:g}, below {low:g} plus above {high:g}")


def order(*names: str) -> Test:
    """Return the test that a minimum is at most the mean, and the mean at most the maximum. Linear."""

    def test(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
        least, mean, most = (row.get(name) for name in names)
        if mean is not None and (least is not None or most is not None):
            low, high = -math.inf if least is None else least, math.inf if most is None else most
            yield Bound(mean, low, high, 1e-6 * (1.0 + abs(mean)), f"mean {mean:g}, from {low:g} to {high:g}")

    return test


# ---- the loss --------------------------------------------------------------------------------------


def loss_is_kl(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: at ratio 1 the surrogate of a completion is its A, and each group's A sum to 0. So loss = β KL.

    If the logged KL is the mean over tokens and that of the loss is the mean per completion, then
    L_min Σ k <= Σ L k <= L_max Σ k for k >= 0, and β kl mean(L)/L_max <= loss <= β kl mean(L)/L_min.
    """
    if facts.average != SEQUENCE_MEAN:
        return
    assert facts.kl_coef is not None
    kl = row.values.get("kl", 0.0 if facts.kl_coef == 0.0 else math.nan)
    low = high = facts.kl_coef * kl
    least, mean, most = (row.get(f"length.{name}") for name in ("min", "mean", "max"))
    if least and mean and most:
        low, high = low * mean / most, high * mean / least
    if facts.window == 1 or least == most:
        slack = 4.0 * log.loss_digits + abs(facts.kl_coef * kl) * 1e-3
        loss = row.values["loss"]
        yield Bound(
            loss,
            low,
            high,
            slack,
            f"loss {loss:g}, β kl = {facts.kl_coef:g} x {kl:g} = {facts.kl_coef * kl:g}",
        )


def loss_is_covariance(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: at ratio 1, loss - β KL = -Σ A L / Σ L = -Cov(A, L) / mean(L), as the A of a group sum to 0.

    Cauchy and Bhatia-Davis: |Cov| <= sqrt((1-f)(G-1)/G) sqrt((L_max - mean)(mean - L_min)). With a fixed length L0 as
    the denominator, everything is multiplied by mean(L)/L0. In averaged rows only 0 remains a bound.
    """
    if facts.average not in (TOKEN_MEAN, FIXED_LENGTH) or facts.standardized is not True:
        return
    if facts.masks_truncated is not False and row.values.get("truncated", 0.0) > 0.0:
        return
    assert facts.kl_coef is not None
    least, mean, most = (row.values[f"length.{name}"] for name in ("min", "mean", "max"))
    kl = row.values.get("kl", 0.0 if facts.kl_coef == 0.0 else math.nan)
    live = 1.0 - row.values.get("dead_share", 0.0)
    size = facts.group_size
    share = live * ((size - 1) / size if size else 1.0)
    spread = math.sqrt(max(share * (most - mean) * (mean - least), 0.0)) / mean
    scale = 1.0
    if facts.average == FIXED_LENGTH:
        if facts.budget is None:
            return
        scale = mean / facts.budget
    if facts.window == 1 or spread == 0.0:
        rest = row.values["loss"] - facts.kl_coef * kl * scale
        slack = log.loss_digits + abs(facts.kl_coef * kl) * 1e-3
        formula = f"loss - β kl = {rest:.5g}, bound {spread * scale:.5g} by lengths from {least:g} to {most:g}, mean {mean:g}"
        yield Bound(rest, -spread * scale, spread * scale, slack, formula)


def parts_of_loss(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the loss is defined as this sum. Linear."""
    policy, coefficient, kl = (row.values[name] for name in ("policy_loss", "kl_coef", "kl"))
    total = policy + coefficient * kl
    loss = row.values["loss"]
    yield Bound(
        loss,
        total,
        total,
        1e-6 + 1e-5 * abs(total),
        f"loss {loss:g}, {policy:g} + {coefficient:g} x {kl:g} = {total:g}",
    )


def policy_loss_is_advantage(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: at ratio 1 a mean over all tokens is -Σ A L / Σ L, and the mean advantage over tokens is Σ A L / Σ L.

    For a mean per completion it is -mean(A) = 0. The factor is 1, or that with which the trainer multiplies what it logs.
    """
    loss, mean = row.values["policy_loss"], row.values["advantage.mean"]
    if facts.average == TOKEN_MEAN and facts.loss_scale:
        wanted = -facts.loss_scale * mean
        slack = 1e-6 + 1e-3 * abs(wanted)
        yield Bound(
            loss,
            wanted,
            wanted,
            slack,
            f"policy loss {loss:g}, -{facts.loss_scale:g} x mean advantage {mean:g}",
        )
    elif facts.average == SEQUENCE_MEAN:
        yield Bound(loss, 0.0, 0.0, 1e-4, f"policy loss {loss:g} of a mean per completion")


def gradient_of_live_groups(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: without KL and bonus the gradient is a sum of A times a score. All A are 0 if and only if all groups are dead.

    A sum of scores that are not all 0 vanishes only by accident. If truncated completions are masked, all that are left
    may have an advantage of 0.
    """
    dead, norm = row.values["dead_share"], row.values["grad_norm"]
    some_masked = facts.masks_truncated is not False and row.values.get("truncated", 1.0) > 0.0
    if math.isnan(norm):
        return
    if dead < 1.0 and not some_masked:
        formula = f"gradient norm {norm:g} while {1.0 - dead:.3g} of the groups have different rewards"
        yield Bound(float(norm > 0.0), 1.0, 1.0, 0.0, formula)
    if dead == 1.0 and facts.kl_coef == 0.0 and facts.has_bonus is False:
        yield Bound(norm, 0.0, 0.0, 1e-6, f"gradient norm {norm:g} while every group has equal rewards")


def kl_is_positive(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: k3 = e^x - x - 1 >= 0 for every x."""
    kl = row.values["kl"]
    yield Bound(kl, 0.0, math.inf, 1e-6, f"kl = {kl:g}")


# ---- lengths and entropy ---------------------------------------------------------------------------


def mean_of_cut_and_ended(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: mean = c L_cut + (1-c) mean of the ended ones, and no completion that was cut is longer than the longest."""
    cut, mean, ended, most = (
        row.values[name] for name in ("truncated", "length.mean", "ended_length.mean", "length.max")
    )
    if facts.window == 1 and 0.0 < cut < 1.0:
        length = (mean - (1.0 - cut) * ended) / cut
        formula = f"the cut completions have a mean length of {length:.5g}, the longest has {most:g}"
        yield Bound(length, 0.0, most, 1e-3 * most, formula)


def mean_above_cut(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a share c has the largest length and no completion is shorter than the smallest."""
    share, least, mean, most = (
        row.values[name] for name in ("truncated", "length.min", "length.mean", "length.max")
    )
    if facts.window == 1:
        low = (1.0 - share) * least + share * most
        yield Bound(mean, low, most, 1e-3 * most, f"mean length {mean:g}, (1-c) min + c max = {low:.5g}")


def means_of_present(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: completions without a token add nothing to a sum."""
    gone = row.values["aborted"]
    for present, name in (("present_length.mean", "length.mean"), ("present_truncated", "truncated")):
        some, all_of_them = row.get(present), row.get(name)
        if some is not None and all_of_them is not None:
            wanted = (1.0 - gone) * some
            yield Bound(
                all_of_them,
                wanted,
                wanted,
                1e-4 * (1.0 + some),
                f"{name} {all_of_them:g}, (1 - {gone:g}) x {some:g}",
            )


def entropy_of_vocabulary(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: a distribution over V tokens has an entropy between 0 and log V."""
    assert facts.vocabulary is not None
    entropy = row.values["entropy"]
    yield Bound(
        entropy,
        0.0,
        math.log(facts.vocabulary),
        1e-6,
        f"entropy {entropy:g}, log V = {math.log(facts.vocabulary):.4g}",
    )


# ---- advantages ------------------------------------------------------------------------------------


def largest_advantage(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the largest standardized deviate of G numbers is (G-1)/sqrt(G) with the divisor G - 1."""
    assert facts.group_size is not None
    most = (facts.group_size - 1) / math.sqrt(facts.group_size)
    for name, low, high in (("advantage.max", 0.0, most), ("advantage.min", -most, 0.0)):
        value = row.values[name]
        yield Bound(
            value,
            low,
            high,
            1e-3,
            f"{name} = {value:.5g}, (G-1)/sqrt(G) = {most:.5g} with G = {facts.group_size}",
        )


def advantages_of_binary(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: k right answers of G give a right one sqrt((G-k)(G-1)/(G k)), so there are G - 1 possible values, and 0."""
    assert facts.group_size is not None
    size = facts.group_size
    values = [math.sqrt((size - k) * (size - 1) / (size * k)) for k in range(1, size)] + [0.0]
    for name, sign in (("advantage.max", 1.0), ("advantage.min", -1.0)):
        value = sign * row.values[name]
        near = min(values, key=lambda each: abs(each - value))
        slack = 1e-3 + 1e-4 * math.sqrt(size) * near
        yield Bound(
            value,
            near,
            near,
            slack,
            f"{name} = {sign * value:.5g}, nearest possible {sign * near:.5g} with G = {size}",
        )


def returns_are_advantages(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: without a critic the return of a token is its advantage."""
    mean, returned = row.values["advantage.mean"], row.values["return.mean"]
    yield Bound(returned, mean, mean, 1e-6, f"mean return {returned:g}, mean advantage {mean:g}")


def advantage_within_lengths(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the mean advantage over tokens is Cov(A, L) / mean(L), as in `loss_is_covariance`."""
    if row.values.get("turns.max", 0.0) > 2.0:
        return  # the tokens of tools count as length but are not in the mask
    least, mean, most = (row.values[f"length.{name}"] for name in ("min", "mean", "max"))
    value, size = row.values["advantage.mean"], facts.group_size
    spread = math.sqrt(max(((size - 1) / size if size else 1.0) * (most - mean) * (mean - least), 0.0)) / mean
    yield Bound(
        value, -spread, spread, 2e-4, f"mean advantage {value:.5g}, bound {spread:.5g} by the lengths"
    )


def no_advantage_of_equal_scores(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: if all rewards are equal, every reward is the mean of its group."""
    if row.values["score.min"] == row.values["score.max"] and facts.kl_in_reward is False:
        for name in ("advantage.min", "advantage.max"):
            yield Bound(
                row.values[name], 0.0, 0.0, 1e-6, f"{name} = {row.values[name]:g} while all scores are equal"
            )


def score_is_reward(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: nothing is subtracted from the scores."""
    score, reward = row.values["score.mean"], row.values["shaped.mean"]
    yield Bound(
        reward, score, score, 1e-6 * (1.0 + abs(score)), f"mean reward {reward:g}, mean score {score:g}"
    )


def whole_completions(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: tokens = N (mean prompt + mean completion), and N is a whole number of groups."""
    total, prompt, length = (row.values[name] for name in ("tokens", "prompt_length.mean", "length.mean"))
    count = total / (prompt + length)
    slack = (1e-3 if log.digits > 1e-5 else 1e-4) * max(count, 1.0)
    yield Bound(
        count,
        round(count),
        round(count),
        slack,
        f"{total:g} / ({prompt:g} + {length:g}) = {count:.5g} completions",
    )
    if facts.group_size:
        groups = count / facts.group_size
        yield Bound(
            groups, round(groups), round(groups), slack, f"{count:.5g} completions / G = {groups:.4g} groups"
        )


# ---- the sampler -----------------------------------------------------------------------------------


def mean_weight(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: k3 = w - 1 - log w and k1 = -log w, so the mean of w is 1 + k3 - k1.

    Its expectation is Σ s (l/s) = 1 if the sampler draws from the whole vocabulary, however far apart the policies are.
    """
    k1, k3 = row.values["sampler.k1"], row.values["sampler.k3"]
    mean = 1.0 + k3 - k1
    yield Bound(mean, 0.9, 1.1, 0.0, f"mean weight 1 + k3 - k1 = 1 + {k3:g} - {k1:g} = {mean:.4g}")


def chi_squared(row: Row, facts: Facts, log: Log) -> Iterator[Bound]:
    """Proof: the mean of w² is at least the square of the mean of w (Jensen)."""
    mean = 1.0 + row.values["sampler.k3"] - row.values["sampler.k1"]
    chi2 = row.values["sampler.chi2"]
    if facts.window == 1:
        yield Bound(
            chi2,
            mean**2 - 1.0,
            math.inf,
            1e-4,
            f"chi-squared {chi2:g}, (mean weight)² - 1 = {mean**2 - 1.0:.4g}",
        )


RELATIONS = (
    Relation("R1", "reward = Σ w (mean of each reward function)", ("reward",), ("reward functions", "weights"),
             "The weights may differ, or a function returns None for some completions.", reward_sum),
    Relation("R2", "rewards of 0 and 1 have s² = N/(N-1) p(1-p)", (), ("completions", "window", "binary"),
             "The reward may have other values than 0 and 1.", binary_std),
    Relation("R3", "the std within groups is at most that of all completions", ("reward_std",), ("reward_std", "weights"),
             "`reward_std` may be the std of all completions in this version.", within_pooled),
    Relation("R4", "rewards of 0 and 1 have (1-f)/sqrt(G) <= mean std <= (1-f) sqrt(a(G-a)/(G(G-1)))",
             ("dead_share", "reward_std"), ("group_size", "one binary reward", "within", "dead share of groups", "weights"),
             "The groups may have another size.", std_of_live_groups),
    Relation("R5", "the mean std is 0 if and only if every group has equal rewards", ("dead_share", "reward_std"), ("within", "dead share of groups"),
             "`reward_std` may be the std of all completions in this version.", dead_if_no_std),
    Relation("R6", "f P is a whole number", ("dead_share",), ("group_size", "completions", "window", "dead share of groups"),
             "The generation batch may have another number of groups.", whole_groups),
    Relation("R7", "f >= 1 - G min(p, 1-p)", ("dead_share",), ("group_size", "one binary reward", "dead share of groups"),
             "The groups may be larger.", floor_of_dead_share),
    Relation("R8", "E f >= p^G + (1-p)^G", ("dead_share",), ("group_size", "completions", "window", "one binary reward", "dead share of groups"),
             "The groups may be larger, or not of one prompt each.", expected_dead_share),
    Relation("R9", "a share is between 0 and 1", (SHARES,), (), "The numerator may be counted over more than the denominator.",
             shares),
    Relation("R9b", "with one step per batch every ratio is 1: nothing is clipped", ((*CLIPS, "old_kl"),), ("on_policy",),
             "The old log-probabilities may come from another forward pass or an older policy.", still_policy),
    Relation("R10", "clip = clip below + clip above", ("clip", "clip_low", "clip_high"), (),
             "The three shares may be of different tokens.", sides),
    *(
        Relation("R10b", f"smallest {name} <= mean <= largest", (mean,), (), "The three numbers may be of different completions.",
                 order(*names))
        for name, mean, names in (
            ("clip share below", "clip_low", ("clip_low.min", "clip_low", "")),
            ("clip share above", "clip_high", ("", "clip_high", "clip_high.max")),
            ("length", "length.mean", ("length.min", "length.mean", "length.max")),
            ("length of those that ended", "ended_length.mean", ("ended_length.min", "ended_length.mean", "ended_length.max")),
            ("prompt", "prompt_length.mean", ("prompt_length.min", "prompt_length.mean", "prompt_length.max")),
            ("score", "score.mean", ("score.min", "score.mean", "score.max")),
            ("reward", "shaped.mean", ("shaped.min", "shaped.mean", "shaped.max")),
            ("advantage", "advantage.mean", ("advantage.min", "advantage.mean", "advantage.max")),
            ("return", "return.mean", ("return.min", "return.mean", "return.max")),
            ("weight", "sampler.weight.mean", ("sampler.weight.min", "sampler.weight.mean", "sampler.weight.max")),
            ("gap", "sampler.gap.mean", ("", "sampler.gap.mean", "sampler.gap.max")),
        )
    ),
    Relation("R11a", "with one step per batch and a mean per completion, loss = β KL", ("loss",),
             ("on_policy", "kl_coef", "average", "window", "nothing masked"), "The loss may be averaged in another way.", loss_is_kl),
    Relation("R11b", "with one step per batch and a mean over tokens, |loss - β KL| <= sqrt(Var A Var L) / mean L",
             ("loss", "length.min", "length.mean", "length.max"), ("on_policy", "kl_coef", "average", "window", "standardized", "nothing masked"),
             "Part of the completions may be masked out of the loss.", loss_is_covariance),
    Relation("R12", "the gradient is not 0 while a group has different rewards; without a KL and a bonus it is 0 otherwise", ("dead_share", "grad_norm"),
             ("one step", "kl_coef", "dead share of groups"), "Everything may be masked out of the loss.", gradient_of_live_groups),
    Relation("R13", "k3 >= 0", ("kl",), ("k3",), "The logged KL may be k1, which can be negative.", kl_is_positive),
    Relation("R14b", "mean = c L(cut) + (1-c) L(ended)", ("truncated", "length.mean", "ended_length.mean", "length.max"),
             ("window",), "The numbers may be of different completions.", mean_of_cut_and_ended),
    Relation("R15", "0 <= entropy <= log V", ("entropy",), ("vocabulary",), "The entropy may be summed over tokens.",
             entropy_of_vocabulary),
    Relation("R17", "without a KL in the reward, reward = score", ("score.mean", "shaped.mean"), ("no kl in reward",),
             "Another term may be in the reward.", score_is_reward),
    Relation("R18", "|A| <= (G-1)/sqrt(G)", ("advantage.min", "advantage.max"), ("group_size", "standardized", "no critic"),
             "The groups may have another size, or the advantages another scale.", largest_advantage),
    Relation("R19", "rewards of 0 and 1 give G - 1 possible advantages", ("advantage.min", "advantage.max"),
             ("group_size", "standardized", "no critic", "one batch", "all binary"),
             "The rewards may have other values than 0 and 1.", advantages_of_binary),
    Relation("R20", "return = advantage", ("advantage.mean", "return.mean"), ("no critic", "standardized"),
             "There may be a critic.", returns_are_advantages),
    Relation("R21", "with one step per batch, policy loss = -scale (mean advantage over tokens)",
             ("policy_loss", "advantage.mean"), ("on_policy", "average"),
             "The logged loss may be scaled by the number of micro-batches.", policy_loss_is_advantage),
    Relation("R22", "|mean advantage over tokens| <= sqrt(Var A Var L) / mean L",
             ("advantage.mean", "length.min", "length.mean", "length.max"), ("standardized", "no critic", "one batch"),
             "Part of the tokens may be masked.", advantage_within_lengths),
    Relation("R23", "loss = policy loss + β KL", ("loss", "policy_loss", "kl_coef", "kl"), (),
             "There may be an entropy bonus.", parts_of_loss),
    Relation("R24", "tokens / (mean prompt + mean completion) is a whole number of groups",
             ("tokens", "prompt_length.mean", "length.mean"), ("single_turn",), "The groups may have another size.", whole_completions),
    Relation("R25", "equal scores have no advantage", ("score.min", "score.max", "advantage.min", "advantage.max"),
             ("no kl in reward", "no critic"), "The advantages may have no baseline.", no_advantage_of_equal_scores),
    Relation("R26", "(1-c) min + c max <= mean", ("truncated", "length.min", "length.mean", "length.max"), ("window", "verl"),
             "The truncated completions may be shorter than the longest.", mean_above_cut),
    Relation("R27", "the mean weight against the sampler is 1", ("sampler.k1", "sampler.k3"), ("whole_vocabulary",),
             "The sampler may not draw from the whole vocabulary (top-p, top-k).", mean_weight),
    Relation("R27b", "chi² >= (mean weight)² - 1", ("sampler.k1", "sampler.k3", "sampler.chi2"), ("window",),
             "The three numbers may be of different tokens.", chi_squared),
    Relation("R32", "a mean over all completions is (1 - share without tokens) times that over the others", ("aborted",), (),
             "The numbers may be of different completions.", means_of_present),
)  # fmt: skip
"""All relations of one row, in the order of the pipeline."""


def missing_facts(relation: Relation, facts: Facts, log: Log) -> list[str]:
    """Return the facts that a relation assumes and that are unknown or do not hold.

    Some are conditions on several facts: "one binary reward", "within", "one step", "k3", "no kl in reward", "no critic",
    "all binary", "verl", "dead share of groups", "nothing masked".
    """
    rewards = set(log.components) or {"score"}
    conditions = {
        "reward functions": len(log.components) > 0,
        "dead share of groups": facts.divided_by_batch is False,
        "nothing masked": facts.masks_truncated is False,
        "binary": bool(facts.binary),
        "one binary reward": len(log.components) == 1 and rewards <= facts.binary,
        "all binary": rewards <= facts.binary,
        "within": facts.reward_std == "within",
        "one batch": facts.window == 1,
        "one step": facts.steps == 1 and facts.window == 1 and facts.on_policy is not False,
        "on_policy": facts.on_policy is True,
        "whole_vocabulary": facts.whole_vocabulary is True,
        "standardized": facts.standardized is True,
        "k3": log.trainer in ("trl", "ms_swift"),
        "no kl in reward": facts.kl_in_reward is False,
        "no critic": not any("value.mean" in row.values for row in log.rows[:1]),
        "verl": log.trainer == "verl",
    }
    return [
        name
        for name in relation.facts
        if not conditions.get(
            name, getattr(facts, name, True) is not None if name not in conditions else False
        )
    ]


# ---- between rows ----------------------------------------------------------------------------------


def leaves_the_reference(log: Log, facts: Facts) -> Iterator[tuple[int, Bound]]:
    """Proof: a policy that changes differs from a constant reference, and then k3 > 0 at some token.

    Some trainers log 0 where no KL is computed, so a coefficient above 0 must be known.
    """
    kls = log.column("kl")
    moving = [
        row
        for row in log.rows
        if row.values.get("grad_norm", 0.0) > 0.0 and row.values.get("learning_rate", 1.0) > 0.0
    ]
    if len(kls) >= 5 and len(moving) >= 3 and facts.kl_coef:
        stays = all(kl == 0.0 for _, kl in kls[2:])
        formula = f"kl is exactly 0 in {len(kls)} rows while the gradient is not 0"
        yield kls[2][0], Bound(float(stays), 0.0, 0.0, 0.0, formula)


def starts_at_the_reference(log: Log, facts: Facts) -> Iterator[tuple[int, Bound]]:
    """Proof: at the first step the policy is the reference, so every k3 is 0.

    Two forward passes in bfloat16 differ by about 1e-4. verl logs the mean over all steps on a batch, TRL each step.
    """
    kls = log.column("kl")
    is_one_step = facts.steps == 1 and (facts.on_policy is True or log.trainer != "verl")
    if kls and is_one_step and facts.kl_coef and kls[0][0] <= 1:
        step, kl = kls[0]
        yield step, Bound(kl, -math.inf, 1e-2, 0.0, f"kl = {kl:g} at step {step}")


def counted_tokens(log: Log, facts: Facts) -> Iterator[tuple[int, Bound]]:
    """Proof: prompts and completions are counted, so a row adds at least N window mean(L) tokens."""
    if facts.completions is None or facts.window is None or log.digits > 1e-5:
        return
    rows = [row for row in log.rows if {"tokens_so_far", "length.mean"} <= row.values.keys()]
    for before, after in pairwise(rows):
        added = after.values["tokens_so_far"] - before.values["tokens_so_far"]
        least = facts.completions * facts.window * after.values["length.mean"]
        formula = f"{added:g} more tokens, {facts.completions * facts.window} completions of {after.values['length.mean']:g}"
        yield after.step, Bound(added, least, math.inf, 1.0 + 1e-3 * least, formula)


def has_a_baseline(log: Log, facts: Facts) -> Iterator[tuple[int, Bound]]:
    """Proof: advantages of a group sum to 0, so they are the scores only if all scores of all groups are 0."""
    names = ("score.min", "score.max", "advantage.min", "advantage.max")
    rows = [
        row
        for row in log.rows
        if all(name in row.values for name in names) and "value.mean" not in row.values
    ]
    rows = [row for row in rows if row.values["score.min"] != 0.0 or row.values["score.max"] != 0.0]
    if len(rows) < FEWEST_OF_SCORES:
        return
    equal = [
        all(abs(row.values[f"score.{end}"] - row.values[f"advantage.{end}"]) < 1e-6 for end in ("min", "max"))
        for row in rows
    ]
    least, most = rows[0].values["advantage.min"], rows[0].values["advantage.max"]
    formula = f"in all {len(rows)} rows the advantages have the range of the scores, at first from {least:g} to {most:g}"
    yield rows[0].step, Bound(float(all(equal)), 0.0, 0.0, 0.0, formula)


RunTest = Callable[[Log, Facts], Iterator[tuple[int, Bound]]]
OF_RUN: tuple[tuple[str, str, str, RunTest], ...] = (
    ("R29", "a policy that changes leaves its reference: kl > 0", "The reference may be updated with the policy.",
     leaves_the_reference),
    ("R30", "the first step starts at the reference: kl = 0",
     "The reference may be another model than the start, as with an adapter that continues an earlier one.",
     starts_at_the_reference),
    ("R34", "advantages have a baseline, so they are not the scores",
     "The estimator may be REINFORCE without a baseline. Groups of one completion have none either.", has_a_baseline),
    ("R31", "each row adds at least N mean(L) tokens", "The batch may have fewer completions.", counted_tokens),
)  # fmt: skip
"""The relations between rows: code, statement, the assumption that could be false instead, and test."""


class Violation(NamedTuple):
    """A relation that does not hold.

    Attributes:
      code, statement, otherwise: those of the relation.
      step: the first step at which it is broken.
      rows: number of rows in which it is broken.
      of: number of rows in which it was tested.
      formula: the relation with the numbers of that step put in.
    """

    code: str
    statement: str
    otherwise: str
    step: int
    rows: int
    of: int
    formula: str


class Tested(NamedTuple):
    """The result of all relations on a log.

    Attributes:
      violations: the relations that do not hold, in the order of the pipeline.
      counts: code -> number of comparisons.
      skipped: statement of each relation that was not applied -> the facts or quantities that it lacks.
    """

    violations: list[Violation]
    counts: dict[str, int]
    skipped: dict[str, tuple[str, ...]]


def apply_relations(log: Log, facts: Facts) -> Tested:
    """Test every relation whose facts and quantities are known.

    Of a log with more than `MOST_ROWS` rows, rows at equal distances are tested.
    """
    rows = log.rows[:: max(1, math.ceil(len(log.rows) / MOST_ROWS))]
    present = {name for row in rows for name in row.values}
    violations: list[Violation] = []
    counts: dict[str, int] = {}
    skipped: dict[str, tuple[str, ...]] = {}
    for relation in RELATIONS:
        lacking = [
            each if isinstance(each, str) else " or ".join(each)
            for each in relation.quantities
            if not (present & ({each} if isinstance(each, str) else set(each)))
        ]
        lacking = lacking or missing_facts(relation, facts, log)
        if lacking:
            skipped[relation.statement] = tuple(lacking)
            continue
        bounds = [
            (
                row.step,
                bound._replace(
                    slack=bound.slack + log.digits * _size(bound) + ROUNDINGS * log.rounding + BOUNDARY
                ),
            )
            for row in rows
            if _has(row, relation)
            for bound in relation.test(row, facts, log)
            if not any(math.isnan(number) for number in bound[:3])
        ]
        _count(relation.code, relation.statement, relation.otherwise, bounds, counts, violations)
    for code, statement, otherwise, test in OF_RUN:
        _count(code, statement, otherwise, list(test(log, facts)), counts, violations)
    return Tested(violations, counts, skipped)


def _count(
    code: str,
    statement: str,
    otherwise: str,
    bounds: list[tuple[int, Bound]],
    counts: dict[str, int],
    violations: list[Violation],
) -> None:
    """Add the number of comparisons, and the violation if one of them is broken."""
    if bounds:
        counts[code] = counts.get(code, 0) + len(bounds)
    broken = [(step, bound) for step, bound in bounds if bound.is_broken]
    if broken:
        first, bound = broken[0]
        rows = len({step for step, _ in broken})
        of = len({step for step, _ in bounds})
        violations.append(Violation(code, statement, otherwise, first, rows, of, bound.formula))


def _has(row: Row, relation: Relation) -> bool:
    """Return true if a row has the quantities of a relation."""
    return all(
        each in row.values if isinstance(each, str) else any(name in row.values for name in each)
        for each in relation.quantities
    )


def _size(bound: Bound) -> float:
    """Return the largest finite number of a comparison, for the relative rounding."""
    return max(abs(number) for number in bound[:3] if math.isfinite(number))
