"""Check the arguments of the loss: types and shapes always, values on request."""

from typing import Any

from grpo_ref.arrays import BATCH, Array, array_namespace, check_same_shape, is_set, where_mask
from grpo_ref.listing import unknown
from grpo_ref.recipes import RECIPES, Recipe
from grpo_ref.types import Batch, Term

LARGEST_LOGIT = 100.0
"""The largest logits of language models. They decide how far rounding can lift a log-probability above 0."""


# ---- kinds and shapes ------------------------------------------------------------------------------


def recipe_of(recipe: object) -> Recipe:
    """Return the recipe; a name is looked up in `RECIPES`.

    Raises:
      ValueError: if no recipe has this name.
      TypeError: if the argument is neither a recipe nor a name.
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        if recipe not in RECIPES:
            raise ValueError(f"recipe: {unknown('recipe', recipe, RECIPES)}")
        return RECIPES[recipe]
    raise TypeError(
        f"recipe: expected a Recipe or a name, got {_kind(recipe)}; use RECIPES['grpo'], or change one with"
        " dataclasses.replace(GRPO, ...)"
    )


def check_reference(recipe: Recipe, ref_log_probs: Array | None) -> None:
    """Raise a ValueError if the recipe has a penalty and no reference was given."""
    to_teacher = "teacher_log_probs" in recipe.penalty.reads
    if ref_log_probs is None and recipe.kl_coef != 0.0 and not to_teacher:
        raise ValueError(
            f"ref_log_probs: this recipe has kl_coef={recipe.kl_coef} and needs a reference policy"
        )


def check_teacher(recipe: Recipe, teacher_log_probs: Array | None) -> None:
    """Raise a ValueError if the recipe distills from a teacher and the teacher's numbers are missing."""
    if teacher_log_probs is None and recipe.needs_teacher:
        raise ValueError(
            "teacher_log_probs: this recipe distills from a teacher and needs the teacher's log-probabilities"
            " of the sampled tokens"
        )


def check_arrays(**arrays: object) -> None:
    """Raise a TypeError with the arguments' names unless all are arrays, and of one library."""
    libraries: dict[str, list[str]] = {}
    for name, array in arrays.items():
        if not (hasattr(array, "shape") and hasattr(array, "dtype")):
            remedy = f"; use numpy.asarray({name})" if isinstance(array, list | tuple) else ""
            raise TypeError(f"{name}: expected an array, got {_kind(array)}{remedy}")
        library = array_namespace(array).__name__.removeprefix("array_api_compat.")
        libraries.setdefault(library, []).append(name)
    if len(libraries) > 1:
        found = " and ".join(f"{library} ({', '.join(names)})" for library, names in libraries.items())
        raise TypeError(f"expected arrays of one library, got {found}")


def check_shapes(log_probs: Array, advantages: Array, optional: dict[str, Array], **alike: Array) -> None:
    """Raise a ValueError with names and shapes unless all shapes fit together.

    Args:
      log_probs: (..., P, G, T); it decides the shapes of the other arrays.
      advantages: (..., P, G), or (..., P, G, T).
      optional: entropies, noise and teacher_log_probs (..., P, G, T), top_log_probs and top_rollout_log_probs
        (..., P, G, T, K).
      alike: further arrays of the shape of log_probs, by name.
    """
    check_same_shape(log_probs=log_probs, **alike)
    shape = tuple(log_probs.shape)
    if len(shape) < len(BATCH):
        raise ValueError(f"log_probs: expected (..., prompts, group, tokens), got shape {shape}")
    if tuple(advantages.shape) not in (shape[:-1], shape):
        raise ValueError(
            f"advantages: expected {shape[:-1]}, one per completion, or {shape}, one per token,"
            f" got shape {tuple(advantages.shape)}"
        )
    for name, array in optional.items():
        expected = (*shape, *array.shape[-1:]) if name.startswith("top_") else shape
        if tuple(array.shape) != expected:
            wanted = f"({', '.join(map(str, shape))}, K)" if name.startswith("top_") else f"{shape}"
            raise ValueError(f"{name}: expected shape {wanted}, got {tuple(array.shape)}")
    check_same_shape(**{name: array for name, array in optional.items() if name.startswith("top_")})


def check_term(slot: str, part: object, term: object) -> None:
    """Raise a TypeError unless a part of the recipe has returned a `Term`."""
    if not isinstance(term, Term):
        raise TypeError(
            f"{slot} {part}: expected a Term, got {_kind(term)}; return Term(value, slope=...) with the"
            " derivative with respect to log_ratio, or Term(value, direct=...) with respect to log_probs"
        )


def _kind(given: object) -> str:
    """Describe an argument: a list, an array of shape (2, 3), None."""
    if given is None:
        return "None"
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return f"an array of shape {tuple(given.shape)}"
    name = type(given).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


# ---- values, on request ----------------------------------------------------------------------------


def check_values(batch: Batch, mask: Array) -> None:
    """Raise a ValueError with the name and index of the first impossible value.

    Only completion tokens (mask 1) are checked. In `rollout_log_probs`, NaN is allowed: it means that the
    sampler reported nothing.

    Args:
      batch: as `batch_of` returns it.
      mask: (..., P, G, T) as the user gave it.
    """
    xp = array_namespace(mask)
    as_number = xp.astype(mask, batch.mask.dtype)
    _raise_if_any("mask: expected 0 and 1", mask, (as_number != 0.0) & (as_number != 1.0))
    for name in ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs"):
        _check_log_probs(name, getattr(batch, name), batch.mask, nan=name.startswith("rollout"))
    for name in ("advantages", "entropies", "noise"):
        array = getattr(batch, name)
        if array is not None:
            array = where_mask(batch.mask, array)
            _raise_if_any(f"{name}: expected finite numbers", array, ~xp.isfinite(array))
    if batch.teacher_log_probs is not None:
        _check_log_probs("teacher_log_probs", batch.teacher_log_probs, batch.mask, nan=False)
    for name in ("top_log_probs", "top_rollout_log_probs"):
        array = getattr(batch, name)
        if array is not None:
            on_tokens = xp.broadcast_to(batch.mask[..., None], array.shape)
            _check_log_probs(name, array, on_tokens, nan=False)


def _check_log_probs(name: str, array: Array, mask: Array, *, nan: bool) -> None:
    """Raise a ValueError if a number is not the logarithm of a probability: NaN, or clearly above 0."""
    xp = array_namespace(array)
    present = is_set(mask)
    array = where_mask(present, array)
    if not nan:
        _raise_if_any(f"{name}: expected numbers", array, xp.isnan(array))
    above = array > largest_rounding(array)
    if bool(xp.any(above)) and not bool(xp.any(array < 0.0)):
        if bool(xp.all(array <= 1.0)):
            remedy = f"these look like probabilities; pass numpy.log({name})"
        else:
            remedy = "did you pass negative log-probabilities?"
        raise ValueError(
            f"{name}: expected log-probabilities, which are not above 0, got values from"
            f" {float(xp.min(xp.where(present, array, xp.inf))):g} to {float(xp.max(array)):g}; {remedy}"
        )
    _raise_if_any(f"{name}: expected log-probabilities, which are not above 0", array, above)


def largest_rounding(log_probs: Array) -> float:
    """Return how far above 0 rounding alone can lift a log-probability.

    log π = logit - logsumexp(logits) is a difference of two rounded numbers that are as large as the logits.
    So its rounding error is at most 2 ε · largest logit. Numbers in float64 were often computed in float32
    before, so ε is at least that of float32. The result is 2.4e-5 for float32 and float64, and more for half
    precision.
    """
    xp = array_namespace(log_probs)
    return 2.0 * LARGEST_LOGIT * max(float(xp.finfo(log_probs.dtype).eps), float(xp.finfo(xp.float32).eps))


def _raise_if_any(message: str, array: Array, bad: Array) -> None:
    """Raise a ValueError with the first bad value and its index, if there is one."""
    xp = array_namespace(bad)
    if bool(xp.any(bad)):
        index = tuple(int(positions[0]) for positions in xp.nonzero(bad))
        value: Any = array[index]
        raise ValueError(f"{message}, got {float(value):g} at {index}")
