"""The checks of ms-swift's arguments and first step, and the few settings that cannot be expressed here."""

from collections.abc import Sequence

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.ms_swift.keys import behaviour_of
from grpo_ref.explain.settings import Settings

ALLOWED = {
    "advantage_estimator": ("grpo", "rloo", "reinforce_plus_plus"),
    "rollout_importance_sampling_mode": (
        *(None, "token_truncate", "token_mask"),
        *("sequence_truncate", "sequence_mask"),
    ),
    "vllm_mode": (None, "server", "colocate"),
    "truncation_strategy": (None, "left", "delete"),
}
OVER_ALL = ("dapo", "cispo", "fipo")
"""Loss types that divide by all tokens of the generation batch, including excluded ones."""


def check(s: Settings) -> None:
    """Raise a ValueError for settings that ms-swift refuses, or that cannot be expressed here.

    Args:
      s: every key with its value.

    ms-swift `RLHFArguments`, `GRPOConfig` and `_compute_loss_and_metrics`.
    """
    expect(
        s.rlhf_type == "grpo", f"rlhf_type: expected one of 'grpo', got {s.rlhf_type!r}, which is not GRPO"
    )
    own = {"loss_type": behaviour_of(s).loss_types, "importance_sampling_level": behaviour_of(s).levels}
    for key, values in (own | ALLOWED).items():
        one_of(key, getattr(s, key), dict.fromkeys(values))
    expect(
        s.num_generations > 1 or has_teacher(s),
        f"num_generations: ms-swift refuses groups of fewer than 2, got {s.num_generations}",
    )
    _check_loss(s)
    _check_overlong(s)
    if has_teacher(s):
        _check_teacher(s)
    if s.use_liger_kernel:
        _check_liger(s)


def has_teacher(s: Settings) -> bool:
    """Return true if a teacher's log-ratio is added to the advantages."""
    return s.teacher_model is not None or s.teacher_model_server is not None


def _check_teacher(s: Settings) -> None:
    """Repeat the checks of `RLHFArguments._check_opd_rl` and `_check_teacher`."""
    for is_refused, name in (
        (s.loss_type in ("real", "fipo"), f"loss_type={s.loss_type!r}"),
        (s.off_policy_sequence_mask_delta is not None, "off_policy_sequence_mask_delta"),
        (s.use_liger_kernel, "use_liger_kernel"),
        (s.teacher_model is not None and s.teacher_model_server is not None, "two sources"),
    ):
        expect(not is_refused, f"teacher_model: ms-swift refuses a teacher with {name}")


def check_run(s: Settings) -> None:
    """Raise a ValueError for settings that stop a run of ms-swift but do not change the objective.

    Args:
      s: every key with its value.
    """
    if behaviour_of(s).checks_sampler:
        _check_sampler(s)
    _check_batch(s)
    size, group = s.per_device_train_batch_size, s.num_generations
    expect(
        s.loss_type != "real" or size is None or size % group == 0,
        f"per_device_train_batch_size: ms-swift refuses {size} with loss_type='real', which needs whole"
        f" groups of {group} in a micro-batch",
    )


def _check_sampler(s: Settings) -> None:
    has_server = s.vllm_server_host is not None or s.vllm_server_base_url is not None
    expect(not s.use_vllm or s.vllm_mode is not None, "vllm_mode: ms-swift refuses use_vllm without it")
    expect(s.use_vllm or s.vllm_mode is None, "vllm_mode: ms-swift refuses it without use_vllm")
    expect(
        s.vllm_mode != "server" or has_server,
        "vllm_server_host: ms-swift refuses vllm_mode='server' without it or vllm_server_base_url",
    )
    expect(
        not s.async_generate or s.vllm_mode == "server",
        "async_generate: ms-swift refuses it without vllm_mode='server'",
    )
    expect(
        not s.async_generate or s.multi_turn_scheduler is None,
        "async_generate: ms-swift refuses it with a multi_turn_scheduler",
    )
    expect(s.vllm_reasoning_parser is None, "vllm_reasoning_parser: ms-swift refuses it for grpo")
    expect(not (s.cached_dataset or s.cached_val_dataset), "cached_dataset: ms-swift refuses it for grpo")


def _check_batch(s: Settings) -> None:
    steps, drawn = s.steps_per_generation, s.generation_batch_size
    expect(
        steps is None or steps > 0, f"steps_per_generation: ms-swift refuses anything below 1, got {steps}"
    )
    if drawn is None:
        return
    size = (s.per_device_train_batch_size or 1) * (1 if steps is None else steps)
    expect(
        drawn % size == 0,
        f"generation_batch_size: ms-swift refuses {drawn}, which is not a multiple of {size} per device",
    )
    expect(
        drawn % s.num_generations == 0,
        f"generation_batch_size: ms-swift refuses {drawn}, which is not a whole number of groups of"
        f" {s.num_generations}",
    )


def _check_loss(s: Settings) -> None:
    share, delta = s.top_entropy_quantile, s.delta
    expect(s.fipo_decay_rate != 0.0, "fipo_decay_rate: ms-swift refuses 0, with any loss_type")
    expect(share >= 0.0, f"top_entropy_quantile: ms-swift refuses a share below 0, got {share}")
    expect(
        delta is None or delta > 1.0 or s.loss_type in ("cispo", "sapo", "real"),
        f"delta: at 1 or below it takes the ratio 1 out of reach, which cannot be expressed here; got {delta}",
    )
    if s.loss_type == "real":
        expect(
            not s.kl_in_reward or s.beta == 0.0,
            "kl_in_reward: ms-swift refuses it with loss_type='real', which adds the KL that is not there",
        )


def _check_liger(s: Settings) -> None:
    """Raise a ValueError for settings that ms-swift refuses with Liger's loss, or that cannot be expressed here."""
    refused = {
        "delta": s.delta is not None,
        "sequence_parallel_size": s.sequence_parallel_size > 1,
        "top_entropy_quantile": s.top_entropy_quantile < 1.0,
        "off_policy_sequence_mask_delta": s.off_policy_sequence_mask_delta is not None,
        "advantage_estimator": s.advantage_estimator != "grpo",
    }
    for key, is_refused in refused.items():
        expect(not is_refused, f"{key}: ms-swift refuses {s[key]!r} with use_liger_kernel")
    expect(
        s.importance_sampling_level in ("token", "sequence"),
        f"importance_sampling_level: ms-swift refuses {s.importance_sampling_level!r} with use_liger_kernel",
    )
    expect(
        s.loss_type in ("grpo", "bnpo", "dr_grpo", "sapo") or (s.loss_type != "fipo" and s.divides_twice),
        f"loss_type: {s.loss_type!r} with use_liger_kernel cannot be expressed here",
    )
    is_handed_on = behaviour_of(s).liger_arguments or (
        s.importance_sampling_level == "token"
        and s.loss_type != "sapo"
        and s.rollout_importance_sampling_mode is None
    )
    expect(
        is_handed_on,
        "use_liger_kernel: before ms-swift 4.0, Liger's loss does not get importance_sampling_level, the temperatures of"
        " sapo and the weights for the sampler, which cannot be expressed here",
    )


def _check_overlong(s: Settings) -> None:
    expect(
        not s.overlong_filter or s.use_liger_kernel or s.loss_type not in OVER_ALL,
        f"overlong_filter: with loss_type={s.loss_type!r} the tokens of what was cut off stay in the number that"
        " is divided by; this reference refuses it, as here they are gone",
    )
    expect(
        not s.overlong_filter or s.top_entropy_quantile >= 1.0,
        "overlong_filter: with top_entropy_quantile what was cut off takes part in the quantile; this reference"
        " refuses it, as here it is gone",
    )
    if has_overlong(s.reward_funcs):
        cache = s.soft_cache_length
        longest = s.max_completion_length if s.soft_max_length is None else s.soft_max_length
        expect(cache is not None, "soft_cache_length: ms-swift refuses soft_overlong without it")
        expect(
            cache < longest,
            f"soft_cache_length: ms-swift refuses {cache}, which is not below soft_max_length = {longest}",
        )


def has_overlong(reward_funcs: Sequence[str] | None) -> bool:
    """Return true if the length penalty is among the reward functions."""
    return "soft_overlong" in names_of(reward_funcs)


def names_of(reward_funcs: Sequence[str] | str | None) -> list[str]:
    """Return the names of the reward functions, given as a list or as text with spaces."""
    return reward_funcs.split() if isinstance(reward_funcs, str) else list(reward_funcs or ())
