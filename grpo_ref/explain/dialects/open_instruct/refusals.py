"""The checks of Open Instruct: in `__post_init__` of its configurations, and at the beginning of a step."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from grpo_ref.explain.settings import Settings


class Refusal(NamedTuple):
    """One check of the trainer.

    Attributes:
      holds: a function of all settings that returns true if they are refused.
      text: the reason.
    """

    holds: Callable[[Settings], bool]
    text: str


def _has_no_reward(s: Settings) -> bool:
    given = (s.apply_verifiable_reward, s.apply_r1_style_format_reward, s.non_stop_penalty)
    return not (any(given) or s.apply_evolving_rubric_reward)


REFUSALS = (
    Refusal(
        lambda s: bool(s.use_vllm_logprobs and s.use_rho_correction),
        "use_vllm_logprobs: refused together with use_rho_correction, which is on by default",
    ),
    Refusal(
        lambda s: bool(s.use_vllm_logprobs and s.truncated_importance_sampling_ratio_cap > 0.0),
        "use_vllm_logprobs: refused together with truncated_importance_sampling_ratio_cap",
    ),
    Refusal(
        lambda s: (
            not (s.masked_mean_axis is None or (s.masked_mean_axis, s.per_device_train_batch_size) == (1, 1))
        ),
        "masked_mean_axis: a mean over each pack cannot be expressed here, nor one over each position",
    ),
    Refusal(
        lambda s: s.masked_mean_denominator is not None and s.masked_mean_denominator <= 0.0,
        "masked_mean_denominator: expected a number > 0",
    ),
    Refusal(
        lambda s: not s.load_ref_policy and s.beta != 0.0,
        "load_ref_policy: without a reference, beta has to be 0; its default is 0.05",
    ),
    Refusal(
        lambda s: s.use_rho_correction and s.rho_mask_lower_bound >= 1.0,
        "rho_mask_lower_bound: expected a number below 1, or 0 for none",
    ),
    Refusal(
        lambda s: s.use_rho_correction and 0.0 < s.rho_mask_upper_bound <= 1.0,
        "rho_mask_upper_bound: expected a number above 1, or 0 for none",
    ),
    Refusal(
        lambda s: s.use_rho_correction and s.rho_clamp_lower_bound >= 1.0,
        "rho_clamp_lower_bound: expected a number below 1, or 0 for none",
    ),
    Refusal(
        lambda s: s.use_rho_correction and 0.0 < s.rho_clamp_upper_bound <= 1.0,
        "rho_clamp_upper_bound: expected a number above 1, or 0 for none",
    ),
    Refusal(
        lambda s: s.num_samples_per_prompt_rollout == 1 and s.filter_zero_std_samples,
        "num_samples_per_prompt_rollout: groups of one have no spread, and filter_zero_std_samples drops all",
    ),
)
"""Checks of settings that affect the loss or the reward."""
STOPS = (
    Refusal(
        lambda s: s.sequence_parallel_size > 1 and s.deepspeed_stage != 3,
        "sequence_parallel_size: above 1 only with deepspeed_stage 3",
    ),
    Refusal(
        lambda s: s.pack_length < s.max_prompt_token_length + s.response_length,
        "pack_length: expected at least max_prompt_token_length and response_length together",
    ),
    Refusal(
        lambda s: s.active_sampling and not s.async_steps > 1,
        "async_steps: expected more than 1 with active_sampling, which would wait for ever for a group",
    ),
    Refusal(
        lambda s: s.active_sampling and not s.filter_zero_std_samples,
        "active_sampling: expected filter_zero_std_samples to be on",
    ),
    Refusal(lambda s: s.async_steps < 1, "async_steps: expected at least 1"),
    Refusal(_has_no_reward, "apply_verifiable_reward: without it another reward has to be on"),
    Refusal(lambda s: s.num_mini_batches == 0, "num_mini_batches: no batch can be cut into 0 parts"),
)
"""Checks of settings that define the batches and do not change the objective."""


def check(settings: Settings) -> None:
    """Raise a ValueError for the first check that fails."""
    _raise_first(REFUSALS, settings)


def check_run(settings: Settings) -> None:
    """Raise a ValueError for settings that stop a run of Open Instruct but do not change the objective."""
    _raise_first(STOPS, settings)


def _raise_first(refusals: Sequence[Refusal], settings: Settings) -> None:
    for refusal in refusals:
        if refusal.holds(settings):
            raise ValueError(refusal.text)
