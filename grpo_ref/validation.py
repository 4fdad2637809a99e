"""What is given to the loss, checked at the door: kinds and shapes always, values where that is asked for."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from grpo_ref.arrays import BATCH, Array, array_namespace, check_same_shape, is_set, where_mask
from grpo_ref.listing import nearest
from grpo_ref.recipes import RECIPES, Recipe
from grpo_ref.types import Batch, Term

OTHERS = tuple(field.name for field in fields(Batch) if field.default is None)
"""The fields of a batch that few recipes read, and that may be left out."""

ARGUMENTS = ("recipe", "validate", *(field.name for field in fields(Batch)))

LARGEST_LOGIT = 100.0
"""How large the logits of language models become; it decides how far rounding can lift a log-probability."""


# ---- kinds and shapes ------------------------------------------------------------------------------


def check_recipe(recipe: object) -> None:
    """Raise a TypeError that says how to get a recipe, unless this is one."""
    if isinstance(recipe, Recipe):
        return
    if isinstance(recipe, str):
        name = nearest(recipe, RECIPES) or "grpo"
        raise TypeError(f"recipe: expected a Recipe, got the text {recipe!r}; write RECIPES[{name!r}]")
    raise TypeError(
        f"recipe: expected a Recipe, got {_kind(recipe)}; take one, as in RECIPES['grpo'], or make one that"
        " differs from it with dataclasses.replace(GRPO, ...)"
    )


def check_others(names: Iterable[str]) -> None:
    """Raise a TypeError with the nearest argument that `policy_loss` has, if it has none of a name."""
    for name in names:
        if name not in OTHERS:
            close = nearest(name, ARGUMENTS)
            told = f"did you mean {close!r}?" if close else f"besides its own it takes {', '.join(OTHERS)}"
            raise TypeError(f"policy_loss has no argument {name!r}; {told}")


def check_reference(recipe: Recipe, ref_log_probs: Array | None) -> None:
    """Raise a ValueError if the recipe has a penalty and no reference was given."""
    if ref_log_probs is None and recipe.kl_coef != 0.0:
        raise ValueError(
            f"ref_log_probs: this recipe has kl_coef={recipe.kl_coef} and needs a reference policy"
        )


def check_arrays(**arrays: object) -> None:
    """Raise a TypeError with the arguments' names unless all are arrays, and of one library."""
    libraries: dict[str, list[str]] = {}
    for name, array in arrays.items():
        if not (hasattr(array, "shape") and hasattr(array, "dtype")):
            wrap = f"; wrap it first, as in numpy.asarray({name})" if isinstance(array, list | tuple) else ""
            raise TypeError(f"{name}: expected an array, got {_kind(array)}{wrap}")
        library = array_namespace(array).__name__.removeprefix("array_api_compat.")
        libraries.setdefault(library, []).append(name)
    if len(libraries) > 1:
        found = " and ".join(f"{library} ({', '.join(names)})" for library, names in libraries.items())
        raise TypeError(f"expected arrays of one library, got {found}")


def check_shapes(log_probs: Array, advantages: Array, others: dict[str, Array], **alike: Array) -> None:
    """Raise a ValueError with names and shapes unless every array has the shape that its meaning asks for.

    Args:
      log_probs: (..., P, G, T); the others' shapes follow from its own.
      advantages: (..., P, G), or (..., P, G, T).
      others: entropies and noise (..., P, G, T), top_log_probs and top_old_log_probs (..., P, G, T, K).
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
    for name, array in others.items():
        expected = (*shape, *array.shape[-1:]) if name.startswith("top_") else shape
        if tuple(array.shape) != expected:
            wanted = f"({', '.join(map(str, shape))}, K)" if name.startswith("top_") else f"{shape}"
            raise ValueError(f"{name}: expected shape {wanted}, got {tuple(array.shape)}")
    check_same_shape(**{name: array for name, array in others.items() if name.startswith("top_")})


def check_term(slot: str, part: object, term: object) -> None:
    """Raise a TypeError that says what a part of the recipe has to return, unless it has returned it."""
    if not isinstance(term, Term):
        raise TypeError(
            f"{slot} {part}: expected a Term, got {_kind(term)}; return Term(value, slope=...) with the"
            " derivative with respect to log_ratio, or Term(value, direct=...) with respect to log_probs"
        )


def _kind(given: object) -> str:
    """What something is, in words: a list, an array of shape (2, 3), None."""
    if given is None:
        return "None"
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return f"an array of shape {tuple(given.shape)}"
    name = type(given).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


# ---- values, if asked for --------------------------------------------------------------------------


def check_values(batch: Batch, mask: Array) -> None:
    """Raise a ValueError with the name and place of the first value that cannot be meant.

    It looks at the tokens that the mask counts and at no others. A NaN in `rollout_log_probs` is allowed: it
    says that the sampler reported nothing.

    Args:
      batch: with cleared padding, as the loss gets it.
      mask: (..., P, G, T) as the user gave it.
    """
    xp = array_namespace(mask)
    as_number = xp.astype(mask, batch.mask.dtype)
    _refuse("mask: expected 0 and 1", mask, (as_number != 0.0) & (as_number != 1.0))
    for name in ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs"):
        _check_log_probs(name, getattr(batch, name), batch.mask, nan=name.startswith("rollout"))
    for name in ("advantages", "entropies", "noise"):
        array = getattr(batch, name)
        if array is not None:
            array = where_mask(batch.mask, array)
            _refuse(f"{name}: expected finite numbers", array, ~xp.isfinite(array))
    for name in ("top_log_probs", "top_old_log_probs"):
        array = getattr(batch, name)
        if array is not None:
            _check_log_probs(name, array, batch.mask[..., None] + 0.0 * array, nan=False)


def _check_log_probs(name: str, array: Array, mask: Array, *, nan: bool) -> None:
    """Numbers that are no logarithms of probabilities: NaN, or above 0 by more than rounding can be."""
    xp = array_namespace(array)
    live = is_set(mask)
    array = where_mask(live, array)
    if not nan:
        _refuse(f"{name}: expected numbers", array, xp.isnan(array))
    above = array > largest_rounding(array)
    if bool(xp.any(above)) and not bool(xp.any(array < 0.0)):
        probable = bool(xp.all(array <= 1.0))
        raise ValueError(
            f"{name}: expected log-probabilities, which are not above 0, got values from"
            f" {float(xp.min(xp.where(live, array, xp.inf))):g} to {float(xp.max(array)):g}; "
            + ("are they probabilities? take their logarithm" if probable else "is their sign the other one?")
        )
    _refuse(f"{name}: expected log-probabilities, which are not above 0", array, above)


def largest_rounding(log_probs: Array) -> float:
    """How far above 0 rounding alone can put a log-probability.

    log π = logit - logsumexp(logits) is a difference of two numbers that are as large as the logits, each of
    them rounded: 2 ε · largest logit. Numbers in float64 were often computed in float32 before, so ε is that
    of float32 at least: the result is 2.4e-5, and more in half precision.
    """
    xp = array_namespace(log_probs)
    return 2.0 * LARGEST_LOGIT * max(float(xp.finfo(log_probs.dtype).eps), float(xp.finfo(xp.float32).eps))


def _refuse(message: str, array: Array, bad: Array) -> None:
    """Raise a ValueError with the first bad value and its place, if there is one."""
    xp = array_namespace(bad)
    if bool(xp.any(bad)):
        place = tuple(int(index[0]) for index in xp.nonzero(bad))
        value: Any = array[place]
        raise ValueError(f"{message}, got {float(value):g} at {place}")
