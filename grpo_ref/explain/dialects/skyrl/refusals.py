"""The checks of SkyRL: `validate_cfg`, the dataclasses themselves, and the first step."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import NotExpressed, one_of
from grpo_ref.explain.dialects.common.refusals import expect

ALLOWED = {
    "kl_ctrl.type": ("fixed", "adaptive"),
    "cispo_anchor": ("old", "rollout"),
    "dppo_type": ("binary_tv", "binary_kl"),
    "tis_ratio_type": (None, "token", "sequence"),
    "sequence_mask_metric": (None, "product", "geometric"),
    "dynamic_sampling.type": (None, "filter", "replace"),
    "sequence_parallel_backend": ("ulysses",),
    "strategy": ("fsdp", "fsdp2", "megatron"),
}
UNCORRECTED = ("clip_cov", "kl_cov")
AGAINST_SAMPLER = ("rollout_is", "dppo")


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that SkyRL refuses, or that no recipe can express.

    Args:
      settings: every key with its value.
    """
    for key, values in ALLOWED.items():
        one_of(key, settings[key], dict.fromkeys(values))
    _check_algorithm(settings)
    _check_rewards(settings)
    _check_corrections(settings)
    _check_masks(settings)
    if settings["step_wise_trajectories"]:
        _check_turns(settings)


def check_run(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of SkyRL but do not change the objective.

    Args:
      settings: every key with its value.
    """
    _check_batches(settings)
    if settings["fully_async.enabled"]:
        _check_asynchronous(settings)


def _check_algorithm(settings: Mapping[str, Any]) -> None:
    estimator, loss = settings["advantage_estimator"], settings["policy_loss_type"]
    expect(
        estimator != "gae", "advantage_estimator: gae cannot be expressed here, it needs a critic's values"
    )
    expect(
        loss != "cross_entropy",
        "policy_loss_type: cross_entropy cannot be expressed here. It learns every completion, whatever its"
        " reward.",
    )
    normed = settings["loss_reduction"] == "seq_mean_token_sum_norm"
    expect(
        not normed or settings["max_seq_len"] is not None,
        "max_seq_len: SkyRL refuses seq_mean_token_sum_norm without it",
    )
    if settings["dynamic_sampling.type"] == "replace":
        why = "copies of groups with contrast take the place of those without"
        raise NotExpressed("dynamic_sampling.type", "replace", why)
    expect(
        loss != "dual_clip" or settings["clip_ratio_c"] > 1.0,
        f"clip_ratio_c: a bound of 1 or less cannot be expressed here. Got {settings['clip_ratio_c']}",
    )


def _check_rewards(settings: Mapping[str, Any]) -> None:
    """Check the penalty in the reward, and the length penalties."""
    both = settings["use_kl_in_reward"] and settings["use_kl_loss"]
    expect(not both, "use_kl_in_reward: SkyRL refuses it with use_kl_loss, which is on by default")
    length = settings["overlong_buffer_len"]
    expect(
        length is None or 0 < length <= settings["sampling_params.max_generate_length"],
        f"overlong_buffer_len: expected a number above 0, at most max_generate_length, got {length}",
    )
    punished = length is not None or settings["overlong_buffer_penalty_factor"] is not None
    expect(
        not (punished and settings["zero_reward_on_non_stop"]),
        "zero_reward_on_non_stop: with the overlong penalty of the DAPO example it cannot be expressed here.",
    )
    moving = settings["use_kl_in_reward"] and settings["kl_ctrl.type"] == "adaptive"
    moving = moving and settings["kl_loss_coef"] > 0.0
    expect(
        not moving or settings["horizon"] > 0, f"horizon: expected a number > 0, got {settings['horizon']}"
    )
    expect(
        not moving,
        "kl_ctrl.type: adaptive cannot be expressed here. The weight of the penalty in the reward would"
        " follow the KL while the policy trains; here it is a constant.",
    )


def _check_corrections(settings: Mapping[str, Any]) -> None:
    loss, ratio = settings["policy_loss_type"], settings["tis_ratio_type"]
    kinds = ratio, settings["sequence_mask_metric"], settings["use_tis"] or None
    expect(
        loss not in UNCORRECTED or kinds == (None, None, None),
        f"policy_loss_type: SkyRL refuses {loss} with an off_policy_correction",
    )
    packed = settings["max_tokens_per_microbatch"] > 0
    expect(
        loss not in UNCORRECTED or not packed,
        f"max_tokens_per_microbatch: with {loss} it cannot be expressed here. The tokens are chosen among"
        " those of a micro-batch, which are packed by length.",
    )
    anchored = loss == "cispo" and settings["cispo_anchor"] == "rollout"
    expect(
        not anchored or (ratio is None and not settings["use_tis"]),
        "cispo_anchor: SkyRL refuses rollout with tis_ratio_type, which would correct twice",
    )
    silent = settings["sampling_params.logprobs"] is None and kinds == (None, None, None)
    expect(
        not silent or not (anchored or loss == "rollout_is"),
        f"sampling_params.logprobs: SkyRL refuses {loss} without the sampler's log-probabilities",
    )
    logprobs = settings["sampling_params.logprobs"]
    expect(logprobs is None or logprobs <= 1, f"sampling_params.logprobs: expected 0 or 1, got {logprobs}")
    expect(
        not settings["use_tis"] or settings["tis_imp_ratio_cap"] > 0.0,
        "tis_imp_ratio_cap: with use_tis every weight would be limited to it, and a negative one turns the"
        f" loss around. It is {settings['tis_imp_ratio_cap']}, which cannot be meant.",
    )


BY_SEQUENCE = {
    "policy_loss_type": ("gspo", *UNCORRECTED),
    "loss_reduction": ("seq_mean_token_sum_norm",),
    "sequence_mask_metric": ("product", "geometric"),
    "tis_ratio_type": ("sequence",),
    "dynamic_sampling.type": ("filter", "replace"),
    "fully_async.enabled": (True,),
    **dict.fromkeys(("zero_variance_filter", "apply_overlong_filtering", "zero_reward_on_non_stop"), (True,)),
    **dict.fromkeys(("use_kl_in_reward", "advantage_batch_normalize"), (True,)),
}
"""Settings that look at sequences, which step_wise_trajectories makes of turns."""


def _check_turns(settings: Mapping[str, Any]) -> None:
    """Check settings that SkyRL refuses, or that cannot be expressed here, if every turn is a sequence."""
    key = "step_wise_trajectories"
    if not settings["turns_are_described"]:
        why = "each turn becomes a sequence of its own, with the advantage of the last one of its trajectory"
        raise NotExpressed(key, True, why)
    for name, value in (("advantage_estimator", "reinforce++"), ("loss_reduction", "token_mean_legacy")):
        expect(settings[name] != value, f"{name}: SkyRL refuses {value} with step_wise_trajectories")
    for name, values in BY_SEQUENCE.items():
        if settings[name] in values:
            raise NotExpressed(key, True, f"each turn is a sequence of its own for {name}={settings[name]}")
    if settings["overlong_buffer_len"] is not None or settings["overlong_buffer_penalty_factor"] is not None:
        raise NotExpressed(key, True, "the overlong penalty would be that of the last turn")


def _check_masks(settings: Mapping[str, Any]) -> None:
    """Check the masks. SkyRL masks tokens only in the loss, while a recipe filters before the advantages."""
    whole = settings["fully_async.enabled"] and settings["sample_full_batch"]
    expect(
        not (whole and settings["apply_overlong_filtering"]),
        "sample_full_batch: with apply_overlong_filtering it cannot be expressed here. A group is judged by"
        " those that ended.",
    )
    masked = settings["zero_variance_filter"] or settings["apply_overlong_filtering"]
    by_token = settings["advantage_estimator"] == "reinforce++" or settings["advantage_batch_normalize"]
    expect(
        not (masked and by_token),
        "zero_variance_filter, apply_overlong_filtering: with advantages that are normalized over tokens"
        " they cannot be expressed here. What is masked out of the loss still counts in that normalization.",
    )


def _check_batches(settings: Mapping[str, Any]) -> None:
    prompts, update = settings["train_batch_size"], settings["policy_mini_batch_size"]
    expect(update > 0, f"policy_mini_batch_size: expected at least 1, got {update}")
    expect(
        prompts >= update and prompts % update == 0,
        f"train_batch_size: expected a multiple of policy_mini_batch_size {update}, got {prompts}",
    )
    for key in ("micro_train_batch_size_per_gpu", "micro_forward_batch_size_per_gpu"):
        expect(settings[key] > 0, f"{key}: expected at least 1, got {settings[key]}")
    gpus = settings["policy_num_nodes"] * settings["policy_num_gpus_per_node"]
    parallel = settings["policy.sequence_parallel_size"]
    if settings["strategy"] == "megatron":
        kinds = ("tensor_model", "pipeline_model", "context")
        parallel = 1
        for kind in kinds:
            parallel *= settings[f"policy.megatron_config.{kind}_parallel_size"]
        expect(gpus % parallel == 0, f"policy.megatron_config: {gpus} GPUs are not a multiple of {parallel}")
    share = gpus // parallel
    expect(share > 0, f"policy.sequence_parallel_size: expected at most the number of GPUs, {gpus}")
    each = update * settings["n_samples_per_prompt"] // share
    size = settings["micro_train_batch_size_per_gpu"]
    expect(
        each > 0 and each % size == 0,
        f"micro_train_batch_size_per_gpu: {each} completions per GPU are not a multiple of {size}",
    )
    whole = prompts * settings["n_samples_per_prompt"] // share
    expect(
        whole % each == 0,
        f"train_batch_size: {whole} completions per GPU are not a multiple of the update's {each}",
    )
    expect(
        settings["max_ckpts_to_keep"] != 0,
        "max_ckpts_to_keep: expected a number above 0, or a negative one for all",
    )
    _check_engines(settings, gpus)


def _check_asynchronous(settings: Mapping[str, Any]) -> None:
    loss, update = settings["policy_loss_type"], settings["policy_mini_batch_size"]
    anchored = loss in AGAINST_SAMPLER or (loss == "cispo" and settings["cispo_anchor"] == "rollout")
    expect(
        anchored,
        f"policy_loss_type: SkyRL refuses {loss} with fully_async; expected rollout_is, dppo, or cispo with"
        " cispo_anchor=rollout",
    )
    workers, most = (
        settings["num_parallel_generation_workers"],
        update * (settings["max_staleness_steps"] + 1),
    )
    expect(
        update <= workers <= most,
        f"num_parallel_generation_workers: expected {update} to {most}, got {workers}",
    )
    expect(
        settings["train_batch_size"] == update,
        f"train_batch_size: with fully_async it has to be policy_mini_batch_size, {update}",
    )
    for key in ("dynamic_sampling.type", "batched", "colocate_all"):
        expect(not settings[key], f"{key}: SkyRL refuses it with fully_async")
    whole = settings["sample_full_batch"]
    expect(
        not whole or settings["zero_variance_filter"],
        "sample_full_batch: SkyRL refuses it without zero_variance_filter",
    )


def _check_engines(settings: Mapping[str, Any], gpus: int) -> None:
    if not settings["engines_have_a_group"]:
        return
    engines = settings["inference_engine.num_engines"]
    for kind in ("tensor", "pipeline", "data"):
        engines *= settings[f"inference_engine.{kind}_parallel_size"]
    expect(
        not settings["colocate_all"] or engines == gpus,
        f"inference_engine.num_engines: SkyRL refuses {engines} GPUs for the sampler beside {gpus} for the"
        " policy with colocate_all",
    )
