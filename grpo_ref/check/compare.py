"""Compare a loss function with a recipe on generated batches."""

import itertools
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check import packing
from grpo_ref.check.arguments import asks_for
from grpo_ref.check.batches import (
    GARBAGE,
    KINDS,
    NAN,
    NOTHING,
    ROUNDED_KINDS,
    SINGLE,
    TOKENLESS,
    Trial,
    advantages_of,
    in_float32,
    is_defined_for_one,
    trials,
)
from grpo_ref.check.diagnosis import Evidence, diagnosis, unless
from grpo_ref.check.example import example
from grpo_ref.check.frameworks import DTYPES, FRAMEWORKS, Answer, CallSettings, Loss, LossError, ask
from grpo_ref.check.reference import difference, has_derivative, reference, same_loss, weights_of
from grpo_ref.check.shrinking import cleared, shrunk
from grpo_ref.recipes import Recipe
from grpo_ref.validation import recipe_of

SHOWN = 5
"""Number of conditions that a report lists."""
PADDING_BATCHES = 3
"""Number of batches that are evaluated again with zeros in the padding."""
VISIBLE = 1e-2
"""Relative difference that shows in the first few digits."""


UNFLOORED = ("verl", "OpenRLHF")
"""Trainers whose own loss is NaN on a batch without tokens: verl `agg_loss`, OpenRLHF `masked_mean`."""


@dataclass(frozen=True)
class LossComparison:
    """Result of comparing a loss function with a recipe.

    Attributes:
      batches: number of batches tried.
      agreeing: number of batches on which function and recipe agree.
      first: description of the first difference, or "".
      matches: mistakes, each of which would explain all differences, the most likely first.
      gradients: true if gradients were compared too.
      unless: feature that all differing batches share and that a trainer may rule out, as in "right, except
        for batches with NaN in the padding", or "".
      smallest: the smallest batch found that shows the difference, as lines of Python, or "".
      note: remark on the trainer, or "".
    """

    batches: int
    agreeing: int
    first: str
    matches: tuple[str, ...]
    gradients: bool
    unless: str = ""
    smallest: str = ""
    note: str = ""

    @property
    def agrees(self) -> bool:
        """True if function and recipe agree on all batches."""
        return self.agreeing == self.batches

    def __str__(self) -> str:
        what = "loss and gradient" if self.gradients else "loss (the gradient was not compared)"
        lines = [f"{what}: {self.agreeing} of {self.batches} batches agree"]
        lines += [f"right, except for batches {self.unless}"] * bool(self.unless)
        lines += [self.note] * bool(self.note)
        lines += [f"first difference: {self.first}"] * bool(self.first)
        lines += [f"likely mistake: {match}" for match in self.matches[:SHOWN]]
        lines += [f"or one of {len(self.matches) - SHOWN} others"] * (len(self.matches) > SHOWN)
        if not self.agrees and not self.matches:
            lines.append("no known mistake explains all differences")
        if self.smallest:
            lines += ["the smallest batch that shows it:", "", textwrap.indent(self.smallest, "    ")]
        return "\n".join(lines)


def assert_matches(
    loss: Loss,
    recipe: Recipe | str,
    *,
    framework: str = "numpy",
    batches: int = 200,
    seed: int = 0,
    rtol: float = 1e-6,
    max_length: int | None = None,
    nan_in_padding: bool = True,
    empty_completions: bool = True,
    empty_batches: bool = True,
    dtype: str = "float64",
    packed: bool = False,
) -> None:
    """Raise an AssertionError that describes the difference, unless a function computes the recipe's loss.

    Args:
      loss: your function. `grpo_ref.check` describes its parameters and what it may return.
      recipe: the recipe that your function should compute.
      framework: "numpy", "torch" or "jax".
      batches: number of batches to try.
      seed: seed of the batches.
      rtol: tolerance, relative to the sum of the magnitudes of the loss's terms and to the largest entry of
        the gradient. It is raised as needed if the loss is in single precision.
      max_length: the generation budget in tokens, for recipes that divide by it.
      nan_in_padding: if false, skip the batches with NaN in the padding.
      empty_completions: if false, skip the batches with an empty completion, and those without any token.
      empty_batches: if false, skip the batches without any token. On such a batch the recipe's loss and
        gradient are 0.
      dtype: precision of the arrays that the function receives, "float64" or "float32".
      packed: if true, pass all completions in one row of L tokens: arrays and advantages (1, L), with
        `sequence_ids` (1, L), and `completions`, their number, if the function has that parameter.

    Raises:
      AssertionError: if a batch differs. The message has the first difference and the mistakes that would
        explain all differences.
      ValueError: if the framework or the dtype is unknown.

    >>> import numpy as np
    >>> from grpo_ref import REINFORCE
    >>> def mine(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ...     return -np.where(mask > 0, advantages[:, None] * log_probs, 0.0).sum() / len(mask)
    >>> assert_matches(mine, REINFORCE)
    """
    result = compare(
        loss,
        recipe,
        framework=framework,
        batches=batches,
        seed=seed,
        rtol=rtol,
        max_length=max_length,
        nan_in_padding=nan_in_padding,
        empty_completions=empty_completions,
        empty_batches=empty_batches,
        dtype=dtype,
        packed=packed,
    )
    assert result.agrees, str(result)


def compare(
    loss: Loss,
    recipe: Recipe | str,
    *,
    framework: str = "numpy",
    batches: int = 200,
    seed: int = 0,
    rtol: float = 1e-6,
    max_length: int | None = None,
    nan_in_padding: bool = True,
    empty_completions: bool = True,
    empty_batches: bool = True,
    dtype: str = "float64",
    packed: bool = False,
    track: Callable[[list[Trial]], Iterable[Trial]] = iter,
) -> LossComparison:
    """Compare a loss function with a recipe on the same batches, and diagnose the differences.

    The other arguments are those of `assert_matches`.

    Args:
      track: called with the list of batches; returns an iterable over them. Use it for a progress bar.

    Raises:
      ValueError: if the framework or the dtype is unknown.
      LossError: if the function fails or does not return a loss.
    """
    recipe = recipe_of(recipe)
    for name, value, known in (("framework", framework, FRAMEWORKS), ("dtype", dtype, DTYPES)):
        if value not in known:
            raise ValueError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
    makes_advantages = asks_for(loss, "rewards") and not asks_for(loss, "advantages")
    skipped = {NAN: not nan_in_padding, NOTHING: not empty_completions}
    skipped[TOKENLESS] = not (empty_batches and empty_completions)
    skipped[SINGLE] = makes_advantages and not is_defined_for_one(recipe.advantage)
    # Only a function that computes a spread can show what single precision makes of a spread of 0.
    kinds = KINDS + (ROUNDED_KINDS if dtype == "float32" and makes_advantages else ())
    made = [
        in_float32(trial) if dtype == "float32" else trial
        for trial in itertools.islice(trials(recipe, seed, kinds=kinds), batches)
        if not any(skipped.get(flaw) for flaw in trial.flaws)
    ]
    case = _Case(loss, recipe, framework, dtype, rtol, max_length, packed)
    # Central differences differentiate the value, so they can only be compared with a gradient that is the
    # derivative of the value. CISPO's is not, because it detaches the ratio.
    numerical = has_derivative(recipe, made[0], max_length)
    answers = [case.answer(trial, numerical and trial.clean) for trial in track(made)]
    differences = [case.difference(*pair) for pair in zip(made, answers, strict=True)]
    first = next((f"{trial.kind}: {text}" for trial, text in zip(made, differences, strict=True) if text), "")
    gradients = any(answer.gradient is not None for answer in answers)
    result = LossComparison(len(made), differences.count(""), first, (), gradients)
    if not first:
        return result
    evidence = Evidence(made, answers, rtol, max_length, makes_advantages, case.reads_padding(made))
    without = unless(recipe, evidence)
    failing = [trial for trial, text in zip(made, differences, strict=True) if text]
    trainer = next((name for name in UNFLOORED if recipe.source.startswith(name)), "")
    note = f"{trainer} divides 0 by 0 there too" if trainer and TOKENLESS in without else ""
    if case.is_rounding(failing):
        note = "in double precision your loss agrees on these batches, so single precision is the cause"
    return replace(
        result,
        matches=diagnosis(recipe, evidence),
        unless=without,
        note=note,
        smallest=case.smallest(failing, makes_advantages),
    )


check = compare
"""`compare` as the library call `grpo_ref.check(my_loss, "dapo")`."""


@dataclass(frozen=True)
class _Case:
    """A function, a recipe, and the settings of their comparison."""

    loss: Loss
    recipe: Recipe
    framework: str
    dtype: str
    rtol: float
    max_length: int | None
    packed: bool

    def answer(self, trial: Trial, differences: bool) -> Answer:
        """Return the function's loss and gradient on a batch; a packed gradient is unpacked again."""
        passed, how = self._call(trial, differences)
        answer = ask(self.loss, passed, how)
        return packing.unpacked(answer, trial) if self.packed else answer

    def _call(self, trial: Trial, differences: bool = False) -> tuple[Trial, CallSettings]:
        """Return the batch in the form that the function takes, and the settings of the call."""
        weights = weights_of(self.recipe, trial, self.max_length)
        if not self.packed:
            return trial, CallSettings(self.framework, self.dtype, weights, differences)
        row = packing.packed(trial)
        return row, CallSettings(self.framework, self.dtype, packing.in_row(weights, trial), differences)

    def difference(self, trial: Trial, answer: Answer) -> str:
        """Describe the first difference between the recipe's and the function's result, or return ""."""
        return difference(reference(self.recipe, trial, self.max_length), answer, self.rtol + trial.rounding)

    def is_rounding(self, failing: list[Trial]) -> bool:
        """Return whether the function differs in single precision only."""
        double = replace(self, dtype="float64")
        return self.dtype == "float32" and not any(
            double.difference(t, double.answer(t, False)) for t in failing
        )

    def reads_padding(self, made: list[Trial]) -> bool:
        """Return whether the function's result changes if the padding is set to 0."""
        dirty = [trial for trial in made if GARBAGE in trial.flaws][:PADDING_BATCHES]
        pairs = ((self.answer(trial, False), self.answer(cleared(trial), False)) for trial in dirty)
        return any(not same_loss(clean, dirty, 1e-12) for dirty, clean in pairs)

    def smallest(self, failing: list[Trial], makes_advantages: bool) -> str:
        """Shrink the simplest failing batch as far as it still fails, and return it as lines of Python.

        The batch must keep failing in the same way: with a different loss if the loss differed at first, with
        a visible difference if it was visible, and with a finite loss if it was finite. Otherwise shrinking
        could end at another mistake, or at a rounding error.
        """
        start = min(failing, key=lambda trial: (NAN in trial.flaws, len(trial.flaws), trial.mask.size))
        ours, theirs = reference(self.recipe, start, self.max_length), self.answer(start, False)
        in_loss = bool(difference(ours, theirs._replace(gradient=None), self.rtol))
        visible = bool(difference(ours, theirs._replace(gradient=None), VISIBLE))
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
            return bool(difference(right, answer, (VISIBLE if visible else self.rtol) + trial.rounding))

        def advantages(rewards: Floats) -> Floats:
            return advantages_of(self.recipe, rewards)

        trial = shrunk(start, fails, advantages if makes_advantages else None)
        right, answer = reference(self.recipe, trial, self.max_length), self.answer(trial, not in_loss)
        passed, how = self._call(trial)
        return example(self.loss, passed, how, right, answer)
