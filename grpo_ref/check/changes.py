"""List the mistakes that a loss function may have: in the recipe, in its arrays, or a missing detach.

Each mistake is a `Change`, which maps (recipe, batch) to another (recipe, batch). If a function has the
mistake, then its result on a batch is the result of the changed recipe on the changed batch.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Array, Floats
from grpo_ref.check.batches import Trial
from grpo_ref.check.mistakes.recipes import mistakes
from grpo_ref.recipes import Recipe, slot

Apply = Callable[[Recipe, Trial], tuple[Recipe, Trial]]


@dataclass(frozen=True)
class Change:
    """One mistake, or several.

    Attributes:
      condition: description of the mistake, worded to follow "your loss matches if".
      apply: (recipe, batch) -> (recipe, batch) whose result a function with the mistake returns.
      touches: names of what is changed. Two changes of the same thing are not combined.
      differentiated: true if the gradient is the derivative of the value, with nothing detached.
      factor: factor on loss and gradient.
    """

    condition: str
    apply: Apply
    touches: frozenset[str]
    differentiated: bool = False
    factor: float = 1.0

    def and_then(self, other: "Change") -> "Change":
        """Return the change that applies this mistake and then the other one."""

        def both(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
            return other.apply(*self.apply(recipe, trial))

        return Change(f"{self.condition} and {other.condition}", both, self.touches | other.touches)


def unchanged(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
    """Return recipe and batch as they are: no mistake."""
    return recipe, trial


def changes(recipe: Recipe, *, rewards: bool) -> Iterator[Change]:
    """Generate all known changes, those of the recipe first.

    Args:
      recipe: the recipe that the function should compute.
      rewards: true if the function computes the advantages from rewards.
    """
    for mistake in mistakes(recipe):
        yield of_recipe(mistake.condition, mistake.parts)
    yield Change(
        "a detach is missing: the gradient flows through what should be constant",
        unchanged,
        frozenset({"gradient"}),
        differentiated=True,
    )
    yield from _exchanged(recipe)
    for text, wrong in MASKS.items():
        yield of_batch(text, "mask", partial(_masked, wrong=wrong))
    yield from masked_above()
    yield from _made_of_rewards(recipe) if rewards else _normalized_again()


def of_recipe(condition: str, parts: dict[str, Any]) -> Change:
    """Return the change that replaces parts of the recipe."""

    def apply(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
        return replace(recipe, **parts), trial

    return Change(condition, apply, frozenset(parts))


def of_batch(condition: str, touches: str, change: Callable[[Trial], dict[str, Any]]) -> Change:
    """Return the change that replaces arrays of the batch."""

    def apply(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
        with np.errstate(all="ignore"):
            return recipe, replace(trial, **change(trial))

    return Change(condition, apply, frozenset({touches}))


# ---- one array for another -----------------------------------------------------------------------


def _exchanged(recipe: Recipe) -> Iterator[Change]:
    """Generate changes that use the wrong log-probabilities, and the one with the wrong sign."""
    old = {
        "the ratio is identically 1: the old log-probabilities are the policy's own": "log_probs",
        "the ratio is to the reference policy": "ref_log_probs",
        "the ratio is to the sampler": "rollout_log_probs",
    }
    for text, name in old.items():
        yield of_batch(text, "old_log_probs", partial(_exchange, old_log_probs=name))
    if recipe.kl_coef:
        ref = {
            "the KL penalty is to the old policy, not to the reference": "old_log_probs",
            "the KL penalty is to the sampler, not to the reference": "rollout_log_probs",
        }
        for text, name in ref.items():
            yield of_batch(text, "ref_log_probs", partial(_exchange, ref_log_probs=name))
    yield of_batch(
        "the advantages have the wrong sign", "sign", lambda trial: {"advantages": -trial.advantages}
    )


def _exchange(trial: Trial, **names: str) -> dict[str, Any]:
    """Return, for each array named by a keyword, the array that is used instead."""
    return {name: getattr(trial, other) for name, other in names.items()}


# ---- masks that are off by one -------------------------------------------------------------------


def without_first(mask: Floats) -> Floats:
    """Return a mask (N, T) without the first position."""
    return np.concatenate([np.zeros_like(mask[:, :1]), mask[:, 1:]], axis=1)


def without_last(mask: Floats) -> Floats:
    """Return a mask (N, T) without the last token of each completion."""
    left = np.flip(np.cumsum(np.flip(mask, 1), axis=1), 1)  # tokens from this position to the end
    return np.where((mask > 0) & (left > 1), mask, 0.0)


def without_last_place(mask: Floats) -> Floats:
    """Return a mask (N, T) without the last position."""
    return np.concatenate([mask[:, :-1], np.zeros_like(mask[:, :1])], axis=1)


def earlier(mask: Floats) -> Floats:
    """Return the mask (N, T), one position too early."""
    return np.concatenate([mask[:, 1:], np.zeros_like(mask[:, :1])], axis=1)


def later(mask: Floats) -> Floats:
    """Return the mask (N, T), one position too late."""
    return np.concatenate([np.zeros_like(mask[:, :1]), mask[:, :-1]], axis=1)


def one_more(mask: Floats) -> Floats:
    """Return the mask (N, T) with the position after each token."""
    more: Floats = np.maximum(mask, later(mask))
    return more


def followed(mask: Floats) -> Floats:
    """Return the mask (N, T) without tokens that are followed by padding or a hole."""
    return mask * earlier(mask)


def preceded(mask: Floats) -> Floats:
    """Return the mask (N, T) without tokens that follow padding or a hole."""
    return mask * later(mask)


def one_more_by_length(mask: Floats) -> Floats:
    """Return a mask (N, T) of the first n + 1 positions, for a completion of n tokens."""
    places = np.arange(mask.shape[1])
    more: Floats = (places <= mask.sum(1, keepdims=True)).astype(float)
    return more


def one_less_by_length(mask: Floats) -> Floats:
    """Return a mask (N, T) of the first n - 1 positions, for a completion of n tokens."""
    places = np.arange(mask.shape[1])
    less: Floats = (places < mask.sum(1, keepdims=True) - 1).astype(float)
    return less


def around(mask: Floats) -> Floats:
    """Return the mask (N, T) rolled to the right: the last position comes first."""
    return np.roll(mask, 1, axis=1)


def back_around(mask: Floats) -> Floats:
    """Return the mask (N, T) rolled to the left: the first position comes last."""
    return np.roll(mask, -1, axis=1)


MASKS: dict[str, Callable[[Floats], Floats]] = {
    "the mask is off by one: the first token does not count": without_first,
    "the mask is off by one: the last token of each completion does not count": without_last,
    "the mask is off by one: the last position does not count": without_last_place,
    "the mask is off by one: a token before padding or a hole does not count": followed,
    "the mask is off by one: a token after padding or a hole does not count": preceded,
    "the mask is off by one: it is one position too early": earlier,
    "the mask is off by one: it is one position too late": later,
    "the mask is off by one: the position after each token counts too": one_more,
    "the mask is off by one: each completion is taken to be one token longer": one_more_by_length,
    "the mask is off by one: each completion is taken to be one token shorter": one_less_by_length,
    "the mask is off by one: it is rolled to the right": around,
    "the mask is off by one: it is rolled to the left": back_around,
}


def _masked(trial: Trial, wrong: Callable[[Floats], Floats]) -> dict[str, Any]:
    """Return the wrong mask in place of the batch's."""
    return {"mask": wrong(trial.mask)}


def masked_above() -> Iterator[Change]:
    """Generate changes with a wrong mask in the numerator of the average only.

    The denominator still counts the tokens of the right mask, so the right recipe gives the weights.
    """
    for text, shifted in MASKS.items():

        def apply(
            recipe: Recipe, trial: Trial, shifted: Callable[[Floats], Floats] = shifted
        ) -> tuple[Recipe, Trial]:
            mask = shifted(trial.mask)
            weights = weights_of_rows(recipe, trial) * mask
            return replace(recipe, aggregate=slot(given_weights, weights=weights)), replace(trial, mask=mask)

        yield Change(f"{text}, and the denominator is right", apply, frozenset({"mask", "aggregate"}))


def weights_of_rows(recipe: Recipe, trial: Trial) -> Floats:
    """Return (N, 1) the weight of a token of each completion.

    An empty completion has no token to read the weight from. It gets the largest weight of the batch, because
    a wrong mask may give it tokens.
    """
    weights = np.asarray(recipe.weights(trial.mask[None]))[0].max(axis=1, keepdims=True)
    largest: Floats = np.where(weights > 0, weights, weights.max())
    return largest


def given_weights(mask: Array, *, weights: Array) -> Array:
    """Return given weights, as an aggregation does.

    Args:
      mask: (1, N, T); only its shape is used.
      weights: (N, T).
    """
    return weights.reshape(mask.shape)


# ---- advantages ----------------------------------------------------------------------------------

EPSILONS = (0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1)
SCOPES = {"of the group": (True, True), "of the batch": (False, False)}
"""Scope of the statistics -> (true if the mean is the group's, true if the std is the group's)."""
FORMS: dict[str, Callable[[Floats, float], Floats]] = {
    "std + {}": lambda std, eps: std + eps,
    "sqrt(var + {})": lambda std, eps: np.sqrt(std**2 + eps),
    "max(std, {})": lambda std, eps: np.maximum(std, eps),
}


def _standardized(rewards: Floats, ddof: int, eps: float, form: str, scope: tuple[bool, bool]) -> Floats:
    """Return (N,) standardized rewards: (P, G) rewards minus a mean, divided by a standard deviation."""
    mean_axis, std_axis = (-1 if by_group else None for by_group in scope)
    std = rewards.std(axis=std_axis, ddof=ddof, keepdims=True)
    advantages: Floats = (rewards - rewards.mean(axis=mean_axis, keepdims=True)) / FORMS[form](std, eps)
    return advantages.reshape(-1)


def _normalized_again() -> Iterator[Change]:
    """Generate changes that standardize or center the given advantages again."""
    for (whose, scope), ddof, eps in itertools.product(SCOPES.items(), (0, 1), EPSILONS):

        def change(
            trial: Trial, ddof: int = ddof, eps: float = eps, scope: tuple[bool, bool] = scope
        ) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": _standardized(given, ddof, eps, "std + {}", scope)}

        text = f"the advantages are normalized twice: once more by mean and std {whose}"
        yield of_batch(f"{text} (ddof={ddof}, eps={eps:g})", "advantages", change)
    for whose, (by_group, _) in SCOPES.items():

        def centre(trial: Trial, axis: int | None = -1 if by_group else None) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": (given - given.mean(axis=axis, keepdims=True)).reshape(-1)}

        yield of_batch(f"the mean {whose} is subtracted from the advantages once more", "advantages", centre)


def _made_of_rewards(recipe: Recipe) -> Iterator[Change]:
    """Generate the common ways of computing advantages from rewards."""
    scopes = SCOPES | {"of the batch, and the mean of the group": (True, False)}
    for (whose, scope), form, ddof, eps in itertools.product(scopes.items(), FORMS, (0, 1), EPSILONS):

        def change(
            trial: Trial,
            ddof: int = ddof,
            eps: float = eps,
            form: str = form,
            scope: tuple[bool, bool] = scope,
        ) -> dict[str, Any]:
            return {"advantages": _standardized(_groups(trial), ddof, eps, form, scope)}

        text = f"the advantages are divided by {form.format(f'{eps:g}')}, ddof={ddof}, {whose}"
        yield of_batch(f"{text} (expected {recipe.advantage})", "advantages", change)
    plain: dict[str, Callable[[Floats], Floats]] = {
        "the advantages are only centered, not divided by a std": lambda r: r - r.mean(-1, keepdims=True),
        "the advantages are the rewards themselves": lambda r: r,
        "the mean subtracted from the rewards is the batch's, not the group's": lambda r: r - r.mean(),
        "the baseline is the mean of the other completions (RLOO)": lambda r: (
            (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)
        ),
    }
    for text, made in plain.items():

        def with_plain(trial: Trial, made: Callable[[Floats], Floats] = made) -> dict[str, Any]:
            return {"advantages": made(_groups(trial)).reshape(-1)}

        yield of_batch(text, "advantages", with_plain)


def _groups(trial: Trial) -> Floats:
    """Return the rewards (P, G), or zeros if the batch has none."""
    rewards = np.zeros_like(trial.advantages) if trial.rewards is None else trial.rewards
    return rewards.reshape(-1, trial.group_size)
