"""Take the facts of a run from its configuration, as `grpo_ref.explain` reads it."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import batch_normalized, batch_scaled, group_normalized, normalized_then_summed
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, token_mean
from grpo_ref.diagnose.facts import FIXED_LENGTH, SEQUENCE_MEAN, TOKEN_MEAN, Average, Facts
from grpo_ref.explain.dialect import COMPLETIONS
from grpo_ref.explain.explanation import Report
from grpo_ref.explain.schedule import setting
from grpo_ref.filters import all_completions
from grpo_ref.loss import batch_of, differentiate

AVERAGES: dict[Any, Average] = {
    sequence_mean_token_mean: SEQUENCE_MEAN,
    token_mean: TOKEN_MEAN,
    fixed_length: FIXED_LENGTH,
}
"""The averages of the loss that the relations know."""
TURNS = re.compile(r"multi_turn|\bagent|\btools?\b|\benv\.|environment|max_turns|tool_")
"""Names of keys for completions of several turns, of which the policy writes only a part."""
OF_LOSS = {"surrogate", "corrections", "aggregate", "bonus", "addition"}
"""The parts of a configuration that the value of the loss depends on."""
OF_BATCH = (batch_normalized, batch_scaled, normalized_then_summed)
"""Advantages that are divided by the std of the batch, at the end."""
OF_TRL = ("trl", "unsloth", "ms_swift")
"""Trainers with TRL's keys for steps and batches."""
ENVIRONMENT = "env."
"""Prefix of the keys of environments in forks of verl for agents, such as verl-agent."""
BUDGETS = ("max_completion_length", "max_response_length", "max_new_tokens", "rollout_max_response_len")
"""Keys of the generation budget, in tokens."""


def facts_of(report: Report) -> Facts:
    """Return the facts that a configuration gives. Those that depend on an unknown key are None.

    Args:
      report: the report of `grpo_ref.explain`.
    """
    doubted = {part for each in report.found.unsure for part in (*each.parts, *each.unless)}
    recipe, size, prompts = report.recipe, _group_size(report, doubted), _setting(report, "prompts")
    advantage = recipe.advantage
    has_kl_in_reward = "kl_coef" in advantage.settings and advantage.settings["kl_coef"] != 0.0
    is_standardized = advantage.kernel is group_normalized and advantage.settings.get("ddof", 1) == 1
    is_truncated_masked = recipe.admit.kernel is not all_completions
    return Facts(
        group_size=size,
        completions=prompts * size if isinstance(prompts, int) and size is not None else None,
        window=_window(report),
        steps=_steps(report),
        kl_coef=None if {"kl_coef", "penalty"} & doubted or _differs_by_release(report) else recipe.kl_coef,
        has_bonus=None if {"bonus", "addition"} & doubted else bool(report.explanation.entropy_coef),
        average=None if OF_LOSS & doubted else _average(report),
        on_policy=_is_on_policy(report),
        budget=next((int(value) for name in BUDGETS if isinstance(value := _key(report, name), int)), None),
        weights=_weights(report),
        standardized=None if "advantage" in doubted else is_standardized,
        divided_by_batch=None if "advantage" in doubted else advantage.kernel in OF_BATCH,
        kl_in_reward=None if "advantage" in doubted else has_kl_in_reward,
        loss_scale=None if report.dialect.name == "verl" else 1.0,
        whole_vocabulary=_samples_whole_vocabulary(report),
        single_turn=_has_single_turns(report),
        masks_truncated=None if "admit" in doubted else is_truncated_masked,
    )


def _group_size(report: Report, doubted: set[str]) -> int | None:
    key = report.dialect.keys.concepts.get(COMPLETIONS, "")
    if COMPLETIONS in doubted or key in {report.dialect.key(each.key) for each in report.found.unsure}:
        return None
    size = report.dialect.concept(COMPLETIONS, report.found.config)
    return size if isinstance(size, int) else None


def _differs_by_release(report: Report) -> bool:
    """Return true if β is a default that the possible releases of the trainer do not share."""
    config = report.found.config
    coefficients = {report.recipe.kl_coef}
    for other in report.others:
        try:
            coefficients.add(other.recipe(**config).kl_coef)
        except ValueError:
            continue
    return len(coefficients) > 1


def _average(report: Report) -> Average | None:
    """Return the average of the loss, if the loss without the KL is minus that average of the advantages at ratio 1.

    A mean over the tokens of each micro-batch is none that the relations know.
    """
    average = AVERAGES.get(report.recipe.aggregate.kernel)
    if average == TOKEN_MEAN and report.explanation.averages.over != "step":
        return None
    return average if _is_mean_of_advantages(report) else None


def _is_mean_of_advantages(report: Report) -> bool:
    """Return true if the loss without the KL is minus the weighted sum of the advantages at ratio 1, tried on a batch.

    An entropy bonus, a correction, a mask of tokens, or a surrogate such as SAPO's, whose value at ratio 1 is not the
    advantage, makes another loss.
    """
    if report.explanation.entropy_coef:
        return False
    rng = np.random.default_rng(0)
    shape = (2, 4, 6)
    lengths = np.array([[6, 1, 3, 4], [2, 5, 6, 6]])
    log_probs, rollout = -rng.random(shape), -rng.random(shape)
    batch = batch_of(
        log_probs,
        rng.normal(size=shape[:2]),
        (np.arange(6) < lengths[..., None]).astype(float),
        ref_log_probs=log_probs,
        rollout_log_probs=rollout,
        entropies=rng.random(shape),
        noise=rng.random(shape),
    )
    try:
        losses = differentiate(batch, replace(report.recipe, kl_coef=0.0), measures_penalty=False).losses
        weights = report.recipe.aggregate(batch)
    except ValueError:  # a part reads what the log does not show
        return False
    return bool(np.isclose(losses.sum(), -(weights * batch.advantages).sum(), rtol=1e-12, atol=0.0))


def _setting(report: Report, name: str) -> Any:
    """Return a setting of the schedule; None if it is unknown."""
    return setting(report.dialect, report.launch.keys, name, are_all_there=not report.launch.missing)


def _key(report: Report, name: str) -> Any:
    """Return the value of a key, by the last part of its name: as given, or its default if no file is missing."""
    for key, value in report.launch.keys.items():
        if key.rpartition(".")[2] == name:
            return value
    return None if report.launch.missing else report.dialect.keys.defaults.get(name)


def _steps(report: Report) -> int | None:
    """Return the number of optimizer steps of one row. verl logs one row for each generation batch."""
    if report.dialect.name not in OF_TRL:
        return 1 if report.dialect.name == "verl" else None
    steps = _key(report, "logging_steps")
    return steps if isinstance(steps, int) else None


def _window(report: Report) -> int | None:
    """Return the number of generation batches of one row. TRL may sample several for one optimizer step.

    If a batch is used for several steps and each step is a row, only the first of them has the metrics of the batch.
    """
    steps = _steps(report)
    if steps is None or report.dialect.name not in OF_TRL:
        return steps
    is_used_once = _uses_once(report)
    if _is_on_policy(report) is False and steps == 1:
        return 1
    if not is_used_once:
        return None
    accumulation, batches = (
        _key(report, name) for name in ("gradient_accumulation_steps", "steps_per_generation")
    )
    return steps if batches is None else steps * ((accumulation or 1) // batches)


def _uses_once(report: Report) -> bool | None:
    """Return true if TRL uses each generation batch for one optimizer step; None if it is unknown."""
    passes, steps = _key(report, "num_iterations"), _key(report, "steps_per_generation")
    accumulation = _key(report, "gradient_accumulation_steps") or 1
    if _key(report, "generation_batch_size") is not None or not isinstance(passes, int):
        return None
    if not isinstance(accumulation, int) or not (steps is None or isinstance(steps, int)):
        return None
    return passes == 1 and (steps is None or (steps > 0 and accumulation % steps == 0))


def _is_on_policy(report: Report) -> bool | None:
    """Return true if each batch is used for one optimizer step, and the old log-probabilities are the policy's own.

    With weights for the sampler's mismatch, TRL computes the old log-probabilities in a forward pass of their own. They
    differ by rounding, so that single tokens may be clipped. This counts as unknown.
    """
    if report.dialect.name in OF_TRL:
        if _key(report, "use_vllm") and _key(report, "vllm_importance_sampling_correction"):
            return None
        return _uses_once(report)
    if any(key.startswith(ENVIRONMENT) for key in report.launch.keys):
        return None  # every turn of an episode is a row of the batch, so it has more rows than the file says
    updates = next((line.value for line in report.schedule if line.name == "updates"), None)
    return None if updates is None else updates <= 1


def _has_single_turns(report: Report) -> bool | None:
    """Return true if no key switches turns, tools or an environment on; None if a file of keys is missing."""
    if report.launch.missing:
        return None
    keys = report.launch.keys
    return not any(TURNS.search(key) and value not in (False, None, "", 0) for key, value in keys.items())


def _weights(report: Report) -> dict[str, float] | None:
    """Return the weight of each reward function; none if all are 1; None if they are unknown."""
    names, weights = _setting(report, "rewards"), _setting(report, "weights")
    if weights is None:
        return None if report.launch.missing else {}
    if not (
        isinstance(names, (list, tuple)) and isinstance(weights, (list, tuple)) and len(names) == len(weights)
    ):
        return None
    return {str(name): float(weight) for name, weight in zip(names, weights, strict=True)}


def _samples_whole_vocabulary(report: Report) -> bool | None:
    """Return true if no top-p, top-k or min-p cuts the distribution that is sampled from; None if it is unknown."""
    if report.launch.missing:
        return None
    top_p, top_k, min_p = (_setting(report, name) for name in ("top_p", "top_k", "min_p"))
    cuts = (
        isinstance(top_p, (int, float)) and 0.0 < top_p < 1.0,
        isinstance(top_k, int) and top_k > 0,
        isinstance(min_p, (int, float)) and min_p > 0.0,
    )
    return not any(cuts)
