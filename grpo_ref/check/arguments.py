"""Under which names a loss function takes its arrays: ours, TRL's, verl's, OpenRLHF's."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

NAMES: dict[str, tuple[str, ...]] = {
    "log_probs": (
        *("log_probs", "per_token_logps", "log_prob", "logprobs", "logps", "logp"),
        *("new_log_probs", "new_logprobs", "new_logps", "new_log_prob", "action_log_probs"),
    ),
    "old_log_probs": (
        *("old_log_probs", "old_per_token_logps", "old_log_prob", "old_logprobs", "old_logps", "old_logp"),
        "old_action_log_probs",
    ),
    "ref_log_probs": (
        *("ref_log_probs", "ref_per_token_logps", "ref_log_prob", "ref_logprobs", "ref_logps", "ref_logp"),
        *("base_action_log_probs", "reference_log_probs"),
    ),
    "rollout_log_probs": ("rollout_log_probs", "sampling_per_token_logps", "rollout_logprobs"),
    "advantages": ("advantages", "advantage", "adv"),
    "rewards": ("rewards", "reward"),
    "mask": ("mask", "completion_mask", "response_mask", "action_mask", "loss_mask"),
    "num_generations": ("num_generations", "group_size"),
    "sequence_ids": ("sequence_ids",),
    "completions": ("completions",),
}
"""What a function may be given -> the names that it may have for it; TRL's stands second, verl's third."""
TRL = {
    **{"log_probs": "per_token_logps", "old_log_probs": "old_per_token_logps"},
    **{"ref_log_probs": "ref_per_token_logps", "rollout_log_probs": "sampling_per_token_logps"},
    **{"advantages": "advantages", "mask": "completion_mask", "rewards": "rewards"},
    "num_generations": "num_generations",
}
"""The keys of a parameter `inputs`, as in TRL's `_compute_loss`."""
INPUTS = "inputs"
KNOWN = {name: meaning for meaning, names in NAMES.items() for name in names}
PER_TOKEN = "log_prob"
"""verl's word: a function that has it is given advantages of (N, T), as verl has them."""


def expected() -> str:
    """The names that a parameter may have, for an error."""
    lines = [f"{names[0]} ({', '.join(names[1:])})" if names[1:] else names[0] for names in NAMES.values()]
    return "; ".join([*lines, f"{INPUTS} (a dict of these, with TRL's names)"])


def asks_for(loss: Callable[..., Any], meaning: str) -> bool:
    """Whether the function has a parameter for this, under any of its names.

    >>> def loss(per_token_logps, completion_mask, advantages): ...
    >>> asks_for(loss, "log_probs"), asks_for(loss, "ref_log_probs")
    (True, False)
    """
    return any(KNOWN.get(name) == meaning for name in inspect.signature(loss).parameters)


def named(loss: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """What a function is called with.

    Args:
      loss: the function. A parameter with a default of its own that has no name of ours keeps it.
      values: by our names; None is left out.

    Returns:
      The values under the function's own names for them; under ours if it takes `**others`.

    Raises:
      TypeError: if it has a parameter of an unknown name, or none for the log-probabilities; the names that
        are known are listed.
    """
    return chosen(inspect.signature(loss).parameters, values)


def chosen(parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the parameters of a function, which take longer to find than many a loss to compute."""
    there = {meaning: value for meaning, value in values.items() if value is not None}
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            taken = {KNOWN.get(one) for one in found}
            usual = {key: there[key] for key in there if key in USUAL and key not in taken}
            found |= usual
        elif name == INPUTS:
            found[name] = {TRL[meaning]: value for meaning, value in there.items() if meaning in TRL}
        elif KNOWN.get(name) in there:
            found[name] = there[KNOWN[name]]
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise TypeError(f"the parameter {name!r} is unknown; expected names are {expected()}")
    if INPUTS not in found and not any(KNOWN.get(name) == "log_probs" for name in found):
        raise TypeError(f"no parameter for the log-probabilities; expected names are {expected()}")
    return found


USUAL = ("log_probs", "old_log_probs", "ref_log_probs", "advantages", "mask", "sequence_ids")
"""What a function with `**others` is given."""
