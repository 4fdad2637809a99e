"""What may be different about somebody else's loss: the recipe, the arrays it reads, or what it detaches.

A change turns a recipe and a batch into those whose answer the function would give, had it that mistake.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Array, Bools, Floats
from grpo_ref.check.batches import Trial
from grpo_ref.check.mistakes.slips import slips
from grpo_ref.recipes import Recipe, slot

Apply = Callable[[Recipe, Trial], tuple[Recipe, Trial]]


@dataclass(frozen=True)
class Change:
    """One mistake, or several.

    Attributes:
      condition: what would have to hold, in words, as in "your loss matches if ...".
      apply: (recipe, batch) -> (recipe, batch), those that the function computes.
      touches: what it changes; two changes of the same thing are not tried together.
      differentiated: whether the gradient is the derivative of the value, nothing being detached.
      factor: what the loss and the gradient are multiplied by.
    """

    condition: str
    apply: Apply
    touches: frozenset[str]
    differentiated: bool = False
    factor: float = 1.0

    def and_then(self, other: "Change") -> "Change":
        """Both at once."""

        def both(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
            return other.apply(*self.apply(recipe, trial))

        return Change(f"{self.condition} and {other.condition}", both, self.touches | other.touches)


def unchanged(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
    """No mistake."""
    return recipe, trial


def changes(recipe: Recipe, *, rewards: bool) -> Iterator[Change]:
    """Every change that is known, those of the recipe first.

    Args:
      recipe: what is meant.
      rewards: whether the function makes the advantages itself.
    """
    for slip in slips(recipe):
        yield of_recipe(slip.condition, slip.parts)
    yield Change(
        "a detach is missing: the gradient flows through what should be constant",
        unchanged,
        frozenset({"gradient"}),
        differentiated=True,
    )
    yield from _exchanged(recipe)
    for text, mask in MASKS.items():
        yield _masked(text, mask)
    yield from masked_above()
    yield from _made_of_rewards(recipe) if rewards else _normalized_again()


def of_recipe(condition: str, parts: dict[str, Any]) -> Change:
    """A change of a recipe's parts."""

    def apply(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
        return replace(recipe, **parts), trial

    return Change(condition, apply, frozenset(parts))


def of_batch(condition: str, touches: str, change: Callable[[Trial], dict[str, Any]]) -> Change:
    """A change of arrays."""

    def apply(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
        with np.errstate(all="ignore"):
            return recipe, replace(trial, **change(trial))

    return Change(condition, apply, frozenset({touches}))


# ---- one array for another -----------------------------------------------------------------------


def _exchanged(recipe: Recipe) -> Iterator[Change]:
    """Log-probabilities that stand where others belong."""
    old = {
        "the ratio is identically 1: the old log-probabilities are the policy's own": "log_probs",
        "the ratio is that to the reference policy": "ref_log_probs",
        "the ratio is that to the sampler": "rollout_log_probs",
    }
    for text, name in old.items():
        yield of_batch(text, "old_log_probs", partial(_exchange, old_log_probs=name))
    if recipe.kl_coef:
        ref = {
            "the KL penalty is that to the old policy, not to the reference": "old_log_probs",
            "the KL penalty is that to the sampler, not to the reference": "rollout_log_probs",
        }
        for text, name in ref.items():
            yield of_batch(text, "ref_log_probs", partial(_exchange, ref_log_probs=name))
    yield of_batch(
        "the sign of the advantages is turned over", "sign", lambda trial: {"advantages": -trial.advantages}
    )


def _exchange(trial: Trial, **names: str) -> dict[str, Any]:
    """For each array the one that stands in its place."""
    return {name: getattr(trial, other) for name, other in names.items()}


# ---- masks that are off by one -------------------------------------------------------------------


def _counted(mask: Floats) -> Bools:
    there: Bools = mask > 0
    return there


def without_first(mask: Floats) -> Floats:
    """(N, T) the first position does not count."""
    return np.concatenate([np.zeros_like(mask[:, :1]), mask[:, 1:]], axis=1)


def without_last(mask: Floats) -> Floats:
    """(N, T) the last token of every completion does not count."""
    later = np.flip(np.cumsum(np.flip(mask, 1), axis=1), 1)
    return np.where(_counted(mask) & (later > 1), mask, 0.0)


def without_last_place(mask: Floats) -> Floats:
    """(N, T) the last position does not count."""
    return np.concatenate([mask[:, :-1], np.zeros_like(mask[:, :1])], axis=1)


def earlier(mask: Floats) -> Floats:
    """(N, T) everything counts where the next token should."""
    return np.concatenate([mask[:, 1:], np.zeros_like(mask[:, :1])], axis=1)


def later(mask: Floats) -> Floats:
    """(N, T) everything counts where the token before should."""
    return np.concatenate([np.zeros_like(mask[:, :1]), mask[:, :-1]], axis=1)


def one_more(mask: Floats) -> Floats:
    """(N, T) the position after each token counts too."""
    more: Floats = np.maximum(mask, later(mask))
    return more


def followed(mask: Floats) -> Floats:
    """(N, T) a token counts only where the next position does."""
    return mask * earlier(mask)


def preceded(mask: Floats) -> Floats:
    """(N, T) a token counts only where the position before does."""
    return mask * later(mask)


def one_more_by_length(mask: Floats) -> Floats:
    """(N, T) as many positions count as the completion has tokens, and one more."""
    places = np.arange(mask.shape[1])
    more: Floats = (places <= mask.sum(1, keepdims=True)).astype(float)
    return more


def one_less_by_length(mask: Floats) -> Floats:
    """(N, T) as many positions count as the completion has tokens, less one."""
    places = np.arange(mask.shape[1])
    less: Floats = (places < mask.sum(1, keepdims=True) - 1).astype(float)
    return less


def around(mask: Floats) -> Floats:
    """(N, T) everything counts one position later, the last one first."""
    return np.roll(mask, 1, axis=1)


def back_around(mask: Floats) -> Floats:
    """(N, T) everything counts one position earlier, the first one last."""
    return np.roll(mask, -1, axis=1)


MASKS: dict[str, Callable[[Floats], Floats]] = {
    "the mask is off by one: the first token does not count": without_first,
    "the mask is off by one: the last token of each completion does not count": without_last,
    "the mask is off by one: the last position does not count": without_last_place,
    "the mask is off by one: a token before padding or a hole does not count": followed,
    "the mask is off by one: a token after padding or a hole does not count": preceded,
    "the mask is off by one: it is a position too early": earlier,
    "the mask is off by one: it is a position too late": later,
    "the mask is off by one: the position after each token counts too": one_more,
    "the mask is off by one: a completion is taken for one token longer": one_more_by_length,
    "the mask is off by one: a completion is taken for one token shorter": one_less_by_length,
    "the mask is off by one: it is rolled to the right": around,
    "the mask is off by one: it is rolled to the left": back_around,
}


def _masked(condition: str, shifted: Callable[[Floats], Floats]) -> Change:
    """A wrong mask."""
    return of_batch(condition, "mask", lambda trial: {"mask": shifted(trial.mask)})


def masked_above() -> Iterator[Change]:
    """Wrong masks above the fraction's line alone: below it the right one counts the tokens."""
    for text, shifted in MASKS.items():

        def apply(
            recipe: Recipe, trial: Trial, shifted: Callable[[Floats], Floats] = shifted
        ) -> tuple[Recipe, Trial]:
            mask = shifted(trial.mask)
            weights = weights_of_rows(recipe, trial) * mask
            return replace(recipe, aggregate=slot(given_weights, weights=weights)), replace(trial, mask=mask)

        yield Change(f"{text}, and the denominator is right", apply, frozenset({"mask", "aggregate"}))


def weights_of_rows(recipe: Recipe, trial: Trial) -> Floats:
    """(N, 1) what a token of each completion counts; of an empty one, the most of any."""
    weights = np.asarray(recipe.weights(trial.mask[None]))[0].max(axis=1, keepdims=True)
    largest: Floats = np.where(weights > 0, weights, weights.max())
    return largest


def given_weights(mask: Array, *, weights: Array) -> Array:
    """Weights that are known already.

    Args:
      mask: (1, N, T) only its shape is used.
      weights: (N, T).
    """
    return weights.reshape(mask.shape)


# ---- advantages ----------------------------------------------------------------------------------

EPSILONS = (0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1)
SCOPES = {"of the group": (True, True), "of the batch": (False, False)}
"""Whose mean and std are taken -> whether they are the group's."""
FORMS: dict[str, Callable[[Floats, float], Floats]] = {
    "std + {}": lambda std, eps: std + eps,
    "sqrt(var + {})": lambda std, eps: np.sqrt(std**2 + eps),
    "max(std, {})": lambda std, eps: np.maximum(std, eps),
}


def _standardized(rewards: Floats, ddof: int, eps: float, form: str, scope: tuple[bool, bool]) -> Floats:
    """(N,) the rewards (P, G), less a mean and divided by a std, as plainly as can be."""
    by_group, std_by_group = (-1 if each else None for each in scope)
    std = rewards.std(axis=std_by_group, ddof=ddof, keepdims=True)
    advantages: Floats = (rewards - rewards.mean(axis=by_group, keepdims=True)) / FORMS[form](std, eps)
    return advantages.reshape(-1)


def _normalized_again() -> Iterator[Change]:
    """The advantages that are given are standardized once more."""
    for (whose, scope), ddof, eps in itertools.product(SCOPES.items(), (0, 1), EPSILONS):

        def change(
            trial: Trial, ddof: int = ddof, eps: float = eps, scope: tuple[bool, bool] = scope
        ) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": _standardized(given, ddof, eps, "std + {}", scope)}

        text = f"the advantages are normalised twice: once more by mean and std {whose}"
        yield of_batch(f"{text} (ddof={ddof}, eps={eps:g})", "advantages", change)
    for whose, (by_group, _) in SCOPES.items():

        def centre(trial: Trial, axis: int | None = -1 if by_group else None) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": (given - given.mean(axis=axis, keepdims=True)).reshape(-1)}

        yield of_batch(f"the mean {whose} is taken off the advantages once more", "advantages", centre)


def _made_of_rewards(recipe: Recipe) -> Iterator[Change]:
    """The ways in which advantages are made of rewards."""
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
        yield of_batch(f"{text} ({_meant(recipe)})", "advantages", change)
    plain: dict[str, Callable[[Floats], Floats]] = {
        "the advantages are only centred, not divided by a std": lambda r: r - r.mean(-1, keepdims=True),
        "the advantages are the rewards themselves": lambda r: r,
        "the advantages are centred on the batch, not on the group": lambda r: r - r.mean(),
        "the baseline is the mean of the others (RLOO)": lambda r: (
            (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)
        ),
    }
    for text, made in plain.items():

        def with_plain(trial: Trial, made: Callable[[Floats], Floats] = made) -> dict[str, Any]:
            return {"advantages": made(_groups(trial)).reshape(-1)}

        yield of_batch(text, "advantages", with_plain)


def _groups(trial: Trial) -> Floats:
    """(P, G) the rewards."""
    rewards = np.zeros_like(trial.advantages) if trial.rewards is None else trial.rewards
    return rewards.reshape(-1, trial.group_size)


def _meant(recipe: Recipe) -> str:
    return f"meant is {recipe.advantage}"
