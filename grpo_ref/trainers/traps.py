"""Traps: configurations that do something else than their author is likely to think.

Each has a configuration that falls into it and a near one that does not.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from grpo_ref.trainers.dialect import Dialect, flat

Condition = Callable[[SimpleNamespace, Set[str]], bool]
"""All settings, and the keys that were given -> whether the trap is sprung."""


@dataclass(frozen=True)
class Trap:
    """One trap of one trainer.

    Attributes:
      name: in a few words.
      dialect: of which trainer.
      sprung: when it is.
      text: what really happens, and what to do.
      source: where that can be read.
      example, near: a configuration that falls into it, and one close by that does not.
    """

    name: str
    dialect: str
    sprung: Condition
    text: str
    source: str
    example: Mapping[str, Any]
    near: Mapping[str, Any]


def sprung(dialect: Dialect, config: Mapping[str, Any]) -> list[Trap]:
    """The traps that a configuration falls into."""
    settings = dialect.settings(config)
    given = {str(dialect.key(key)) for key in flat(config)} | set(flat(config))
    return [trap for trap in TRAPS if trap.dialect == dialect.name and trap.sprung(settings, given)]


PPO_LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")

TRAPS = (
    # ---- TRL
    Trap(
        "Dr. GRPO that still divides by the std",
        "trl",
        lambda s, given: s.loss_type == "dr_grpo" and s.scale_rewards not in ("none", False),
        'loss_type="dr_grpo" changes the denominator alone. The advantages are still divided by the std of their group;'
        ' for Dr. GRPO set scale_rewards="none" as well.',
        "TRL GRPOConfig.loss_type and scale_rewards; Liu et al. 2025 (arXiv:2503.20783)",
        {"loss_type": "dr_grpo"},
        {"loss_type": "dr_grpo", "scale_rewards": "none"},
    ),
    Trap(
        "A constant that nobody chose",
        "trl",
        lambda s, given: s.loss_type == "dr_grpo" and "max_completion_length" not in given,
        'loss_type="dr_grpo" divides by the configured max_completion_length, not by the longest completion at hand; it'
        " is 512 here because it was not given, and a change of it changes the step size.",
        "TRL GRPOTrainer._compute_loss",
        {"loss_type": "dr_grpo"},
        {"loss_type": "dr_grpo", "max_completion_length": 1024},
    ),
    Trap(
        "GSPO with PPO's epsilon",
        "trl",
        lambda s, given: (
            s.importance_sampling_level != "token" and s.loss_type in PPO_LOSSES and s.epsilon >= 0.01
        ),
        "The ratio of a sequence is a geometric mean and hardly leaves 1: the paper clips at 3e-4 and 4e-4. An epsilon"
        " hundreds of times that never clips anything.",
        "Zheng et al. 2025, GSPO (arXiv:2507.18071); TRL's paper index",
        {"importance_sampling_level": "sequence", "epsilon": 0.2},
        {"importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
    ),
    Trap(
        "GSPO averaged by token",
        "trl",
        lambda s, given: (
            s.importance_sampling_level != "token" and s.loss_type in ("dapo", "bnpo", "dr_grpo")
        ),
        'The level does not change the average: with loss_type="dapo" (the default) long completions count more. GSPO'
        ' averages by completion: loss_type="grpo".',
        "TRL GRPOTrainer._compute_loss",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "sequence", "loss_type": "grpo"},
    ),
    Trap(
        "CISPO whose cap falls back to 0.2",
        "trl",
        lambda s, given: s.loss_type == "cispo" and s.epsilon_high is None,
        "epsilon_high is the cap of the weight itself. Left out it falls back to epsilon = 0.2, and every weight, 1 on"
        " fresh data, is cut to 0.2. ScaleRL's cap is 5.0.",
        "TRL GRPOTrainer._compute_loss, cispo",
        {"loss_type": "cispo"},
        {"loss_type": "cispo", "epsilon_high": 5.0},
    ),
    Trap(
        "CISPO's cap taken for an offset",
        "trl",
        lambda s, given: s.loss_type == "cispo" and s.epsilon_high is not None and s.epsilon_high <= 1.0,
        "In TRL the cap is epsilon_high, in Open Instruct 1 + clip_higher, in verl 1 + clip_ratio_high. At 1 or below"
        " it shrinks every weight of fresh data.",
        "tinker-cookbook #763, SkyRL #1928",
        {"loss_type": "cispo", "epsilon_high": 0.28},
        {"loss_type": "cispo", "epsilon_high": 1.28},
    ),
    Trap(
        "An epsilon that nothing reads",
        "trl",
        lambda s, given: s.loss_type in ("sapo", "vespo") and bool({"epsilon", "epsilon_high"} & given),
        "SAPO and VESPO have no clip: epsilon and epsilon_high enter the clip metrics alone.",
        "TRL GRPOTrainer._compute_loss",
        {"loss_type": "sapo", "epsilon": 0.1},
        {"loss_type": "sapo", "sapo_temperature_neg": 1.2},
    ),
    Trap(
        "A delta that never binds",
        "trl",
        lambda s, given: (
            s.delta is not None and s.delta <= 1.0 + (s.epsilon if s.epsilon_high is None else s.epsilon_high)
        ),
        "delta caps the unclipped branch, so it has to be larger than 1 + epsilon_high; below, it takes the place of the"
        " upper clip bound for good tokens and bounds bad ones at 1 + epsilon_high.",
        "INTELLECT-2 (arXiv:2505.07291); TRL GRPOConfig.delta",
        {"delta": 1.1, "loss_type": "grpo"},
        {"delta": 4.0, "loss_type": "grpo"},
    ),
    Trap(
        "Batch scaling that keeps the group's mean",
        "trl",
        lambda s, given: s.scale_rewards == "batch",
        'scale_rewards="batch" takes the std of the batch, but the mean of the group; a baseline over the batch, as some'
        " texts have it, is another algorithm.",
        "TRL GRPOTrainer._generate_and_score_completions",
        {"scale_rewards": "batch"},
        {"scale_rewards": "group"},
    ),
    Trap(
        "Two completions are not plus and minus one",
        "trl",
        lambda s, given: s.num_generations == 2 and s.scale_rewards in ("group", True),
        "With the sample std (ddof 1) the advantages of two different rewards are ±0.7071, not ±1; ±1 needs the"
        " population std (ddof 0).",
        "torch.std in TRL GRPOTrainer; 2-GRPO",
        {"num_generations": 2},
        {"num_generations": 4},
    ),
    Trap(
        "DAPO without dynamic sampling",
        "trl",
        lambda s, given: s.loss_type == "dapo" and "loss_type" in given,
        'loss_type="dapo" is the token average. Groups without contrast are neither left out nor drawn anew, and stay in'
        " the denominator; TRL reports them as frac_reward_zero_std.",
        "TRL docs, paper index: dynamic sampling is not supported",
        {"loss_type": "dapo"},
        {"loss_type": "bnpo"},
    ),
    Trap(
        "Truncated completions leave the denominator",
        "trl",
        lambda s, given: bool(s.mask_truncated_completions) and s.loss_type not in ("grpo", "sapo", "gmpo"),
        "mask_truncated_completions takes the tokens of truncated completions out of the number of tokens too, so the"
        " others count more the more are truncated.",
        "TRL PR #6439",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": True, "loss_type": "grpo"},
    ),
    Trap(
        "Truncated completions stay in the denominator",
        "trl",
        lambda s, given: bool(s.mask_truncated_completions) and s.loss_type in ("grpo", "sapo", "gmpo"),
        "Averages by completion still count truncated completions, as zeros: the more are truncated, the smaller the step.",
        "TRL GRPOTrainer._compute_loss",
        {"mask_truncated_completions": True, "loss_type": "grpo"},
        {"mask_truncated_completions": True, "loss_type": "dapo"},
    ),
    Trap(
        "A correction that drops whole completions",
        "trl",
        lambda s, given: (
            bool(s.use_vllm and s.vllm_importance_sampling_correction)
            and "vllm_importance_sampling_mode" not in given
        ),
        "With use_vllm the correction is on, in the mode sequence_mask: a completion whose product of ratios exceeds 3 is"
        " dropped. Long completions exceed it easily.",
        "TRL GRPOConfig.vllm_importance_sampling_mode",
        {"use_vllm": True},
        {"use_vllm": True, "vllm_importance_sampling_mode": "token_truncate"},
    ),
    Trap(
        "A KL that the importance weights do not reach",
        "trl",
        lambda s, given: (
            s.beta > 0.0
            and (s.use_vllm or s.off_policy_mask_threshold is not None or s.top_entropy_quantile < 1.0)
        ),
        "The KL is added after the sampler's weights, the entropy mask and the off-policy mask: tokens that those leave out"
        " are still pulled to the reference.",
        "TRL GRPOTrainer._compute_loss",
        {"use_vllm": True, "beta": 0.04, "vllm_importance_sampling_mode": "token_mask"},
        {"use_vllm": True, "beta": 0.0, "vllm_importance_sampling_mode": "token_mask"},
    ),
    Trap(
        "A KL weighted by the sequence's ratio",
        "trl",
        lambda s, given: (
            s.beta > 0.0 and bool(s.use_bias_correction_kl) and s.importance_sampling_level == "sequence"
        ),
        "The bias correction multiplies each token's KL by the ratio of the whole sequence, which adds a spurious term to the"
        " gradient. Set use_bias_correction_kl=False with a sequence level.",
        "TRL #6586, PR #6594",
        {"beta": 0.04, "importance_sampling_level": "sequence"},
        {"beta": 0.04, "importance_sampling_level": "sequence", "use_bias_correction_kl": False},
    ),
    Trap(
        "A reference model that is not taken",
        "trl",
        lambda s, given: "ref_model" in given,
        "GRPOTrainer has no argument ref_model: with beta > 0 it loads the reference itself, with beta = 0 it has none.",
        "TRL GRPOTrainer.__init__",
        {"ref_model": "model", "beta": 0.04},
        {"beta": 0.04},
    ),
    Trap(
        "Settings of a reference that is not there",
        "trl",
        lambda s, given: (
            s.beta == 0.0
            and bool(
                {"sync_ref_model", "ref_model_mixup_alpha", "ref_model_sync_steps", "use_bias_correction_kl"}
                & given
            )
        ),
        "beta is 0 (the default), so no reference model is loaded and nothing of it has an effect.",
        "TRL GRPOConfig.beta",
        {"sync_ref_model": True},
        {"sync_ref_model": True, "beta": 0.04},
    ),
    Trap(
        "A mask that keeps its denominator",
        "trl",
        lambda s, given: s.top_entropy_quantile < 1.0,
        "top_entropy_quantile takes the other tokens out of the sum and leaves them in the number of tokens: with 0.2 the"
        " step is about a fifth as large.",
        "TRL get_high_entropy_mask; Wang et al. 2025 (arXiv:2506.01939)",
        {"top_entropy_quantile": 0.2},
        {"top_entropy_quantile": 1.0},
    ),
    Trap(
        "A clip that cannot act",
        "trl",
        lambda s, given: (
            s.loss_type in PPO_LOSSES
            and bool({"epsilon", "epsilon_high"} & given)
            and s.num_iterations == 1
            and s.steps_per_generation in (None, s.gradient_accumulation_steps)
        ),
        "Each batch is used for one step, so every ratio is 1 and the clip never acts. It does with num_iterations > 1 or"
        " steps_per_generation > gradient_accumulation_steps.",
        "TRL GRPOConfig.num_iterations",
        {"epsilon": 0.1, "loss_type": "grpo"},
        {"epsilon": 0.1, "loss_type": "grpo", "num_iterations": 2},
    ),
    Trap(
        "An old name of the cap",
        "trl",
        lambda s, given: "vllm_importance_sampling_cap" in given,
        "vllm_importance_sampling_cap is deprecated; it is vllm_importance_sampling_clip_max now. Inside the window, *_mask"
        " keeps the ratio as the weight, where some texts have 1.",
        "TRL 1.16.0 GRPOConfig",
        {"use_vllm": True, "vllm_importance_sampling_cap": 3.0},
        {"use_vllm": True, "vllm_importance_sampling_clip_max": 3.0},
    ),
    # ---- verl
    Trap(
        "clip_ratio beside low and high",
        "verl",
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
        "verl",
        lambda s, given: s.loss_mode == "vanilla" and "clip_ratio_c" not in given,
        "A bad token that has become 3 times likelier loses its gradient (clip_ratio_c = 3.0). For plain PPO make it large.",
        "verl compute_policy_loss_vanilla; Ye et al. 2020 (arXiv:1912.09729)",
        {"loss_mode": "vanilla"},
        {"loss_mode": "vanilla", "clip_ratio_c": 10.0},
    ),
    Trap(
        "DPPO capped at 3",
        "verl",
        lambda s, given: s.loss_mode in ("dppo_tv", "dppo_kl") and "clip_ratio_c" not in given,
        "DPPO's weight shall be capped at 20, but clip_ratio_c is 3.0 unless it is set: the 20 in the code is dead.",
        "verl compute_policy_loss_dppo_tv and ActorConfig",
        {"loss_mode": "dppo_tv"},
        {"loss_mode": "dppo_tv", "clip_ratio_c": 20.0},
    ),
    Trap(
        "An average that is not used",
        "verl",
        lambda s, given: s.loss_mode in ("gspo", "sapo", "geo_mean") and "loss_agg_mode" in given,
        "gspo and sapo force seq-mean-token-mean, geo_mean averages over all completions; loss_agg_mode is not read.",
        "verl core_algos",
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"loss_mode": "vanilla", "loss_agg_mode": "token-mean", "clip_ratio_c": 3.0},
    ),
    Trap(
        "CISPO with a lower bound",
        "verl",
        lambda s, given: s.loss_mode == "cispo",
        "verl's weight is clipped on both sides, to [0.8, 1.2] by default; MiniMax, TRL and Open Instruct have no lower"
        " bound, and their caps are larger.",
        "verl compute_policy_loss_cispo",
        {"loss_mode": "cispo"},
        {"loss_mode": "gpg"},
    ),
    Trap(
        "The estimator is GAE unless it is set",
        "verl",
        lambda s, given: "adv_estimator" not in given,
        'algorithm.adv_estimator is "gae" in verl, which needs a critic; it is taken for "grpo" here.',
        "verl AlgoConfig",
        {"loss_mode": "gpg"},
        {"loss_mode": "gpg", "adv_estimator": "grpo"},
    ),
    Trap(
        "A denominator that changes with the batch",
        "verl",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm" and s.loss_scale_factor is None,
        "seq-mean-token-sum-norm divides by loss_scale_factor, and without it by the padded length of the batch at hand,"
        " which varies. Dr. GRPO's constant has to be set.",
        "verl agg_loss; verl #3741",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 2048},
    ),
    Trap(
        "Half of Dr. GRPO",
        "verl",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.loss_agg_mode != "seq-mean-token-sum-norm",
        "norm_adv_by_std_in_grpo=False takes the std out, not the length: Dr. GRPO also needs"
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
        "verl",
        lambda s, given: (
            vars(s)["rollout.n"] == 1 and "rollout.n" in given and s.adv_estimator in ("grpo", "rloo")
        ),
        "With rollout.n = 1 a group has mean 0 and std 1 by definition: the advantage is the raw reward.",
        "verl compute_grpo_outcome_advantage",
        {"rollout.n": 1, "adv_estimator": "grpo"},
        {"rollout.n": 8, "adv_estimator": "grpo"},
    ),
    Trap(
        "A penalty that does not pull",
        "verl",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_type in ("kl", "k1", "abs"),
        "As a loss, k1 has an expected gradient of zero and abs that of no divergence; k2 and the types with a + have the"
        " KL's own.",
        "Schulman 2020, Approximating KL divergence; verl #2953",
        {"use_kl_loss": True, "kl_loss_type": "k1"},
        {"use_kl_loss": True, "kl_loss_type": "k2"},
    ),
    # ---- Open Instruct
    Trap(
        "Centred, not normalised",
        "open_instruct",
        lambda s, given: "advantage_normalization_type" not in given,
        'advantage_normalization_type is "centered": the std is not divided by. With "standard" it is the population std'
        " (ddof 0), where TRL and verl take the sample's.",
        "Open Instruct GRPOExperimentConfig; data_loader.py",
        {"beta": 0.0},
        {"beta": 0.0, "advantage_normalization_type": "standard"},
    ),
    Trap(
        "A correction that nobody asked for",
        "open_instruct",
        lambda s, given: bool(s.use_rho_correction) and "use_rho_correction" not in given,
        "use_rho_correction is on: the surrogate is multiplied by exp(old - sampler), limited to 2.",
        "Open Instruct compute_rho_correction",
        {"loss_fn": "dapo"},
        {"loss_fn": "dapo", "use_rho_correction": False},
    ),
    Trap(
        "A sequence mask that replaces the weights",
        "open_instruct",
        lambda s, given: bool(s.rho_mask_sequence_level and s.use_rho_correction),
        "rho_mask_sequence_level does not only mask: the token weights are replaced by the geometric mean of the sequence.",
        "Open Instruct compute_rho_correction",
        {"rho_mask_sequence_level": True, "rho_mask_upper_bound": 1.1},
        {"rho_mask_sequence_level": False, "rho_mask_upper_bound": 1.1},
    ),
    Trap(
        "A beta without a reference",
        "open_instruct",
        lambda s, given: not s.load_ref_policy and "beta" in given and s.beta > 0.0,
        "load_ref_policy is off, so there is no reference and beta has no effect.",
        "Open Instruct grpo_fast.py",
        {"beta": 0.05, "load_ref_policy": False},
        {"beta": 0.05, "load_ref_policy": True},
    ),
    Trap(
        "Truncated rows shift the groups",
        "open_instruct",
        lambda s, given: bool(s.mask_truncated_completions),
        "Truncated completions are removed before the rewards are cut into groups; unless whole groups remain, completions"
        " are compared with those of other prompts.",
        "Open Instruct data_loader.py, read and not run",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": False},
    ),
    Trap(
        "A penalty that does not pull",
        "open_instruct",
        lambda s, given: bool(s.load_ref_policy) and s.beta > 0.0 and s.kl_estimator == 0,
        "As a loss, estimator 0 (k1) has an expected gradient of zero.",
        "open-instruct #534",
        {"kl_estimator": 0},
        {"kl_estimator": 2},
    ),
    # ---- RLinf
    Trap(
        "Normalised a second time",
        "rlinf",
        lambda s, given: bool(s.normalize_advantages),
        "normalize_advantages standardises once more over all tokens of the batch, where long completions have more say."
        " The documentation has True, the shipped YAML files have False.",
        "RLinf advantages.py, distributed.masked_normalization",
        {"normalize_advantages": True},
        {"normalize_advantages": False},
    ),
    Trap(
        "A KL bonus in one of the two actors",
        "rlinf",
        lambda s, given: s.kl_beta > 0.0,
        "At this version the FSDP actor calls the penalty with its arguments swapped: k1 becomes a bonus, k3 the other"
        " direction. The Megatron actor does not.",
        "RLinf PR #1400",
        {"kl_beta": 0.01},
        {"kl_beta": 0.0},
    ),
    Trap(
        "A scale that is not on the advantages",
        "rlinf",
        lambda s, given: bool(s.use_valid_token_scale),
        "The documentation says that advantages are divided by the number of valid tokens; the code scales the loss so that"
        " averages over micro-batches become the average over all tokens (Megatron only).",
        "RLinf megatron_worker.py, _setup_valid_token_scale",
        {"use_valid_token_scale": True},
        {"use_valid_token_scale": False},
    ),
    Trap(
        "An early stop that stops little",
        "rlinf",
        lambda s, given: s.early_stop_imp_ratio is not None,
        "The loss of a micro-batch whose mean ratio exceeds the bound is multiplied by 0: that micro-batch and no other, for"
        " high ratios and not for low ones, and a NaN stays NaN (Megatron only).",
        "RLinf megatron_actor_worker.py",
        {"early_stop_imp_ratio": 5.0},
        {"early_stop_imp_ratio": None},
    ),
    Trap(
        "NaN from one empty completion",
        "rlinf",
        lambda s, given: s.loss_agg_func.replace("_", "-") == "seq-mean-token-mean",
        "Lengths are not bounded below: one completion without tokens makes the loss 0/0.",
        "RLinf utils.py",
        {"loss_agg_func": "seq-mean-token-mean"},
        {"loss_agg_func": "seq-mean-token-sum"},
    ),
    Trap(
        "An entropy that is only recorded",
        "rlinf",
        lambda s, given: bool(s.calculate_entropy) and s.entropy_bonus == 0.0,
        "calculate_entropy computes the entropy for the metrics; exploration is encouraged by entropy_bonus.",
        "RLinf actor workers",
        {"calculate_entropy": True},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
    # ---- OpenRLHF
    Trap(
        "A clamp that does not clamp",
        "openrlhf",
        lambda s, given: bool(s.enable_vllm_is_correction) and s.vllm_is_correction_type == "seq-mask-tis",
        "seq-mask-tis filters completions by their geometric mean; the token weights inside are not limited, though the"
        " comment in the code says so.",
        "OpenRLHF loss.py, PolicyLoss",
        {"enable_vllm_is_correction": True, "vllm_is_correction_type": "seq-mask-tis"},
        {"enable_vllm_is_correction": True, "vllm_is_correction_type": "tis"},
    ),
    Trap(
        "Two names for a baseline, one of them whitened",
        "openrlhf",
        lambda s, given: s.advantage_estimator == "reinforce_baseline",
        "reinforce_baseline and dr_grpo both take the group's mean off; reinforce_baseline is whitened over the batch"
        " afterwards.",
        "OpenRLHF experience_maker.py",
        {"advantage_estimator": "reinforce_baseline"},
        {"advantage_estimator": "dr_grpo"},
    ),
)
"""All traps, by trainer."""
