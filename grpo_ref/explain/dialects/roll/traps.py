"""Traps: configurations of ROLL with effects that their author is unlikely to expect."""

from grpo_ref.explain.dialects.roll.keys import DROPPED, UNREAD
from grpo_ref.explain.dialects.roll.refusals import is_agentic, is_variant, norms, turn_norms
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

PG = {"actor_train.worker_cls": "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker"}
WEIGHTS = {"train_infer_correction.is_weight.enabled": True}


def _sampled(s: Settings) -> bool:
    """Return true if the sampler's log-probabilities are kept."""
    settings = s
    return bool(s.async_generation_ratio or settings["actor_infer.generating_args.logprobs"])


def _beside(s: Settings) -> set[str]:
    """Return the keys that are given only at other places, such as pg_variant besides that of the worker."""
    return {"pg_variant"} if s["actor_train.pg_variant"] is not None else set()


def _clips(s: Settings) -> bool:
    return not is_variant(s) or s["actor_train.pg_variant"] == "ppo"


def _is_gigpo(s: Settings) -> bool:
    return s.adv_estimator == "gigpo" and is_agentic(s) and s.step_reward_weight != 0.0


def _is_over_batch(s: Settings) -> bool:
    """Return true if the episodes or turns of different tasks are compared."""
    return is_agentic(s) and turn_norms(s)[0][0] == "batch"


GIGPO = {"adv_estimator": "gigpo", "reward_normalization.grouping": "traj_group_id"}
OLD_NORMS = ("reward_norm", "reward_shift", "reward_scale")
TRAPS = (
    Trap(
        "reward_norm, reward_shift and reward_scale are dropped since September 2025",
        lambda s, given: any(key in given and s[key] for key in OLD_NORMS),
        "ROLL until August 2025 normalizes the rewards by reward_norm. Since 2025-09-25 no class of ROLL has these three"
        " keys, and keys without a field are dropped without a message. Then norm_mean_type and norm_std_type alone"
        " normalize the rewards, and neither is set by default. A value of null or false loses nothing.",
        "ROLL functionals.py, reward_postprocess and reward_norm; dacite's from_dict",
        {"adv_estimator": "reinforce", "reward_norm": "batch"},
        {"adv_estimator": "reinforce"},
    ),
    Trap(
        "loss_agg_mode=seq-mean-token-sum divides by the length",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum" and s.token_sum_is_a_mean,
        "seq-mean-token-sum is the mean over the tokens of each completion, not their sum, although a comment in the"
        " code says sum. It is the default of these months. ROLL of August 2025 mends it.",
        "ROLL functionals.py, agg_loss",
        {},
        {"loss_agg_mode": "token-mean"},
        release="2025-07",
    ),
    Trap(
        "norm_mean_type and norm_std_type are ignored by grpo",
        lambda s, given: s.adv_estimator == "grpo" and bool({"norm_mean_type", "norm_std_type"} & given),
        "grpo always sets norm_mean_type and norm_std_type to group. For Dr. GRPO's advantages use"
        " reinforce with norm_mean_type=group.",
        "ROLL functionals.py, reward_postprocess",
        {"adv_estimator": "grpo", "norm_mean_type": "group", "norm_std_type": None},
        {"adv_estimator": "reinforce", "norm_mean_type": "group"},
    ),
    Trap(
        "norm_mean_type is not set: there is no baseline",
        lambda s, given: norms(s) == (None, None) and not s.whiten_advantages and not is_agentic(s),
        "reinforce subtracts nothing from the reward unless norm_mean_type is set. With rewards of 0 and"
        " 1, no completion is ever discouraged.",
        "ROLL functionals.py, reward_norm",
        {"adv_estimator": "reinforce"},
        {"adv_estimator": "reinforce", "norm_mean_type": "group"},
    ),
    Trap(
        "reward_normalization.method is not set: the turns of gigpo have no baseline",
        lambda s, given: _is_gigpo(s) and turn_norms(s)[1] == (None, None),
        "norm_mean_type and norm_std_type normalize only the rewards of the episodes. The returns of the turns"
        " are normalized by reward_normalization.method alone, and its default is identity. So the return of a turn"
        " is added as it is, and nothing is compared among turns with the same state. Set method to mean or"
        " mean_std.",
        "ROLL agentic/utils.py, compute_response_level_rewards",
        GIGPO | {"reward_normalization.norm_mean_type": "group"},
        GIGPO | {"reward_normalization.method": "mean"},
    ),
    Trap(
        "gigpo compares equal states of different tasks",
        lambda s, given: _is_gigpo(s) and turn_norms(s)[1] != (None, None),
        "ROLL names a group of turns by the hash of their state alone. So turns of different tasks are compared"
        " if their states are equal, although the tasks may differ in difficulty. The paper and verl-agent compare"
        " turns within a task. Let the state contain the task.",
        "ROLL agentic/utils.py, build_state_group",
        GIGPO | {"reward_normalization.method": "mean"},
        GIGPO | {"reward_normalization.method": "mean", "step_reward_weight": 0.0},
    ),
    Trap(
        "reward_normalization.grouping is batch: different tasks are compared",
        lambda s, given: _is_over_batch(s),
        "With grouping=batch, the default, mean and std are those of all episodes or turns of the batch. Every"
        " episode of an easy task then has a positive advantage. Set reward_normalization.grouping to"
        " traj_group_id.",
        "ROLL agentic_config.py, _resolve_reward_norm_defaults",
        {"adv_estimator": "gigpo", "reward_normalization.method": "mean"},
        GIGPO | {"reward_normalization.method": "mean"},
    ),
    Trap(
        "whiten_advantages subtracts a mean over all tokens",
        lambda s, given: s.whiten_advantages,
        "whiten_advantages subtracts the mean over all tokens of a domain, and divides by their spread. A"
        " group with equal rewards then has a gradient, and long completions dominate the mean.",
        "ROLL functionals.py, compute_advantage and masked_whiten",
        {"whiten_advantages": True},
        {"whiten_advantages": False},
    ),
    Trap(
        "init_kl_coef loads a reference that is not used",
        lambda s, given: s.init_kl_coef > 0.0 and not s.add_token_level_kl and not s.use_kl_loss,
        "init_kl_coef is 0.2 by default, and loads the reference. But without add_token_level_kl there is"
        " no KL in the reward, and without use_kl_loss none in the loss. Set it to 0 to save the"
        " reference, and a pass for the old log-probabilities.",
        "ROLL base_config.py, PPOConfig",
        {},
        {"init_kl_coef": 0.0},
    ),
    Trap(
        "use_kl_loss is on, but kl_loss_coef is 0",
        lambda s, given: s.use_kl_loss and s.kl_loss_coef == 0.0,
        "use_kl_loss has no effect unless kl_loss_coef is set. It is 0 by default.",
        "ROLL base_config.py, PPOConfig",
        {"use_kl_loss": True},
        {"use_kl_loss": True, "kl_loss_coef": 0.01},
    ),
    Trap(
        "kl_loss_coef needs use_kl_loss",
        lambda s, given: not s.use_kl_loss and s.kl_loss_coef != 0.0,
        "kl_loss_coef counts only with use_kl_loss.",
        "ROLL actor_worker.py, loss_func",
        {"kl_loss_coef": 0.01},
        {"use_kl_loss": True, "kl_loss_coef": 0.01},
    ),
    Trap(
        "pg_clip_low and pg_clip_high need use_pg_clip_range",
        lambda s, given: not s.use_pg_clip_range and bool({"pg_clip_low", "pg_clip_high"} & given),
        "pg_clip_low and pg_clip_high count only with use_pg_clip_range. Otherwise pg_clip is used for both.",
        "ROLL actor_worker.py, loss_func",
        {"pg_clip_high": 0.28},
        {"use_pg_clip_range": True, "pg_clip_high": 0.28},
    ),
    Trap(
        "dual_clip_loss has its bound at 1 + 2 pg_clip",
        lambda s, given: s.dual_clip_loss and _clips(s),
        "dual_clip_loss has its bound at 1 + 2 pg_clip, which is 1.4 for a pg_clip of 0.2, while others"
        " use 3. It reads pg_clip even with use_pg_clip_range.",
        "ROLL actor_worker.py, loss_func",
        {"dual_clip_loss": True},
        {"dual_clip_loss": False},
    ),
    Trap(
        "loss_agg_mode=seq-mean-token-sum-norm is a sum",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm",
        "seq-mean-token-sum-norm sums over all completions and divides by the padded width, including"
        " prompts. Twice as many completions give twice the loss, and with dynamic batching the width"
        " changes.",
        "ROLL functionals.py, agg_loss",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum"},
    ),
    Trap(
        "train_infer_correction needs the sampler's log-probabilities",
        lambda s, given: s["train_infer_correction.is_weight.enabled"] and not _sampled(s),
        "The sampler's log-probabilities are kept only if async_generation_ratio is above 0, or with"
        " actor_infer.generating_args.logprobs. Otherwise every weight is 1.",
        "ROLL rlvr_pipeline.py, get_generation_config",
        WEIGHTS,
        WEIGHTS | {"async_generation_ratio": 1.0},
    ),
    Trap(
        "force_disable_old_logprobs_recompute: the ratio is always 1",
        lambda s, given: s.force_disable_old_logprobs_recompute and s.ppo_epochs == 1,
        "force_disable_old_logprobs_recompute uses the log-probabilities of the current pass as the old"
        " ones, even in the later steps of a batch. No ratio ever leaves 1, and the clip never acts.",
        "ROLL base_worker.py, get_old_log_probs_with_cache",
        {"force_disable_old_logprobs_recompute": True},
        {"force_disable_old_logprobs_recompute": False},
    ),
    Trap(
        "actor_train.pg_variant needs ActorPGWorker",
        lambda s, given: not is_variant(s) and s["actor_train.pg_variant"] is not None,
        "Only roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker reads actor_train.pg_variant. Set"
        " actor_train.worker_cls to it.",
        "ROLL rlvr_config.py, RLVRConfig",
        {"actor_train.pg_variant": "tis"},
        PG | {"actor_train.pg_variant": "tis"},
    ),
    Trap(
        "importance_sampling is ignored by ActorPGWorker",
        lambda s, given: is_variant(s) and s.importance_sampling == "seq",
        "ActorPGWorker always uses the ratio of each token, whatever importance_sampling is.",
        "ROLL actor_pg_worker.py, loss_func",
        PG | {"actor_train.pg_variant": "ppo", "importance_sampling": "seq"},
        PG | {"actor_train.pg_variant": "ppo"},
    ),
    Trap(
        "pg_clip is PPO's, far too large for importance_sampling=seq",
        lambda s, given: (
            s.importance_sampling == "seq"
            and not is_variant(s)
            and (s.pg_clip_low if s.use_pg_clip_range else s.pg_clip) >= 0.01
        ),
        "The ratio of a sequence is a geometric mean, which hardly changes. The default, 0.2, never clips it."
        " GSPO's paper uses 0.0003 and 0.0004.",
        "ROLL actor_worker.py, loss_func; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"importance_sampling": "seq"},
        {"importance_sampling": "seq", "pg_clip": 3e-4},
    ),
    Trap(
        "Some given keys are dropped without a message",
        lambda s, given: bool((DROPPED - _beside(s)) & given),
        "Some keys exist in ROLL's pages or examples, but in none of its classes. ROLL drops them without a"
        " message. The bounds of tis stay 0 and 1, those of cispo 0.9 and 1.1, and the weight of kimi15 0.1.",
        "ROLL worker_config.py, WorkerConfig; dacite's from_dict",
        PG | {"actor_train.pg_variant": "cispo", "actor_train.cispo_epsilon_high": 0.28},
        PG | {"actor_train.pg_variant": "cispo"},
    ),
    Trap(
        "Some given keys are never read",
        lambda s, given: bool(UNREAD & given),
        "RLVRConfig has these keys, but ROLL never reads them: add_len_reward, balance_length, l2, mask_type,"
        " minibatch_data_iter_num, postive_loss_coef, use_policy_loss_type, use_reward_norm,"
        " use_reward_scaling, use_topr_loss and use_topr_neg_loss_coef.",
        "ROLL base_config.py and rlvr_config.py",
        {"use_topr_loss": True},
        {},
    ),
    Trap(
        "difficulty_mask drops groups without replacing them",
        lambda s, given: s.difficulty_mask,
        "difficulty_mask removes whole groups from the loss after they were sampled and scored. Unlike"
        " query_filter_config, it does not replace them.",
        "ROLL functionals.py, get_sample_level_mask",
        {"difficulty_mask": True},
        {"query_filter_config.type": "mean_filter"},
    ),
    Trap(
        "max_len_mask drops completions of exactly the budget",
        lambda s, given: s.max_len_mask,
        "max_len_mask excludes completions as long as the budget, even if they ended with the last token.",
        "ROLL functionals.py, get_sample_level_mask",
        {"max_len_mask": True},
        {"max_len_mask": False},
    ),
    Trap(
        "std_threshold is -1, so std_filter drops nothing",
        lambda s, given: (
            s["query_filter_config.type"] == "std_filter"
            and s["query_filter_config.filter_args.std_threshold"] < 0.0
        ),
        "std_filter drops groups with a spread up to std_threshold. Its default is -1, which drops none."
        " Set it to 0.",
        "ROLL user_defined_rollout_loop.py, query_filter",
        {"query_filter_config.type": "std_filter"},
        {"query_filter_config.type": "std_filter", "query_filter_config.filter_args.std_threshold": 0.0},
    ),
)
"""The traps, in the order in which they are reported."""
