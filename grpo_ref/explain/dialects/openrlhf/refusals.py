"""The checks of OpenRLHF's parser, main block and first steps."""

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.openrlhf.keys import behaviour_of, correction_of
from grpo_ref.explain.settings import Settings

ALLOWED = {
    "actor.policy_loss_type": ("ppo", "gspo"),
    "algo.kl.estimator": ("k1", "k2", "k3"),
    "algo.advantage.is_correction_type": ("tis", "icepop", "seq-mask-tis"),
    "algo.advantage.is_correction_level": ("off", "token", "seq"),
    "algo.advantage.is_correction_mode": ("mask", "clip"),
    "algo.advantage.is_correction_gating": ("ratio", "binary_kl", "tv"),
    "actor.loss_agg_mode": ("token-mean", "seq-mean-token-mean"),
}
PAIRS = ("algo.advantage.is_correction_threshold", "algo.dynamic_filtering_range", "reward.clip_range")
"""Keys with two numbers. A threshold that is one number, as before 0.9.1, is an upper bound."""


def check(settings: Settings) -> None:
    """Raise a ValueError for settings that OpenRLHF refuses.

    Args:
      settings: every key with its value.

    "gae" is refused too: it needs a critic, so no recipe here can express it.

    OpenRLHF `train_ppo_ray`, main block; `PolicyLoss`; `length_penalty.py`.
    """
    estimators = dict.fromkeys(behaviour_of(settings).estimators)
    one_of("algo.advantage.estimator", settings["algo.advantage.estimator"], estimators)
    for key, values in ALLOWED.items():
        one_of(key, settings[key], dict.fromkeys(values))
    for key in PAIRS:
        value = settings[key]
        may_be_one = key == PAIRS[0] and correction_of(settings) is not None
        may_be_one = may_be_one and not settings["algo.advantage.is_correction_enable"]
        is_pair = not isinstance(value, list) or len(value) == 2 or (may_be_one and len(value) == 1)
        expect(is_pair, f"{key}: expected a low and a high number, got {value}")
    both = settings["actor.eps_clip_low_high"]
    expect(len(both) in (0, 2), f"actor.eps_clip_low_high: expected a low and a high number, got {both}")
    dual = settings["actor.dual_clip"]
    expect(dual is None or dual > 1.0, f"actor.dual_clip: expected a number > 1, got {dual}")
    _check_groups(settings)
    _check_punishments(settings)
    _check_correction(settings)


def _check_correction(settings: Settings) -> None:
    correction, threshold = correction_of(settings), settings["algo.advantage.is_correction_threshold"]
    if correction is None:
        return
    is_weight = correction.level == "token" and correction.gating == "ratio"
    expect(
        correction.mode != "clip" or is_weight,
        "algo.advantage.is_correction_mode: OpenRLHF refuses clip unless the level is token and the gating is ratio",
    )
    is_bounded_below = isinstance(threshold, list) and len(threshold) == 2 and threshold[0] > 0
    expect(
        correction.gating == "ratio" or not is_bounded_below,
        f"algo.advantage.is_correction_gating: OpenRLHF refuses {correction.gating} with a lower bound; give one number as"
        " is_correction_threshold",
    )


def _check_groups(settings: Settings) -> None:
    count, estimator = settings["rollout.n_samples_per_prompt"], settings["algo.advantage.estimator"]
    expect(
        count > 1 or estimator in ("reinforce", "flash_reinforce"),
        f"rollout.n_samples_per_prompt: {estimator} compares a group, which has to have at least 2; got {count}",
    )
    if settings["algo.dynamic_filtering_enable"]:
        low, high = settings["algo.dynamic_filtering_range"]
        expect(low < high, f"algo.dynamic_filtering_range: expected low < high, got {low} and {high}")
        expect(count > 1, "rollout.n_samples_per_prompt: to filter groups, each has to have at least 2")


def _check_punishments(settings: Settings) -> None:
    stop, buffer = settings["reward.stop_properly_penalty_coef"], settings["reward.overlong_buffer_len"]
    expect(
        stop is None or stop <= 1.0,
        f"reward.stop_properly_penalty_coef: expected a number between 0 and 1, or a negative one, got {stop}",
    )
    budget = settings["rollout.max_new_tokens"] or settings["data.max_len"]
    expect(
        buffer is None or buffer <= budget,
        f"reward.overlong_buffer_len: expected at most the budget of {budget} tokens, got {buffer}",
    )


def check_run(settings: Settings) -> None:
    """Raise a ValueError for settings that stop a run of OpenRLHF but do not change the objective.

    Args:
      settings: every key with its value.
    """
    is_async, packed = settings["train.async_enable"], settings["ds.packing_samples"]
    asleep = settings["vllm.enable_sleep"] and settings["train.colocate_all"]
    expect(not (is_async and asleep), "vllm.enable_sleep: not with train.async_enable")
    expect(
        is_async or not settings["train.partial_rollout_enable"],
        "train.partial_rollout_enable: only with train.async_enable",
    )
    generated = settings["rollout.vllm_generate_batch_size"] or 0
    expect(
        is_async or generated <= settings["rollout.batch_size"],
        "rollout.vllm_generate_batch_size: above rollout.batch_size only with train.async_enable",
    )
    expect(
        not packed or settings["data.max_images_per_prompt"] <= 0,
        "ds.packing_samples: not with images, data.max_images_per_prompt",
    )
    packs = packed or settings["ds.ring_attn_size"] > 1 or settings["train.dynamic_batch_enable"]
    expect(
        not packs or (settings["vllm.num_engines"] or 0) > 0,
        "vllm.num_engines: ds.packing_samples needs them, which ds.ring_attn_size > 1 and"
        " train.dynamic_batch_enable turn on",
    )
    completions = settings["rollout.n_samples_per_prompt"] * settings["rollout.batch_size"]
    batches = completions // settings["rollout.micro_batch_size"]
    gpus = settings["actor.num_nodes"] * settings["actor.num_gpus_per_node"]
    actors = gpus // settings["ds.ring_attn_size"] // settings["ds.tensor_parallel_size"]
    expect(batches >= actors, f"rollout.batch_size: {batches} batches are too few for {actors} actors")
    _check_places(settings, gpus)


def _check_places(settings: Settings, gpus: int) -> None:
    """Check that the reference and the sampler's engines fit, if they share the actor's GPUs."""
    together, engines = settings["train.colocate_all"], settings["vllm.num_engines"] or 0
    if (together or settings["train.colocate_actor_ref"]) and settings["algo.kl.init_coef"] > 0.0:
        for key in ("num_nodes", "num_gpus_per_node"):
            ours, theirs = settings[f"actor.{key}"], settings[f"ref.{key}"]
            expect(ours == theirs, f"ref.{key}: expected {ours}, as actor.{key}, got {theirs}")
    if engines > 0 and together and not settings["train.async_enable"]:
        sampler = engines * settings["vllm.tensor_parallel_size"]
        expect(gpus == sampler, f"vllm.num_engines: expected {gpus} GPUs, as the actor has, got {sampler}")
