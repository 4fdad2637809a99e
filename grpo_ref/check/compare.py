"""Compare a loss function with a recipe on generated batches."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from grpo_ref.check import packing
from grpo_ref.check.batches import Trial, trials
from grpo_ref.check.diagnosis import Evidence, diagnosis
from grpo_ref.check.frameworks import FRAMEWORKS, Answer, Loss, ask
from grpo_ref.check.reference import difference, has_derivative, reference
from grpo_ref.recipes import Recipe


@dataclass(frozen=True)
class LossComparison:
    """How a loss function compares with a recipe.

    Attributes:
      batches: how many were tried.
      agreeing: how many agree.
      first: the first difference in words, or "".
      matches: what would have to be different about the recipe for all batches to agree, nearest first.
      gradients: whether gradients were compared too.
    """

    batches: int
    agreeing: int
    first: str
    matches: tuple[str, ...]
    gradients: bool

    @property
    def agrees(self) -> bool:
        """Whether all batches agree."""
        return self.agreeing == self.batches

    def __str__(self) -> str:
        what = "loss and gradient" if self.gradients else "loss (the gradient was not compared)"
        lines = [f"{what}: {self.agreeing} of {self.batches} batches agree"]
        lines += [f"first difference: {self.first}"] * bool(self.first)
        lines += [f"your loss matches if {match}" for match in self.matches]
        if not self.agrees and not self.matches:
            lines.append("no known slip matches either")
        return "\n".join(lines)


def assert_matches(
    loss: Loss,
    recipe: Recipe,
    *,
    framework: str = "numpy",
    batches: int = 200,
    seed: int = 0,
    rtol: float = 1e-6,
    max_length: int | None = None,
    nan_in_padding: bool = True,
    packed: bool = False,
) -> None:
    """Raise an AssertionError that says what is different, unless the function computes the recipe.

    Args:
      loss: your function; its parameters are listed in `grpo_ref.check`.
      recipe: what it should compute.
      framework: "numpy", "torch" or "jax".
      batches: how many batches are tried.
      seed: of the batches.
      rtol: tolerance relative to the loss, and to the largest entry of the gradient.
      max_length: the generation budget, for recipes that divide by it.
      nan_in_padding: whether batches with NaN in the padding are among them.
      packed: whether the function takes all completions in one row: (1, L) arrays and advantages, with
        sequence_ids (1, L), and completions, their number, if it has that parameter.

    Raises:
      AssertionError: with the first difference, and the slips that would match.
      ValueError: if the framework is unknown.

    >>> import numpy as np
    >>> from grpo_ref import REINFORCE
    >>> def mine(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ...     return -np.where(mask > 0, advantages[:, None] * log_probs, 0.0).sum() / len(mask)
    >>> assert_matches(mine, REINFORCE)
    """
    found = compare(
        loss,
        recipe,
        framework=framework,
        batches=batches,
        seed=seed,
        rtol=rtol,
        max_length=max_length,
        nan_in_padding=nan_in_padding,
        packed=packed,
    )
    assert found.agrees, str(found)


def compare(
    loss: Loss,
    recipe: Recipe,
    *,
    framework: str = "numpy",
    batches: int = 200,
    seed: int = 0,
    rtol: float = 1e-6,
    max_length: int | None = None,
    nan_in_padding: bool = True,
    packed: bool = False,
    track: Callable[[list[Trial]], Iterable[Trial]] = iter,
) -> LossComparison:
    """Run a loss function and a recipe on the same batches; see `assert_matches` for the arguments.

    Args:
      track: shown the batches, to be gone through one after another; for a progress bar.

    Raises:
      ValueError: if the framework is unknown.
      LossError: if the function fails, or returns no number.
    """
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework: expected one of {', '.join(FRAMEWORKS)}, got {framework!r}")
    made = [
        trial
        for trial in itertools.islice(trials(recipe, seed), batches)
        if nan_in_padding or not np.isnan(trial.log_probs).any()
    ]
    numerical = has_derivative(recipe, made[0], max_length)
    answers = [_answer(loss, trial, framework, numerical and trial.clean, packed) for trial in track(made)]
    differences = [
        difference(reference(recipe, trial, max_length), answer, rtol)
        for trial, answer in zip(made, answers, strict=True)
    ]
    first = next((f"{trial.kind}: {text}" for trial, text in zip(made, differences, strict=True) if text), "")
    matches = diagnosis(recipe, Evidence(made, answers, rtol, max_length)) if first else ()
    gradients = any(answer.gradient is not None for answer in answers)
    return LossComparison(len(made), differences.count(""), first, matches, gradients)


def _answer(loss: Loss, trial: Trial, framework: str, differences: bool, packed: bool) -> Answer:
    """What the function says of a batch, as it is or packed."""
    if packed:
        return packing.unpacked(ask(loss, packing.packed(trial), framework, differences), trial)
    return ask(loss, trial, framework, differences)
