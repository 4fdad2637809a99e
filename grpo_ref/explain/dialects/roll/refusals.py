"""The checks of ROLL's configuration and first step, and the few settings that cannot be expressed here."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import NotExpressed, one_of
from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.roll.kernels import Norms

NORMS = (None, "batch", "group")
"""Norms that can be expressed.

ROLL also has a running mean over all batches, which no recipe here can express.
"""
ALLOWED = {
    "norm_mean_type": NORMS,
    "norm_std_type": NORMS,
    "kl_penalty": ("kl", "abs", "mse"),
    "importance_sampling": ("token", "seq"),
    "loss_agg_mode": ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"),
    "train_infer_correction.is_weight.weight_type": ("token", "segment", "geometric", "sequence"),
    "query_filter_config.type": ("no_filter", "mean_filter", "std_filter"),
}
AGENTIC = {
    "gigpo": "the advantage is episode_reward_weight times the score of the episode, normalized within"
    " reward_normalization.grouping, plus step_reward_weight times the discounted return of the step, normalized among"
    " the steps of these trajectories with the same state",
    "step_reinforce": "the advantage is the discounted return of the step, by step_reward_gamma, normalized as"
    " reward_normalization says",
    "agentic_reinforce": "the advantage is the return of a turn, discounted by gamma between turns, of scores that are"
    " normalized as reward_normalization says",
}
"""Estimators of the agentic pipeline, each with its advantage.

agentic_reinforce is not expressed, nor are the others before December 2025, when their norms were rewritten.
"""
NORMALIZED = (
    *("reward_normalization.grouping", "reward_normalization.method"),
    *("reward_normalization.norm_mean_type", "reward_normalization.norm_std_type"),
)
OF_AGENTS = (*NORMALIZED, "train_env_manager.group_size", "train_env_manager.num_env_groups")
"""Keys that only the agentic pipeline reads."""
IN_STEPS = "the agentic pipeline normalizes the scores of trajectories or steps as reward_normalization says"
GROUPINGS = (None, "batch", "traj_group_id")
METHODS = (None, "identity", "mean", "mean_std", "asym_clip")
TURN_NORMS = ((None, None), ("group", None), ("group", "group"), ("batch", None), ("batch", "batch"))
"""Norms of the agentic pipeline that can be expressed."""
DIVIDED_TWICE = "in June and July 2025 the mean of each completion is divided by its length again"
VARIANTS = ("vanilla", "ppo", "tis", "cispo", "kimi15")
"""Values of pg_variant that can be expressed.

Only topr is missing: it decides by the sign of the score. `topr` of `grpo_ref.surrogates` decides by the sign of the
advantage.
"""


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that ROLL refuses, or that cannot be expressed here.

    Args:
      settings: every key with its value.

    ROLL `RLVRConfig`, `reward_norm` and the loss of its workers.
    """
    estimator = settings["adv_estimator"]
    one_of("adv_estimator", estimator, dict.fromkeys(settings["estimators"]))
    if is_agentic(settings):
        _check_turns(settings)
    elif settings["pipeline"] != "rlvr":
        for key in OF_AGENTS:
            if settings[key] is not None:
                raise NotExpressed(key, settings[key], IN_STEPS)
    for key, values in ALLOWED.items():
        one_of(key, settings[key], dict.fromkeys(values))
    if settings["reward_norm_is_read"]:
        one_of("reward_norm", settings["reward_norm"], dict.fromkeys(NORMS))
    if settings["token_sum_is_a_mean"] and settings["loss_agg_mode"] == "seq-mean-token-mean":
        raise NotExpressed("loss_agg_mode", "seq-mean-token-mean", DIVIDED_TWICE)
    _check_norms(settings)
    _check_worker(settings)
    _check_weights(settings)


def is_agentic(settings: Mapping[str, Any]) -> bool:
    """Return true if the estimator is one of the agentic pipeline, in which a turn is a sample."""
    return settings["adv_estimator"] in AGENTIC and settings["pipeline"] != "rlvr"


def turn_norms(settings: Mapping[str, Any]) -> tuple[Norms, Norms]:
    """Return the norms of the episode's score and of the turn's return.

    norm_mean_type and norm_std_type replace what `method` says for the episode. The turn only reads `method`.

    ROLL `RewardNormalizationConfig`.
    """
    method = settings["reward_normalization.method"] or "identity"
    means = {"identity": (False, False), "mean": (True, False)}.get(method, (True, True))

    def over(name: str) -> Norms:
        mean, std = (name if is_on else None for is_on in means)
        return mean, std

    grouping = settings["reward_normalization.grouping"] or "batch"
    mean, std = over("batch" if grouping == "batch" else "group")
    given = settings["reward_normalization.norm_mean_type"], settings["reward_normalization.norm_std_type"]
    return (given[0] or mean, given[1] or std), over("group")


def _check_turns(settings: Mapping[str, Any]) -> None:
    """Raise a NotExpressed for settings of the agentic pipeline that cannot be expressed here."""
    estimator, (episode, _) = settings["adv_estimator"], turn_norms(settings)
    if estimator == "agentic_reinforce" or not settings["norms_of_turns_are_typed"]:
        raise NotExpressed("adv_estimator", estimator, AGENTIC[estimator])
    grouping, method = settings["reward_normalization.grouping"], settings["reward_normalization.method"]
    if grouping not in GROUPINGS:
        raise NotExpressed(
            "reward_normalization.grouping", grouping, "only the environments know these groups"
        )
    one_of("reward_normalization.method", method, dict.fromkeys(METHODS))
    if episode not in TURN_NORMS:
        key = "reward_normalization.norm_std_type"
        raise NotExpressed(
            key, settings[key], f"norm_mean_type is {episode[0]} and norm_std_type {episode[1]}"
        )
    if settings["add_token_level_kl"]:
        raise NotExpressed(
            "add_token_level_kl", True, "the rewards of turns would have a penalty for each token"
        )
    if is_variant(settings):
        key = "actor_train.worker_cls"
        raise NotExpressed(key, settings[key], "the agentic pipeline has a class of its own with this name")
    weight = "train_infer_correction.is_weight.weight_type"
    if settings["train_infer_correction.is_weight.enabled"] and settings[weight] in ("geometric", "sequence"):
        raise NotExpressed(
            weight, settings[weight], "a weight for each turn is another one than for the episode"
        )


def is_variant(settings: Mapping[str, Any]) -> bool:
    """Return true if the worker is the one that reads pg_variant."""
    return str(settings["actor_train.worker_cls"]).rpartition(".")[2] == "ActorPGWorker"


def is_filtered(settings: Mapping[str, Any]) -> bool:
    """Return true if some completions are excluded."""
    return any(settings[key] for key in ("max_len_mask", "difficulty_mask", "error_max_len_clip"))


def norms(settings: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the sets over which mean and standard deviation are taken.

    The estimator grpo overrides the keys. Until August 2025 the key for both is reward_norm, and reward_shift omits the
    standard deviation.
    """
    if settings["reward_norm_is_read"]:
        over = "group" if settings["adv_estimator"] == "grpo" else settings["reward_norm"]
        return over, None if settings["reward_shift"] else over
    if settings["adv_estimator"] == "grpo":
        return "group", "group"
    return settings["norm_mean_type"], settings["norm_std_type"]


def _check_norms(settings: Mapping[str, Any]) -> None:
    mean, std = norms(settings)
    expect(
        std != "group" or mean == "group",
        f"norm_std_type: ROLL refuses the group's std without the group's mean, got norm_mean_type={mean!r}",
    )
    count = settings["num_return_sequences_in_group"]
    expect(
        std != "group" or count > 1,
        f"num_return_sequences_in_group: the std of a group of {count} is NaN, and so is the loss",
    )


def _check_worker(settings: Mapping[str, Any]) -> None:
    if is_variant(settings):
        expect(
            settings["actor_train.pg_variant"] != "topr",
            "actor_train.pg_variant: topr decides by the sign of the score, not of the advantage. Only with rewards of"
            " 0 and 1 and norm_mean_type=group both agree; then it is the recipe topr with the ratio of a token",
        )
        one_of("actor_train.pg_variant", settings["actor_train.pg_variant"], dict.fromkeys(VARIANTS))
    expect(
        not settings["dual_clip_loss"] or settings["pg_clip"] > 0.0 or not _clips(settings),
        f"pg_clip: dual_clip_loss has its bound at 1 + 2 pg_clip, which has to be above 1 here; got"
        f" {settings['pg_clip']}",
    )


def _clips(settings: Mapping[str, Any]) -> bool:
    return not is_variant(settings) or settings["actor_train.pg_variant"] == "ppo"


def _check_weights(settings: Mapping[str, Any]) -> None:
    filtered, mode = is_filtered(settings), settings["loss_agg_mode"]
    expect(
        not settings["length_loss_weight"] or not filtered,
        "length_loss_weight: it uses the excluded completions too. This reference refuses it, because it has removed"
        " them",
    )
    squares = is_variant(settings) and settings["actor_train.pg_variant"] == "kimi15"
    expect(
        not (squares and filtered and mode == "token-mean"),
        "actor_train.pg_variant: with token-mean the squares of kimi15 include the excluded completions. This"
        " reference refuses it, because it has removed them",
    )
    expect(
        settings["kl_loss_coef"] >= 0.0 or not settings["use_kl_loss"],
        f"kl_loss_coef: expected a number >= 0, got {settings['kl_loss_coef']}",
    )


def check_run(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of ROLL but do not change the objective.

    Args:
      settings: every key with its value.
    """
    ahead = settings["async_generation_ratio"]
    expect(ahead == 0.0 or ahead >= 1.0, f"async_generation_ratio: ROLL refuses {ahead}; 0, or 1 and more")
    expect(
        ahead == 0.0 or settings["generate_opt_level"] == 1,
        "generate_opt_level: ROLL refuses anything but 1 with async_generation_ratio",
    )
    expect(
        not (settings["profiler_timeline"] and settings["profiler_memory"]),
        "profiler_memory: ROLL refuses it together with profiler_timeline",
    )
    expect(
        (settings["val_prompt_length"] is None) == (settings["val_sequence_length"] is None),
        "val_sequence_length: ROLL refuses one of it and val_prompt_length alone",
    )
