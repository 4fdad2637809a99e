"""What Open Instruct refuses at the start, in `__post_init__` of its configurations."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple


class Refusal(NamedTuple):
    """One check of the trainer.

    Attributes:
      holds: whether a configuration, as all settings, is refused.
      text: why.
    """

    holds: Callable[[SimpleNamespace], bool]
    text: str


REFUSALS = (
    Refusal(
        lambda s: bool(s.use_vllm_logprobs and s.use_rho_correction),
        "use_vllm_logprobs: refused together with use_rho_correction, which is on by default",
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
        "num_samples_per_prompt_rollout: groups of one have no contrast, and filter_zero_std_samples drops all",
    ),
    Refusal(
        lambda s: s.active_sampling and not s.filter_zero_std_samples,
        "active_sampling: expected filter_zero_std_samples to be on",
    ),
)
"""In the order of Open Instruct."""


def check(settings: SimpleNamespace) -> None:
    """Raise a ValueError for the first check that fails."""
    for refusal in REFUSALS:
        if refusal.holds(settings):
            raise ValueError(refusal.text)
