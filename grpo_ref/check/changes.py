"""List the mistakes that a loss function may have: in the recipe, in its arrays, or a missing detach.

Each mistake is a `Change`, which maps (recipe, batch) to another (recipe, batch). If a function has the
mistake, then its result on a batch is the result of the changed recipe on the changed batch.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import Array, Bools, Floats
from grpo_ref.check.batches import Trial, advantages_of
from grpo_ref.check.mistakes.kernels import in_micro_batches, mean_ratio_level, unfloored
from grpo_ref.check.mistakes.recipes import mistakes
from grpo_ref.recipes import Recipe, Slot, slot

Apply = Callable[[Recipe, Trial], tuple[Recipe, Trial]]


@dataclass(frozen=True)
class Change:
    """One mistake, or several.

    Attributes:
      condition: description of the mistake, worded to follow "likely mistake:".
      apply: (recipe, batch) -> (recipe, batch) whose result a function with the mistake returns.
      touches: names of what is changed. Two changes of the same thing are not combined.
      differentiated: true if the gradient is the derivative of the value, with nothing detached.
      factor: factor on loss and gradient.
      slope: further factor on the gradient, such as d(log π / temperature)/d(log π).
    """

    condition: str
    apply: Apply
    touches: frozenset[str]
    differentiated: bool = False
    factor: float = 1.0
    slope: float = 1.0

    def and_then(self, other: "Change") -> "Change":
        """Return the change that applies this mistake and then the other one."""

        def both(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
            return other.apply(*self.apply(recipe, trial))

        return Change(
            f"{self.condition} and {other.condition}",
            both,
            self.touches | other.touches,
            self.differentiated or other.differentiated,
            self.factor * other.factor,
            self.slope * other.slope,
        )


def unchanged(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
    """Return recipe and batch as they are: no mistake."""
    return recipe, trial


MISSING_DETACH = Change(
    "a detach is missing: the gradient flows through what should be constant",
    unchanged,
    frozenset({"gradient"}),
    differentiated=True,
)


def multiplied_by(factor: float) -> Change:
    """Return the change that multiplies loss and gradient by a constant.

    The condition names the constant by which the reader has to multiply the loss.
    """
    text = f"it is multiplied by {1.0 / factor:.6g}"
    return Change(text, unchanged, frozenset({"factor"}), factor=factor)


def changes(recipe: Recipe, *, rewards: bool) -> Iterator[Change]:
    """Generate all known changes, those of the recipe first.

    Args:
      recipe: the recipe that the function should compute.
      rewards: true if the function computes the advantages from rewards.
    """
    yield of_batch("an empty completion counts, with a ratio of 1", "mask", _empty_counted)
    for mistake in mistakes(recipe):
        change = of_recipe(mistake.condition, mistake.parts)
        # The gradient of a mean of ratios is not what the loss makes of a level, which is linear.
        yield replace(change, differentiated=mistake.parts.get("level") is mean_ratio_level)
    yield from by_group()
    yield MISSING_DETACH
    yield from _exchanged(recipe)
    for text, wrong in MASKS.items():
        yield of_batch(text, "mask", partial(_masked, wrong=wrong))
    yield from masked_above()
    yield from masked_below()
    for text, chosen in COUNTED.items():
        yield of_batch(text, "mask", partial(_counted, chosen=chosen))
    yield Change(
        "groups with equal rewards are not counted, in the number of completions neither",
        _without_equal_groups,
        frozenset({"mask", "aggregate"}),
    )
    yield from _wrong_advantages()
    if rewards:
        yield from _made_of_rewards(recipe)
    yield from _normalized_again()
    yield from _cooled()
    yield from unfloored_means()


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
    for text, shift in SHIFTS.items():
        yield of_batch(f"the old log-probabilities are {text}", "old_log_probs", partial(_shifted, by=shift))
    if recipe.kl_coef:
        ref = {
            "the KL penalty is to the old policy, not to the reference": "old_log_probs",
            "the KL penalty is to the sampler, not to the reference": "rollout_log_probs",
        }
        for text, name in ref.items():
            yield of_batch(text, "ref_log_probs", partial(_exchange, ref_log_probs=name))
        for text, shift in SHIFTS.items():
            yield of_batch(
                f"the reference's log-probabilities are {text}",
                "ref_log_probs",
                partial(_shifted, by=shift, name="ref_log_probs"),
            )
        both = {"old_log_probs": "ref_log_probs", "ref_log_probs": "old_log_probs"}
        exchanged = of_batch(
            "the old policy and the reference are exchanged", "", lambda trial: _exchange(trial, **both)
        )
        yield replace(exchanged, touches=frozenset(both))
    yield of_batch(
        "the advantages have the wrong sign", "sign", lambda trial: {"advantages": -trial.advantages}
    )


def _exchange(trial: Trial, **names: str) -> dict[str, Any]:
    """Return, for each array named by a keyword, the array that is used instead."""
    return {name: getattr(trial, other) for name, other in names.items()}


SHIFTS = {"one position too early": -1, "one position too late": 1}


def _shifted(trial: Trial, by: int, name: str = "old_log_probs") -> dict[str, Any]:
    """Return log-probabilities that are rolled along the tokens."""
    return {name: np.roll(getattr(trial, name), by, axis=1)}


TEMPERATURES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.2, 1.5, 2.0)
SIDES = {
    "the policy's log-probabilities only are": ("log_probs",),
    "the old log-probabilities only are": ("old_log_probs",),
    "the reference's log-probabilities only are": ("ref_log_probs",),
    "the policy's and the old log-probabilities, not the reference's, are": ("log_probs", "old_log_probs"),
    "the policy's and the reference's log-probabilities, not the old ones, are": (
        "log_probs",
        "ref_log_probs",
    ),
    "the old and the reference's log-probabilities, not the policy's, are": (
        "old_log_probs",
        "ref_log_probs",
    ),
    "all log-probabilities are": ("log_probs", "old_log_probs", "ref_log_probs"),
}
"""Arrays that a temperature divides, by the beginning of the sentence."""


def _cooled() -> Iterator[Change]:
    """Generate changes in which a usual temperature divides or multiplies some of the log-probabilities."""
    scales = dict.fromkeys(t**power for power in (-1, 1) for t in TEMPERATURES)
    return (cooled(text, scale) for text, scale in itertools.product(SIDES, scales))


def cooled(text: str, scale: float) -> Change:
    """Return the change that multiplies some log-probabilities by a number, in most cases 1 / temperature.

    Args:
      text: key of `SIDES`, which names the log-probabilities.
      scale: the number.
    """
    names = SIDES[text]

    def change(trial: Trial) -> dict[str, Any]:
        return {name: getattr(trial, name) * scale for name in names}

    divisor = f"{1.0 / scale:.6g}"
    how = f"divided by the temperature {divisor}" if len(divisor) <= 5 else f"multiplied by {scale:.6g}"
    slope = scale if "log_probs" in names else 1.0
    return replace(of_batch(f"{text} {how}", "", change), touches=frozenset(names), slope=slope)


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


def inverted_mask(mask: Floats) -> Floats:
    """Return the mask (N, T) with 0 and 1 exchanged."""
    return 1.0 - mask


def up_to_longest(mask: Floats) -> Floats:
    """Return a mask (N, T) of all positions up to the last token of the longest completion."""
    places = np.arange(mask.shape[1])
    last = places[(mask > 0).any(0)].max(initial=-1)
    return np.broadcast_to((places <= last).astype(float), mask.shape).copy()


def without_holes(mask: Floats) -> Floats:
    """Return the mask (N, T) with 1 on all positions up to the last token of each completion."""
    filled: Floats = np.flip(np.maximum.accumulate(np.flip(mask, 1), axis=1), 1)
    return filled


MASKS |= {
    "the mask is inverted: the padding counts and the tokens do not": inverted_mask,
    "the mask is all ones: the padding counts": np.ones_like,
    "every completion counts as long as the longest one": up_to_longest,
    "the holes of the mask are filled: a tool's output counts": without_holes,
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
            part = slot(weights_of_rows, part=recipe.aggregate, counted=trial.mask)
            return replace(recipe, aggregate=part), replace(trial, mask=shifted(trial.mask))

        yield Change(f"{text}, and the denominator is right", apply, frozenset({"mask", "aggregate"}))


def masked_below() -> Iterator[Change]:
    """Generate changes with a wrong mask in the denominator of the average only."""
    for text, shifted in MASKS.items():
        if shifted is np.ones_like:
            continue  # the mean over the padded length, which has a name of its own

        def apply(
            recipe: Recipe, trial: Trial, shifted: Callable[[Floats], Floats] = shifted
        ) -> tuple[Recipe, Trial]:
            part = slot(weights_of_rows, part=recipe.aggregate, counted=shifted(trial.mask))
            return replace(recipe, aggregate=part), trial

        yield Change(f"{text}, in the denominator only", apply, frozenset({"mask", "aggregate"}))
    for off in (1, -1):

        def longer(recipe: Recipe, trial: Trial, off: int = off) -> tuple[Recipe, Trial]:
            part = slot(off_by, part=recipe.aggregate, off=off)
            return replace(recipe, aggregate=part), trial

        text = f"the number of tokens in the denominator is one too {'large' if off > 0 else 'small'}"
        yield Change(text, longer, frozenset({"aggregate"}))


def off_by(mask: Array, max_length: int, *, part: Slot, off: int) -> Array:
    """Return the weights of an average whose denominator is off by a number of tokens.

        W = W'(m) n / (n + off),    n the tokens of the completion, or of the batch for a token mean

    Args:
      mask: (1, N, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
      off: number of tokens that are added to the denominator.
    """
    tokens = mask.sum() if part.kernel is token_mean else mask.sum(-1, keepdims=True)
    weights: Floats = np.asarray(part(mask=mask, max_length=max_length))
    return weights * tokens / np.where(tokens + off != 0.0, tokens + off, np.nan)


def unfloored_means() -> Iterator[Change]:
    """Generate changes in which a loss divides 0 by 0 where no token counts."""
    texts = {
        "length": "the denominator has no floor, so an empty completion gives 0/0",
        "tokens": "the denominator has no floor, so a batch without tokens gives 0/0",
    }
    for by, text in texts.items():

        def apply(recipe: Recipe, trial: Trial, by: str = by) -> tuple[Recipe, Trial]:
            return replace(recipe, aggregate=slot(unfloored, part=recipe.aggregate, by=by)), trial

        yield Change(text, apply, frozenset({"floor"}))


def by_group() -> Iterator[Change]:
    """Generate changes of the average that depend on the groups."""
    parts: dict[str, Callable[[Slot, Trial], Slot]] = {
        "each group is averaged by itself, and the mean of the groups is taken": lambda part, trial: slot(
            in_micro_batches, part=part, size=trial.group_size
        ),
        "the groups are summed, not averaged": lambda part, trial: slot(
            scaled, part=part, factor=len(trial.mask) / trial.group_size
        ),
        "the completions of a group are summed, not averaged": lambda part, trial: slot(
            scaled, part=part, factor=trial.group_size
        ),
        "the loss is divided once more by the number of groups": lambda part, trial: slot(
            scaled, part=part, factor=trial.group_size / len(trial.mask)
        ),
        "the loss is divided once more by the size of a group": lambda part, trial: slot(
            scaled, part=part, factor=1.0 / trial.group_size
        ),
    }
    for text, made in parts.items():

        def apply(
            recipe: Recipe, trial: Trial, made: Callable[[Slot, Trial], Slot] = made
        ) -> tuple[Recipe, Trial]:
            return replace(recipe, aggregate=made(recipe.aggregate, trial)), trial

        yield Change(text, apply, frozenset({"aggregate"}))


def scaled(mask: Array, max_length: int, *, part: Slot, factor: float) -> Array:
    """Return the weights of an average, multiplied by a number.

    Args:
      mask: (1, N, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation.
      factor: the number.
    """
    weights: Floats = np.asarray(part(mask=mask, max_length=max_length)) * factor
    return weights


COUNTED: dict[str, Callable[[Trial], Bools]] = {
    "completions whose advantage is 0 are not counted": lambda trial: trial.advantages != 0.0,
    "only completions with a positive advantage are counted": lambda trial: trial.advantages > 0.0,
    "only completions with a negative advantage are counted": lambda trial: trial.advantages < 0.0,
    "completions that fill the whole length are not counted": lambda trial: trial.mask[:, -1] == 0.0,
}
"""The completions that are counted, (N,), by the condition that describes the mistake."""


def _empty_counted(trial: Trial) -> dict[str, Any]:
    """Return the batch with one token in each empty completion; all its log-probabilities are 0."""
    first = (trial.mask.sum(1, keepdims=True) == 0.0) & (np.arange(trial.mask.shape[1]) == 0)
    names = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs")
    arrays: dict[str, Any] = {name: np.where(first, 0.0, getattr(trial, name)) for name in names}
    return {"mask": np.where(first, 1.0, trial.mask), **arrays}


def _without_equal_groups(recipe: Recipe, trial: Trial) -> tuple[Recipe, Trial]:
    """Return the batch without groups whose advantages are all 0; the other completions count more."""
    kept = np.repeat((trial.advantages.reshape(-1, trial.group_size) != 0.0).any(1), trial.group_size)
    factor = 1.0 if recipe.aggregate.kernel is token_mean else len(kept) / max(kept.sum(), 1)
    part = slot(scaled, part=recipe.aggregate, factor=float(factor))
    return replace(recipe, aggregate=part), replace(trial, mask=trial.mask * kept[:, None])


def _counted(trial: Trial, chosen: Callable[[Trial], Bools]) -> dict[str, Any]:
    """Return the mask of the chosen completions."""
    return {"mask": trial.mask * chosen(trial)[:, None]}


def weights_of_rows(mask: Array, max_length: int, *, part: Slot, counted: Floats) -> Array:
    """Return weights whose denominator counts the tokens of another mask.

    An empty completion has no token to read the weight from. It gets the largest weight of the batch, because
    a wrong mask may give it tokens.

    Args:
      mask: (1, N, T) 1 on the tokens that get a weight.
      max_length: the generation budget in tokens.
      part: the aggregation.
      counted: (N, T) 1 on the tokens that the aggregation counts.
    """
    weights = np.asarray(part(mask=counted.reshape(mask.shape), max_length=max_length)).max(-1, keepdims=True)
    rows: Floats = np.where(weights > 0, weights, weights.max(initial=0.0))
    return rows * mask


# ---- advantages ----------------------------------------------------------------------------------

EPSILONS = (0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1)
SCOPES = {"of the group": (True, True), "of the batch": (False, False)}
"""Scope of the statistics -> (true if the mean is the group's, true if the std is the group's)."""
FORMS: dict[str, Callable[[Floats, float], Floats]] = {
    "std + {}": lambda std, eps: std + eps,
    "sqrt(var + {})": lambda std, eps: np.sqrt(std**2 + eps),
    "max(std, {})": lambda std, eps: np.maximum(std, eps),
    "var + {}, without a root": lambda std, eps: std**2 + eps,
}


def _standardized(rewards: Floats, ddof: int, eps: float, form: str, scope: tuple[bool, bool]) -> Floats:
    """Return standardized rewards: (P, G) rewards minus a mean, divided by a standard deviation."""
    mean_axis, std_axis = (-1 if by_group else None for by_group in scope)
    squares = (rewards - rewards.mean(axis=std_axis, keepdims=True)) ** 2
    count = rewards.shape[-1] if scope[1] else rewards.size
    std = np.sqrt(squares.sum(axis=std_axis, keepdims=True) / np.float64(count - ddof))  # NaN for 0/0
    advantages: Floats = (rewards - rewards.mean(axis=mean_axis, keepdims=True)) / FORMS[form](std, eps)
    return advantages


class Layout(NamedTuple):
    """A way of reading (N,) rewards as groups.

    Attributes:
      read: (P, G) right groups -> the groups that are read, one per row.
      written: inverse of `read`, given the shape of the right groups.
    """

    read: Callable[[Floats], Floats]
    written: Callable[[Floats, tuple[int, int]], Floats]


LAYOUTS = {
    "": Layout(lambda r: r, lambda a, shape: a),
    "the groups are transposed: view(G, P), not view(P, G)": Layout(
        lambda r: r.reshape(r.shape[::-1]), lambda a, shape: a.reshape(shape)
    ),
    "the statistics are taken across the prompts (axis 0), not within each group": Layout(
        lambda r: r.T, lambda a, shape: a.T
    ),
    "the groups are transposed: the completions of a prompt are taken to be P places apart": Layout(
        lambda r: r.reshape(r.shape[::-1]).T, lambda a, shape: a.T.reshape(shape)
    ),
}
"""Ways of reading rewards as groups, by the condition that describes the mistake; "" for the right way."""


def _wrong_advantages() -> Iterator[Change]:
    """Generate changes of given advantages: their sign, their order or their size is lost."""
    made: dict[str, Callable[[Floats], Floats]] = {
        "the absolute value of the advantages is taken": np.abs,
        "negative advantages are set to 0": lambda a: np.maximum(a, 0.0),
        "only the sign of the advantages is used": np.sign,
        "the advantages are limited to [-1, 1]": lambda a: np.clip(a, -1.0, 1.0),
        "the advantages are transposed: written as (G, P), read as (P, G)": lambda a: a.T.reshape(a.shape),
        "the advantages are transposed: written as (P, G), read as (G, P)": lambda a: (
            a.reshape(a.shape[::-1]).T
        ),
        "each completion has the advantage of the one before it": lambda a: np.roll(a, 1).reshape(a.shape),
        "each completion has the advantage of the next one": lambda a: np.roll(a, -1).reshape(a.shape),
    }
    for ddof in (0, 1):
        text = f"the advantages are whitened over the tokens of the batch (ddof={ddof})"
        yield of_batch(text, "order", partial(_whitened, ddof=ddof))
    for text, change in made.items():

        def apply(trial: Trial, change: Callable[[Floats], Floats] = change) -> dict[str, Any]:
            return {"advantages": change(trial.advantages.reshape(-1, trial.group_size)).reshape(-1)}

        yield of_batch(text, "order", apply)


def _whitened(trial: Trial, ddof: int) -> dict[str, Any]:
    """Return advantages with mean 0 and variance 1 over the tokens, where a long completion counts more."""
    tokens = trial.mask.sum(1)
    mean = (tokens * trial.advantages).sum() / tokens.sum()
    variance = (tokens * (trial.advantages - mean) ** 2).sum() / (tokens.sum() - ddof)
    return {"advantages": (trial.advantages - mean) / np.sqrt(variance + 1e-8)}


def _normalized_again() -> Iterator[Change]:
    """Generate changes that standardize or center the given advantages again."""
    for (whose, scope), ddof, eps in itertools.product(SCOPES.items(), (0, 1), EPSILONS):

        def change(
            trial: Trial, ddof: int = ddof, eps: float = eps, scope: tuple[bool, bool] = scope
        ) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": _standardized(given, ddof, eps, "std + {}", scope).reshape(-1)}

        text = f"the advantages are normalized twice: once more by mean and std {whose}"
        yield of_batch(f"{text} (ddof={ddof}, eps={eps:g})", "advantages", change)
    for whose, (by_group, _) in SCOPES.items():

        def centre(trial: Trial, axis: int | None = -1 if by_group else None) -> dict[str, Any]:
            given = trial.advantages.reshape(-1, trial.group_size)
            return {"advantages": (given - given.mean(axis=axis, keepdims=True)).reshape(-1)}

        yield of_batch(f"the mean {whose} is subtracted from the advantages once more", "advantages", centre)


def _made_of_rewards(recipe: Recipe) -> Iterator[Change]:
    """Generate the common ways of computing advantages from rewards."""
    expected = f"(expected {recipe.advantage})"
    scopes = SCOPES | {
        "of the batch, and the mean of the group": (True, False),
        "of the group, and the mean of the batch": (False, True),
    }
    for (whose, scope), form, ddof, eps in itertools.product(scopes.items(), FORMS, (0, 1), EPSILONS):
        standardized = partial(_standardized, ddof=ddof, eps=eps, form=form, scope=scope)
        divided = f"are divided by {form.format(f'{eps:g}')}, ddof={ddof}, {whose}"
        if scope == (False, False):
            divided = f"have the mean of the batch subtracted and {divided}"
        yield _from_rewards(f"the advantages {divided} {expected}", standardized)
    for ddof, eps in itertools.product((0, 1), EPSILONS):
        text = f"the baseline is the mean of the other completions, divided by std + {eps:g}, ddof={ddof}"
        yield _from_rewards(f"{text} {expected}", partial(_left_one_out, ddof=ddof, eps=eps))
    for text, made in PLAIN.items():
        yield _from_rewards(f"{text} {expected}", made)
    # Wrong groups with the recipe's own advantages, and with the other usual ones.
    ways: dict[str, Callable[[Floats], Floats]] = {"": partial(_recipes_own, recipe=recipe)}
    ways |= {
        f", and the advantages are divided by std + {eps:g}, ddof={ddof}": partial(
            _standardized, ddof=ddof, eps=eps, form="std + {}", scope=(True, True)
        )
        for ddof, eps in itertools.product((0, 1), EPSILONS)
    }
    ways |= {f", and {text}": made for text, made in PLAIN.items() if "batch" not in text}
    for (text, layout), (how, made) in itertools.product(LAYOUTS.items(), ways.items()):
        if text:
            yield _from_rewards(text + how + (f" {expected}" if how else ""), made, layout)


def _left_one_out(rewards: Floats, ddof: int, eps: float) -> Floats:
    """Return (P, G) rewards minus the mean of the others, divided by the group's standard deviation."""
    size = rewards.shape[-1]
    alone: Floats = _standardized(rewards, ddof, eps, "std + {}", (True, True)) * (size / max(size - 1, 1))
    return alone


def _recipes_own(rewards: Floats, recipe: Recipe) -> Floats:
    """Return the recipe's advantages of (P, G) rewards."""
    return advantages_of(recipe, rewards).reshape(rewards.shape)


def _from_rewards(text: str, made: Callable[[Floats], Floats], layout: Layout = LAYOUTS[""]) -> Change:
    """Return the change that computes the advantages from the rewards of the batch in another way."""

    def change(trial: Trial) -> dict[str, Any]:
        rewards = _groups(trial)
        return {"advantages": layout.written(made(layout.read(rewards)), rewards.shape).reshape(-1)}

    return of_batch(text, "advantages", change)


PLAIN: dict[str, Callable[[Floats], Floats]] = {
    "the advantages are only centered, not divided by a std": lambda r: r - r.mean(-1, keepdims=True),
    "the advantages are the rewards themselves": lambda r: r,
    "the mean subtracted from the rewards is the batch's, not the group's": lambda r: r - r.mean(),
    "the baseline is the mean of the other completions (RLOO)": lambda r: (
        (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)
    ),
    "the baseline is the median of the group": lambda r: r - np.median(r, axis=-1, keepdims=True),
    "the baseline is the largest reward of the group": lambda r: r - r.max(-1, keepdims=True),
    "the mean is not subtracted: the rewards are divided by std + 0.0001, ddof=1": lambda r: (
        r / (r.std(axis=-1, ddof=1, keepdims=True) + 1e-4)
    ),
    "the mean is not subtracted: the rewards are divided by std + 1e-08, ddof=0": lambda r: (
        r / (r.std(axis=-1, keepdims=True) + 1e-8)
    ),
    "the rewards are scaled to [0, 1] in each group": lambda r: (
        (r - r.min(-1, keepdims=True)) / np.maximum(np.ptp(r, axis=-1, keepdims=True), 1e-8)
    ),
}
"""Ways of computing advantages from (P, G) rewards other than a standardization, by their description."""


def _groups(trial: Trial) -> Floats:
    """Return the rewards (P, G), or zeros if the batch has none."""
    rewards = np.zeros_like(trial.advantages) if trial.rewards is None else trial.rewards
    return rewards.reshape(-1, trial.group_size)
