"""Check your own loss function against a recipe, on batches made to tell implementations apart.

    def my_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask): ...

    assert_matches(my_loss, DAPO)

The arrays are (N, T) and advantages (N,), the completions of all groups one after another; a parameter
`rollout_log_probs` is filled in too if the function has it. The function returns the loss, a number to be
minimised, or the loss and its gradient with respect to log_probs. With framework="torch" or "jax" it is given
tensors of that library in double precision and differentiated by it.
"""

import inspect
import itertools
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.loss import policy_loss
from grpo_ref.mistakes.slips import slips
from grpo_ref.recipes import GRPO, Recipe

Loss = Callable[..., Any]
FRAMEWORKS = ("numpy", "torch", "jax")
STEP = 1e-5
"""Of the central differences."""


@dataclass(frozen=True)
class Batch:
    """One generated batch.

    Attributes:
      kind: what is special about it, in words.
      log_probs, old_log_probs, ref_log_probs, rollout_log_probs: (N, T) in nats.
      advantages: (N,).
      mask: (N, T) 1 on completion tokens.
      clean: whether the padding holds numbers that do no harm.
    """

    kind: str
    log_probs: Floats
    old_log_probs: Floats
    ref_log_probs: Floats
    rollout_log_probs: Floats
    advantages: Floats
    mask: Floats
    clean: bool = True


class LossError(Exception):
    """The function that was to be checked failed, or what it returned is no loss."""


class Answer(NamedTuple):
    """What a loss function says of a batch.

    Attributes:
      loss: a number.
      gradient: (N, T), or None if it was not asked for or cannot be had; NaN where it is not known.
      numerical: whether the gradient is by finite differences.
    """

    loss: float
    gradient: Floats | None
    numerical: bool = False


@dataclass(frozen=True)
class Comparison:
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
            lines.append("no neighbouring recipe matches either")
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
) -> None:
    """Raise an AssertionError that says what is different, unless the function computes the recipe.

    Args:
      loss: your function, see the module's docstring.
      recipe: what it should compute.
      framework: "numpy", "torch" or "jax".
      batches: how many batches are tried.
      seed: of the batches.
      rtol: tolerance relative to the loss, and to the largest entry of the gradient.
      max_length: the generation budget, for recipes that divide by it.
      nan_in_padding: whether batches with NaN in the padding are among them.

    Raises:
      AssertionError: with the first difference, and the neighbouring recipes that would match.
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
    track: Callable[[list[Batch]], Iterable[Batch]] = iter,
) -> Comparison:
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
        batch
        for batch in itertools.islice(generate(recipe, seed), batches)
        if nan_in_padding or not np.isnan(batch.log_probs).any()
    ]
    ours = [_reference(recipe, batch, max_length) for batch in made]
    numerical = _has_derivative(recipe, made[0], ours[0], max_length)
    theirs = [_ask(loss, batch, framework, numerical and batch.clean) for batch in track(made)]
    problems = [_difference(mine, yours, rtol) for mine, yours in zip(ours, theirs, strict=True)]
    first = next((f"{batch.kind}: {text}" for batch, text in zip(made, problems, strict=True) if text), "")
    matches = _matches(recipe, made, theirs, rtol, max_length) if first else ()
    gradients = any(answer.gradient is not None for answer in theirs)
    return Comparison(len(made), problems.count(""), first, matches, gradients)


# ---- batches ---------------------------------------------------------------------------------------

KINDS = ("ragged", "an empty completion", "extreme ratios", "a group without contrast", "on policy")
PADDINGS = ("zeros in the padding", "garbage in the padding", "NaN in the padding")


def generate(recipe: Recipe, seed: int, *, prompts: int = 2, group_size: int = 3) -> Iterator[Batch]:
    """Endless batches: ragged, with empty completions, extreme ratios, dead groups, and strange padding.

    Args:
      recipe: whose advantages are used where they are one a completion; GRPO's otherwise.
      seed: of the random numbers.
      prompts, group_size: P and G; N = P G.
    """
    for index, (padding, kind) in enumerate(itertools.cycle(itertools.product(PADDINGS, KINDS))):
        yield _batch(np.random.default_rng([seed, index]), recipe, kind, padding, prompts, group_size)


def _batch(
    rng: np.random.Generator, recipe: Recipe, kind: str, padding: str, prompts: int, group_size: int
) -> Batch:
    rows, tokens = prompts * group_size, int(rng.integers(2, 7))
    lengths = rng.integers(1, tokens + 1, rows)
    lengths[0] = tokens
    if kind == "an empty completion":
        lengths[-1] = 0
    mask = (np.arange(tokens) < lengths[:, None]).astype(float)
    spread = 3.0 if kind == "extreme ratios" else 0.3
    log_probs = np.log(rng.uniform(0.05, 0.9, mask.shape))
    others = [np.minimum(log_probs + spread * rng.normal(size=mask.shape), -1e-3) for _ in range(3)]
    if kind == "on policy":
        others[0] = log_probs.copy()
    rewards = rng.integers(0, 3, (prompts, group_size)).astype(float)
    if kind == "a group without contrast":
        rewards[0] = 1.0
    fill = {"zeros in the padding": 0.0, "garbage in the padding": -7.5, "NaN in the padding": np.nan}[
        padding
    ]
    arrays = [np.where(mask > 0, array, fill) for array in (log_probs, *others)]
    return Batch(
        kind=f"{kind}, {padding}",
        log_probs=arrays[0],
        old_log_probs=arrays[1],
        ref_log_probs=arrays[2],
        rollout_log_probs=arrays[3],
        advantages=_advantages(recipe, rewards),
        mask=mask,
        clean=padding.startswith("zeros"),
    )


def _advantages(recipe: Recipe, rewards: Floats) -> Floats:
    part = recipe.advantage if recipe.advantage.reads == ("rewards",) else GRPO.advantage
    advantages: Floats = part.kernel(rewards, **part.settings)
    return advantages.reshape(-1)


# ---- both sides ------------------------------------------------------------------------------------


def _reference(recipe: Recipe, batch: Batch, max_length: int | None) -> Answer:
    group = (1, *batch.mask.shape)
    result = policy_loss(
        batch.log_probs.reshape(group),
        batch.advantages.reshape(1, -1),
        batch.mask.reshape(group),
        recipe=recipe,
        old_log_probs=batch.old_log_probs.reshape(group),
        ref_log_probs=batch.ref_log_probs.reshape(group),
        rollout_log_probs=batch.rollout_log_probs.reshape(group),
        max_length=max_length,
    )
    return Answer(float(result.loss), result.gradient[0])


def _ask(loss: Loss, batch: Batch, framework: str, differences: bool) -> Answer:
    """What the function says of a batch; where it fails, where and on which batch."""
    ask = {"torch": _torch, "jax": _jax}.get(framework) or partial(_numpy, differences=differences)
    try:
        answer = ask(loss, batch)
        if answer.gradient is not None and answer.gradient.shape != batch.mask.shape:
            raise TypeError(f"expected a gradient of shape {batch.mask.shape}, got {answer.gradient.shape}")
    except ImportError:
        raise
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if where.filename == __file__ else f" ({where.filename}:{where.lineno})"
        raise LossError(f"on the batch {batch.kind!r}: {type(error).__name__}: {error}{place}") from error
    return answer


def _numpy(loss: Loss, batch: Batch, *, differences: bool) -> Answer:
    answer = loss(**_arguments(loss, batch))
    if isinstance(answer, tuple):
        return Answer(_number(answer[0]), np.asarray(answer[1], dtype=float))
    return Answer(_number(answer), _central_differences(loss, batch) if differences else None, numerical=True)


def _number(value: Any) -> float:
    if value is None or np.size(value) != 1:
        what = "None" if value is None else f"an array of shape {np.shape(value)}"
        raise TypeError(f"expected the loss, a number, got {what}")
    return float(np.reshape(value, ()))


def _has_derivative(recipe: Recipe, batch: Batch, ours: Answer, max_length: int | None) -> bool:
    """Whether the gradient is that of the loss: not where a weight is detached, as in CISPO."""

    def value(log_probs: Floats, **others: Floats) -> float:
        return _reference(recipe, replace(batch, log_probs=log_probs), max_length).loss

    numerical = Answer(ours.loss, _central_differences(value, batch), numerical=True)
    return not _difference(ours, numerical, 1e-6)


def _arguments(loss: Loss, batch: Batch, make: Callable[[Floats], Any] = np.copy) -> dict[str, Any]:
    """The five arrays by name, and the sampler's log-probabilities if the function has that parameter."""
    names = ["log_probs", "old_log_probs", "ref_log_probs", "advantages", "mask"]
    if "rollout_log_probs" in inspect.signature(loss).parameters:
        names.append("rollout_log_probs")
    return {name: make(getattr(batch, name)) for name in names}


def _torch(loss: Loss, batch: Batch) -> Answer:
    import torch

    arguments = _arguments(loss, batch, lambda array: torch.tensor(array, dtype=torch.float64))
    arguments["log_probs"].requires_grad_()
    value = loss(**arguments)
    number = _number(None if value is None else value.detach().numpy())
    value.backward()
    return Answer(number, arguments["log_probs"].grad.numpy().copy())


def _jax(loss: Loss, batch: Batch) -> Answer:
    import jax

    with jax.enable_x64(True):
        arguments = _arguments(loss, batch, jax.numpy.asarray)
        log_probs = arguments.pop("log_probs")
        value, gradient = jax.value_and_grad(lambda x: loss(log_probs=x, **arguments))(log_probs)
        return Answer(float(value), np.array(gradient))


def _central_differences(loss: Loss, batch: Batch) -> Floats:
    """The gradient of a function without one; NaN at a kink, where both sides differ."""
    arguments, gradient = _arguments(loss, batch), np.zeros_like(batch.mask)
    middle = float(loss(**arguments))
    for index in zip(*np.nonzero(batch.mask), strict=True):
        sides = []
        for step in (STEP, -STEP):
            moved = batch.log_probs.copy()
            moved[index] += step
            sides.append((float(loss(**{**arguments, "log_probs": moved})) - middle) / step)
        smooth = abs(sides[0] - sides[1]) <= 1e-3 * max(map(abs, sides)) + 1e-6
        gradient[index] = np.mean(sides) if smooth else np.nan
    return gradient


def _difference(ours: Answer, theirs: Answer, rtol: float) -> str:
    """What is different, or ""."""
    if not np.isclose(theirs.loss, ours.loss, rtol=rtol, atol=1e-9):
        return f"your loss is {theirs.loss:.8g}, the recipe's {ours.loss:.8g}"
    if theirs.gradient is None or ours.gradient is None:
        return ""
    known = ~np.isnan(theirs.gradient) if theirs.numerical else np.ones(theirs.gradient.shape, dtype=bool)
    scale = np.abs(ours.gradient).max(initial=1e-6)
    apart = np.where(known, np.abs(theirs.gradient - ours.gradient), 0.0)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[worst] <= (max(rtol, 1e-4) if theirs.numerical else rtol) * scale:
        return ""
    place = [int(i) for i in worst]
    return (
        f"the loss agrees, the gradient does not: at {place} yours is {theirs.gradient[worst]:.8g},"
        f" the recipe's {ours.gradient[worst]:.8g}"
    )


# ---- what it computes instead ----------------------------------------------------------------------


PADDING = "the padding holds zeros: it reads the padding"


def _matches(
    recipe: Recipe, made: list[Batch], theirs: list[Answer], rtol: float, max_length: int | None
) -> tuple[str, ...]:
    """What would have to be different for all batches to agree; if nothing, for those with clean padding."""
    if _reads_padding(recipe, made, theirs, rtol, max_length):
        return (PADDING,)
    if found := _changes(recipe, made, theirs, rtol, max_length):
        return found
    clean = [(batch, answer) for batch, answer in zip(made, theirs, strict=True) if batch.clean]
    if not clean or len(clean) == len(made):
        return ()
    some, answers = map(list, zip(*clean, strict=True))
    return tuple(f"{text}, and {PADDING}" for text in _changes(recipe, some, answers, rtol, max_length))


def _changes(
    recipe: Recipe, made: list[Batch], theirs: list[Answer], rtol: float, max_length: int | None
) -> tuple[str, ...]:
    """The changes of the recipe with which all batches agree, the single ones first, else pairs."""
    factor = _factor(recipe, made, theirs, max_length)
    if factor is not None:
        return (f"it is multiplied by {1.0 / factor:.6g}",)
    changes = list(slips(recipe))
    for size in (1, 2):
        found = []
        for chosen in itertools.combinations(changes, size):
            changed = replace(recipe, **{name: part for _, parts in chosen for name, part in parts.items()})
            if all(
                not _difference(_reference(changed, batch, max_length or _padded(batch)), answer, rtol)
                for batch, answer in zip(made, theirs, strict=True)
            ):
                found.append(" and ".join(text for text, _ in chosen))
        if found:
            return tuple(found)
    return ()


def _reads_padding(
    recipe: Recipe, made: list[Batch], theirs: list[Answer], rtol: float, max_length: int | None
) -> bool:
    """Whether it agrees wherever the padding is harmless."""
    clean = [(batch, answer) for batch, answer in zip(made, theirs, strict=True) if batch.clean]
    return bool(clean) and not any(
        _difference(_reference(recipe, batch, max_length), answer, rtol) for batch, answer in clean
    )


def _padded(batch: Batch) -> int:
    return int(batch.mask.shape[-1])


def _factor(recipe: Recipe, made: list[Batch], theirs: list[Answer], max_length: int | None) -> float | None:
    """By what number the loss is too large, if it is the same one everywhere."""
    pairs = [
        (answer.loss, _reference(recipe, batch, max_length).loss)
        for batch, answer in zip(made, theirs, strict=True)
    ]
    ratios = [yours / ours for yours, ours in pairs if abs(ours) > 1e-6]
    if not ratios or not np.isfinite(ratios).all() or not np.allclose(ratios, ratios[0], rtol=1e-6):
        return None
    return None if np.isclose(ratios[0], 1.0) or np.isclose(ratios[0], 0.0) else float(ratios[0])
