"""Traps: configurations of ROLL with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.dialects.roll.keys import DROPPED, UNREAD
from grpo_ref.explain.dialects.roll.refusals import is_variant, norms
from grpo_ref.explain.trap import Trap

PG = {"actor_train.worker_cls": "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker"}
WEIGHTS = {"train_infer_correction.is_weight.enabled": True}


def _sampled(s: SimpleNamespace) -> bool:
    """Return true if the sampler's log-probabilities are kept."""
    settings = vars(s)
    return bool(s.async_generation_ratio or settings["actor_infer.generating_args.logprobs"])


def _beside(s: SimpleNamespace) -> set[str]:
    """Return the keys that are given only at other places, such as pg_variant besides that of the worker."""
    return {"pg_variant"} if vars(s)["actor_train.pg_variant"] is not None else set()


def _clips(s: SimpleNamespace) -> bool:
    return not is_variant(vars(s)) or vars(s)["actor_train.pg_variant"] == "ppo"


TRAPS = (
    Trap(
        "Norms that are not read",
        lambda s, given: s.adv_estimator == "grpo" and bool({"norm_mean_type", "norm_std_type"} & given),
        "grpo sets norm_mean_type and norm_std_type to group, whatever they are. For Dr. GRPO's advantages take reinforce"
        " with norm_mean_type=group.",
        "ROLL functionals.py, reward_postprocess",
        {"adv_estimator": "grpo", "norm_mean_type": "group", "norm_std_type": None},
        {"adv_estimator": "reinforce", "norm_mean_type": "group"},
    ),
    Trap(
        "No baseline at all",
        lambda s, given: norms(vars(s)) == (None, None) and not s.whiten_advantages,
        "reinforce takes nothing off the reward unless norm_mean_type says so: with rewards of 0 and 1 no completion is"
        " ever pushed down.",
        "ROLL functionals.py, reward_norm",
        {"adv_estimator": "reinforce"},
        {"adv_estimator": "reinforce", "norm_mean_type": "group"},
    ),
    Trap(
        "A baseline over the tokens of the batch",
        lambda s, given: s.whiten_advantages,
        "whiten_advantages takes the mean over all tokens of a domain off, and divides by their spread: a group without"
        " contrast gets a push after all, and long completions decide on the mean.",
        "ROLL functionals.py, compute_advantage and masked_whiten",
        {"whiten_advantages": True},
        {"whiten_advantages": False},
    ),
    Trap(
        "A reference for nothing",
        lambda s, given: s.init_kl_coef > 0.0 and not s.add_token_level_kl and not s.use_kl_loss,
        "init_kl_coef is 0.2 where it is left out, and loads the reference; but without add_token_level_kl its KL is in no"
        " reward, and without use_kl_loss in no loss. Set it to 0 to save the reference, and a pass for the old"
        " log-probabilities.",
        "ROLL base_config.py, PPOConfig",
        {},
        {"init_kl_coef": 0.0},
    ),
    Trap(
        "A KL loss without weight",
        lambda s, given: s.use_kl_loss and s.kl_loss_coef == 0.0,
        "use_kl_loss has no weight unless kl_loss_coef is set: it is 0.",
        "ROLL base_config.py, PPOConfig",
        {"use_kl_loss": True},
        {"use_kl_loss": True, "kl_loss_coef": 0.01},
    ),
    Trap(
        "A weight without the KL loss",
        lambda s, given: not s.use_kl_loss and s.kl_loss_coef != 0.0,
        "kl_loss_coef counts with use_kl_loss alone.",
        "ROLL actor_worker.py, loss_func",
        {"kl_loss_coef": 0.01},
        {"use_kl_loss": True, "kl_loss_coef": 0.01},
    ),
    Trap(
        "A clip range that is not read",
        lambda s, given: not s.use_pg_clip_range and bool({"pg_clip_low", "pg_clip_high"} & given),
        "pg_clip_low and pg_clip_high count with use_pg_clip_range alone; without it pg_clip is both.",
        "ROLL actor_worker.py, loss_func",
        {"pg_clip_high": 0.28},
        {"use_pg_clip_range": True, "pg_clip_high": 0.28},
    ),
    Trap(
        "A floor where it was not sought",
        lambda s, given: s.dual_clip_loss and _clips(s),
        "dual_clip_loss has its floor at 1 + 2 pg_clip, 1.4 for a pg_clip of 0.2, where others have 3; with"
        " use_pg_clip_range it is pg_clip that is read all the same.",
        "ROLL actor_worker.py, loss_func",
        {"dual_clip_loss": True},
        {"dual_clip_loss": False},
    ),
    Trap(
        "A sum that is called a mean",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm",
        "seq-mean-token-sum-norm sums over all completions and divides by the padded width, prompts and all: twice as many"
        " completions are twice the loss, and with dynamic batching the width changes.",
        "ROLL functionals.py, agg_loss",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum"},
    ),
    Trap(
        "A correction without a sampler",
        lambda s, given: vars(s)["train_infer_correction.is_weight.enabled"] and not _sampled(s),
        "The sampler's log-probabilities are kept where async_generation_ratio is above 0, or with"
        " actor_infer.generating_args.logprobs; else every weight is 1.",
        "ROLL rlvr_pipeline.py, get_generation_config",
        WEIGHTS,
        WEIGHTS | {"async_generation_ratio": 1.0},
    ),
    Trap(
        "A ratio that is always 1",
        lambda s, given: s.force_disable_old_logprobs_recompute and s.ppo_epochs == 1,
        "force_disable_old_logprobs_recompute takes the log-probabilities of the pass at hand for the old ones, in the"
        " later steps of a batch too: no ratio ever leaves 1, and the clip never acts.",
        "ROLL base_worker.py, get_old_log_probs_with_cache",
        {"force_disable_old_logprobs_recompute": True},
        {"force_disable_old_logprobs_recompute": False},
    ),
    Trap(
        "A variant that is not read",
        lambda s, given: not is_variant(vars(s)) and vars(s)["actor_train.pg_variant"] is not None,
        "actor_train.pg_variant is read by roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker alone; set actor_train.worker_cls"
        " to it.",
        "ROLL rlvr_config.py, RLVRConfig",
        {"actor_train.pg_variant": "tis"},
        PG | {"actor_train.pg_variant": "tis"},
    ),
    Trap(
        "A level that is not read",
        lambda s, given: is_variant(vars(s)) and s.importance_sampling == "seq",
        "ActorPGWorker takes the ratio of each token, whatever importance_sampling says.",
        "ROLL actor_pg_worker.py, loss_func",
        PG | {"actor_train.pg_variant": "ppo", "importance_sampling": "seq"},
        PG | {"actor_train.pg_variant": "ppo"},
    ),
    Trap(
        "Keys that never arrive",
        lambda s, given: bool((DROPPED - _beside(s)) & given),
        "No class of ROLL has this key, though its pages or examples do: it is dropped without a word. The bounds of tis"
        " stay 0 and 1, those of cispo 0.9 and 1.1, and the weight of kimi15 0.1.",
        "ROLL worker_config.py, WorkerConfig; dacite's from_dict",
        PG | {"actor_train.pg_variant": "cispo", "actor_train.cispo_epsilon_high": 0.28},
        PG | {"actor_train.pg_variant": "cispo"},
    ),
    Trap(
        "Keys that nothing reads",
        lambda s, given: bool(UNREAD & given),
        "ROLL's configuration has this key, and no line of its code reads it.",
        "ROLL base_config.py and rlvr_config.py",
        {"use_topr_loss": True},
        {},
    ),
    Trap(
        "Filters that leave groups empty",
        lambda s, given: s.difficulty_mask,
        "difficulty_mask takes whole groups out of the loss after they were drawn and scored; nothing takes their place, as"
        " with a query_filter_config.",
        "ROLL functionals.py, get_sample_level_mask",
        {"difficulty_mask": True},
        {"query_filter_config.type": "mean_filter"},
    ),
    Trap(
        "An end at the last moment",
        lambda s, given: s.max_len_mask,
        "max_len_mask leaves out what is as long as the budget, whether it was cut off or ended with the last token.",
        "ROLL functionals.py, get_sample_level_mask",
        {"max_len_mask": True},
        {"max_len_mask": False},
    ),
    Trap(
        "A spread of more than -1",
        lambda s, given: (
            vars(s)["query_filter_config.type"] == "std_filter"
            and vars(s)["query_filter_config.filter_args.std_threshold"] < 0.0
        ),
        "std_filter drops groups of a spread up to std_threshold, which is -1 where it is left out: none. Set it to 0.",
        "ROLL user_defined_rollout_loop.py, query_filter",
        {"query_filter_config.type": "std_filter"},
        {"query_filter_config.type": "std_filter", "query_filter_config.filter_args.std_threshold": 0.0},
    ),
)
"""The traps, in the order in which they are reported."""
