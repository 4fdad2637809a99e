"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.

    GRPO    = Recipe(advantage=..., level=..., surrogate=..., penalty=..., kl_coef=..., aggregate=..., ...)
    DR_GRPO = replace(GRPO, advantage=slot(group_centered), aggregate=slot(fixed_length), kl_coef=0.0)

A part is a kernel with its settings, `slot(kernel, setting=value)`. A kernel's positional parameters name the
fields that it reads from the batch, and its keyword-only parameters are the settings. So a part can be called
with any record that has these fields. It can be printed, compared and pickled, and a new part needs no other
code.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating
from grpo_ref.filters import all_completions


@dataclass(frozen=True)
class Slot:
    """A kernel with its settings, to be called with one record instead of many arrays.

    A part is stored as a `Slot`, except the level, which is a plain function.

    >>> import numpy as np
    >>> from grpo_ref import group_normalized
    >>> part = slot(group_normalized, ddof=0, eps=0.0)
    >>> part(rewards=np.array([[1.0, 0.0]]))
    array([[ 1., -1.]])
    >>> print(part)
    group_normalized(ddof=0, eps=0.0)
    """

    kernel: Callable[..., Any]
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, record: Any = None, /, **fields: Any) -> Any:
        """Call the kernel with the fields that its positional parameters name.

        Args:
          record: an object with these fields as attributes, such as a `Batch`; it may have others.
          fields: the fields by name, in place of a record.

        Raises:
          ValueError: if a field that the kernel reads is missing or None.
          TypeError: if the record is an array.
        """
        record = SimpleNamespace(**fields) if record is None else record
        return self.kernel(*(self._input(record, name) for name in self.reads), **self.settings)

    @property
    def reads(self) -> tuple[str, ...]:
        """The record's fields that the kernel reads."""
        return _parameters(self.kernel, keyword_only=False)

    def _input(self, record: Any, name: str) -> Any:
        value = getattr(record, name, None)
        if value is not None:
            return value
        kernel = self.kernel.__name__
        if hasattr(record, "dtype"):
            raise TypeError(
                f"Expected a record or keyword arguments, got an array of shape {tuple(record.shape)}."
                f" Call the part with {name}=..., or the kernel itself as {kernel}({name})."
            )
        raise ValueError(f"{kernel} needs `{name}`, but none was given")

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={_plain(value)}" for name, value in self.settings.items())
        return f"{self.kernel.__name__}({settings})" if settings else self.kernel.__name__

    def __repr__(self) -> str:
        settings = "".join(f", {name}={_plain(value)}" for name, value in self.settings.items())
        return f"slot({self.kernel.__name__}{settings})"


def slot(kernel: Callable[..., Any], **settings: Any) -> Slot:
    """A kernel and its settings as a part of a recipe.

    Raises:
      ValueError: if the kernel has no setting of that name.
    """
    known = _parameters(kernel, keyword_only=True)
    for name in settings:
        if name not in known:
            raise ValueError(
                f"{kernel.__name__} has no setting {name!r}; it has {', '.join(known) or 'none'}"
            )
    return Slot(kernel, settings)


@cache
def _parameters(kernel: Callable[..., Any], *, keyword_only: bool) -> tuple[str, ...]:
    parameters = inspect.signature(kernel).parameters.values()
    return tuple(p.name for p in parameters if (p.kind is p.KEYWORD_ONLY) == keyword_only)


def _check_part(name: str, kind: Any, part: Any) -> None:
    """Raise a TypeError if a kernel is passed where a slot is expected, or a slot in place of a function."""
    if kind in (Slot, Slot | None) and not isinstance(part, kind):
        call = f"slot({part.__name__}, ...)" if callable(part) else "slot(kernel, ...)"
        raise TypeError(f"{name}: expected a kernel with its settings, {call}, got {_plain(part)}")
    if name == "level" and isinstance(part, Slot):
        raise TypeError(f"level: expected the function itself, {part.kernel.__name__}, got a slot")


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    return str(getattr(value, "__name__", value))


@dataclass(frozen=True)
class Recipe:
    """One algorithm as a table of parts, from the verifier's reward to the gradient.

    Attributes:
      reward: the shaping of the reward, (P, G) -> (P, G).
      keep: filter of groups, (P, G) rewards before shaping -> (P,) bool, True for the groups that take part.
        Training resamples the other groups.
      advantage: rewards (P, G) -> advantages (P, G), or (P, G, T).
      level: one ratio per token, or one per completion, (log_ratio, mask) -> log_ratio. It is a plain
        function and not a slot, because the loss also calls it in the backward pass, with other arrays.
      surrogate: the contribution of each token, to be maximized, -> Term.
      penalty: the estimate of the KL to the reference, -> Term.
      kl_coef: weight of the penalty. At 0 no reference is needed. A negative weight rewards the distance,
        which some trainers allow.
      aggregate: the weight of each token, mask -> W.
      source: the paper that the recipe follows.
      admit: filter of completions, -> (P, G) bool, or of tokens, -> (P, G, T) bool, True for those that take
        part. The other completions or tokens are masked out of the loss, and not resampled.
      corrections: constant weights on the surrogate, each -> (P, G, T); their product is used. A surrogate
        that reads `correction` applies it itself.
      log_ratio_limits: lower and upper limit of the log-ratio after the level, in nats; the slope is 0
        outside.
      penalty_aggregate: the weight of each token in the penalty; default: that of `aggregate`.
      distill: the share of a teacher in the advantages (on-policy distillation), -> (P, G, T) the advantages
        that the surrogate reads. Default: there is no teacher.
    """

    reward: Slot
    keep: Slot
    advantage: Slot
    level: Callable[[Array, Array], Array]
    surrogate: Slot
    penalty: Slot
    kl_coef: float
    aggregate: Slot
    source: str
    admit: Slot = Slot(all_completions)
    corrections: tuple[Slot, ...] = ()
    log_ratio_limits: tuple[float, float] = (-math.inf, math.inf)
    penalty_aggregate: Slot | None = None
    distill: Slot | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            _check_part(part.name, part.type, getattr(self, part.name))
        if math.isnan(self.kl_coef):
            raise ValueError(f"kl_coef: expected a number, got {self.kl_coef}")

    def __str__(self) -> str:
        return "\n".join(f"{name:10} {text}" for name, text in self.parts().items())

    def __repr__(self) -> str:
        return "Recipe(" + ", ".join(f"{name}={text}" for name, text in self.parts().items()) + ")"

    @property
    def reads(self) -> set[str]:
        """The fields that any of its parts reads."""
        parts = (self.reward, self.keep, self.admit, self.advantage, self.surrogate, self.aggregate)
        optional = [part for part in (self.penalty_aggregate, self.distill) if part is not None]
        slots = (*parts, self.penalty, *optional, *self.corrections)
        return {name for part in slots for name in part.reads}

    @property
    def needs_teacher(self) -> bool:
        """True if the loss reads the log-probabilities of a teacher, as an advantage or as a penalty."""
        return self.distill is not None or (self.kl_coef != 0.0 and "teacher_log_probs" in self.penalty.reads)

    def weights(
        self, mask: Array, *, max_length: int | None = None, correction: Array | None = None
    ) -> Array:
        """Return the aggregation's weights W.

        They are not multiplied by the corrections; `correction` matters only to an aggregation that reads it
        (`kept_token_mean`).

        Args:
          mask: (..., P, G, T) 1 on completion tokens.
          max_length: the generation budget in tokens; default T.
          correction: (..., P, G, T) the product of the corrections; default 1 everywhere.

        Returns:
          (..., P, G, T) weights, 0 on padding.

        >>> import numpy as np
        >>> from grpo_ref import GRPO
        >>> GRPO.weights(np.array([[[1, 1], [1, 0]]]))
        array([[[0.25, 0.25],
                [0.5 , 0.  ]]])
        """
        mask = as_floating(mask)
        if correction is None and "correction" in self.aggregate.reads:
            correction = array_namespace(mask).ones_like(mask)
        budget = mask.shape[TOKENS] if max_length is None else max_length
        return self.aggregate(mask=mask, max_length=budget, correction=correction)

    def parts(self) -> dict[str, str]:
        """Return the parts by name as readable text; optional parts only if they differ from the default."""
        shown = {part.name: getattr(self, part.name) for part in fields(self)}
        defaults = {part.name: part.default for part in fields(self)}
        return {name: _plain(value) for name, value in shown.items() if value != defaults[name]}

    def differences(self, base: "Recipe") -> dict[str, str]:
        """Return the parts in which this recipe differs from another one, without the source.

        >>> from grpo_ref import DR_GRPO, GRPO
        >>> DR_GRPO.differences(GRPO)
        {'advantage': 'group_centered', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
        """
        names = [part.name for part in fields(self) if part.name != "source"]
        ours, theirs = ({name: _plain(getattr(one, name)) for name in names} for one in (self, base))
        return {name: text for name, text in ours.items() if text != theirs[name]}
