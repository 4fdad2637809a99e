"""The fields of the sampled tokens that a loss needs beside the logits, as rows and as (P, G, T)."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Floats, Integers, array_namespace, is_set
from grpo_ref.levels import token_level
from grpo_ref.loss import PolicyLoss, batch_of, differentiate, policy_loss
from grpo_ref.recipes import Recipe
from grpo_ref.validation import check_reference, check_teacher


@dataclass(frozen=True)
class Tokens:
    """The arguments of `policy_loss` other than the log-probabilities.

    Attributes:
      shape: (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      recipe, max_length, metrics: as in `policy_loss`.
      fields: the other arrays by name, (P, G, T) each: advantages, old_log_probs, ...
      losses: the losses of the blocks of rows whose slopes were computed.
    """

    shape: tuple[int, ...]
    mask: NDArray[Any]
    recipe: Recipe
    max_length: int | None
    metrics: Collection[str] | None
    fields: dict[str, Any]
    losses: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        tokens: Integers,
        advantages: Floats,
        mask: NDArray[Any],
        others: dict[str, Floats | None],
        *,
        recipe: Recipe,
        **settings: Any,
    ) -> "Tokens":
        """Check the arrays and reshape them to (P, G, T); N completions become one group."""
        check_reference(recipe, others.get("ref_log_probs"))
        check_teacher(recipe, others.get("teacher_log_probs"))
        if tokens.ndim not in (2, 3):
            raise ValueError(f"tokens: expected (N, T) or (P, G, T), got shape {tokens.shape}")
        xp = array_namespace(mask)
        shape = (1,) * (3 - tokens.ndim) + tokens.shape
        if advantages.shape == tokens.shape[:-1]:
            advantages = xp.broadcast_to(advantages[..., None], tokens.shape)
        given = {name: array for name, array in others.items() if array is not None}
        fields = {"advantages": advantages, **given}
        for name, array in fields.items():
            if array.shape[: tokens.ndim] != tokens.shape:
                raise ValueError(f"{name}: expected shape {tokens.shape}, got {array.shape}")
            fields[name] = array.reshape(*shape, *array.shape[tokens.ndim :])
        grouped = xp.astype(is_set(mask), xp.float64).reshape(shape)
        return cls(shape=shape, mask=grouped, recipe=recipe, fields=fields, **settings)

    @cached_property
    def weights(self) -> Floats:
        """(rows,) the weights that the recipe's aggregation gives the tokens."""
        weights: Floats = self.recipe.weights(self.mask, max_length=self.max_length).reshape(-1)
        return weights

    def prepare(self) -> None:
        """Compute what the slopes of every block of rows read."""
        _ = self.weights  # a cached property

    def loss(self, log_probs: Floats) -> PolicyLoss:
        """Return loss, gradient and metrics of all tokens; without metrics, the sum of the known losses."""
        if self.losses and not (self.metrics is None or self.metrics):
            return PolicyLoss(np.float64(sum(sorted(self.losses))), np.empty(0), {})
        return policy_loss(
            log_probs.reshape(self.shape),
            mask=self.mask,
            recipe=self.recipe,
            max_length=self.max_length,
            metrics=self.metrics,
            **self.fields,
        )

    def require_fields(self) -> None:
        """Raise a ValueError if a field is missing or unknown, by computing the loss of one padding token."""
        fields = {name: array[:1, :1, :1] for name, array in self.fields.items()}
        nothing = np.zeros((1, 1, 1))
        policy_loss(
            nothing,
            mask=nothing,
            recipe=self.recipe,
            max_length=self.max_length,
            metrics=self.metrics,
            **fields,
        )

    def slopes(self, log_probs: Floats, rows: slice) -> Floats:
        """Return the gradient with respect to some tokens' log-probabilities, and record their loss.

        The recipe must be local.
        """
        # The aggregation needs all tokens of the batch, so its weights are computed once and sliced here.
        weights = self.weights[None, None, rows]
        part = {
            name: array.reshape(-1, *array.shape[3:])[None, None, rows] for name, array in self.fields.items()
        }
        mask = self.mask.reshape(-1)[None, None, rows]
        some = batch_of(log_probs[None, None, rows], mask=mask, **part)
        result = differentiate(some, self.recipe, measures_penalty=False, weights=weights)
        self.losses.append(float(result.losses.sum()))
        gradient: Floats = result.gradient[0, 0]
        return gradient


def is_local(recipe: Recipe) -> bool:
    """Return whether a token's slope depends on that token alone, given the aggregation's weights."""
    slots = (
        recipe.surrogate,
        recipe.penalty,
        *recipe.corrections,
        *([recipe.distill] if recipe.distill else []),
    )
    alone = recipe.level is token_level and not any({"mask", "max_length"} & {*part.reads} for part in slots)
    one_average = recipe.penalty_aggregate is None and "correction" not in recipe.aggregate.reads
    return alone and one_average
