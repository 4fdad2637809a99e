"""Optimizers: compute new parameters from parameters and gradient. No array is changed in place."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import lazy_loader

from grpo_ref.arrays import Floats, array_namespace

np: Any = lazy_loader.load("numpy")  # the command line reads the settings of a run without loading NumPy

State = dict[str, Floats]


class Optimizer(Protocol):
    """The interface of an optimizer."""

    def init(self, params: Floats) -> State:
        """Return the state before the first step."""

    def step(self, params: Floats, gradient: Floats, state: State) -> tuple[Floats, State]:
        """Return the parameters and the state after one step."""


@dataclass(frozen=True)
class SGD:
    """Plain gradient descent.

        θ ← θ - learning_rate g

    Attributes:
      learning_rate: step size, > 0.
    """

    learning_rate: float

    def init(self, params: Floats) -> State:
        """Return an empty state."""
        return {}

    def step(self, params: Floats, gradient: Floats, state: State) -> tuple[Floats, State]:
        """Return the parameters after one step; the state stays empty."""
        return params - self.learning_rate * gradient, state


@dataclass(frozen=True)
class Adam:
    """Adam: gradient descent in which recent gradients of each parameter scale its step.

        m ← b1 m + (1-b1) g,   v ← b2 v + (1-b2) g²,   θ ← θ - learning_rate m̂ / (√v̂ + eps)

    m̂ = m/(1-b1ᵏ) and v̂ = v/(1-b2ᵏ) at step k.

    Attributes:
      learning_rate: step size, > 0.
      b1, b2: decay of the first and the second moment.
      eps: number added to the root, against division by zero.

    Kingma & Ba 2015, algorithm 1 (arXiv:1412.6980).
    """

    learning_rate: float
    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8

    def init(self, params: Floats) -> State:
        """Return moments of zero and a count of zero steps."""
        xp = array_namespace(params)
        return {"mean": xp.zeros_like(params), "square": xp.zeros_like(params), "steps": np.zeros(())}

    def step(self, params: Floats, gradient: Floats, state: State) -> tuple[Floats, State]:
        """Return the parameters and the state after one bias-corrected step."""
        xp = array_namespace(params)
        steps = state["steps"] + 1.0
        mean = _blend(self.b1, state["mean"], gradient)
        square = _blend(self.b2, state["square"], gradient * gradient)
        # The moments start at 0, so the first ones are too small; the corrections undo this. All operations
        # on `scale` and `move` reuse their memory.
        scale = xp.sqrt(square)
        scale /= np.sqrt(1.0 - self.b2**steps)
        scale += self.eps
        move = xp.divide(mean, scale, out=scale)
        move *= self.learning_rate / (1.0 - self.b1**steps)
        return params - move, {"mean": mean, "square": square, "steps": steps}


def _blend(decay: float, average: Floats, new: Floats) -> Floats:
    """Return decay * average + (1 - decay) * new."""
    blended = decay * average
    blended += (1.0 - decay) * new
    return blended


OPTIMIZERS: dict[str, type[SGD] | type[Adam]] = {"sgd": SGD, "adam": Adam}


def clip_by_norm(gradient: Floats, max_norm: float) -> tuple[Floats, Floats]:
    """Scale each run's gradient down to at most max_norm, in the same direction.

    Args:
      gradient: (S, ...), the runs on the first axis.
      max_norm: largest Euclidean norm allowed; inf does not change the gradient.

    Returns:
      The clipped gradient (S, ...) and the norms before clipping (S,).

    Pascanu et al. 2013, algorithm 1 (arXiv:1211.5063).
    """
    xp = array_namespace(gradient)
    # A sum of squares instead of a dot product: a threaded dot product can stall for 100 ms.
    norm = xp.sqrt((gradient * gradient).sum(tuple(range(1, gradient.ndim))))
    if math.isinf(max_norm):
        return gradient, norm
    scale = xp.minimum(1.0, max_norm / xp.maximum(norm, np.finfo(norm.dtype).tiny))  # 0 stays 0
    return gradient * scale.reshape(-1, *(1,) * (gradient.ndim - 1)), norm
