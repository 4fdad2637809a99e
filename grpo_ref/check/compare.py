"""Compare a loss function with a recipe on generated batches."""

import itertools
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check import packing
from grpo_ref.check.arguments import asks_for
from grpo_ref.check.batches import GARBAGE, NAN, NOTHING, Trial, advantages_of, in_float32, trials
from grpo_ref.check.diagnosis import Evidence, diagnosis, unless
from grpo_ref.check.example import example
from grpo_ref.check.frameworks import DTYPES, FRAMEWORKS, Answer, Asked, Loss, LossError, ask
from grpo_ref.check.reference import difference, has_derivative, reference, same_loss, weights_of
from grpo_ref.check.shrinking import cleared, shrunk
from grpo_ref.recipes import Recipe

SHOWN = 5
"""So many of the conditions are told."""
LOOKED_AT = 3
"""So many batches are asked again with other numbers in the padding."""
PLAINLY = 1e-2
"""A difference that can be seen in a few digits."""


@dataclass(frozen=True)
class LossComparison:
    """How a loss function compares with a recipe.

    Attributes:
      batches: how many were tried.
      agreeing: how many agree.
      first: the first difference in words, or "".
      matches: what would have to be different about the recipe for all batches to agree, nearest first.
      gradients: whether gradients were compared too.
      unless: what all batches that differ have in common and a trainer may rule out, as in "right unless",
        or "".
      smallest: the smallest batch found that shows the difference, as lines of Python, or "".
    """

    batches: int
    agreeing: int
    first: str
    matches: tuple[str, ...]
    gradients: bool
    unless: str = ""
    smallest: str = ""

    @property
    def agrees(self) -> bool:
        """Whether all batches agree."""
        return self.agreeing == self.batches

    def __str__(self) -> str:
        what = "loss and gradient" if self.gradients else "loss (the gradient was not compared)"
        lines = [f"{what}: {self.agreeing} of {self.batches} batches agree"]
        lines += [f"right unless {self.unless}"] * bool(self.unless)
        lines += [f"first difference: {self.first}"] * bool(self.first)
        lines += [f"your loss matches if {match}" for match in self.matches[:SHOWN]]
        lines += [f"and in {len(self.matches) - SHOWN} other cases"] * (len(self.matches) > SHOWN)
        if not self.agrees and not self.matches:
            lines.append("no known slip matches either")
        if self.smallest:
            lines += ["the smallest batch that shows it:", "", textwrap.indent(self.smallest, "    ")]
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
    empty_completions: bool = True,
    dtype: str = "float64",
    packed: bool = False,
) -> None:
    """Raise an AssertionError that says what is different, unless the function computes the recipe.

    Args:
      loss: your function; its parameters are listed in `grpo_ref.check`.
      recipe: what it should compute.
      framework: "numpy", "torch" or "jax".
      batches: how many batches are tried.
      seed: of the batches.
      rtol: tolerance relative to the terms whose sum is the loss, and to the largest entry of the gradient;
        for a loss in single precision, what that needs.
      max_length: the generation budget, for recipes that divide by it.
      nan_in_padding: whether batches with NaN in the padding are among them.
      empty_completions: whether batches with a completion without tokens are.
      dtype: "float64" or "float32", of the arrays that the function is given.
      packed: whether the function takes all completions in one row: (1, L) arrays and advantages, with
        sequence_ids (1, L), and completions, their number, if it has that parameter.

    Raises:
      AssertionError: with the first difference, and the slips that would match.
      ValueError: if the framework or the dtype is unknown.

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
        empty_completions=empty_completions,
        dtype=dtype,
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
    empty_completions: bool = True,
    dtype: str = "float64",
    packed: bool = False,
    track: Callable[[list[Trial]], Iterable[Trial]] = iter,
) -> LossComparison:
    """Run a loss function and a recipe on the same batches; see `assert_matches` for the arguments.

    Args:
      track: shown the batches, to be gone through one after another; for a progress bar.

    Raises:
      ValueError: if the framework or the dtype is unknown.
      LossError: if the function fails, or returns no loss.
    """
    _check_choice("framework", framework, FRAMEWORKS)
    _check_choice("dtype", dtype, DTYPES)
    made = [
        in_float32(trial) if dtype == "float32" else trial
        for trial in itertools.islice(trials(recipe, seed), batches)
        if not (NAN in trial.flaws and not nan_in_padding)
        and not (NOTHING in trial.flaws and not empty_completions)
    ]
    case = _Case(loss, recipe, framework, dtype, rtol, max_length, packed)
    numerical = has_derivative(recipe, made[0], max_length)
    answers = [case.answer(trial, numerical and trial.clean) for trial in track(made)]
    differences = [case.difference(*pair) for pair in zip(made, answers, strict=True)]
    first = next((f"{trial.kind}: {text}" for trial, text in zip(made, differences, strict=True) if text), "")
    gradients = any(answer.gradient is not None for answer in answers)
    found = LossComparison(len(made), differences.count(""), first, (), gradients)
    if not first:
        return found
    makes_advantages = asks_for(loss, "rewards") and not asks_for(loss, "advantages")
    evidence = Evidence(made, answers, rtol, max_length, makes_advantages, case.reads_padding(made))
    return replace(
        found,
        matches=diagnosis(recipe, evidence),
        unless=unless(recipe, evidence),
        smallest=case.smallest(
            [trial for trial, text in zip(made, differences, strict=True) if text], makes_advantages
        ),
    )


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True)
class _Case:
    """A function, a recipe, and how they are compared."""

    loss: Loss
    recipe: Recipe
    framework: str
    dtype: str
    rtol: float
    max_length: int | None
    packed: bool

    def answer(self, trial: Trial, differences: bool) -> Answer:
        """What the function says of a batch, as it is or packed."""
        given, how = self._asked(trial, differences)
        found = ask(self.loss, given, how)
        return packing.unpacked(found, trial) if self.packed else found

    def _asked(self, trial: Trial, differences: bool = False) -> tuple[Trial, Asked]:
        """The batch as the function is given it, and how it is asked."""
        weights = weights_of(self.recipe, trial, self.max_length)
        if not self.packed:
            return trial, Asked(self.framework, self.dtype, weights, differences)
        row = packing.packed(trial)
        return row, Asked(self.framework, self.dtype, packing.in_row(weights, trial), differences)

    def difference(self, trial: Trial, answer: Answer) -> str:
        """In what it differs, in words."""
        return difference(reference(self.recipe, trial, self.max_length), answer, self.rtol)

    def reads_padding(self, made: list[Trial]) -> bool:
        """Whether other numbers in the padding than 0 change what the function says."""
        dirty = [trial for trial in made if GARBAGE in trial.flaws][:LOOKED_AT]
        pairs = ((self.answer(trial, False), self.answer(cleared(trial), False)) for trial in dirty)
        return any(not same_loss(clean, dirty, 1e-12) for dirty, clean in pairs)

    def smallest(self, failing: list[Trial], makes_advantages: bool) -> str:
        """The smallest batch that still fails, as lines of Python."""
        start = min(failing, key=lambda trial: (NAN in trial.flaws, len(trial.flaws), trial.mask.size))
        ours, theirs = reference(self.recipe, start, self.max_length), self.answer(start, False)
        in_loss = bool(difference(ours, theirs._replace(gradient=None), self.rtol))
        plainly = bool(difference(ours, theirs._replace(gradient=None), PLAINLY))
        finite = np.isfinite(theirs.loss)

        def fails(trial: Trial) -> bool:
            try:
                answer = self.answer(trial, not in_loss)
            except LossError:
                return False
            if np.isfinite(answer.loss) != finite:
                return False
            right = reference(self.recipe, trial, self.max_length)
            answer = answer._replace(gradient=None) if in_loss else answer
            return bool(difference(right, answer, PLAINLY if plainly else self.rtol))

        def advantages(rewards: Floats) -> Floats:
            return advantages_of(self.recipe, rewards)

        trial = shrunk(start, fails, advantages if makes_advantages else None)
        right, answer = reference(self.recipe, trial, self.max_length), self.answer(trial, not in_loss)
        given, how = self._asked(trial)
        return example(self.loss, given, how, right, answer)
