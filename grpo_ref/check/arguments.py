"""Match arrays to the parameter names of a loss function: grpo_ref's, TRL's, verl's or OpenRLHF's."""

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
    "teacher_log_probs": (
        *("teacher_log_probs", "teacher_per_token_logps", "teacher_log_prob", "teacher_logprobs"),
        *("teacher_logps", "teacher_logp"),
    ),
    "advantages": ("advantages", "advantage", "adv"),
    "rewards": ("rewards", "reward"),
    "mask": ("mask", "completion_mask", "response_mask", "action_mask", "loss_mask"),
    "num_generations": ("num_generations", "group_size"),
    "sequence_ids": ("sequence_ids",),
    "completions": ("completions",),
}
"""Array -> the parameter names under which a function may take it: grpo_ref's, TRL's, verl's, then others."""
TRL = {
    **{"log_probs": "per_token_logps", "old_log_probs": "old_per_token_logps"},
    **{"ref_log_probs": "ref_per_token_logps", "rollout_log_probs": "sampling_per_token_logps"},
    **{"advantages": "advantages", "mask": "completion_mask", "rewards": "rewards"},
    "num_generations": "num_generations",
}
"""Array -> its key in a parameter `inputs`, the dict that TRL passes to `_compute_loss`."""
INPUTS = "inputs"
KNOWN = {name: meaning for meaning, names in NAMES.items() for name in names}
PER_TOKEN = "log_prob"
"""verl's name for the log-probabilities. A function with it gets advantages of shape (N, T), as in verl."""


def expected() -> str:
    """Return the names that a parameter may have, as part of an error message."""
    lines = [f"{names[0]} ({', '.join(names[1:])})" if names[1:] else names[0] for names in NAMES.values()]
    return "; ".join([*lines, f"{INPUTS} (a dict of these, with TRL's names)"])


def asks_for(loss: Callable[..., Any], meaning: str) -> bool:
    """Return whether the function has a parameter for an array, under any of the array's names.

    >>> def loss(per_token_logps, completion_mask, advantages): ...
    >>> asks_for(loss, "log_probs"), asks_for(loss, "ref_log_probs")
    (True, False)
    """
    return any(KNOWN.get(name) == meaning for name in inspect.signature(loss).parameters)


def keyword_arguments(loss: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments with which to call a function.

    Args:
      loss: the function. A parameter with an unknown name keeps its default value.
      values: the arrays by grpo_ref's names. Arrays that are None are omitted.

    Returns:
      The arrays under the function's own parameter names. A function with `**others` also gets the remaining
      arrays of `USUAL`, under grpo_ref's names.

    Raises:
      TypeError: if a parameter without a default has an unknown name, or no parameter takes the
        log-probabilities. The message lists the known names.
    """
    return keywords_for(inspect.signature(loss).parameters, values)


def keywords_for(parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments for parameters that `inspect.signature` has already read.

    Reading a signature takes longer than many losses take to compute, and central differences call the loss
    once or twice per token, so the caller reads the signature once.
    """
    available = {meaning: value for meaning, value in values.items() if value is not None}
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            passed = {KNOWN.get(keyword) for keyword in keywords}
            keywords |= {key: available[key] for key in available if key in USUAL and key not in passed}
        elif name == INPUTS:
            keywords[name] = {TRL[meaning]: value for meaning, value in available.items() if meaning in TRL}
        elif KNOWN.get(name) in available:
            keywords[name] = available[KNOWN[name]]
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise TypeError(f"the parameter {name!r} is unknown; expected names are {expected()}")
    if INPUTS not in keywords and not any(KNOWN.get(name) == "log_probs" for name in keywords):
        raise TypeError(f"no parameter for the log-probabilities; expected names are {expected()}")
    return keywords


USUAL = ("log_probs", "old_log_probs", "ref_log_probs", "advantages", "mask", "sequence_ids")
"""Arrays that a function with `**others` receives."""
