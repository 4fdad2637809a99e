"""The picture of a recipe: its difference from GRPO, as one or two small plots."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.recipes import CATALOG, GRPO, Recipe, slot
from grpo_ref.surrogates import clip_cov
from grpo_ref.types import Batch
from website.line_plot import Line, Plot, drawn, thumbnail
from website.parts import definitions

SIGNS = {"good": (1.0, "A = +1"), "bad": (-1.0, "A = −1")}
CHOSEN = {
    "clip_cov": "chosen",
    "kl_cov": "chosen",
    "luspo": "completions",
    "opo": "lengths",
    "otb": "tokens",
    "gpg": "dead_groups",
    "two_grpo": "group_size",
    "gopo": "rewards",
    "gdpo": "criteria",
    "fipo": "future",
    "m2po": "moments",
    "high_entropy": "entropy",
    "opd": "teacher",
    "maxrl": "advantages",
    "reinforce_pp": "advantages",
    **dict.fromkeys(("process_grpo", "gigpo", "mt_grpo"), "turns"),
}
"""Kind of the picture of some recipes, where the default would not show what the recipe is about."""
POINTS = 481
OLD_PROB = 0.15
"""Largest probability of the token under the old policy, for surrogates that depend on probabilities."""


def kind_of(name: str, chosen: str = "") -> str:
    """Return the kind of a recipe's picture: a key of `KINDS`.

    Without a choice, the first of these that differs from the parent decides: surrogate or level, teacher,
    corrections, average, advantage.

    >>> kind_of("dapo"), kind_of("tis"), kind_of("rloo"), kind_of("gopo")
    ('surrogate', 'corrections', 'advantages', 'rewards')
    """
    if chosen or name in CHOSEN:
        return chosen or CHOSEN[name]
    parent = definitions()[name].parent
    changed = CATALOG[name].differences(CATALOG[parent]) if parent else {"surrogate": ""}
    if changed.keys() & {"surrogate", "level"}:
        return "surrogate"
    of_part = {"distill": "teacher", "corrections": "corrections", "aggregate": "weights"}
    return next((kind for part, kind in of_part.items() if part in changed), "advantages")


def plots_of(name: str, chosen: str = "") -> tuple[Plot, ...]:
    """Return the plots of a recipe's picture. The first one is drawn as the thumbnail.

    Args:
      name: name of the recipe.
      chosen: a key of `KINDS`, or "" for the default.
    """
    return KINDS[kind_of(name, chosen)](CATALOG[name])


def picture(name: str, title: str, chosen: str = "") -> str:
    """Return the picture of a recipe with its legend, as HTML.

    Args:
      name: name of the recipe.
      title: its proper name.
      chosen: a key of `KINDS`, or "" for the default.
    """
    compared = "a ratio that is never clipped" if name == "grpo" else "GRPO"
    plots = "".join(
        drawn(plot, f"{plot.title}: {plot.y_label} against {plot.x_label}, {title} and {compared}")
        for plot in plots_of(name, chosen)
    )
    legend = f'<span class="key only"></span> {title} <span class="key grpo"></span> {compared}'
    return f'<div class="plots">{plots}</div>\n<p class="legend">{legend}</p>'


def small_picture(name: str, chosen: str = "") -> str:
    """Return the thumbnail of a recipe, as HTML."""
    return thumbnail(plots_of(name, chosen)[0])


# ---- the kinds -----------------------------------------------------------------------------------


def _surrogate(recipe: Recipe) -> tuple[Plot, ...]:
    """Slope and value of one token against the ratio. The other completion of its group does not change."""
    low, high = _ratios(recipe)
    ratios = np.linspace(low, high, POINTS)
    slopes, values = [], []
    # GRPO itself is compared with a surrogate that is never clipped
    for look, (sign, label) in SIGNS.items():
        value, slope = _on_one_token(recipe, ratios, sign)
        if recipe is GRPO:
            plain = (sign * ratios, sign * ratios)
        else:
            plain = _on_one_token(GRPO, ratios, sign)
        place = round(POINTS * (0.85 if sign < 0 else 0.52))
        slopes += [Line(ratios, slope, look, label, place), Line(ratios, plain[1], "grpo")]
        values += [Line(ratios, value, look, label, place), Line(ratios, plain[0], "grpo")]
    what = "completion" if "sequence" in recipe.level.__name__ else "token"
    axis = f"ratio of the {what}, πθ / πold"
    slope_plot = Plot("Slope: what moves the policy", axis, "∂s / ∂log πθ", tuple(slopes))
    # with a detached weight the value contains log πθ and has no meaning
    if "log_probs" in recipe.surrogate.reads:
        return (slope_plot,)
    return slope_plot, Plot("Value: what the objective counts", axis, "s", tuple(values))


def _chosen(recipe: Recipe) -> tuple[Plot, ...]:
    """Slope of a token that Clip-Cov or KL-Cov has chosen. Here they choose every token that they can."""
    bounds = {"cov_low": -np.inf, "cov_high": np.inf} if recipe.surrogate.kernel is clip_cov else {}
    return _surrogate(replace(recipe, surrogate=slot(recipe.surrogate.kernel, share=1.0, **bounds)))


def _ratios(recipe: Recipe) -> tuple[float, float]:
    """Return the range of ratios in which the bounds of a surrogate lie."""
    settings = recipe.surrogate.settings
    width = max((settings.get(name, 0.0) for name in ("clip_low", "clip_high")), default=0.0)
    if 0.0 < width < 0.05:
        return 1.0 - 3.0 * width, 1.0 + 3.0 * width
    bound = max((value for name, value in settings.items() if name == "max_ratio"), default=0.0)
    compares_probabilities = "rollout_log_probs" in recipe.surrogate.reads
    return 0.02, 3.0 if compares_probabilities else max(2.0, min(1.2 * bound, 6.2))


def _on_one_token(recipe: Recipe, ratios: Floats, sign: float) -> tuple[Floats, Floats]:
    """Return value and slope of the first of two completions of one token each, for each of N ratios."""
    shape = (ratios.size, 2, 1)
    old = np.full(shape, np.log(min(OLD_PROB, 0.9 / ratios.max())))
    new = old.copy()
    new[:, 0, 0] += np.log(ratios)
    advantages = np.zeros(shape) + sign * np.array([[[1.0], [-1.0]]])
    top, old_top = (np.log(np.stack([np.exp(x), 1.0 - np.exp(x)], axis=-1)) for x in (new, old))
    batch = Batch(
        log_probs=new,
        old_log_probs=old,
        ref_log_probs=old,
        rollout_log_probs=old,
        log_ratio=new - old,
        advantages=advantages,
        mask=np.ones(shape),
        max_length=1,
        noise=np.zeros(shape),
        top_log_probs=top,
        top_rollout_log_probs=old_top,
        correction=np.ones(shape),
    )
    term = recipe.surrogate(batch)
    value, slope = (np.broadcast_to(x, shape)[:, 0, 0] for x in (term.value, term.slope + term.direct))
    return value, slope


LENGTHS = np.arange(50.0, 1001.0, 25.0)
OTHERS = np.array([200, 400, 600])
"""Lengths of the other completions of the group, in tokens."""


def _weights(recipe: Recipe) -> tuple[Plot, ...]:
    """Weight of a token, and of its completion, against the length of the completion."""
    lines: list[list[Line]] = [[], []]
    for each, look in ((recipe, "only"), (GRPO, "grpo")):
        of_token = np.array([_weight_of_token(each, int(length)) for length in LENGTHS])
        for side, y in zip(lines, (of_token, of_token * LENGTHS), strict=True):
            side.append(Line(LENGTHS, y / y[LENGTHS == 400.0], look))
    axis = "length of the completion (tokens)"
    return (
        Plot("Weight of one token", axis, "relative to 400 tokens", tuple(lines[0]), (0.0,)),
        Plot("Weight of the whole completion", axis, "relative to 400 tokens", tuple(lines[1]), (0.0,)),
    )


def _completions(recipe: Recipe) -> tuple[Plot, ...]:
    """Weight of a completion first, then that of a token."""
    return _weights(recipe)[::-1]


def _weight_of_token(recipe: Recipe, length: int) -> float:
    lengths = np.array([[length, *OTHERS]])
    mask = (np.arange(1000) < lengths[:, :, None]).astype(float)
    return float(recipe.weights(mask, max_length=1000)[0, 0, 0])


GROUP = 8


def _advantages(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage of a right and of a wrong completion against the share of right ones in the group."""
    right = np.arange(1, GROUP)
    rewards = (np.arange(GROUP) < right[:, None]).astype(float)
    lines = []
    for each, is_grpo in ((recipe, False), (GRPO, True)):
        advantages = _on_rewards(each, rewards)
        for index, look, label in ((0, "good", "right"), (-1, "bad", "wrong")):
            y = advantages[:, index]
            name = "" if is_grpo else label
            at = 0 if index else -1
            lines.append(Line(right / GROUP, y, "grpo" if is_grpo else look, name, at, dots=not is_grpo))
    axis = f"share of right completions in the group of {GROUP}"
    return (Plot("Advantage of a completion", axis, "advantage", tuple(lines), (0.0,)),)


def _on_rewards(recipe: Recipe, rewards: Floats) -> Floats:
    """Return the advantages of groups of completions with 10 tokens each, as (P, G)."""
    shape = (*rewards.shape, 10)
    record = SimpleNamespace(
        rewards=rewards,
        mask=np.ones(shape),
        lengths=np.full(rewards.shape, 10.0),
        greedy_rewards=np.broadcast_to(rewards.mean(axis=1, keepdims=True).round(), rewards.shape),
        score_norms=np.ones(shape),
        components=rewards[:, :, None],
        weights=np.ones(1),
    )
    advantages: Floats = recipe.advantage(record)
    return advantages if advantages.ndim == 2 else advantages[:, :, 0]


def _lengths(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantages of one right and three wrong completions against the length of the right one.

    The wrong ones have 400 tokens.
    """
    rewards = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (LENGTHS.size, 4))
    lengths = np.full(rewards.shape, 400.0)
    lengths[:, 0] = LENGTHS
    ours, plain = (
        each.advantage(SimpleNamespace(rewards=rewards, lengths=lengths)) for each in (recipe, GRPO)
    )
    lines = []
    for index, look, label in ((0, "good", "right"), (1, "bad", "wrong")):
        lines += [Line(LENGTHS, ours[:, index], look, label), Line(LENGTHS, plain[:, index], "grpo")]
    axis = "length of the right completion (tokens)"
    return (Plot("One right completion in a group of four", axis, "advantage", tuple(lines), (0.0,)),)


def _dead_groups(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage of a right completion in a group that is half right, against the share of other groups."""
    dead = np.arange(0, 16)
    lines = []
    for each, look in ((recipe, "only"), (GRPO, "grpo")):
        batches = (np.where(np.arange(16)[:, None] < count, 1.0, [[0.0, 0.0, 1.0, 1.0]]) for count in dead)
        y = np.array([each.advantage(SimpleNamespace(rewards=rewards))[-1, -1] for rewards in batches])
        lines.append(Line(dead / 16, y, look, dots=True))
    axis = "share of groups with equal rewards"
    return (Plot("Advantage of a right completion", axis, "advantage", tuple(lines), (0.0,)),)


SPREAD = np.array([[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 3.0]])


def _rewards(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage against the reward, in one group of eight completions, one of them far above the others."""
    lines = (
        Line(SPREAD[0], _on_rewards(recipe, SPREAD)[0], "only", dots=True),
        Line(SPREAD[0], _on_rewards(GRPO, SPREAD)[0], "grpo", dots=True),
    )
    return (Plot("Advantage of each completion of one group", "reward", "advantage", lines, (0.0,)),)


def _group_size(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage of a right completion against the size of a group, half of which is right."""
    sizes = np.arange(2, 17, 2)
    lines = [
        Line(sizes.astype(float), np.array([_half_right(each, int(size)) for size in sizes]), look, dots=True)
        for each, look in ((recipe, "only"), (GRPO, "grpo"))
    ]
    plot = Plot(
        "Advantage of a right completion", "completions per prompt", "advantage", tuple(lines), (0.6,)
    )
    return (plot,)


def _half_right(recipe: Recipe, size: int) -> float:
    return float(_on_rewards(recipe, (np.arange(size)[None] < size // 2).astype(float))[0, 0])


def _corrections(recipe: Recipe) -> tuple[Plot, ...]:
    """Weight of a token against the mismatch of sampler and learner."""
    ratios = np.linspace(0.02, 6.0, POINTS)
    sampler = np.log(np.full((POINTS, 1, 1), 0.1))
    record = SimpleNamespace(
        rollout_log_probs=sampler,
        old_log_probs=sampler + np.log(ratios)[:, None, None],
        log_probs=sampler + np.log(ratios)[:, None, None],
        log_ratio=np.zeros((POINTS, 1, 1)),
        advantages=np.ones((POINTS, 1, 1)),
        mask=np.ones((POINTS, 1, 1)),
    )
    weight = np.prod([np.broadcast_to(each(record), (POINTS, 1, 1)) for each in recipe.corrections], axis=0)
    lines = (Line(ratios, weight[:, 0, 0], "only"), Line(ratios, np.ones(POINTS), "grpo"))
    slot = recipe.corrections[-1]
    what = "completion" if "sequence" in str(slot) else "token"
    axis = f"mismatch of the {what}, πold / πrollout"
    return (Plot("Weight of a token in the loss", axis, "weight", lines, (0.0,)),)


def _entropy(recipe: Recipe) -> tuple[Plot, ...]:
    """Weight of a token against the rank of its entropy."""
    ranks = np.linspace(0.0, 1.0, 201)
    entropies = ranks[None, None, :]
    record = SimpleNamespace(entropies=entropies, mask=np.ones_like(entropies))
    weight = recipe.corrections[0](record)[0, 0]
    lines = (Line(100 * ranks, weight, "only"), Line(100 * ranks, np.ones(201), "grpo"))
    axis = "rank of the token's entropy (percent)"
    return (Plot("Weight of a token in the loss", axis, "weight", lines, (0.0,)),)


def _teacher(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage of a token against the log-ratio of teacher and student."""
    gaps = np.linspace(-3.0, 3.0, 121)
    zeros = np.zeros((1, 1, 121))
    assert recipe.distill is not None
    lines = []
    for look, (sign, label) in SIGNS.items():
        record = SimpleNamespace(
            advantages=zeros + sign,
            log_probs=zeros,
            old_log_probs=zeros,
            rollout_log_probs=zeros,
            teacher_log_probs=zeros + gaps,
            mask=zeros + 1.0,
        )
        lines.append(
            Line(gaps, recipe.distill(record)[0, 0], look, f"reward's {label}", 40 if sign < 0 else 75)
        )
        lines.append(Line(gaps, np.full(121, sign), "grpo"))
    lines = _without_sign(lines)
    axis = "log πteacher − log πθ of the token (nats)"
    return (Plot("Advantage of a token", axis, "advantage", tuple(lines)),)


def _future(recipe: Recipe) -> tuple[Plot, ...]:
    """Weight of the first of 32 tokens against the change of all later tokens."""
    shifts = np.linspace(-0.05, 0.05, 101)
    tokens = 32
    change = np.zeros((101, 1, tokens))
    change[:, 0, 1:] = shifts[:, None]
    old = np.full_like(change, -2.0)
    lines = []
    for look, (sign, label) in SIGNS.items():
        record = SimpleNamespace(
            log_probs=old + change,
            old_log_probs=old,
            log_ratio=change,
            advantages=np.full_like(change, sign),
            mask=np.ones_like(change),
        )
        lines.append(
            Line(shifts, recipe.corrections[0](record)[:, 0, 0], look, label, 50 if sign > 0 else 20)
        )
    lines.append(Line(shifts, np.ones(101), "grpo"))
    lines = _without_sign(lines)
    axis = "log πθ / πold of each of the 31 later tokens"
    return (Plot("Weight of a token in the loss", axis, "weight", tuple(lines)),)


def _without_sign(lines: list[Line]) -> list[Line]:
    """Replace the lines of good and bad tokens by one line without a label if they are equal."""
    good, bad = (next(line for line in lines if line.look == look) for look in SIGNS)
    if not np.array_equal(good.y, bad.y):
        return lines
    return [Line(good.x, good.y, "only"), *(line for line in lines if line.look == "grpo")]


def _moments(recipe: Recipe) -> tuple[Plot, ...]:
    """Share of the tokens that stay against the standard deviation of the log mismatch."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((1, 1, 4000))
    spreads = np.linspace(0.02, 1.0, 50)
    shares = []
    for spread in spreads:
        old = -2.0 + spread * noise
        record = SimpleNamespace(
            old_log_probs=old, rollout_log_probs=np.full_like(old, -2.0), mask=np.ones_like(old)
        )
        shares.append(float(np.mean(recipe.corrections[-1](record) > 0)))
    lines = (Line(spreads, np.array(shares), "only"), Line(spreads, np.ones(50), "grpo"))
    axis = "std of log πold / πrollout over the batch (nats)"
    return (Plot("Tokens that stay in the loss", axis, "share of the tokens", lines, (0.0,)),)


def _along_turns(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantages along one completion of three turns or steps."""
    record = _three_turns()
    lines = []
    for look, index, label in (("good", 0, "right answer"), ("bad", 1, "wrong answer")):
        advantages = np.broadcast_to(recipe.advantage(record), record.mask.shape)
        x = np.arange(1.0, 13.0)
        plain = np.broadcast_to(GRPO.advantage(record)[:, :, None], record.mask.shape)
        lines.append(Line(x, advantages[0, index], look, label, 11, dots=True))
        lines.append(Line(x, plain[0, index], "grpo"))
    axis = "token; a step or turn has four tokens"
    return (Plot("Advantage along two completions", axis, "advantage", tuple(lines), (0.0,)),)


def _along_tokens(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantages of the tokens of two completions of a group. The other two end after 4 and 8 tokens."""
    mask = (np.arange(12) < np.array([[12, 12, 4, 8]])[:, :, None]).astype(float)
    record = SimpleNamespace(
        rewards=np.array([[1.0, 0.0, 1.0, 0.0]]), mask=mask, score_norms=np.full(mask.shape, 0.5)
    )
    x = np.arange(1.0, 13.0)
    ours, plain = recipe.advantage(record), GRPO.advantage(record)[:, :, None] * mask
    lines = []
    for look, index, label in (("good", 0, "right answer"), ("bad", 1, "wrong answer")):
        lines += [Line(x, ours[0, index], look, label, 11, dots=True), Line(x, plain[0, index], "grpo")]
    axis = "token; two other completions end at 4 and 8"
    return (Plot("Advantage along two completions", axis, "advantage", tuple(lines), (0.0,)),)


def _three_turns() -> Any:
    """Return a group of four completions with three steps of four tokens each."""
    mask = np.ones((1, 4, 12))
    turn_ids = np.broadcast_to(np.repeat([0, 1, 2], 4), mask.shape)
    step_ends = np.zeros((1, 4, 12))
    step_ends[:, :, 3::4] = 1.0
    turn_rewards = np.array([[[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    return SimpleNamespace(
        rewards=np.array([[1.0, 0.0, 1.0, 0.0]]),
        mask=mask,
        turn_ids=turn_ids,
        turn_rewards=turn_rewards,
        anchor_states=np.zeros((1, 4, 3), dtype=int) + np.arange(3),
        step_rewards=np.repeat(turn_rewards, 4, axis=-1),
        step_ends=step_ends,
    )


def _criteria(recipe: Recipe) -> tuple[Plot, ...]:
    """Advantage of a completion against its second reward, for two rewards of different size."""
    first = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    second = np.linspace(0.0, 10.0, GROUP)
    components = np.stack([first, second], axis=-1)[None]
    record = SimpleNamespace(components=components, weights=np.ones(2), rewards=components.sum(-1))
    plain = GRPO.advantage(record)[0]
    ours = recipe.advantage(record)[0]
    lines = []
    for look, value, label in (("good", 1.0, "first reward 1"), ("bad", 0.0, "first reward 0")):
        chosen = first == value
        at = 0 if value else -1
        lines.append(Line(second[chosen], ours[chosen], look, label, at, dots=True))
        lines.append(Line(second[chosen], plain[chosen], "grpo"))
    axis = "second reward, from 0 to 10"
    return (Plot("Advantage of a completion with two rewards", axis, "advantage", tuple(lines), (0.0,)),)


KINDS: dict[str, Callable[[Recipe], tuple[Plot, ...]]] = {
    "surrogate": _surrogate,
    "chosen": _chosen,
    "weights": _weights,
    "completions": _completions,
    "lengths": _lengths,
    "dead_groups": _dead_groups,
    "advantages": _advantages,
    "rewards": _rewards,
    "group_size": _group_size,
    "corrections": _corrections,
    "entropy": _entropy,
    "teacher": _teacher,
    "future": _future,
    "moments": _moments,
    "turns": _along_turns,
    "tokens": _along_tokens,
    "criteria": _criteria,
}
"""Kind of a picture -> its plots. Front matter chooses one with `picture:`."""
