"""Shared parts of the exercises on whole training steps: the smallest tied network, and mistakes in it.

h = tanh(E[token before] W),    z = E h,    π = softmax(z)
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.course.grading.domain.arguments import Argument, Mask, Real, Whole
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED
from grpo_ref.course.grading.problem import Function, Mutant
from grpo_ref.learning.policies import layers, table

SIZES, LARGE = {"L": (2, 5), "V": (2, 5), "D": (1, 4)}, {"L": 40, "V": 40, "D": 30}
Bend = Callable[[Floats], Floats]


def network_and_texts(axes: str, mask: str) -> dict[str, Argument]:
    """Return the first arguments of both exercises.

    Args:
      axes: axes of the tokens, as in "B L".
      mask: meaning of the mask, for the statement.
    """
    small = ((-1.0, 1.0), (-3.0, 3.0))
    return {
        "embeddings": Real(
            "V D",
            (-1000.0, 1000.0),
            usual=(*small, (-30.0, 30.0)),
            rows=(MIXED, LEVELS),
            meaning="E, a row for each token",
        ),
        "weight": Real("D D", (-10.0, 10.0), usual=small, meaning="W"),
        "tokens": Whole(
            (0, "V - 1"), axes=axes, usual=((0, 1), (0, "V - 1")), meaning="the tokens of each text"
        ),
        "mask": Mask(axes, meaning=mask),
    }


class Read(NamedTuple):
    """The network's values at N = B (L - 1) positions: all tokens except the first of each text.

    Attributes:
      embeddings, weight: E (V, D) and W (D, D).
      before, after: (N,) the token that is read, and the next token.
      rows, hidden, logits: (N, D) E[before], (N, D) h and (N, V) z.
      shape: (B, L - 1).
    """

    embeddings: Floats
    weight: Floats
    before: Integers
    after: Integers
    rows: Floats
    hidden: Floats
    logits: Floats
    shape: tuple[int, ...]

    @property
    def log_probs(self) -> Floats:
        """(B, L - 1) log π of the next token."""
        log_probs = table.log_softmax(self.logits)
        return np.asarray(log_probs[np.arange(len(self.after)), self.after].reshape(self.shape))


class Slopes(NamedTuple):
    """Slopes with respect to E (V, D) and W (D, D)."""

    embeddings: Floats
    weight: Floats


Back = Callable[[Read, Floats], Slopes]


def neighbors(tokens: Integers) -> tuple[Integers, Integers]:
    """Return (B, L - 1) the token before each position, and the token at the position."""
    return tokens[:, :-1], tokens[:, 1:]


def read(
    embeddings: Any,
    weight: Any,
    tokens: Any,
    *,
    bend: Bend = np.tanh,
    pair: Callable[[Integers], tuple[Integers, Integers]] = neighbors,
    head: Bend = np.asarray,
) -> Read:
    """Return the forward pass. Other values of `bend`, `pair` and `head` are mistakes."""
    embeddings, weight = np.asarray(embeddings, float), np.asarray(weight, float)
    before, after = pair(np.asarray(tokens))
    rows = layers.one_hot(before.reshape(-1), len(embeddings), embeddings) @ embeddings
    hidden = bend(layers.linear(rows, weight))
    logits = layers.linear(hidden, layers.swapped(head(embeddings)))
    return Read(embeddings, weight, before.reshape(-1), after.reshape(-1), rows, hidden, logits, before.shape)


def to_logits(seen: Read, push: Floats) -> Floats:
    """Convert a slope with respect to log π (B, L - 1) to one with respect to the logits (N, V)."""
    states, tokens = np.arange(len(seen.after)).reshape(1, 1, -1), seen.after.reshape(1, 1, -1)
    probs = table.policy_of(seen.logits).probs
    return table.pull_back(push.reshape(1, 1, -1), states, tokens, probs)


def tanh_slope(hidden: Floats) -> Floats:
    """Return the derivative of tanh where tanh has this value."""
    return 1.0 - hidden**2


def way_back(seen: Read, slope: Floats, bend_slope: Bend = tanh_slope) -> Slopes:
    """Convert a slope with respect to the logits (N, V) to those of E, with one part for each use of E, and
    of W.
    """
    rows, weight = entrance(seen, slope, bend_slope)
    return Slopes(exit_slope(seen, slope) + gathered(seen, seen.before, rows), weight)


def exit_slope(seen: Read, slope: Floats) -> Floats:
    """Return (V, D), the part of E's slope that comes from z = E h."""
    return np.asarray(layers.linear_back(slope, seen.hidden, layers.swapped(seen.embeddings))[1].T)


def entrance(seen: Read, slope: Floats, bend_slope: Bend = tanh_slope) -> tuple[Floats, Floats]:
    """Return the slopes of the rows that were read (N, D) and of W (D, D), from h = tanh(rows W)."""
    of_hidden = layers.linear_back(slope, seen.hidden, layers.swapped(seen.embeddings))[0]
    return layers.linear_back(of_hidden * bend_slope(seen.hidden), seen.rows, seen.weight)


def gathered(seen: Read, tokens: Integers, rows: Floats) -> Floats:
    """Return (V, D), with each row (N, D) added to the row of its token."""
    return np.asarray(layers.one_hot(tokens, len(seen.embeddings), seen.embeddings).T @ rows)


def over_tokens(mask: Any) -> Floats:
    """Return (B, L - 1), the weight of each position in a mean over the positions that count, or 0."""
    counted = np.asarray(mask, float)[:, 1:]
    return np.asarray(counted / max(counted.sum(), 1.0))


def moved(seen: Read, push: Floats, learning_rate: float, back: Back = way_back) -> tuple[Floats, Floats]:
    """Return E + learning_rate ∂J/∂E, and W likewise, from push = ∂J/∂log π."""
    slopes = back(seen, to_logits(seen, push))
    return (
        np.asarray(seen.embeddings + learning_rate * slopes.embeddings),
        np.asarray(seen.weight + learning_rate * slopes.weight),
    )


def place_by_place(seen: Read, slope: Floats) -> Slopes:
    """Return the backward pass, computed one position after another."""
    each = (
        way_back(seen._replace(before=seen.before[at], rows=seen.rows[at], hidden=seen.hidden[at]), slope[at])
        for at in (slice(place, place + 1) for place in range(len(slope)))
    )
    return reduce(lambda total, one: Slopes(*map(np.add, total, one)), each)


def central_differences(loss: Callable[[Floats, Floats], float], *given: Floats) -> list[Floats]:
    """Return the slopes of a loss with respect to E and W by central differences."""
    slopes = [np.zeros(each.shape) for each in given]
    for position, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            ends = []
            for step in (1e-6, -1e-6):
                shifted = [each.copy() for each in given]
                shifted[position][place] += step
                ends.append(loss(*shifted))
            slope[place] = (ends[0] - ends[1]) / 2e-6
    return slopes


# ---- mistakes --------------------------------------------------------------------------------------


def _in_parts(
    at_exit: Callable[[Read, Floats], Floats] = exit_slope,
    at_entrance: Callable[[Read, Floats], Floats] = lambda seen, rows: gathered(seen, seen.before, rows),
    of_weight: Callable[[Read, Floats], Floats] = lambda seen, weight: weight,
) -> Back:
    """Return a backward pass in which each of the three parts can be replaced."""

    def back(seen: Read, slope: Floats) -> Slopes:
        rows, weight = entrance(seen, slope)
        return Slopes(at_exit(seen, slope) + at_entrance(seen, rows), of_weight(seen, weight))

    return back


def _written_over(seen: Read, rows: Floats) -> Floats:
    total = np.zeros(seen.embeddings.shape)
    total[seen.before] += rows
    return total


def _only_the_next(seen: Read, slope: Floats) -> Floats:
    return gathered(seen, seen.after, slope[np.arange(len(slope)), seen.after][:, None] * seen.hidden)


def _past_the_weight(seen: Read, slope: Floats) -> Slopes:
    of_hidden = slope @ seen.embeddings * tanh_slope(seen.hidden)
    right = way_back(seen, slope)
    return Slopes(exit_slope(seen, slope) + gathered(seen, seen.before, of_hidden), right.weight)


def _not_transposed(seen: Read, slope: Floats) -> Slopes:
    of_hidden = slope @ seen.embeddings * tanh_slope(seen.hidden)
    rows = gathered(seen, seen.before, of_hidden @ seen.weight)
    return Slopes(exit_slope(seen, slope) + rows, way_back(seen, slope).weight)


def network_mutants(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    """Return wrong answers with mistakes in the forward pass, the backward pass or the weights of the
    positions.

    Args:
      of: makes an answer from the forward pass `read`, the backward pass `back` and the weights of the
        positions `weights`.
    """
    return (*_mutants_forward(of), *_mutants_back(of), *_mutants_of_the_mean(of))


def _mutants_forward(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    def forward(**changes: Any) -> Function:
        return of(read=lambda *given: read(*given, **changes))

    return (
        Mutant("not bent", forward(bend=np.asarray), "h is tanh(E[x] W), not E[x] W."),
        Mutant(
            "bent at the exit too",
            forward(head=np.tanh),
            "The logits are products of h with the rows of E, not with tanh of them.",
        ),
        Mutant(
            "W transposed",
            of(read=lambda embeddings, weight, tokens: read(embeddings, np.transpose(weight), tokens)),
            "E[x] W is a row times a matrix; here W is transposed.",
        ),
        Mutant(
            "predicts itself",
            forward(pair=lambda tokens: (tokens[:, 1:], tokens[:, 1:])),
            "Off by one: the token itself is read, not the one before it.",
        ),
        Mutant(
            "predicts what was before",
            forward(pair=lambda tokens: (tokens[:, 1:], tokens[:, :-1])),
            "Backwards: the token before is predicted from the one after it.",
        ),
    )


def _mutants_back(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    return (
        Mutant(
            "the exit alone",
            of(back=_in_parts(at_entrance=lambda seen, rows: np.zeros(seen.embeddings.shape))),
            "E is used twice. The slope that reaches it through h, where it is read, is missing.",
        ),
        Mutant(
            "the entrance alone",
            of(back=_in_parts(at_exit=lambda seen, slope: np.zeros(seen.embeddings.shape))),
            "E is used twice. The slope that it has as a factor of z = E h is missing.",
        ),
        Mutant(
            "W not trained",
            of(back=_in_parts(of_weight=lambda seen, weight: np.zeros(weight.shape))),
            "W has a slope too; here it stays as it is.",
        ),
        Mutant(
            "slope of W transposed",
            of(back=_in_parts(of_weight=lambda seen, weight: weight.T)),
            "The slope of W is E[x]ᵀ times that of E[x] W; here it is transposed.",
        ),
        Mutant(
            "no slope of tanh",
            of(back=lambda seen, slope: way_back(seen, slope, np.ones_like)),
            "The factor 1 - h² is missing, the slope of tanh.",
        ),
        Mutant(
            "slope of tanh without the square",
            of(back=lambda seen, slope: way_back(seen, slope, lambda hidden: 1.0 - hidden)),
            "The slope of tanh is 1 - tanh², with the square.",
        ),
        Mutant(
            "tanh taken twice",
            of(back=lambda seen, slope: way_back(seen, slope, lambda hidden: 1.0 - np.tanh(hidden) ** 2)),
            "h is tanh already: its slope is 1 - h².",
        ),
        Mutant(
            "past W",
            of(back=_past_the_weight),
            "On the way from h to E[x] the slope goes through W: times Wᵀ.",
        ),
        Mutant(
            "W not transposed on the way back", of(back=_not_transposed), "On the way back it is Wᵀ, not W."
        ),
        Mutant(
            "repeats written over",
            of(back=_in_parts(at_entrance=_written_over)),
            "`slope[tokens] += rows` adds a repeated token once; np.add.at adds every time.",
        ),
        Mutant(
            "only the next token's row at the exit",
            of(back=_in_parts(at_exit=_only_the_next)),
            "At the exit every row of E has a slope: every token's logit takes part in the softmax.",
        ),
        Mutant(
            "under the next token",
            of(back=_in_parts(at_entrance=lambda seen, rows: gathered(seen, seen.after, rows))),
            "What goes back through h belongs to the row of the token that was read, the one before.",
        ),
    )


def _mutants_of_the_mean(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    def divided_by(count: Callable[[Floats], Any]) -> Function:
        return of(weights=lambda mask: np.asarray(mask, float)[:, 1:] / count(np.asarray(mask, float)))

    return (
        Mutant(
            "mask of the token before",
            of(weights=lambda mask: over_tokens(np.roll(np.asarray(mask), 1, axis=-1))),
            "Off by one: m[t] belongs to the token that comes, not to the one before it.",
        ),
        Mutant(
            "mask not used",
            of(weights=lambda mask: over_tokens(np.ones_like(mask))),
            "The mask is not used: the prompt and the padding are trained too.",
        ),
        Mutant(
            "first token counted",
            divided_by(lambda mask: max(mask.sum(), 1.0)),
            "The first token of a text is counted below, though nothing comes before it.",
        ),
        Mutant(
            "mean over all places",
            divided_by(lambda mask: mask[:, 1:].size),
            "What is masked is counted below: divide by Σ m, not by the number of places.",
        ),
        Mutant("sum for mean", divided_by(lambda mask: 1.0), "It is a mean over tokens: divide by Σ m."),
        Mutant(
            "mean of means",
            of(weights=_mean_of_means),
            "Every token counts the same; here each text does, whatever its length.",
        ),
        Mutant("0/0", divided_by(_count), "Where no token counts, nothing moves; here 0 is divided by 0."),
    )


def _count(mask: Floats) -> Any:
    """Return the number of positions that count, or NaN if none does, without a warning."""
    return mask[:, 1:].sum() or np.nan


def _mean_of_means(mask: Any) -> Floats:
    counted = np.asarray(mask, float)[:, 1:]
    lengths = counted.sum(-1, keepdims=True)
    return np.asarray(counted / np.maximum(lengths, 1.0) / max((lengths > 0).sum(), 1))
