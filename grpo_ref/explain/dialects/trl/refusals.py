"""The checks of TRL's GRPOConfig and GRPOTrainer that need no model, no data and no processes."""

from grpo_ref.explain.dialect import NotExpressed
from grpo_ref.explain.dialects.trl.keys import GRPO, WINDOW_LOSSES
from grpo_ref.explain.dialects.trl.sampler import is_corrected, upper_bound
from grpo_ref.explain.settings import Settings


def check(s: Settings) -> None:
    """Raise a ValueError for settings that TRL refuses, or that cannot be expressed here."""
    if s.num_generations < 2:
        raise ValueError(f"num_generations: TRL refuses groups of fewer than 2, got {s.num_generations}")
    if s.router_aux_loss_coef:
        raise ValueError(
            "router_aux_loss_coef: the load balancing of a mixture of experts cannot be expressed here;"
            f" it is off at 0, got {s.router_aux_loss_coef}"
        )
    if s.loss_type == "dr_grpo" and s.max_completion_length is None:
        raise ValueError(
            "max_completion_length: TRL divides by it with loss_type='dr_grpo', and stops at None"
        )
    size = s.generation_batch_size
    is_cut = size is not None and s.steps_per_generation is None and size % s.num_generations == 0
    if s.trainer == GRPO and s.loss_type in WINDOW_LOSSES and is_cut:
        raise NotExpressed(
            "generation_batch_size",
            size,
            "it sets steps_per_generation by way of the number of processes, which is not known here; give"
            " steps_per_generation = generation_batch_size / (per_device_train_batch_size * processes)",
        )
    _check_window(s)


def check_run(s: Settings) -> None:
    """Raise a ValueError for settings that stop a run of TRL but do not change the objective."""
    if s.auto_find_batch_size:
        raise ValueError("auto_find_batch_size: TRL refuses it, as a smaller batch would cut groups in two")
    if s.log_completions_hub_repo is not None and not s.log_completions:
        raise ValueError("log_completions_hub_repo: TRL refuses it without log_completions")
    if s.sync_ref_model and s.beta == 0.0:
        raise ValueError(
            "sync_ref_model: TRL refuses it with beta = 0, as no reference model is there to follow"
        )
    if s.generation_batch_size is None:
        return
    if s.steps_per_generation is not None:
        raise ValueError("generation_batch_size: TRL refuses it together with steps_per_generation")
    if s.generation_batch_size % s.num_generations:
        raise ValueError(
            f"generation_batch_size: TRL refuses {s.generation_batch_size}, which is not a whole number of groups of"
            f" {s.num_generations}"
        )


def _check_window(s: Settings) -> None:
    mode = s.vllm_importance_sampling_mode
    low, high = s.vllm_importance_sampling_clip_min, upper_bound(s)
    if low is not None and high is not None and low >= high:
        raise ValueError(
            f"vllm_importance_sampling_clip_min: TRL refuses a window of {low} to {high}; it has to be the smaller one"
        )
    corrected = s.vllm_importance_sampling_correction
    if corrected and mode in ("token_truncate", "sequence_truncate") and low is None and high is None:
        raise ValueError(
            f"vllm_importance_sampling_clip_max: TRL refuses {mode!r} with neither an upper bound nor a lower one"
        )
    if s.loss_type == "vespo" and is_corrected(s) and mode not in ("token_truncate", "token_mask"):
        raise ValueError(
            f"vllm_importance_sampling_mode: TRL refuses {mode!r}, the default or not, with loss_type='vespo';"
            " give 'token_truncate' or 'token_mask'"
        )
