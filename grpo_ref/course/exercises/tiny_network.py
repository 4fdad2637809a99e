"""Shared parts of the exercises on whole training steps: the smallest tied network, and mistakes in it.

h = tanh(E[token before] W),    z = E h,    π = softmax(z)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.course.author import LEVELS, MIXED, Function, Mask, Mutant, Real, Whole
from grpo_ref.course.grading.domain.arguments import Argument
from grpo_ref.learning.policies import layers, table

SIZES, LARGE = {"T": (2, 5), "V": (2, 5), "D": (1, 4)}, {"T": 40, "V": 40, "D": 30}
Activation = Callable[[Floats], Floats]


def network_and_texts(axes: str, mask: str) -> dict[str, Argument]:
    """Return the first arguments of both exercises.

    Args:
      axes: axes of the tokens, as in "B T".
      mask: meaning of the mask, for the statement.
    """
    small = ((-1.0, 1.0), (-3.0, 3.0))
    return {
        "embeddings": Real(
            "V D",
            (-1000.0, 1000.0),
            usual=(*small, (-30.0, 30.0)),
            rows=(MIXED, LEVELS),
            meaning="E, one row per token",
        ),
        "weight": Real("D D", (-10.0, 10.0), usual=small, meaning="W"),
        "tokens": Whole(
            (0, "V - 1"), axes=axes, usual=((0, 1), (0, "V - 1")), meaning="the tokens of each text"
        ),
        "mask": Mask(axes, meaning=mask),
    }


class Forward(NamedTuple):
    """The network's values at N = B (T - 1) positions: all tokens except the first of each text.

    Attributes:
      embeddings, weight: E (V, D) and W (D, D).
      before, after: (N,) the token that the network reads, and the next token.
      rows, hidden, logits: (N, D) E[before], (N, D) h and (N, V) z.
      shape: (B, T - 1).
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
        """(B, T - 1) log π of the next token."""
        log_probs = table.log_softmax(self.logits)
        return np.asarray(log_probs[np.arange(len(self.after)), self.after].reshape(self.shape))


class Gradients(NamedTuple):
    """Gradients with respect to E (V, D) and W (D, D)."""

    embeddings: Floats
    weight: Floats


Backward = Callable[[Forward, Floats], Gradients]


def neighbors(tokens: Integers) -> tuple[Integers, Integers]:
    """Return (B, T - 1) the token before each position, and the token at the position."""
    return tokens[:, :-1], tokens[:, 1:]


def run_forward(
    embeddings: Any,
    weight: Any,
    tokens: Any,
    *,
    activation: Activation = np.tanh,
    pair: Callable[[Integers], tuple[Integers, Integers]] = neighbors,
    head: Activation = np.asarray,
) -> Forward:
    """Return the forward pass. Other values of `activation`, `pair` and `head` are mistakes."""
    embeddings, weight = np.asarray(embeddings, float), np.asarray(weight, float)
    before, after = pair(np.asarray(tokens))
    rows = layers.one_hot(before.reshape(-1), len(embeddings), embeddings) @ embeddings
    hidden = activation(layers.linear(rows, weight))
    logits = layers.linear(hidden, layers.swapped(head(embeddings)))
    return Forward(
        embeddings, weight, before.reshape(-1), after.reshape(-1), rows, hidden, logits, before.shape
    )


def logits_gradient(forward: Forward, upstream: Floats) -> Floats:
    """Convert a gradient with respect to log π (B, T - 1) to one with respect to the logits (N, V)."""
    states, tokens = np.arange(len(forward.after)).reshape(1, 1, -1), forward.after.reshape(1, 1, -1)
    probs = table.policy_of(forward.logits).probs
    return table.pull_back(upstream.reshape(1, 1, -1), states, tokens, probs)


def tanh_derivative(hidden: Floats) -> Floats:
    """Return the derivative of tanh where tanh has this value."""
    return 1.0 - hidden**2


def run_backward(forward: Forward, upstream: Floats, derivative: Activation = tanh_derivative) -> Gradients:
    """Convert a gradient with respect to the logits (N, V) to those of E, the sum of its two uses, and of
    W.
    """
    rows, weight = input_gradients(forward, upstream, derivative)
    return Gradients(output_gradient(forward, upstream) + added_up(forward, forward.before, rows), weight)


def output_gradient(forward: Forward, upstream: Floats) -> Floats:
    """Return (V, D), the part of E's gradient that comes from z = E h."""
    return np.asarray(layers.linear_back(upstream, forward.hidden, layers.swapped(forward.embeddings))[1].T)


def input_gradients(
    forward: Forward, upstream: Floats, derivative: Activation = tanh_derivative
) -> tuple[Floats, Floats]:
    """Return the gradients of the rows E[before] (N, D) and of W (D, D), from h = tanh(rows W)."""
    hidden = layers.linear_back(upstream, forward.hidden, layers.swapped(forward.embeddings))[0]
    return layers.linear_back(hidden * derivative(forward.hidden), forward.rows, forward.weight)


def added_up(forward: Forward, tokens: Integers, rows: Floats) -> Floats:
    """Return (V, D), with each row (N, D) added to the row of its token."""
    return np.asarray(layers.one_hot(tokens, len(forward.embeddings), forward.embeddings).T @ rows)


def token_weights(mask: Any) -> Floats:
    """Return (B, T - 1), the weight of each position in a mean over the positions that count, or 0."""
    counted = np.asarray(mask, float)[:, 1:]
    return np.asarray(counted / max(counted.sum(), 1.0))


def ascend(
    forward: Forward, upstream: Floats, learning_rate: float, backward: Backward = run_backward
) -> tuple[Floats, Floats]:
    """Return E + learning_rate ∂J/∂E, and W likewise, from upstream = ∂J/∂log π."""
    gradients = backward(forward, logits_gradient(forward, upstream))
    return (
        np.asarray(forward.embeddings + learning_rate * gradients.embeddings),
        np.asarray(forward.weight + learning_rate * gradients.weight),
    )


def central_differences(loss: Callable[[Floats, Floats], float], *inputs: Floats) -> list[Floats]:
    """Return the gradients of a loss with respect to E and W by central differences."""
    gradients = [np.zeros(each.shape) for each in inputs]
    for position, gradient in enumerate(gradients):
        for place in np.ndindex(gradient.shape):
            losses = []
            for step in (1e-6, -1e-6):
                shifted = [each.copy() for each in inputs]
                shifted[position][place] += step
                losses.append(loss(*shifted))
            gradient[place] = (losses[0] - losses[1]) / 2e-6
    return gradients


# ---- mistakes --------------------------------------------------------------------------------------


def _in_parts(
    at_output: Callable[[Forward, Floats], Floats] = output_gradient,
    at_input: Callable[[Forward, Floats], Floats] = lambda forward, rows: added_up(
        forward, forward.before, rows
    ),
    of_weight: Callable[[Forward, Floats], Floats] = lambda forward, weight: weight,
) -> Backward:
    """Return a backward pass in which each of the three parts can be replaced."""

    def backward(forward: Forward, upstream: Floats) -> Gradients:
        rows, weight = input_gradients(forward, upstream)
        return Gradients(at_output(forward, upstream) + at_input(forward, rows), of_weight(forward, weight))

    return backward


def _last_of_each_token(forward: Forward, rows: Floats) -> Floats:
    total = np.zeros(forward.embeddings.shape)
    total[forward.before] += rows
    return total


def _only_the_next(forward: Forward, upstream: Floats) -> Floats:
    chosen = upstream[np.arange(len(upstream)), forward.after][:, None]
    return added_up(forward, forward.after, chosen * forward.hidden)


def _times(matrix: Callable[[Floats], Floats]) -> Backward:
    """Return a backward pass with another matrix than Wᵀ between the gradient of E[x] W and that of E[x]."""

    def backward(forward: Forward, upstream: Floats) -> Gradients:
        inner = upstream @ forward.embeddings * tanh_derivative(forward.hidden)
        rows = added_up(forward, forward.before, inner @ matrix(forward.weight))
        return Gradients(output_gradient(forward, upstream) + rows, run_backward(forward, upstream).weight)

    return backward


def network_mutants(of: Callable[..., Function], text: str) -> tuple[Mutant, ...]:
    """Return wrong answers with mistakes in the forward pass, the backward pass or the weights of the
    positions.

    Args:
      of: makes an answer from the forward pass `forward`, the backward pass `backward` and the weights of the
        positions `weights`.
      text: a row of tokens, as the statement calls it.
    """
    return (*_forward_mutants(of), *_backward_mutants(of), *_mean_mutants(of, text))


def _forward_mutants(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    def changed(**changes: Any) -> Function:
        return of(forward=lambda *inputs: run_forward(*inputs, **changes))

    def transposed(embeddings: Any, weight: Any, *rest: Any, **settings: Any) -> Any:
        new_embeddings, new_weight, last = of()(embeddings, np.transpose(weight), *rest, **settings)
        return new_embeddings, new_weight.T, last

    return (
        Mutant("no tanh", changed(activation=np.asarray), "Computes h as E[x] W, without the tanh."),
        Mutant(
            "tanh at the output too",
            changed(head=np.tanh),
            "Multiplies h by tanh(E) to get the logits; they are products with E itself.",
        ),
        Mutant("W transposed", transposed, "Multiplies E[x] by the transpose of W."),
        Mutant(
            "predicts itself",
            changed(pair=lambda tokens: (tokens[:, 1:], tokens[:, 1:])),
            "Reads the token that it predicts; the network reads the token before it.",
        ),
        Mutant(
            "predicts the token before",
            changed(pair=lambda tokens: (tokens[:, 1:], tokens[:, :-1])),
            "Reads a token and predicts the one before it; the network predicts the one after it.",
        ),
    )


def _backward_mutants(of: Callable[..., Function]) -> tuple[Mutant, ...]:
    return (
        Mutant(
            "the output alone",
            of(backward=_in_parts(at_input=lambda forward, rows: np.zeros(forward.embeddings.shape))),
            "Omits the gradient of E from its use as input, E[x].",
        ),
        Mutant(
            "the input alone",
            of(backward=_in_parts(at_output=lambda forward, upstream: np.zeros(forward.embeddings.shape))),
            "Omits the gradient of E from its use as output, z = E h.",
        ),
        Mutant(
            "W not trained",
            of(backward=_in_parts(of_weight=lambda forward, weight: np.zeros(weight.shape))),
            "Returns W unchanged; W has a gradient too.",
        ),
        Mutant(
            "gradient of W transposed",
            of(backward=_in_parts(of_weight=lambda forward, weight: weight.T)),
            "Transposes the gradient of W; it is E[x]ᵀ times the gradient of E[x] W.",
        ),
        Mutant(
            "no derivative of tanh",
            of(backward=lambda forward, upstream: run_backward(forward, upstream, np.ones_like)),
            "Omits the derivative of tanh, the factor 1 - h².",
        ),
        Mutant(
            "derivative of tanh without the square",
            of(backward=lambda forward, upstream: run_backward(forward, upstream, lambda h: 1.0 - h)),
            "Uses 1 - h as the derivative of tanh; it is 1 - h², with the square.",
        ),
        Mutant(
            "tanh taken twice",
            of(
                backward=lambda forward, upstream: run_backward(
                    forward, upstream, lambda h: 1.0 - np.tanh(h) ** 2
                )
            ),
            "Uses 1 - tanh(h)² as the derivative; h is the tanh already, so it is 1 - h².",
        ),
        Mutant(
            "past W",
            of(backward=_times(lambda weight: np.eye(len(weight)))),
            "Gives E[x] the gradient of E[x] W, without the product with Wᵀ.",
        ),
        Mutant(
            "W not transposed on the way back",
            of(backward=_times(lambda weight: weight)),
            "Multiplies by W instead of Wᵀ on the way back to E[x].",
        ),
        Mutant(
            "repeated tokens overwritten",
            of(backward=_in_parts(at_input=_last_of_each_token)),
            "Adds only one gradient to E[x] for a token that is read several times, as `dE[before] += rows`"
            " does; np.add.at adds all.",
        ),
        Mutant(
            "only the next token's row at the output",
            of(backward=_in_parts(at_output=_only_the_next)),
            "Gives a gradient from z = E h to the row of the next token only; the softmax involves every row.",
        ),
        Mutant(
            "added to the next token",
            of(backward=_in_parts(at_input=lambda forward, rows: added_up(forward, forward.after, rows))),
            "Adds the gradient of E[x] to the row of the next token; it belongs to the token that was read.",
        ),
    )


def _mean_mutants(of: Callable[..., Function], text: str) -> tuple[Mutant, ...]:
    def divided_by(count: Callable[[Floats], Any]) -> Function:
        return of(weights=lambda mask: np.asarray(mask, float)[:, 1:] / count(np.asarray(mask, float)))

    return (
        Mutant(
            "mask of the token before",
            of(weights=lambda mask: token_weights(np.roll(np.asarray(mask), 1, axis=-1))),
            "Uses the mask of the token that is read; the mask of the predicted token decides.",
        ),
        Mutant(
            "mask not used",
            of(weights=lambda mask: token_weights(np.ones_like(mask))),
            "Ignores the mask; prompt and padding are trained too.",
        ),
        Mutant(
            "first token counted",
            divided_by(lambda mask: max(mask.sum(), 1.0)),
            f"Counts the mask of the first token of each {text} in Σ m; the sums begin at t = 1.",
        ),
        Mutant(
            "padding counted",
            divided_by(lambda mask: mask[:, 1:].size),
            "Divides by the number of all positions, so masked positions count as tokens.",
        ),
        Mutant(
            "padding and first tokens counted",
            divided_by(lambda mask: mask.size),
            "Divides by the size of the mask, so first tokens and masked positions count as tokens.",
        ),
        Mutant("sum for mean", divided_by(lambda mask: 1.0), "Sums over the tokens without dividing by Σ m."),
        Mutant(
            "mean of means",
            of(weights=_mean_of_means),
            f"Averages within each {text} first, so a token of a short {text} counts more.",
        ),
        Mutant("0/0", divided_by(_count), "Divides 0 by 0 if no position counts."),
    )


def _count(mask: Floats) -> Any:
    """Return the number of positions that count, or NaN if none does, without a warning."""
    return mask[:, 1:].sum() or np.nan


def _mean_of_means(mask: Any) -> Floats:
    counted = np.asarray(mask, float)[:, 1:]
    lengths = counted.sum(-1, keepdims=True)
    return np.asarray(counted / np.maximum(lengths, 1.0) / max((lengths > 0).sum(), 1))
