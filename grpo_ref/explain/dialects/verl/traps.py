"""Traps: configurations of verl with effects that their author is unlikely to expect."""

from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _corrects(s: Settings) -> bool:
    """Return true if the trainer is asked for weights or for a rejection."""
    return s.rollout_is is not None or s.rollout_rs is not None


KEEP_SINGLETONS = "grpo grpo_vectorized rloo opo gpg reinforce_plus_plus_baseline gdpo".split()
"""The estimators that use 0 as the mean of a group of one."""
FILTERING = ("dapo", "entropy")
"""The recipes whose main programs read filter_groups in all releases."""
TRAPS = (
    Trap(
        "clip_ratio is ignored: clip_ratio_low and clip_ratio_high are set",
        lambda s, given: (
            "clip_ratio" in given and s.clip_ratio_low is not None and s.clip_ratio_high is not None
        ),
        "clip_ratio counts only if clip_ratio_low or clip_ratio_high is None. Both are 0.2 by default.",
        "verl ActorConfig; core_algos.compute_policy_loss_vanilla",
        {"clip_ratio": 0.1},
        {"clip_ratio": 0.1, "clip_ratio_low": None, "clip_ratio_high": None},
    ),
    Trap(
        "clip_ratio_c is 3.0 by default: the dual clip is on",
        lambda s, given: s.loss_mode == "vanilla" and s.clip_ratio_c == 3.0 and "clip_ratio_c" not in given,
        "A bad token that has become 3 times more likely has no gradient (clip_ratio_c = 3.0). For plain"
        " PPO set a large clip_ratio_c.",
        "verl compute_policy_loss_vanilla; Ye et al. 2020 (arXiv:1912.09729)",
        {"loss_mode": "vanilla"},
        {"loss_mode": "vanilla", "clip_ratio_c": 10.0},
    ),
    Trap(
        "clip_ratio_c is 3.0 by default and caps DPPO's weight",
        lambda s, given: s.loss_mode in ("dppo_tv", "dppo_kl") and "clip_ratio_c" not in given,
        "DPPO's weight is meant to be capped at 20, but clip_ratio_c is 3.0 by default: the 20 in the"
        " code never takes effect.",
        "verl compute_policy_loss_dppo_tv and ActorConfig",
        {"loss_mode": "dppo_tv"},
        {"loss_mode": "dppo_tv", "clip_ratio_c": 20.0},
    ),
    Trap(
        "loss_agg_mode does not change this policy loss",
        lambda s, given: (
            s.loss_mode in ("gspo", "sapo", "geo_mean")
            and not (s.loss_mode == "gspo" and s.gspo_reads_loss_agg_mode)
            and "loss_agg_mode" in given
        ),
        "sapo always averages the policy's loss by seq-mean-token-mean, and geo_mean per completion. Before 0.9.1,"
        " gspo averages it by seq-mean-token-mean too. Then loss_agg_mode is read only for the KL penalty and the"
        " entropy bonus.",
        "verl core_algos and ppo_loss",
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"loss_mode": "vanilla", "loss_agg_mode": "token-mean", "clip_ratio_c": 3.0},
    ),
    Trap(
        "geo_mean's gradient grows with the number of micro-batches",
        lambda s, given: s.loss_mode == "geo_mean" and s["trainer.use_legacy_worker_impl"] == "disable",
        "geo_mean takes the mean over the completions of a micro-batch, and the engine adds these means up. The"
        " other losses divide by the mini-batch. With four micro-batches per mini-batch, the gradient is four"
        " times as large as with one. The legacy worker divided by their number.",
        "verl compute_policy_loss_geo_mean and forward_backward_batch of the engine",
        {"loss_mode": "geo_mean"},
        {"loss_mode": "gspo", "clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4},
    ),
    Trap(
        "gspo is averaged by loss_agg_mode, token-mean by default",
        lambda s, given: (
            s.loss_mode == "gspo" and s.gspo_reads_loss_agg_mode and s.loss_agg_mode == "token-mean"
        ),
        "From 0.9.1 on, gspo reads loss_agg_mode. With the default, token-mean, a long completion has more"
        " weight. Before, and in the paper, each completion has the same weight. Set"
        " loss_agg_mode=seq-mean-token-mean.",
        "verl 0.9.1 compute_policy_loss_gspo; Zheng et al. 2025 (arXiv:2507.18071), eq. 5",
        {"loss_mode": "gspo"},
        {"loss_mode": "gspo", "loss_agg_mode": "seq-mean-token-mean"},
        release="0.9.1",
    ),
    Trap(
        "clip_ratio_low and clip_ratio_high are too large for gspo",
        lambda s, given: (
            s.loss_mode == "gspo" and (s.clip_ratio if s.clip_ratio_low is None else s.clip_ratio_low) >= 0.01
        ),
        "gspo's ratio is a mean over the completion, which hardly changes. The default, 0.2, never clips it."
        " The paper uses 0.0003 and 0.0004.",
        "verl compute_policy_loss_gspo; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"loss_mode": "gspo"},
        {"loss_mode": "gspo", "clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4},
    ),
    Trap(
        "ppo_epochs is not read by the actor",
        lambda s, given: not s.ppo_epochs_is_read and s.ppo_epochs != 1,
        "A rewrite of the actor lost the loop over ppo_epochs. Each mini-batch is used once. 0.3.0 reads the"
        " key again.",
        "verl 0.2 dp_actor.py, update_policy; verl #342",
        {"ppo_epochs": 4},
        {"ppo_epochs": 1},
        release="0.2",
    ),
    Trap(
        "kl_loss_coef is subtracted, so the KL is maximized",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_is_subtracted and s.kl_loss_coef > 0.0,
        "The penalty has the wrong sign: the policy is pushed away from the reference. 0.2 adds it.",
        "verl dp_actor.py of January 2025, update_policy",
        {"use_kl_loss": True},
        {"use_kl_loss": False},
        release="0.1.1.dev",
    ),
    Trap(
        "loss_agg_mode=seq-mean-token-sum-norm is a sum over the completions",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm" and not s.sum_norm_divides_by_rows,
        "This release divides by the length, but not by the number of completions in a micro-batch. The"
        " gradient grows with ppo_micro_batch_size_per_gpu, or with the number of completions that"
        " use_dynamic_bsz packs together. 0.7.1 divides by both.",
        "verl agg_loss; verl #3741, #5366",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum"},
        release="0.7.0",
    ),
    Trap(
        "loss_scale_factor is not read by the actor",
        lambda s, given: (
            s.loss_agg_mode == "seq-mean-token-sum-norm"
            and s.loss_scale_factor is not None
            and not s.loss_scale_factor_is_read
            and s["trainer.use_legacy_worker_impl"] != "disable"
        ),
        "The legacy actor never passes loss_scale_factor on. It divides by the padded length of the batch,"
        " which varies. 0.8.0 reads the key.",
        "verl 0.7.1 dp_actor.py, update_policy; verl #5604",
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 2048},
        {"loss_agg_mode": "seq-mean-token-sum", "loss_scale_factor": 2048},
        release="0.7.1",
    ),
    Trap(
        "loss_agg_mode=seq-mean-token-mean divides 0 by 0 for an empty completion",
        lambda s, given: (
            s.rows_without_tokens == "0/0"
            and (s.loss_agg_mode == "seq-mean-token-mean" or s.loss_mode == "gspo")
        ),
        "A completion without a token in the mask makes the loss NaN. 0.6.1 excludes such completions from"
        " the mean.",
        "verl agg_loss; verl #3915",
        {"loss_agg_mode": "seq-mean-token-mean"},
        {"loss_agg_mode": "seq-mean-token-sum"},
        release="0.6.0",
    ),
    Trap(
        "ppo_mini_batch_size is the whole batch, so the ratio is always 1",
        lambda s, given: (
            s.on_policy_takes_own_log_probs
            and s["trainer.use_legacy_worker_impl"] != "disable"
            and s["data.train_batch_size"] == s.ppo_mini_batch_size
            and s.ppo_epochs == 1
        ),
        "With one mini-batch and one epoch the actor takes the policy's own log-probabilities as the old"
        " ones. The ratio is exactly 1, and nothing is clipped. 0.5.0 and 0.8.0 use the computed old"
        " log-probabilities.",
        "verl 0.6.0 dp_actor.py, update_policy; verl #3119, #5604",
        {"data.train_batch_size": 256},
        {"data.train_batch_size": 512},
        release="0.7.1",
    ),
    Trap(
        "adv_estimator=reinforce_plus_plus gives no reward to tokens before a tool's answer",
        lambda s, given: (
            s.adv_estimator == "reinforce_plus_plus" and s["multi_turn.enable"] and s.return_stops_at_gaps
        ),
        "The return is reset to 0 at each token that is not the policy's. So only the tokens after the last"
        " answer of a tool get the reward. 0.9.0 passes over such tokens.",
        "verl compute_reinforce_plus_plus_outcome_advantage; verl #7278, #7300",
        {"adv_estimator": "reinforce_plus_plus", "multi_turn.enable": True},
        {"adv_estimator": "grpo", "multi_turn.enable": True},
        release="0.8.0",
    ),
    Trap(
        "filter_groups.enable is read by recipes alone",
        lambda s, given: (
            s["filter_groups.enable"] and s.only_recipes_filter_groups and s.program not in FILTERING
        ),
        "Before 0.9.0, main_ppo does not read algorithm.filter_groups, and every group takes part."
        " recipe.dapo.main_dapo and recipe.entropy.main_entropy filter.",
        "verl 0.8.0 ray_trainer.py; recipe/dapo/dapo_ray_trainer.py",
        {"filter_groups": {"enable": True, "metric": "acc"}},
        {"filter_groups": {"enable": False, "metric": "acc"}},
        release="0.8.0",
    ),
    Trap(
        "clip_ratio_low is a lower bound of CISPO's weight",
        lambda s, given: s.loss_mode == "cispo" and (s.clip_ratio_low or s.clip_ratio) < 1.0,
        "verl's weight is clipped on both sides, to [0.8, 1.2] by default. MiniMax, TRL and Open Instruct"
        " have no lower bound, and their caps are larger. A clip_ratio_low of 1 or more removes the lower"
        " bound.",
        "verl compute_policy_loss_cispo",
        {"loss_mode": "cispo"},
        {"loss_mode": "cispo", "clip_ratio_low": 10},
    ),
    Trap(
        "The estimator is GAE unless it is set",
        lambda s, given: "adv_estimator" not in given,
        'algorithm.adv_estimator is "gae" in verl, which needs a critic; it is taken for "grpo" here.',
        "verl AlgoConfig",
        {"loss_mode": "gpg"},
        {"loss_mode": "gpg", "adv_estimator": "grpo"},
    ),
    Trap(
        "loss_scale_factor is not set, so the denominator varies",
        lambda s, given: (
            s.loss_agg_mode == "seq-mean-token-sum-norm"
            and s.loss_scale_factor is None
            and s.loss_scale_factor_is_read
        ),
        "seq-mean-token-sum-norm divides by loss_scale_factor, and by default by the padded length of the"
        " current batch, which varies. For Dr. GRPO set it to a constant.",
        "verl agg_loss; verl #3741",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 2048},
    ),
    Trap(
        "norm_adv_by_std_in_grpo=False is only half of Dr. GRPO",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.loss_agg_mode != "seq-mean-token-sum-norm",
        "norm_adv_by_std_in_grpo=False removes the division by the std, but not the division by the"
        " length. Dr. GRPO also needs loss_agg_mode=seq-mean-token-sum-norm.",
        "verl docs, algo/grpo",
        {"norm_adv_by_std_in_grpo": False},
        {
            "norm_adv_by_std_in_grpo": False,
            "loss_agg_mode": "seq-mean-token-sum-norm",
            "loss_scale_factor": 1024,
        },
    ),
    Trap(
        "rollout.n is 1: the advantage is the raw reward",
        lambda s, given: s["rollout.n"] == 1 and "rollout.n" in given and s.adv_estimator in KEEP_SINGLETONS,
        "With rollout.n = 1 the mean of a group is 0 by definition, and its std is 1. So the advantage is"
        " the raw reward, which reinforce_plus_plus_baseline and gdpo still whiten over the batch.",
        "verl compute_grpo_outcome_advantage, group_mean_std",
        {"rollout.n": 1, "adv_estimator": "grpo"},
        {"rollout.n": 8, "adv_estimator": "grpo"},
    ),
    Trap(
        "kl_loss_type does not have the gradient of the KL",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_type in ("kl", "k1", "abs"),
        "As a loss, k1 has an expected gradient of zero, and abs has twice that of the total variation."
        " k2 has the gradient of the KL, and so do the types with a +, which work from 0.8.0 on.",
        "Schulman 2020, Approximating KL divergence; verl #2953",
        {"use_kl_loss": True, "kl_loss_type": "k1"},
        {"use_kl_loss": True, "kl_loss_type": "k2"},
    ),
    Trap(
        "bypass_mode does not change the loss",
        lambda s, given: "loss_type" in given or (bool(s.bypass_mode) and _corrects(s)),
        "rollout_correction.bypass_mode only uses the sampler's log-probabilities as the old ones. Its"
        " rollout_is, rollout_rs and loss_type are not read, and the loss is still that of loss_mode; the"
        " legacy trainer passes them on only after the actors have been built. To use them, set"
        " actor.policy_loss.loss_mode=bypass_mode and give them in actor.policy_loss.rollout_correction.",
        "verl v1/trainer_base.py, _compute_old_log_prob; its own examples/rollout_correction trains PPO's clip",
        {"bypass_mode": True, "loss_type": "reinforce", "rollout_is": "sequence"},
        {
            "bypass_mode": True,
            "loss_mode": "bypass_mode",
            "policy_loss.rollout_correction": {"loss_type": "reinforce", "rollout_is": "sequence"},
        },
    ),
    Trap(
        "rollout.calculate_log_probs is off, so nothing is corrected",
        lambda s, given: _corrects(s) and not s["rollout.calculate_log_probs"],
        "Without rollout.calculate_log_probs=True the sampler reports no log-probabilities, and nothing"
        " is corrected. There is no error and no warning.",
        "verl v1/trainer_base.py, _compute_advantage",
        {"rollout_is": "token", "rollout.calculate_log_probs": False},
        {"rollout_is": "token", "rollout.calculate_log_probs": True},
    ),
    Trap(
        "rollout_is: a NaN from the sampler makes the loss NaN",
        lambda s, given: (
            s.rollout_is is not None and not s.bypass_mode and "_" not in str(s.rollout_is_threshold)
        ),
        "A log-probability that the sampler reports as NaN becomes a weight of NaN, and so does the loss."
        ' A window, as in rollout_is_threshold="0.5_5.0", or a rollout_rs drops the token.',
        "verl compute_rollout_correction_weights",
        {"rollout_is": "token", "rollout_is_threshold": 2.0},
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
    ),
    Trap(
        "rollout_rs: rejected tokens stay in the denominator",
        lambda s, given: (
            s.rollout_rs is not None
            and not s.bypass_mode
            and s.loss_agg_mode == "token-mean"
            and bool(s["trainer.use_v1"])
        ),
        "token-mean divides by the tokens of the batch before the rejection. The more is rejected, the"
        " smaller the step. The legacy trainer divides by the remaining tokens.",
        "verl v1/agent_loop_tq.py, loss_mask; fsdp/transformer_impl.py, batch_num_tokens",
        {"rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_2.0"},
        {"rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_2.0", "trainer.use_v1": False},
    ),
    Trap(
        "rollout_is_threshold as a window drops no token with geo_mean",
        lambda s, given: (
            s.rollout_is is not None and s.loss_mode == "geo_mean" and "_" in str(s.rollout_is_threshold)
        ),
        "geo_mean takes the geometric mean of a completion's weights, with 1e-10 added to each. A token"
        " outside the window is not dropped, but shrinks its completion's weight to almost 0.",
        "verl compute_policy_loss_geo_mean",
        {"loss_mode": "geo_mean", "rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {"loss_mode": "geo_mean", "rollout_is": "token", "rollout_is_threshold": 5.0},
    ),
    Trap(
        "norm_adv_by_std_in_grpo is ignored by this estimator",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.adv_estimator in ("grpo_vectorized", "gdpo"),
        "norm_adv_by_std_in_grpo is passed to grpo, and grpo_passk reads it. grpo_vectorized and gdpo"
        " never get it.",
        "verl ray_trainer.compute_advantage",
        {"adv_estimator": "grpo_vectorized", "norm_adv_by_std_in_grpo": False},
        {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False},
    ),
    Trap(
        "filter_groups tests std == 0, which rounding can break",
        lambda s, given: s["filter_groups.enable"],
        "A group is dropped if np.std of its rewards is exactly 0. Rounding may prevent that: the std of"
        " three times 0.1 is 1e-17, so that group stays. Rewards of 0 and 1 are exact.",
        "verl v1/replay_buffer.py",
        {"filter_groups": {"enable": True, "metric": "score"}},
        {"filter_groups": {"enable": False, "metric": "score"}},
    ),
    Trap(
        "overlong_buffer_cfg is ignored unless reward_manager.name=dapo",
        lambda s, given: s["overlong_buffer_cfg.enable"] and s.reward_manager != "dapo",
        'Only the reward manager "dapo" reads overlong_buffer_cfg. The default, "naive", does not.',
        "verl experimental/reward_loop/reward_manager",
        {"overlong_buffer_cfg": {"enable": True, "len": 4096}, "reward_kwargs.max_resp_len": 20480},
        {
            "overlong_buffer_cfg": {"enable": True, "len": 4096},
            "reward_kwargs.max_resp_len": 20480,
            "reward_manager.name": "dapo",
        },
    ),
    Trap(
        "use_kl_in_reward has no effect with gdpo",
        lambda s, given: bool(s.use_kl_in_reward) and s.adv_estimator == "gdpo",
        "use_kl_in_reward subtracts the penalty from the rewards of the tokens. gdpo reads the components"
        " of gdpo_reward_keys instead, without a penalty. A penalty in the loss, use_kl_loss, has an"
        " effect.",
        "verl core_algos.compute_gdpo_outcome_advantage, ray_trainer.apply_kl_penalty",
        {"use_kl_in_reward": True, "adv_estimator": "gdpo"},
        {"use_kl_loss": True, "adv_estimator": "gdpo"},
    ),
    Trap(
        "use_kl_in_reward turns off the scaling of gpg",
        lambda s, given: bool(s.use_kl_in_reward) and s.adv_estimator == "gpg",
        "gpg scales up by the fraction of completions whose reward is 0. With a penalty in the reward,"
        " hardly any reward is exactly 0, so nothing is scaled.",
        "verl core_algos.compute_gpg_outcome_advantage",
        {"use_kl_in_reward": True, "adv_estimator": "gpg"},
        {"use_kl_loss": True, "adv_estimator": "gpg"},
    ),
    Trap(
        "kl_loss_coef is negative",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_coef < 0.0,
        "A negative weight is used as it is: the loss falls as the policy moves away from the reference,"
        " without a limit.",
        "verl workers/utils/losses.py, ppo_loss",
        {"use_kl_loss": True, "kl_loss_coef": -0.01},
        {"use_kl_loss": False, "kl_loss_coef": -0.01},
    ),
)
"""The traps, in the order in which they are reported."""
