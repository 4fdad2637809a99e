"""Match arrays and settings to the names of a function's parameters: TRL's, verl's, OpenRLHF's or plain ones."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grpo_conformance.vector import Floats

NAMES: dict[str, tuple[str, ...]] = {
    "log_probs": (
        "per_token_logps",
        "log_prob",
        "logprobs",
        "logps",
        "logp",
        "new_log_probs",
        "new_logprobs",
        "new_logps",
        "new_log_prob",
        "action_log_probs",
    ),
    "old_log_probs": (
        "old_per_token_logps",
        "old_log_prob",
        "old_logprobs",
        "old_logps",
        "old_logp",
        "old_action_log_probs",
    ),
    "ref_log_probs": (
        "ref_per_token_logps",
        "ref_log_prob",
        "ref_logprobs",
        "ref_logps",
        "ref_logp",
        "base_action_log_probs",
        "reference_log_probs",
        "ref_logprob",
        "log_probs_base",
    ),
    "rollout_log_probs": (
        "sampling_per_token_logps",
        "rollout_logprobs",
        "rollout_log_prob",
        "sampler_log_probs",
    ),
    "advantages": ("advantage", "adv"),
    "rewards": ("reward", "scores", "token_level_rewards", "rewards_per_func"),
    "components": ("rewards_per_func", "rewards_per_function"),
    "weights": ("reward_weights",),
    "values": ("loss_mat", "per_token_loss", "token_losses", "losses", "value"),
    "mask": ("completion_mask", "response_mask", "action_mask", "loss_mask"),
    "entropies": ("entropy",),
    "group_size": ("num_generations", "n_samples_per_prompt"),
    "max_length": ("max_completion_length", "max_tokens", "generation_budget", "horizon", "generate_max_len"),
    "index": ("uid", "group_ids"),
}
"""Input -> other names under which a function may take it."""
SETTINGS: dict[str, tuple[str, ...]] = {
    "clip_low": (
        "epsilon_low",
        "epsilon",
        "eps_low",
        "clip_eps_low",
        "clip_ratio_low",
        "cliprange_low",
        "eps_clip_low",
        "clip_eps",
        "clip_ratio",
        "cliprange",
        "eps_clip",
        "clip_epsilon",
    ),
    "clip_high": (
        "epsilon_high",
        "eps_high",
        "clip_eps_high",
        "clip_ratio_high",
        "cliprange_high",
        "eps_clip_high",
    ),
    "max_ratio": ("delta", "clip_ratio_c", "dual_clip", "epsilon_max", "cap"),
    "kl_coef": ("beta", "kl_loss_coef", "kl_beta"),
    "weight_max": ("rollout_is_threshold", "tis_cap", "vllm_importance_sampling_cap"),
    "tau_positive": ("sapo_temperature_pos", "tau_pos"),
    "tau_negative": ("sapo_temperature_neg", "tau_neg"),
}
"""Setting -> other names under which a function may take it."""
TRL = {
    "log_probs": "per_token_logps",
    "old_log_probs": "old_per_token_logps",
    "ref_log_probs": "ref_per_token_logps",
    "rollout_log_probs": "sampling_per_token_logps",
    "advantages": "advantages",
    "mask": "completion_mask",
    "rewards": "rewards",
    "group_size": "num_generations",
}
"""Input -> its key in a parameter `inputs`, the dict that TRL passes to `_compute_loss`."""
INPUTS = "inputs"
PER_TOKEN = "log_prob"
"""verl's name for the log-probabilities. A function with this parameter gets advantages of shape (N, T), as in verl."""

Parameters = Mapping[str, inspect.Parameter]


class ParameterError(TypeError):
    """Raised if a function has parameters for which there is no input, or none for the input that is differentiated."""


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Return the parameters of a function.

    Raises:
      TypeError: if the function has no signature, as some compiled ones.
    """
    try:
        return inspect.signature(function).parameters
    except ValueError as error:
        raise TypeError(f"function: its parameters cannot be read ({error}); wrap it in a def") from error


def keywords(
    parameters: Parameters, inputs: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the keyword arguments with which to call a function.

    Args:
      parameters: the function's. One that has an unknown name and a default keeps it.
      inputs: arrays and numbers by the names in the vectors.
      settings: settings by their names in the vectors, which the function gets only if it has a parameter for them.

    Raises:
      ParameterError: if a parameter without a default has an unknown name, or the input that is differentiated, the
        first one, has no parameter. The message lists the known names.
    """
    # A name of an input goes before a name of a setting, and an own name before another one.
    known = {
        **{alias: value for name, value in settings.items() for alias in SETTINGS.get(name, ())},
        **settings,
        **{alias: value for name, value in inputs.items() for alias in NAMES.get(name, ())},
        **inputs,
    }
    given: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            passed = {id(value) for value in given.values()}
            given |= {key: value for key, value in inputs.items() if id(value) not in passed}
        elif name == INPUTS:
            given[name] = {TRL[key]: value for key, value in inputs.items() if key in TRL}
        elif name in known:
            given[name] = known[name]
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise ParameterError(f"parameter {name!r}: no input of that name; {expected(inputs, settings)}")
    first, differentiated = next(iter(inputs.items()))
    taken = INPUTS in given or any(value is differentiated for value in given.values())
    if first in ("log_probs", "values") and not taken:
        raise ParameterError(f"no parameter for {first}; {expected(inputs, settings)}")
    return given


def call(function: Callable[..., Any], parameters: Parameters, given: Mapping[str, Any]) -> Any:
    """Call a function with arguments by name; those that are positional only go first."""
    positional = [
        name for name, each in parameters.items() if each.kind is each.POSITIONAL_ONLY and name in given
    ]
    rest = {name: value for name, value in given.items() if name not in positional}
    return function(*(given[name] for name in positional), **rest)


def expected(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the names that a parameter may have, as a part of an error message."""
    lines = [f"{name} ({', '.join(NAMES[name])})" if NAMES.get(name) else name for name in inputs]
    lines += [f"{name} ({', '.join(SETTINGS[name])})" if SETTINGS.get(name) else name for name in settings]
    return f"expected {'; '.join(lines)}; or {INPUTS}, a dict of these with TRL's names"


def in_form(parameters: Parameters, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs in the shape in which a function of verl takes them.

    With a parameter `log_prob`, the advantages are (N, T). With `token_level_rewards`, the rewards are (N, T), each at
    the last token of its completion; `index` has the number of the group of each completion.
    """
    given = dict(inputs)
    if PER_TOKEN in parameters and np.ndim(given.get("advantages", 0.0)) == 1:
        given["advantages"] = np.broadcast_to(given["advantages"][:, None], given["log_probs"].shape).copy()
    if "token_level_rewards" in parameters and "mask" in given and np.ndim(given.get("rewards", 0.0)) == 1:
        given["rewards"] = at_last_tokens(given["rewards"], given["mask"])
    if "group_size" in given and any(name in parameters for name in ("index", *NAMES["index"])):
        rows = len(given.get("rewards", given.get("mask", ())))
        given["index"] = np.arange(rows) // int(given["group_size"])
    return given


def at_last_tokens(rewards: Floats, mask: Floats) -> Floats:
    """Return (N, T) rewards, each at the last token of its completion. Without tokens, it is at the last place.

    >>> at_last_tokens(np.array([1.0, 2.0]), np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """
    length = mask.shape[1]
    last = length - 1 - np.argmax(mask[:, ::-1] > 0, axis=1)  # argmax is 0 if a completion has no token
    return np.where(np.arange(length) == last[:, None], rewards[:, None], 0.0)
