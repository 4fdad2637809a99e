"""Draw the picture of each step of the derivation: `python docs/derivation_pictures.py`."""

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path

import derivation_example as toy
import numpy as np
from derivation_panels import PICTURES, bars, lines, picture, save_svg
from matplotlib.axes import Axes

from grpo_ref.advantages import group_centered, group_normalized, leave_one_out
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, token_mean
from grpo_ref.arrays import Floats
from grpo_ref.corrections import masked, truncated
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.plots import surrogate_curve
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.recipes import REINFORCE, slot
from grpo_ref.surrogates import clipped, importance_weighted

FOLDER = Path(__file__).parent / "derivation"


@picture
def policy_gradient(left: Axes, right: Axes) -> None:
    """Probability and reward of each completion; gradient by the theorem, by differences and by sampling."""
    each = toy.steps(toy.EVEN, toy.REWARDS)
    small = 1e-6 * np.eye(6).reshape(6, 3, 2)[::2]
    differences = [(toy.value(step) - toy.value(-step)) / 2e-6 for step in small]
    paid = {"probability π(o)": toy.COPIES / 8, "reward R(o)": [0, 0, 1, 0]}
    bars(left, toy.COMPLETIONS, paid, "completion", "probability; reward")
    right.plot(range(3), differences, "kx", markersize=9, zorder=3, label="by differences")
    for drawn in np.random.default_rng(0).integers(8, size=(6, 200)):
        right.plot(np.arange(3) + 0.3, each[drawn].mean(0)[:, 0], ".", color="0.35", zorder=3)
    exact = {"by the theorem": each.mean(0)[:, 0]}
    bars(right, toy.POSITIONS, exact, "logit of “a” at which token", "∂J/∂logit")


@picture
def baseline(left: Axes, right: Axes) -> None:
    """The expectation stays; the variance is a parabola."""
    b, lengths = np.linspace(-0.6, 1.0, 81), toy.MASK.sum(-1)
    estimates = [toy.steps(toy.EVEN, toy.REWARDS - each) for each in b]
    means = {f"{at} token": [each.mean(0)[int(at[0]) - 1, 0] for each in estimates] for at in ("1st", "3rd")}
    lines(left, b, means, "baseline b (units of reward)", "expected step of the logit of “a”")
    right.plot(b, [toy.variance(each) for each in estimates], color="black")
    best = (toy.REWARDS * lengths).mean() / lengths.mean()
    for index, (name, at) in enumerate({"b = 0": 0.0, "b = J": toy.REWARDS.mean(), "b*": best}.items()):
        style = series(index) | {"linestyle": "none", "markersize": 8}
        right.plot([at], [toy.variance(toy.steps(toy.EVEN, toy.REWARDS - at))], label=name, **style)
    label(right, "baseline b (units of reward)", "variance of one completion's step")
    legend_above(right)


@picture
def importance_sampling(left: Axes, right: Axes) -> None:
    """Agreement of token ratios with the expected reward, and the variance of sequence ratios."""
    probs, lengths = np.linspace(0.05, 0.95, 91), np.arange(1, 201)
    gains = [(np.exp(toy.log_probs(toy.says_a(p)) - toy.OLD) - toy.MASK).sum(-1) * toy.REWARDS for p in probs]
    curves = {
        "ratio of the sequence: J": [toy.value(toy.says_a(p)) for p in probs],
        "ratios of the tokens": [toy.REWARDS.mean() + gain.mean() for gain in gains],
    }
    lines(left, probs, curves, "probability of “a”; it was 0.5", "estimated expected reward")
    moments = {f"{p:g}": (np.exp(toy.says_a(p)[0]) ** 2 / 0.5).sum() for p in (0.52, 0.55, 0.6)}
    shares = {f"0.5 → {p}": moment**-lengths for p, moment in moments.items()}
    lines(right, lengths, shares, "length (tokens)", "effective sample size (share)")
    right.set_yscale("log")


@picture
def clip(left: Axes, right: Axes) -> None:
    """The surrogate of one token, and the ratio of a token during fifty steps on one batch."""
    part = slot(clipped, clip_low=0.2, clip_high=0.2)
    good, bad = (surrogate_curve(part, sign, between=(0.01, 2.0)) for sign in (1.0, -1.0))
    for sign in (1.0, -1.0):
        left.plot(good.ratios, sign * good.ratios, ":", color="0.5", linewidth=1)
    values = {"A = +1": good.value, "A = -1": bad.value}
    lines(left, good.ratios, values, "ratio r; dotted: r A", "surrogate s")
    ratios = {"r A": _first_ratios(importance_weighted), "clipped": _first_ratios(clipped)}
    right.axhline(1.2, color="0.4", linestyle=":", linewidth=1)
    lines(right, range(51), ratios, "step on the same batch; dotted: 1.2", "ratio of the 1st token of “aa.”")


def _first_ratios(surrogate: Callable[..., object]) -> list[float]:
    logits, recipe, ratios = toy.EVEN, replace(REINFORCE, surrogate=slot(surrogate)), []
    for _ in range(51):
        ratios.append(float(np.exp(toy.log_probs(logits) - toy.OLD)[6, 0]))
        logits = logits + 2.0 * toy.steps(logits, toy.REWARDS - 0.125, recipe, old_log_probs=toy.OLD).mean(0)
    return ratios


@picture
def group(left: Axes, right: Axes) -> None:
    """The expected step of a group and its variance, by the baseline."""
    scores, sizes = toy.steps(toy.EVEN, np.ones(8)), np.arange(2, 6)
    kinds = {"the others": leave_one_out, "J itself": lambda r: r - 0.125, "own group": group_centered}
    results = {name: [_of_groups(each, scores, size) for size in sizes] for name, each in kinds.items()}
    means = {name: [each.mean(0)[0, 0] / 0.0625 for each in of] for name, of in results.items()}
    lines(left, sizes, means, "group size G", "expected step (share of ∇J)")
    del results["own group"]  # its steps are those of "the others", only shorter
    noises = {name: sizes * np.array([toy.variance(each) for each in of]) for name, of in results.items()}
    critic = toy.variance(scores * (toy.REWARDS[:, None] - [0.125, 0.25, 0.5])[..., None])
    right.plot(sizes, np.full(4, critic), label="critic", **series(3))
    lines(right, sizes, noises, "group size G", "G × variance of the step")
    for axis in (left, right):
        axis.set(xticks=sizes, ylim=(0.0, None))


def _of_groups(advantage: Callable[[Floats], Floats], scores: Floats, size: int) -> Floats:
    """Return the (8**size, 3, 2) steps of all possible groups, which are equally likely."""
    groups = np.array(list(product(range(8), repeat=size)))
    return np.einsum("ng,ngij->nij", advantage(toy.REWARDS[groups]), scores[groups]) / size


@picture
def standard_deviation(left: Axes, right: Axes) -> None:
    """Weight of a prompt by its pass rate, and the objective that these weights imply."""
    p = np.linspace(0.002, 0.998, 499)
    sizes = {f"G = {size}": _weights(p, size) for size in (2, 8, 32)}
    lines(left, p, sizes | {"G → ∞": 1.0 / np.sqrt(p * (1.0 - p))}, "pass rate p", "weight of ∇p")
    left.set_ylim(0.0, 8.0)
    climbed = {"p: only centered": p, "(2/π) arcsin √p: divided": 2.0 / np.pi * np.arcsin(np.sqrt(p))}
    lines(right, p, climbed, "pass rate p", "implied objective")


def _weights(p: Floats, size: int) -> Floats:
    """E[A of a right completion] - E[A of a wrong one], over the number k of right ones among the others."""
    gaps = 0.0
    for k in range(size):
        advantages = group_normalized((np.arange(size) < np.array([[k + 1], [k]])).astype(float))
        likely = comb(size - 1, k) * p**k * (1 - p) ** (size - 1 - k)
        gaps = gaps + likely * (advantages[0, 0] - advantages[1, -1])
    return gaps


def _tilted(beta: float) -> Floats:
    """Return the (4,) policy that is optimal if the KL costs beta per nat."""
    weights = toy.COPIES / 8 * np.exp(np.array([0.0, 0.0, 1.0, 0.0]) / beta)
    return weights / weights.sum()


@picture
def kl_in_the_reward(left: Axes, right: Axes) -> None:
    """The best policy for each weight of the KL, and what it earns and costs."""
    names = {f"β = {beta:g}": _tilted(beta) for beta in (1.0, 0.5, 0.2)}
    bars(left, toy.COMPLETIONS, {"reference": toy.COPIES / 8} | names, "completion", "probability")
    betas = np.geomspace(0.1, 10.0, 60)
    best = np.array([_tilted(beta) for beta in betas])
    kls = (best * np.log(best / (toy.COPIES / 8))).sum(-1)
    lines(right, betas, {"reward": best[:, 2], "KL (nats)": kls}, "β (reward per nat)", "reward; KL")
    right.set_xscale("log")


@picture
def kl_in_the_loss(left: Axes, right: Axes) -> None:
    """The gradient of the KL of sequences, and what the estimators in the loss follow."""
    reference = np.where(toy.TOKENS == 0, np.log(0.8), np.log(0.2)) * toy.MASK
    paid = {"in the reward": toy.steps(toy.EVEN, (toy.OLD - reference).sum(-1)).mean(0)[:, 0]}
    for estimator in (k1, k2, k3):
        recipe = replace(REINFORCE, penalty=slot(estimator), kl_coef=1.0)
        results = -toy.steps(toy.EVEN, np.zeros(8), recipe, ref_log_probs=reference).mean(0)[:, 0]
        paid[f"{estimator.__name__} in the loss"] = results
    bars(left, toy.POSITIONS, paid, "logit of “a” at which token", "∂/∂logit (nats)")
    left.legend(fontsize=8, frameon=False, loc="lower right")
    q, ref = np.linspace(0.02, 0.98, 97), 0.8
    slopes = {
        "k1": 0.0 * q,
        "k2: of KL(π ‖ πref)": q * (1 - q) * np.log(q * (1 - ref) / ((1 - q) * ref)),
        "k3: of KL(πref ‖ π)": q - ref,
    }
    lines(right, q, slopes, "probability of “a”; reference: 0.8", "expected slope, logit of “a”")


@picture
def aggregation(left: Axes, right: Axes) -> None:
    """Total weight of a right and of a wrong completion, by their length."""
    lengths = np.arange(4, 33)
    mask = (np.arange(32) < lengths[:, None]).astype(float)[None]
    weights = {"mean of means": sequence_mean_token_mean(mask), "mean of tokens": token_mean(mask)}
    weights["constant"] = fixed_length(mask, 32)
    for axis, advantage in ((left, 0.5), (right, -0.5)):
        paid = {name: advantage * each[0, :, 0] / each[0, 4, 0] for name, each in weights.items()}
        lines(axis, lengths, paid, f"length (tokens), A = {advantage:+g}", "weight × A (8 tokens: A)")


@picture
def sequence_level(left: Axes, right: Axes) -> None:
    """Spread of sequence ratios by length, and the share outside a range."""
    lengths, generator = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]), np.random.default_rng(0)
    log_ratio = generator.normal(-0.00005, 0.01, (1, 2000, 1000))
    levels = {"tokens": token_level, "product": sequence_sum_level, "geometric mean": sequence_mean_level}
    ratios = {name: [_levelled(level, log_ratio[..., :n]) for n in lengths] for name, level in levels.items()}
    spread = {name: [z.std() for z in of] for name, of in ratios.items()}
    lines(left, lengths, spread, "length (tokens)", "standard deviation of log r")
    shares = {
        "product, 0.8 to 1.2": [_outside(z, 0.8, 1.2) for z in ratios["product"]],
        "mean, 0.9997 to 1.0004": [_outside(z, 0.9997, 1.0004) for z in ratios["geometric mean"]],
    }
    lines(right, lengths, shares, "length (tokens)", "share outside of the range")
    left.set(xscale="log", yscale="log")
    right.set(xscale="log")


def _levelled(level: Callable[[Floats, Floats], Floats], log_ratio: Floats) -> Floats:
    return level(log_ratio, np.ones_like(log_ratio))[0, :, 0]


def _outside(log_ratio: Floats, low: float, high: float) -> float:
    return float(((np.exp(log_ratio) < low) | (np.exp(log_ratio) > high)).mean())


@picture
def off_policy(left: Axes, right: Axes) -> None:
    """Mean and noise of an estimate with truncated and masked weights, by their limit.

    A completion has twenty tokens. Each is "a" with probability 0.5 at the sampler and 0.6 at the learner.
    The reward is 1 if there are 12 or more.
    """
    said, caps = np.tri(21, 20, -1)[None], np.geomspace(1.0, 50.0, 60)
    sampler, learner = np.log(0.5) + 0.0 * said, np.where(said, np.log(0.6), np.log(0.4))
    probs, paid = np.array([comb(20, k) for k in range(21)]) / 2.0**20, np.arange(21) >= 12

    def estimates(kernel: Callable[..., Floats]) -> Floats:
        limits = ({"level": sequence_sum_level, "max_ratio": cap} for cap in caps)
        return paid * np.stack([kernel(learner, sampler, 0 * said + 1, **each)[0, :, 0] for each in limits])

    results = {"truncated": estimates(truncated), "masked": estimates(masked)}
    means = {name: each @ probs for name, each in results.items()}
    noise = {name: np.sqrt(each**2 @ probs - means[name] ** 2) for name, each in results.items()}
    lines(left, caps, means, "largest weight C; dotted: the truth", "expected estimate of J")
    left.axhline(means["truncated"][-1], color="0.4", linestyle=":", linewidth=1)
    lines(right, caps, noise, "largest weight C", "standard deviation")
    for axis in (left, right):
        axis.set(xscale="log", ylim=(0.0, None))


def main(folder: Path) -> None:
    """Write every picture into the folder."""
    for step, draw in PICTURES.items():
        save_svg(draw(), folder / f"{step}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
