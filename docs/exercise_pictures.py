"""Draw the pictures of broken runs: `python docs/exercise_pictures.py`, then `grpo-ref dev build`.

Each picture compares a faulty program, as the student gets it, with a healthy run. The figures are narrow, so
that they can be read on a phone, and their texts stay texts in the SVG.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref import surrogates
from grpo_ref.arrays import Floats
from grpo_ref.check.mistakes.toy_loop import draw_tokens
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.exercises.clinic.read_the_curve.tests import ENDS, simulate
from grpo_ref.course.exercises.network.two_policies.tests import hidden_rows, task
from grpo_ref.course.exercises.network.unmoved_end.tests import LETTERS, SPELLED, loss, start
from grpo_ref.course.grading.problem import AS_GIVEN, Function
from grpo_ref.files import replace_file
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import COLOURS, LINES, figure_style, new_figure, small_svg

FOLDER = Path(__file__).parents[1] / "grpo_ref" / "course" / "exercises"
WIDTH = 4.2
"""Width of a figure in inches; a phone shows it nearly in its size."""
MEANS = np.array([[0.1, 0.5, 0.2, 0.3], [0.9, 0.4, 0.6, 0.5]])
"""Expected rewards of the arms of two prompts."""


def with_chapter(name: str) -> str:
    """Return the id of an exercise."""
    return next(each for each in PROBLEMS if each.endswith(f"/{name}"))


def both_programs(name: str) -> dict[str, Any]:
    """Return the program that a student gets and the right one."""
    problem = PROBLEMS[with_chapter(name)]
    given = next(mutant.function for mutant in problem.mutants if mutant.name == AS_GIVEN)
    return {"given program": given, "healthy": problem.reference}


def bandits(means: Floats, updates: int, group: int, seed: int) -> tuple[Floats, Floats]:
    """Return payoffs of 0 or 1 with these means (P, V), and the uniform numbers of the pulls."""
    rng, (prompts, arms) = np.random.default_rng(seed), means.shape
    payoffs = (rng.random((updates, prompts, group, arms)) < means[:, None]).astype(float)
    return payoffs, rng.random((updates, prompts, group))


def probs_of(logits: Any) -> Floats:
    """Return the probabilities of each row of logits."""
    return policy_of(np.asarray(logits)).probs


def mean_over(seeds: Iterable[int], value: Callable[[int], Any]) -> Floats:
    """Return the mean of a value over seeds."""
    return np.mean([value(seed) for seed in seeds], axis=0)


def stacked(panels: int) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with panels below each other."""
    figure = new_figure(WIDTH, 0.4 + 2.1 * panels)
    return figure, figure.subplots(panels, 1, squeeze=False)[:, 0]


def draw_line(axis: Axes, x: Sequence[float], y: Sequence[float], name: str, index: int) -> None:
    """Draw a curve with about eight markers."""
    axis.plot(x, y, label=name, **series(index), markevery=max(1, len(x) // 8))


def falling_reward() -> Figure:
    """Expected reward of a program that steps downhill."""
    updates, runs = range(0, 151, 5), [bandits(MEANS, 150, 16, seed) for seed in range(8)]
    figure, (axis,) = stacked(1)
    for index, (name, train) in enumerate(both_programs("falling_reward").items()):

        def reward(seed: int, train: Function = train) -> list[float]:
            payoffs, uniforms = runs[seed]
            policies = [probs_of(train(payoffs[:k], uniforms[:k])) for k in updates[1:]]
            return [MEANS.mean(), *((probs * MEANS).sum(-1).mean() for probs in policies)]

        draw_line(axis, updates, mean_over(range(8), reward), name, index)
    axis.axhline(MEANS.min(-1).mean(), color="black", linestyle=":", linewidth=1.0)
    axis.text(150, MEANS.min(-1).mean() - 0.01, "worst arms", ha="right", va="top", fontsize=8)
    axis.set_ylim(0.15, 0.75)
    label(axis, "update", "expected reward")
    legend_above(axis)
    return figure


def easy_and_hard() -> Figure:
    """Expected reward of a hard and an easy prompt that share one baseline."""
    updates, means = range(0, 101, 5), np.array([MEANS[0], [8.0, 8.5, 9.0, 10.0]])

    def inputs(seed: int) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(seed)
        hard = rng.random((100, 16, 4)) < means[0]
        easy = means[1] + rng.uniform(-0.5, 0.5, (100, 16, 4))
        return np.stack([hard, easy], axis=1), rng.random((100, 2, 16))

    runs = [inputs(seed) for seed in range(8)]
    figure, axes = stacked(2)
    for index, (name, train) in enumerate(both_programs("easy_and_hard").items()):

        def reward(seed: int, train: Function = train) -> list[Floats]:
            payoffs, uniforms = runs[seed]
            policies = [probs_of(train(payoffs[:k], uniforms[:k])) for k in updates[1:]]
            return [means.mean(-1), *((probs * means).sum(-1) for probs in policies)]

        for axis, curve in zip(axes, mean_over(range(8), reward).T, strict=True):
            draw_line(axis, updates, curve, name, index)
    for axis, prompt in zip(axes, ("hard prompt", "easy prompt"), strict=True):
        label(axis, "update" if axis is axes[-1] else "", f"expected reward,\n{prompt}")
    legend_above(axes[0])
    return figure


def large_groups() -> Figure:
    """Size of one update by the size of the group."""
    sizes, means = (2, 4, 8, 16, 32, 64), np.array([[0.2, 0.8]])
    figure, (axis,) = stacked(1)
    for index, (name, train) in enumerate(both_programs("large_groups").items()):
        moved = [
            mean_over(range(400), lambda seed, g=group, f=train: np.abs(f(*bandits(means, 1, g, seed))).max())
            for group in sizes
        ]
        draw_line(axis, sizes, moved, name, index)
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [str(group) for group in sizes])
    axis.set_ylim(0.0)
    label(axis, "group size G (pulls)", "change of a logit (nats)\nafter one update")
    legend_above(axis)
    return figure


def idle_clip() -> Figure:
    """Probability and clip fraction in the steps on one batch."""
    steps, clip = range(1, 6), 0.2
    figure, (upper, lower) = stacked(2)
    for index, (name, train) in enumerate(both_programs("idle_clip").items()):

        def after(seed: int, train: Function = train) -> list[Floats]:
            batch = bandits(MEANS[:1], 1, 16, seed)
            return [np.full((1, 4), 0.25), *(probs_of(train(*batch, 4.0, k, clip)) for k in steps)]

        def clipped(seed: int, policies: Callable[[int], list[Floats]] = after) -> list[float]:
            payoffs, uniforms = bandits(MEANS[:1], 1, 16, seed)
            arms = (4 * uniforms[0, 0]).astype(int)
            rewards = payoffs[0, 0, np.arange(16), arms]
            sign = np.sign(rewards - rewards.mean())
            return [float(np.mean(sign * (probs[0, arms] / 0.25 - 1.0) > clip)) for probs in policies(seed)]

        draw_line(
            upper, steps, mean_over(range(200), lambda s, f=after: [p.max() for p in f(s)[1:]]), name, index
        )
        # In the given program every ratio is 1, so it clips nothing.
        fraction = mean_over(range(200), clipped)[:-1] if name == "healthy" else np.zeros(5)
        draw_line(lower, steps, fraction, name, index)
    for axis, text in ((upper, "probability of the\nmost likely arm"), (lower, "fraction of\nclipped pulls")):
        axis.set_xticks(steps)
        label(axis, "step on the batch" if axis is lower else "", text)
    upper.set_ylim(0.25, 0.7)
    lower.set_ylim(-0.03, 0.6)
    legend_above(upper)
    return figure


def walking_away() -> Figure:
    """Probability of the best arm with three weights of the penalty."""
    updates, start = range(0, 101, 5), np.zeros((1, 4))
    runs = [bandits(MEANS[:1], 100, 16, seed) for seed in range(8)]
    given, healthy = both_programs("walking_away").values()
    figure, (axis,) = stacked(1)
    curves = [("healthy, kl_coef 0", healthy, 0.0), ("healthy, kl_coef 0.1", healthy, 0.1)]
    curves += [("healthy, kl_coef 1", healthy, 1.0), ("given program, all three", given, 1.0)]
    for index, (name, train, kl_coef) in enumerate(curves):

        def best(seed: int, train: Function = train, kl_coef: float = kl_coef) -> list[float]:
            payoffs, uniforms = runs[seed]
            logits = [train(start, payoffs[:k], uniforms[:k], 2.0, kl_coef) for k in updates[1:]]
            return [0.25, *(probs_of(each)[0, MEANS[0].argmax()] for each in logits)]

        draw_line(axis, updates, mean_over(range(8), best), name, index)
    axis.set_ylim(0.0, 1.02)
    label(axis, "update", "probability\nof the best arm")
    legend_above(axis, columns=2)
    return figure


def talking_on() -> Figure:
    """Success and the rows of late positions of a program that trains padding."""
    updates = (*range(0, 50, 5), *range(50, 201, 10))
    runs = [np.random.default_rng(seed).random((200, 16, 5)) for seed in range(4)]
    figure, (upper, lower) = stacked(2)
    for index, (name, train) in enumerate(both_programs("talking_on").items()):

        def measured(seed: int, train: Function = train) -> list[tuple[float, float]]:
            tables = [np.zeros((5, 3)), *(np.asarray(train(runs[seed][:k], 3)) for k in updates[1:])]
            ends = [probs_of(table)[:3, 0] for table in tables]
            chances = [(1 - first) * (1 - second) * third for first, second, third in ends]
            return list(zip(chances, (np.abs(table[3:]).max() for table in tables), strict=True))

        chance, late = mean_over(range(4), measured).T
        draw_line(upper, updates, chance, name, index)
        draw_line(lower, updates, late, name, index)
    label(upper, "", "probability of ending\nas the third token")
    label(lower, "update", "largest logit (nats) of\npositions after the third")
    legend_above(upper)
    return figure


def read_the_curve() -> Figure:
    """Reward, truth and entropy of one run of each kind."""
    figure = new_figure(WIDTH, 5.6)
    axes = figure.subplots(3, 2, sharex=True, sharey=True).ravel()
    names = ("learning", "reward hacking", "wrong sign", "collapse", "no signal")
    for axis, name in zip(axes, names, strict=False):
        reward, truth, entropy = simulate(np.random.default_rng(0), name)
        for index, (what, curve) in enumerate(
            {"reward": reward, "truth": truth, "entropy / log 6": entropy / np.log(6.0)}.items()
        ):
            draw_line(axis, range(len(curve)), curve, what, index)
        for first in (0, len(reward) - ENDS):
            axis.axvspan(first, first + ENDS - 1, color="0.88", zorder=0)
        axis.set_xticks([0, 30, 60])
        axis.set_yticks([0.0, 0.5, 1.0])
        label(axis, "update" if axis in axes[3:] else "", "")
        axis.set_title(name, fontsize=9)
    axes[3].tick_params(labelbottom=True)
    axes[2].set_ylabel("reward, truth; entropy as a fraction of log 6 nats")
    axes[-1].set_axis_off()
    axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="center", fontsize=9, frameon=False)
    return figure


def unmoved_end() -> Figure:
    """Loss, and the change of each row of the embedding, of a program that loses a gradient."""
    steps, seeds = range(51), range(16)
    figure, (upper, lower) = stacked(2)
    for index, (name, train) in enumerate(both_programs("unmoved_end").items()):

        def run(seed: int, train: Function = train) -> tuple[list[float], Floats]:
            first = embedding, mix = start(seed)
            losses = [loss(embedding, mix, SPELLED)]
            for _ in steps[1:]:
                embedding, mix = train(embedding, mix, SPELLED, 1.0, 1)
                losses.append(loss(embedding, mix, SPELLED))
            return losses, np.linalg.norm(embedding - first[0], axis=-1)

        losses, changes = zip(*map(run, seeds), strict=True)
        draw_line(upper, steps, np.mean(losses, axis=0), name, index)
        lower.plot(range(len(LETTERS)), np.mean(changes, axis=0), **{**series(index), "linestyle": "none"})
    upper.set_ylim(0.0)
    lower.set_ylim(-0.15)
    lower.set_xticks(range(len(LETTERS)), [*LETTERS])
    label(upper, "step", "loss (nats per token)")
    label(lower, "token", "length of the change of\nits row after 50 steps")
    legend_above(upper)
    return figure


def two_policies() -> Figure:
    """Right answers, and the distance between sampler and trainer, if stored rows are never renewed."""
    updates, seeds = range(1, 101), range(16)
    figure, (upper, lower) = stacked(2)
    for index, (name, train) in enumerate(both_programs("two_policies").items()):

        def run(seed: int, train: Any = train) -> list[tuple[float, float]]:
            embedding, head, prompts, answers, uniforms = task(5, len(updates), seed)
            past, log_probs = train.run(embedding, head, prompts, answers, uniforms, 5.0)
            measured = []
            for update, weights in enumerate(past[:-1]):
                rows, sampler_head = train.sampler(past[: update + 1], prompts)
                tokens = draw_tokens(probs_of(rows @ sampler_head)[:, None], uniforms[update])
                trainer = probs_of(hidden_rows(weights.embedding, prompts) @ weights.head)
                distance = np.abs(log_probs[update] - np.log(np.take_along_axis(trainer, tokens, -1)))
                measured.append((float((tokens == answers[:, None]).mean()), float(distance.mean())))
            return measured

        right, distance = mean_over(seeds, run).T
        draw_line(upper, updates, right, name, index)
        if distance.max() > 1e-6:
            draw_line(lower, updates[1:], distance[1:], name, index)
    upper.set_ylim(0.0, 1.05)
    lower.set_yscale("log")
    lower.set_ylim(0.01, 30.0)
    lower.text(100, 0.013, "healthy: 0, up to rounding", ha="right", va="bottom", fontsize=8)
    label(upper, "", "fraction of sampled\nanswers that are right")
    label(lower, "update", "distance of log π between\nsampler and trainer (nats)")
    legend_above(upper)
    return figure


def sapo() -> Figure:
    """Slope of PPO's clip and of two gates against the ratio, for a good token and for a bad one."""
    ratio = np.linspace(0.005, 4.0, 800)
    figure = new_figure(8.0, 3.0)
    for axis, advantage, default in zip(figure.subplots(1, 2), (1.0, -1.0), (1.0, 1.05), strict=True):
        advantages = np.full_like(ratio, advantage)
        ppo = surrogates.clipped(np.log(ratio), advantages).slope
        bound = 1 + 0.2 * advantage
        ppo[abs(ratio - bound).argmin()] = np.nan  # a gap at the jump
        axis.plot(ratio, ratio * advantage, color="0.5", linestyle=":", linewidth=1, label="r A, no clip")
        axis.plot(ratio, ppo, color=COLOURS[1], linestyle=LINES[0], label="PPO's clip")
        for index, tau in ((0, default), (2, 4.0)):
            slope = surrogates.sapo(np.log(ratio), advantages, tau_positive=tau, tau_negative=tau).slope
            name = "SAPO, default τ" if tau == default else "SAPO, τ = 4"
            axis.plot(ratio, slope, color=COLOURS[index], linestyle=LINES[index or 1], label=name)
        axis.axvline(1.0, color="0.6", linewidth=0.7)
        axis.axhline(0.0, color="0.6", linewidth=0.7)
        axis.set_xlim(0, 4)
        axis.set_ylim(*sorted((-0.1 * advantage, 2.0 * advantage)))
        axis.set_title("good token, A = 1" if advantage > 0 else "bad token, A = -1", fontsize=9)
        label(axis, "ratio r", "slope ∂s/∂log r")
    handles, names = axis.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw
    for draw in (
        sapo,
        read_the_curve,
        falling_reward,
        easy_and_hard,
        large_groups,
        idle_clip,
        walking_away,
        talking_on,
        unmoved_end,
        two_policies,
    )
}


def main(folder: Path, names: Sequence[str]) -> None:
    """Write the pictures into the folders of their exercises."""
    for name in names or PICTURES:
        with figure_style():
            svg = small_svg(PICTURES[name]())
        replace_file(folder / with_chapter(name) / "picture.svg", lambda file, svg=svg: file.write(svg))


if __name__ == "__main__":
    main(FOLDER, sys.argv[1:])
