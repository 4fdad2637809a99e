"""Traps: configurations of verl with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.trap import Trap


def _corrects(s: SimpleNamespace) -> bool:
    """Return true if the trainer is asked for weights or for a rejection."""
    return s.rollout_is is not None or s.rollout_rs is not None


KEEP_SINGLETONS = "grpo grpo_vectorized rloo opo gpg reinforce_plus_plus_baseline gdpo".split()
"""The estimators that use 0 as the mean of a group of one."""
TRAPS = (
    Trap(
        "clip_ratio beside low and high",
        lambda s, given: (
            "clip_ratio" in given and s.clip_ratio_low is not None and s.clip_ratio_high is not None
        ),
        "clip_ratio counts only where clip_ratio_low or clip_ratio_high is None; both are 0.2 by default.",
        "verl ActorConfig; core_algos.compute_policy_loss_vanilla",
        {"clip_ratio": 0.1},
        {"clip_ratio": 0.1, "clip_ratio_low": None, "clip_ratio_high": None},
    ),
    Trap(
        "The dual clip is always on",
        lambda s, given: s.loss_mode == "vanilla" and s.clip_ratio_c == 3.0 and "clip_ratio_c" not in given,
        "A bad token that has become 3 times likelier loses its gradient (clip_ratio_c = 3.0). For plain PPO make it large.",
        "verl compute_policy_loss_vanilla; Ye et al. 2020 (arXiv:1912.09729)",
        {"loss_mode": "vanilla"},
        {"loss_mode": "vanilla", "clip_ratio_c": 10.0},
    ),
    Trap(
        "DPPO capped at 3",
        lambda s, given: s.loss_mode in ("dppo_tv", "dppo_kl") and "clip_ratio_c" not in given,
        "DPPO's weight is meant to be capped at 20, but clip_ratio_c is 3.0 unless it is set: the 20 in the code never takes effect.",
        "verl compute_policy_loss_dppo_tv and ActorConfig",
        {"loss_mode": "dppo_tv"},
        {"loss_mode": "dppo_tv", "clip_ratio_c": 20.0},
    ),
    Trap(
        "An average that is not used",
        lambda s, given: s.loss_mode in ("gspo", "sapo", "geo_mean") and "loss_agg_mode" in given,
        "gspo and sapo average the policy's loss by seq-mean-token-mean, geo_mean per completion, whatever loss_agg_mode"
        " is. It is read for the KL penalty and the entropy bonus alone.",
        "verl core_algos and ppo_loss",
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"loss_mode": "vanilla", "loss_agg_mode": "token-mean", "clip_ratio_c": 3.0},
    ),
    Trap(
        "CISPO with a lower bound",
        lambda s, given: s.loss_mode == "cispo" and (s.clip_ratio_low or s.clip_ratio) < 1.0,
        "verl's weight is clipped on both sides, to [0.8, 1.2] by default; MiniMax, TRL and Open Instruct have no lower"
        " bound, and their caps are larger. A clip_ratio_low of 1 or more takes the lower bound away.",
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
        "A denominator that changes with the batch",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm" and s.loss_scale_factor is None,
        "seq-mean-token-sum-norm divides by loss_scale_factor, and without it by the padded length of the batch at hand,"
        " which varies. Dr. GRPO's constant has to be set.",
        "verl agg_loss; verl #3741",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 2048},
    ),
    Trap(
        "Half of Dr. GRPO",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.loss_agg_mode != "seq-mean-token-sum-norm",
        "norm_adv_by_std_in_grpo=False removes the division by the std, not the one by the length: Dr. GRPO also needs"
        " loss_agg_mode=seq-mean-token-sum-norm.",
        "verl docs, algo/grpo",
        {"norm_adv_by_std_in_grpo": False},
        {
            "norm_adv_by_std_in_grpo": False,
            "loss_agg_mode": "seq-mean-token-sum-norm",
            "loss_scale_factor": 1024,
        },
    ),
    Trap(
        "A group of one keeps its reward",
        lambda s, given: (
            vars(s)["rollout.n"] == 1 and "rollout.n" in given and s.adv_estimator in KEEP_SINGLETONS
        ),
        "With rollout.n = 1 a group has mean 0, and std 1 where there is one, by definition: the advantage is the raw"
        " reward, which reinforce_plus_plus_baseline and gdpo still whiten over the batch.",
        "verl compute_grpo_outcome_advantage, group_mean_std",
        {"rollout.n": 1, "adv_estimator": "grpo"},
        {"rollout.n": 8, "adv_estimator": "grpo"},
    ),
    Trap(
        "A penalty that does not pull",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_type in ("kl", "k1", "abs"),
        "As a loss, k1 has an expected gradient of zero, and abs twice that of the total variation; k2 and the types with"
        " a + have the KL's own.",
        "Schulman 2020, Approximating KL divergence; verl #2953",
        {"use_kl_loss": True, "kl_loss_type": "k1"},
        {"use_kl_loss": True, "kl_loss_type": "k2"},
    ),
    Trap(
        "Bypass mode without its loss",
        lambda s, given: "loss_type" in given or (bool(s.bypass_mode) and _corrects(s)),
        "rollout_correction.bypass_mode takes the sampler's log-probabilities for the old ones, and no more: its rollout_is,"
        " rollout_rs and loss_type are not read, and the loss stays loss_mode's; the legacy trainer hands them over only after"
        " the actors have been built. For them, set"
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
        "A correction without the sampler's log-probabilities",
        lambda s, given: _corrects(s) and not vars(s)["rollout.calculate_log_probs"],
        "Without rollout.calculate_log_probs=True the sampler reports none, and nothing is corrected: no error, no warning.",
        "verl v1/trainer_base.py, _compute_advantage",
        {"rollout_is": "token"},
        {"rollout_is": "token", "rollout.calculate_log_probs": True},
    ),
    Trap(
        "NaN from the sampler",
        lambda s, given: (
            s.rollout_is is not None and not s.bypass_mode and "_" not in str(s.rollout_is_threshold)
        ),
        "A log-probability that the sampler reports as NaN becomes a weight of NaN, and the loss with it. A window, as in"
        ' rollout_is_threshold="0.5_5.0", or a rollout_rs drops the token.',
        "verl compute_rollout_correction_weights",
        {"rollout_is": "token", "rollout_is_threshold": 2.0},
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
    ),
    Trap(
        "Rejected tokens are still counted",
        lambda s, given: (
            s.rollout_rs is not None
            and not s.bypass_mode
            and s.loss_agg_mode == "token-mean"
            and bool(vars(s)["trainer.use_v1"])
        ),
        "token-mean divides by the tokens of the batch before the rejection, so that the more is rejected the smaller is the"
        " step. The legacy trainer divides by those that are left.",
        "verl v1/agent_loop_tq.py, loss_mask; fsdp/transformer_impl.py, batch_num_tokens",
        {"rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_2.0"},
        {"rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_2.0", "trainer.use_v1": False},
    ),
    Trap(
        "A window that drops nothing",
        lambda s, given: (
            s.rollout_is is not None and s.loss_mode == "geo_mean" and "_" in str(s.rollout_is_threshold)
        ),
        "geo_mean takes the geometric mean of a completion's weights, with 1e-10 added to each: a token outside the window"
        " does not leave, but shrinks its completion's weight to nearly nothing.",
        "verl compute_policy_loss_geo_mean",
        {"loss_mode": "geo_mean", "rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {"loss_mode": "geo_mean", "rollout_is": "token", "rollout_is_threshold": 5.0},
    ),
    Trap(
        "The std is divided by all the same",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.adv_estimator in ("grpo_vectorized", "gdpo"),
        "norm_adv_by_std_in_grpo is handed to grpo, and grpo_passk reads it; grpo_vectorized and gdpo are not told of it.",
        "verl ray_trainer.compute_advantage",
        {"adv_estimator": "grpo_vectorized", "norm_adv_by_std_in_grpo": False},
        {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False},
    ),
    Trap(
        "Equal rewards whose std is not 0",
        lambda s, given: vars(s)["filter_groups.enable"],
        "A group is dropped where np.std of its rewards is exactly 0, which rounding may prevent: the std of three times 0.1"
        " is 1e-17, and that group stays. 0 and 1 are exact.",
        "verl v1/replay_buffer.py",
        {"filter_groups": {"enable": True, "metric": "score"}},
        {"filter_groups": {"enable": False, "metric": "score"}},
    ),
    Trap(
        "An overlong punishment that nobody gives",
        lambda s, given: vars(s)["overlong_buffer_cfg.enable"] and s.reward_manager != "dapo",
        'Only the reward manager "dapo" reads overlong_buffer_cfg; the default, "naive", does not.',
        "verl experimental/reward_loop/reward_manager",
        {"overlong_buffer_cfg": {"enable": True, "len": 4096}, "reward_kwargs.max_resp_len": 20480},
        {
            "overlong_buffer_cfg": {"enable": True, "len": 4096},
            "reward_kwargs.max_resp_len": 20480,
            "reward_manager.name": "dapo",
        },
    ),
    Trap(
        "A penalty that gdpo does not see",
        lambda s, given: bool(s.use_kl_in_reward) and s.adv_estimator == "gdpo",
        "use_kl_in_reward takes the penalty off the rewards of the tokens; gdpo reads the components of gdpo_reward_keys"
        " instead, where none was taken off. A penalty in the loss, use_kl_loss, counts.",
        "verl core_algos.compute_gdpo_outcome_advantage, ray_trainer.apply_kl_penalty",
        {"use_kl_in_reward": True, "adv_estimator": "gdpo"},
        {"use_kl_loss": True, "adv_estimator": "gdpo"},
    ),
    Trap(
        "gpg that scales nothing",
        lambda s, given: bool(s.use_kl_in_reward) and s.adv_estimator == "gpg",
        "gpg scales up by the share of the completions whose reward is 0. With a penalty in the reward hardly any is"
        " exactly 0, so that nothing is scaled.",
        "verl core_algos.compute_gpg_outcome_advantage",
        {"use_kl_in_reward": True, "adv_estimator": "gpg"},
        {"use_kl_loss": True, "adv_estimator": "gpg"},
    ),
    Trap(
        "A weight that pushes away",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_coef < 0.0,
        "A negative weight is taken as it is: the loss falls the farther the policy is from the reference, and nothing"
        " holds it back.",
        "verl workers/utils/losses.py, ppo_loss",
        {"use_kl_loss": True, "kl_loss_coef": -0.01},
        {"use_kl_loss": False, "kl_loss_coef": -0.01},
    ),
)
"""The traps, in the order in which they are reported."""
