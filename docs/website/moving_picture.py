"""The moving picture of the start page: four tokens move along DAPO's surrogate until they are clipped.

The picture is an SVG that is animated by its style sheet, so it needs no script. It is part of the page, so
it can pause under the pointer, and it does not move if the reader has asked for reduced motion.
"""

from html import escape

import numpy as np

from grpo_ref import DAPO, group_normalized, policy_loss
from grpo_ref.arrays import Floats
from grpo_ref.plots.one_token import surrogate_at, surrogate_curve

REWARDS = (1.0, 0.0, 0.0, 1.0)
OLD_PROBS = (0.5, 0.5, 0.3, 0.3)
"""Old probabilities of the four tokens, one per completion. Each token is one of two."""
STEPS, RATE = 60, 0.1
"""Number of gradient steps on the batch, and their size, in the logit of a token."""
SECONDS, MOVING = 9, 0.8
"""Duration of one round in seconds, and the fraction of it in which the dots move."""
RATIOS, VALUES = (0.6, 1.5), (-1.3, 1.3)
LEFT, RIGHT, TOP, BOTTOM = 70, 620, 20, 260
COLORS = {True: "#0072b2", False: "#d55e00"}
STYLE = ".walk text { font: 14px sans-serif; fill: #222; } .walk .axis { stroke: #888; }"
STILL = (
    ".walk:hover circle { animation-play-state: paused; }\n"
    "@media (prefers-reduced-motion: reduce) { .walk circle { animation: none !important; } }"
)


def walks() -> tuple[Floats, Floats, Floats]:
    """Return ratio, value and slope of the four tokens during training, each of shape (STEPS + 1, 4)."""
    advantages = group_normalized(np.array([REWARDS]))
    old, mask = np.log(np.array(OLD_PROBS)).reshape(1, 4, 1), np.ones((1, 4, 1))
    logits = -np.log(1 / np.array(OLD_PROBS) - 1)
    ratios, slopes = [], []
    for _ in range(STEPS + 1):
        probs = 1 / (1 + np.exp(-logits))
        log_probs = np.log(probs).reshape(1, 4, 1)
        gradient = policy_loss(log_probs, advantages, mask, recipe=DAPO, old_log_probs=old).gradient.reshape(
            4
        )
        ratios.append(probs / np.array(OLD_PROBS))
        slopes.append(-gradient)
        logits = logits - RATE * gradient * (1 - probs)
    pushed = [
        surrogate_at(DAPO.surrogate, np.array(ratios)[:, token], advantage, old_prob=prob)
        for token, (advantage, prob) in enumerate(zip(advantages.reshape(4), OLD_PROBS, strict=True))
    ]
    return np.array(ratios), np.stack([each.value for each in pushed], axis=1), np.array(slopes)


def moving_picture() -> str:
    """Return the picture as an SVG for a page of HTML."""
    ratios, values, slopes = walks()
    advantages = group_normalized(np.array([REWARDS])).reshape(4)
    rules, dots = [], []
    for token, advantage in enumerate(advantages):
        color = COLORS[advantage > 0]
        walk = zip(ratios[:, token], values[:, token], slopes[:, token], strict=True)
        places = [_frame(*each, color) for each in walk]
        steps = [f"{100 * MOVING * step / STEPS:.1f}% {{ {place} }}" for step, place in enumerate(places)]
        rules.append(f"@keyframes token{token} {{ {' '.join(steps)} 100% {{ {places[-1]} }} }}")
        motion = f"stroke: {color}; stroke-width: 2.5; animation: token{token} {SECONDS}s linear infinite;"
        rules.append(f".walk .token{token} {{ {places[-1]} {motion} }}")
        dots.append(f'<circle class="token{token}" r="7"/>')
    curves = [_curve(float(advantage)) for advantage in sorted(set(advantages))]
    style = "\n".join(["<style>", STYLE, *rules, STILL, "</style>"])
    page = '<rect width="640" height="320" fill="#fff"/>'
    return "\n".join([HEAD, style, page, *_axes(), *curves, *dots, "</svg>", ""])


HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="walk" viewBox="0 0 640 320" role="img">'
    "<title>Two good and two bad tokens move along DAPO's surrogate and stop at the clip</title>"
)


def _x(ratio: float) -> float:
    return LEFT + (ratio - RATIOS[0]) / (RATIOS[1] - RATIOS[0]) * (RIGHT - LEFT)


def _y(value: float) -> float:
    return BOTTOM - (value - VALUES[0]) / (VALUES[1] - VALUES[0]) * (BOTTOM - TOP)


def _frame(ratio: float, value: float, slope: float, color: str) -> str:
    """Return the style of a dot: its position, and its fill while its token has a gradient."""
    filled = color if abs(slope) > 0 else "#fff"
    return f"transform: translate({_x(ratio):.1f}px, {_y(value):.1f}px); fill: {filled};"


def _curve(advantage: float) -> str:
    curve = surrogate_curve(DAPO.surrogate, advantage, between=RATIOS)
    points = " ".join(f"{_x(r):.1f},{_y(v):.1f}" for r, v in zip(curve.ratios, curve.value, strict=True))
    dash = "" if advantage > 0 else ' stroke-dasharray="7 4"'
    return (
        f'<polyline fill="none" stroke-width="2" stroke="{COLORS[advantage > 0]}"{dash} points="{points}"/>'
    )


def _axes() -> list[str]:
    ticks = [
        f'<line class="axis" x1="{_x(at):.0f}" x2="{_x(at):.0f}" y1="{BOTTOM}" y2="{BOTTOM + 5}"/>'
        f'<text x="{_x(at):.0f}" y="{BOTTOM + 20}" text-anchor="middle">{at:g}</text>'
        for at in (0.6, 0.8, 1.0, 1.28, 1.5)
    ]
    levels = [
        f'<text x="{LEFT - 8}" y="{_y(at) + 5:.0f}" text-anchor="end">{at:g}</text>'
        f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{_y(at):.0f}" y2="{_y(at):.0f}" opacity="0.3"/>'
        for at in (-1, 0, 1)
    ]
    middle = (LEFT + RIGHT) / 2
    labels = [
        (middle, BOTTOM + 42, "middle", "ratio ρ = πθ / πold of the token"),
        (LEFT + 8, TOP + 12, "start", "value: what the token adds to the objective"),
        (RIGHT - 4, _y(1.1) - 10, "end", "good tokens, A > 0"),
        (RIGHT - 4, _y(-1.0) - 4, "end", "bad tokens, A < 0"),
    ]
    texts = [
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{side}">{escape(text)}</text>'
        for x, y, side, text in labels
    ]
    frame = f'<path class="axis" fill="none" d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}"/>'
    return [frame, *ticks, *levels, *texts]
