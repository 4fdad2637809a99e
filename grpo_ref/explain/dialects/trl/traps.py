"""Traps: configurations of TRL with effects that their author is unlikely to expect."""

from dataclasses import replace

from grpo_ref.explain.dialects.trl.keys import GMPO, WINDOW_LOSSES, has_several_steps, scale_in_effect
from grpo_ref.explain.dialects.trl.sampler import is_corrected, upper_bound
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

GMPO_READS_NOT = {
    *(
        "loss_type",
        "importance_sampling_level",
        "delta",
        "use_bias_correction_kl",
        "off_policy_mask_threshold",
    ),
    *("use_vllm", "vllm_importance_sampling_mode", "vllm_importance_sampling_clip_max"),
    *("vllm_importance_sampling_clip_min", "entropy_coef", "use_adaptive_entropy"),
}
"""Keys of GRPOConfig that change only the loss of GRPOTrainer."""
PPO_LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")
"""Loss types that clip the ratio as PPO does."""
VESPO_VLLM = {"loss_type": "vespo", "use_vllm": True, "vllm_importance_sampling_mode": "token_truncate"}


def _leaves_out_1(s: Settings) -> bool:
    """Return true if 1 is outside the window of the sampler's weights."""
    low, high = s.vllm_importance_sampling_clip_min, upper_bound(s)
    return (low is not None and low > 1.0) or (high is not None and high < 1.0)


def _clips_1(s: Settings) -> bool:
    """Return true if a bound of the clip is on the wrong side of 1."""
    bounds = [bound for bound in (s.epsilon, s.epsilon_high) if bound is not None]
    return min(bounds, default=0.0) < 0.0


def _denominator_shrinks(s: Settings) -> bool:
    """Return true if `mask_truncated_completions` removes tokens from the denominator too."""
    return s.loss_type == "bnpo" or (s.loss_type in WINDOW_LOSSES and not s.denominator_counts_truncated)


def _trains_on_padding(s: Settings) -> bool:
    """Return true if LUSPO's loss has a value for each token, so that its mean over the padded matrix has padding."""
    is_per_token = s.importance_sampling_level == "token" or s.beta != 0.0 or s.top_entropy_quantile < 1.0
    is_per_token = is_per_token or (is_corrected(s) and s.vllm_importance_sampling_mode.startswith("token"))
    return s.loss_type == "luspo" and s.luspo_trains_on_padding and is_per_token


GMPO_TOO = {
    "epsilon is negative, so the clip excludes the ratio 1",
    'scale_rewards="batch" keeps the mean of the group',
    "num_generations=2 gives advantages of ±0.7071, not ±1",
    "mask_truncated_completions keeps the denominator",
    "ref_model is not an argument of GRPOTrainer",
    "beta is 0, but the reference model has settings",
    "top_entropy_quantile has a threshold in float32",
    "trainer=GMPOTrainer does not read all keys of the loss",
    "epsilon has no effect: each batch is used once",
    "beta is negative",
}
"""Traps that GMPOTrainer has as well. The others are about keys that only the loss of GRPOTrainer reads."""


def _of_grpo(trap: Trap) -> Trap:
    """Return the trap with a condition that excludes GMPOTrainer."""
    return replace(trap, sprung=lambda s, given: s.trainer != GMPO and trap.sprung(s, given))


_ALL = (
    Trap(
        "Dr. GRPO that still divides by the std",
        lambda s, given: (
            s.loss_type == "dr_grpo" and scale_in_effect(s) != "none" and s.scale_rewards_meaning != "swapped"
        ),
        'loss_type="dr_grpo" changes the denominator alone. The advantages are still divided by a std. For Dr. GRPO set'
        " scale_rewards=False as well.",
        "TRL GRPOConfig.loss_type and scale_rewards; Liu et al. 2025 (arXiv:2503.20783)",
        {"loss_type": "dr_grpo"},
        {"loss_type": "dr_grpo", "scale_rewards": "none"},
    ),
    Trap(
        "A constant that nobody chose",
        lambda s, given: s.loss_type == "dr_grpo" and "max_completion_length" not in given,
        'loss_type="dr_grpo" divides by the configured max_completion_length, not by the longest completion at'
        " hand. It is not given, so the default counts: 512 tokens, or 256 before TRL 1.10. A change of it changes the"
        " step size.",
        "TRL GRPOTrainer._compute_loss",
        {"loss_type": "dr_grpo"},
        {"loss_type": "dr_grpo", "max_completion_length": 1024},
    ),
    Trap(
        "epsilon is PPO's, far too large for GSPO",
        lambda s, given: (
            s.importance_sampling_level != "token" and s.loss_type in PPO_LOSSES and s.epsilon >= 0.01
        ),
        "The ratio of a sequence is a geometric mean and hardly leaves 1: the paper clips at 3e-4 and"
        " 4e-4. An epsilon hundreds of times larger never clips anything.",
        "Zheng et al. 2025, GSPO (arXiv:2507.18071); TRL's paper index",
        {"importance_sampling_level": "sequence", "epsilon": 0.2},
        {"importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
    ),
    Trap(
        "loss_type averages over tokens, unlike GSPO",
        lambda s, given: (
            s.importance_sampling_level != "token" and s.loss_type in ("dapo", "bnpo", "dr_grpo")
        ),
        "The level does not change the average. With these loss types long completions count more. In GSPO every"
        ' completion counts the same. Set loss_type="grpo".',
        "TRL GRPOTrainer._compute_loss",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "sequence", "loss_type": "grpo"},
    ),
    Trap(
        "epsilon_high is not set, so CISPO's cap is 0.2",
        lambda s, given: s.loss_type == "cispo" and s.epsilon_high is None,
        "epsilon_high is the cap of the weight itself. By default it is epsilon = 0.2, and every weight,"
        " which is 1 on fresh data, is cut to 0.2. ScaleRL's cap is 5.0.",
        "TRL GRPOTrainer._compute_loss, cispo",
        {"loss_type": "cispo"},
        {"loss_type": "cispo", "epsilon_high": 5.0},
    ),
    Trap(
        "epsilon_high is CISPO's cap, not an offset from 1",
        lambda s, given: s.loss_type == "cispo" and s.epsilon_high is not None and s.epsilon_high <= 1.0,
        "In TRL the cap is epsilon_high, in Open Instruct 1 + clip_higher, in verl 1 + clip_ratio_high. A"
        " cap of 1 or less shrinks every weight of fresh data.",
        "tinker-cookbook #763, SkyRL #1928",
        {"loss_type": "cispo", "epsilon_high": 0.28},
        {"loss_type": "cispo", "epsilon_high": 1.28},
    ),
    Trap(
        "epsilon and epsilon_high are ignored by SAPO and VESPO",
        lambda s, given: s.loss_type in ("sapo", "vespo") and bool({"epsilon", "epsilon_high"} & given),
        "SAPO and VESPO have no clip. They do not read epsilon and epsilon_high.",
        "TRL GRPOTrainer._compute_loss",
        {"loss_type": "sapo", "epsilon": 0.1},
        {"loss_type": "sapo", "sapo_temperature_neg": 1.2},
    ),
    Trap(
        "delta is not larger than 1 + epsilon_high",
        lambda s, given: (
            s.delta is not None and s.delta <= 1.0 + (s.epsilon if s.epsilon_high is None else s.epsilon_high)
        ),
        "delta caps the unclipped branch, so it must be larger than 1 + epsilon_high. A smaller delta"
        " replaces the upper clip bound for good tokens, and bad tokens are bounded at 1 + epsilon_high.",
        "INTELLECT-2 (arXiv:2505.07291); TRL GRPOConfig.delta",
        {"delta": 1.1, "loss_type": "grpo"},
        {"delta": 4.0, "loss_type": "grpo"},
    ),
    Trap(
        "delta is below 1",
        lambda s, given: s.delta is not None and s.delta < 1.0 and s.loss_type in PPO_LOSSES,
        "TRL accepts a delta of any size. Below 1 it is the upper clip bound of good tokens. The ratio of"
        " fresh data, 1, is above it, so good tokens have no gradient there, while bad tokens keep theirs.",
        "TRL GRPOTrainer._compute_loss, delta",
        {"delta": 0.9, "loss_type": "grpo"},
        {"delta": 1.0, "loss_type": "grpo"},
    ),
    Trap(
        "epsilon is negative, so the clip excludes the ratio 1",
        lambda s, given: (s.loss_type in PPO_LOSSES or s.trainer == GMPO) and _clips_1(s),
        "epsilon and epsilon_high are distances from the ratio 1 and may be any number. A negative"
        " epsilon_high clips good tokens of fresh data, and a negative epsilon clips bad ones."
        " epsilon_high is epsilon by default. If the bounds are swapped, both are the upper one.",
        "TRL GRPOTrainer._compute_loss, torch.clamp",
        {"epsilon_high": -0.1, "loss_type": "grpo"},
        {"epsilon_high": 0.0, "loss_type": "grpo"},
    ),
    Trap(
        "epsilon_high or vllm_importance_sampling_clip_max is below 0",
        lambda s, given: (
            (s.loss_type == "cispo" and s.epsilon_high is not None and s.epsilon_high < 0.0)
            or (is_corrected(s) and (upper_bound(s) or 0.0) < 0.0)
        ),
        "Every ratio is above a cap below 0. In CISPO and in the modes *_truncate, the weight of all"
        " tokens is then the cap itself, so the policy moves away from good tokens. In the modes *_mask no"
        " token remains.",
        "TRL GRPOTrainer._compute_loss, torch.clamp",
        {"loss_type": "cispo", "epsilon_high": -0.1},
        {"loss_type": "cispo", "epsilon_high": 1.28},
    ),
    Trap(
        'loss_type="dapo": steps with more tokens are larger steps',
        lambda s, given: (
            s.loss_type in WINDOW_LOSSES and has_several_steps(s) and not s.denominator_counts_all_steps
        ),
        "dapo, cispo and vespo divide by the tokens of the whole generation batch. If you train on it in"
        " several optimizer steps (steps_per_generation > gradient_accumulation_steps), each step is"
        " divided by the average number of tokens per step, so a step on long completions has a larger"
        " gradient.",
        "TRL GRPOTrainer._compute_loss; PR #6024",
        {"steps_per_generation": 4},
        {"steps_per_generation": 4, "loss_type": "grpo"},
    ),
    Trap(
        'scale_rewards="batch" keeps the mean of the group',
        lambda s, given: scale_in_effect(s) == "batch",
        'scale_rewards="batch" uses the std of the batch, but the mean of the group. A baseline over the'
        " batch, which some texts describe, is another algorithm.",
        "TRL GRPOTrainer._generate_and_score_completions",
        {"scale_rewards": "batch"},
        {"scale_rewards": "group"},
    ),
    Trap(
        "num_generations=2 gives advantages of ±0.7071, not ±1",
        lambda s, given: s.num_generations == 2 and scale_in_effect(s) == "group",
        "TRL uses the sample std (ddof 1), so the advantages of two different rewards are ±0.7071. The"
        " population std (ddof 0) would give ±1.",
        "torch.std in TRL GRPOTrainer; 2-GRPO",
        {"num_generations": 2},
        {"num_generations": 4},
    ),
    Trap(
        'loss_type="dapo" has no dynamic sampling',
        lambda s, given: s.loss_type == "dapo" and "loss_type" in given,
        'loss_type="dapo" is the token average. Groups with equal rewards are neither excluded nor'
        " resampled, and stay in the denominator. TRL reports them as frac_reward_zero_std.",
        "TRL docs, paper index: dynamic sampling is not supported",
        {"loss_type": "dapo"},
        {"loss_type": "bnpo"},
    ),
    Trap(
        "mask_truncated_completions also shrinks the denominator",
        lambda s, given: bool(s.mask_truncated_completions) and _denominator_shrinks(s),
        "mask_truncated_completions removes the tokens of truncated completions from the number of tokens"
        " too. The more completions are truncated, the more the others count.",
        "TRL PR #6439",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": True, "loss_type": "grpo"},
    ),
    Trap(
        "mask_truncated_completions keeps the denominator",
        lambda s, given: (
            bool(s.mask_truncated_completions) and (s.trainer == GMPO or not _denominator_shrinks(s))
        ),
        "mask_truncated_completions sets the loss of truncated completions to 0, but the denominator still counts"
        " these completions or their tokens. The more completions are truncated, the smaller the step.",
        "TRL GRPOTrainer._compute_loss",
        {"mask_truncated_completions": True, "loss_type": "grpo"},
        {"mask_truncated_completions": True, "loss_type": "dapo"},
    ),
    Trap(
        "vllm_importance_sampling_mode drops whole completions by default",
        lambda s, given: (
            bool(s.use_vllm and s.vllm_importance_sampling_correction)
            and "vllm_importance_sampling_mode" not in given
        ),
        "With use_vllm the correction is on by default, in the mode sequence_mask. It drops a completion"
        " if its product of ratios exceeds 3, which long completions easily reach.",
        "TRL GRPOConfig.vllm_importance_sampling_mode",
        {"use_vllm": True},
        {"use_vllm": True, "vllm_importance_sampling_mode": "token_truncate"},
    ),
    Trap(
        "beta: the KL has no weights and no masks",
        lambda s, given: (
            s.beta > 0.0
            and (
                (s.use_vllm and s.vllm_importance_sampling_correction)
                or s.off_policy_mask_threshold is not None
                or s.top_entropy_quantile < 1.0
            )
        ),
        "The KL is added after the sampler's weights, the entropy mask and the off-policy mask. Tokens"
        " that those exclude are still pulled to the reference.",
        "TRL GRPOTrainer._compute_loss",
        {"beta": 0.04, "top_entropy_quantile": 0.2},
        {"beta": 0.0, "top_entropy_quantile": 0.2},
    ),
    Trap(
        "use_bias_correction_kl weights the KL by the sequence's ratio",
        lambda s, given: (
            s.beta > 0.0 and bool(s.use_bias_correction_kl) and s.importance_sampling_level == "sequence"
        ),
        "The bias correction multiplies each token's KL by the ratio of the whole sequence, which adds a"
        " spurious term to the gradient. Set use_bias_correction_kl=False with a sequence level.",
        "TRL #6586, PR #6594",
        {"beta": 0.04, "importance_sampling_level": "sequence"},
        {"beta": 0.04, "importance_sampling_level": "sequence", "use_bias_correction_kl": False},
    ),
    Trap(
        "ref_model is not an argument of GRPOTrainer",
        lambda s, given: "ref_model" in given,
        "GRPOTrainer has no argument ref_model. With beta > 0 it loads the reference itself, with beta ="
        " 0 it has none.",
        "TRL GRPOTrainer.__init__",
        {"ref_model": "model", "beta": 0.04},
        {"beta": 0.04},
    ),
    Trap(
        "beta is 0, but the reference model has settings",
        lambda s, given: (
            s.beta == 0.0
            and bool({"ref_model_mixup_alpha", "ref_model_sync_steps", "use_bias_correction_kl"} & given)
        ),
        "beta is 0 (the default), so no reference model is loaded and its settings have no effect.",
        "TRL GRPOConfig.beta",
        {"ref_model_mixup_alpha": 0.9},
        {"ref_model_mixup_alpha": 0.9, "sync_ref_model": True, "beta": 0.04},
    ),
    Trap(
        "top_entropy_quantile keeps the denominator",
        lambda s, given: s.top_entropy_quantile < 1.0,
        "top_entropy_quantile removes the other tokens from the sum, but not from the number of tokens."
        " With 0.2 the step is about a fifth as large.",
        "TRL get_high_entropy_mask; Wang et al. 2025 (arXiv:2506.01939)",
        {"top_entropy_quantile": 0.2},
        {"top_entropy_quantile": 1.0},
    ),
    Trap(
        "top_entropy_quantile has a threshold in float32",
        lambda s, given: s.top_entropy_quantile < 1.0,
        "The threshold of top_entropy_quantile is computed in float32. The token at the threshold is"
        " dropped if its entropy, in a higher precision, lies just below the rounded threshold: of 19"
        " tokens, a share of 0.5 keeps 9 or 10.",
        "TRL get_high_entropy_mask, torch.quantile",
        {"top_entropy_quantile": 0.5},
        {"top_entropy_quantile": 1.0},
    ),
    Trap(
        "vllm_importance_sampling_clip_* excludes 1, with VESPO",
        lambda s, given: s.loss_type == "vespo" and is_corrected(s) and _leaves_out_1(s),
        "VESPO multiplies the sampler's weights over the padding too, where the ratio is 1. A window"
        " without 1 changes these weights, and the weight of a completion then depends on the longest one"
        " of its batch.",
        "TRL get_gamma_weights, importance_sampling_ratio",
        VESPO_VLLM | {"vllm_importance_sampling_clip_max": 0.9},
        VESPO_VLLM,
    ),
    Trap(
        "use_adaptive_entropy: the default entropy_target is too low",
        lambda s, given: s.use_adaptive_entropy and "entropy_target" not in given,
        "use_adaptive_entropy adds the bonus only if the mean entropy is at or below entropy_target. Its"
        " default is 0.2 nats per token, and most policies stay above that. Set it near the entropy at the"
        " beginning.",
        "TRL GRPOConfig.entropy_target",
        {"use_adaptive_entropy": True},
        {"use_adaptive_entropy": True, "entropy_target": 5.0},
    ),
    Trap(
        "trainer=GMPOTrainer does not read all keys of the loss",
        lambda s, given: s.trainer == GMPO and bool(GMPO_READS_NOT & given),
        "GMPOTrainer has its own loss, which reads epsilon, epsilon_high, beta and top_entropy_quantile."
        " It accepts all other keys of the loss and ignores them: the weights for vLLM, the bonus, delta,"
        " the off-policy mask. Its KL is never weighted.",
        "TRL experimental GMPOTrainer._compute_loss",
        {"trainer": GMPO, "use_vllm": True},
        {"trainer": GMPO, "beta": 0.04},
    ),
    Trap(
        'loss_type="bnpo" averages over each micro-batch',
        lambda s, given: s.loss_type == "bnpo" and s.gradient_accumulation_steps > 1,
        'loss_type="bnpo" divides by the tokens of each micro-batch, and the step is the mean over'
        ' micro-batches. A token counts more among short completions. "dapo" divides by all tokens.',
        "TRL GRPOTrainer._compute_loss",
        {"loss_type": "bnpo", "gradient_accumulation_steps": 4},
        {"loss_type": "dapo", "gradient_accumulation_steps": 4},
    ),
    Trap(
        "epsilon has no effect: each batch is used once",
        lambda s, given: (
            s.loss_type in PPO_LOSSES
            and bool({"epsilon", "epsilon_high"} & given)
            and s.num_iterations == 1
            and not has_several_steps(s)
        ),
        "Each batch is used for one step, so every ratio is 1 and the clip never acts. It acts with"
        " num_iterations > 1 or steps_per_generation > gradient_accumulation_steps.",
        "TRL GRPOConfig.num_iterations",
        {"epsilon": 0.1, "loss_type": "grpo"},
        {"epsilon": 0.1, "loss_type": "grpo", "num_iterations": 2},
    ),
    Trap(
        "vllm_importance_sampling_cap is deprecated",
        lambda s, given: "vllm_importance_sampling_cap" in given,
        "vllm_importance_sampling_cap is now called vllm_importance_sampling_clip_max. Inside the window,"
        " *_mask keeps the ratio as the weight, where some texts use 1.",
        "TRL 1.16.0 GRPOConfig",
        {"use_vllm": True, "vllm_importance_sampling_cap": 3.0},
        {"use_vllm": True, "vllm_importance_sampling_clip_max": 3.0},
    ),
    Trap(
        "beta is negative",
        lambda s, given: s.beta < 0.0,
        "A negative weight is used as it is: the loss falls as the policy moves away from the reference,"
        " without a limit.",
        "TRL GRPOTrainer._compute_loss, self.beta != 0.0",
        {"beta": -0.04},
        {"beta": 0.04},
    ),
    # Bugs and behaviour of older releases. Each example is for the release that is named last.
    Trap(
        "scale_rewards: the advantages are not divided by the std of the group",
        lambda s, given: s.scale_rewards_meaning == "swapped" and s.scale_rewards in ("group", True),
        'TRL 0.22.0 and 0.22.1 swap the meaning of scale_rewards. True and "group" (the default) do not divide the'
        " advantages. Use TRL 0.22.2 or later.",
        "TRL #3991, PR #3992",
        {"scale_rewards": "group"},
        {"scale_rewards": "none"},
        release="0.22.1",
    ),
    Trap(
        'scale_rewards="batch" divides the advantages by the std of the group',
        lambda s, given: s.scale_rewards_meaning == "swapped" and s.scale_rewards == "batch",
        'In TRL 0.22.0 and 0.22.1, scale_rewards="batch" divides the advantages by the std of the group, not by that'
        " of the batch. Use TRL 0.22.2 or later.",
        "TRL #3991, PR #3992",
        {"scale_rewards": "batch"},
        {"scale_rewards": "group"},
        release="0.22.1",
    ),
    Trap(
        'scale_rewards="none" divides the advantages by the std of the group',
        lambda s, given: s.scale_rewards_meaning == "swapped" and s.scale_rewards in ("none", False),
        'TRL 0.22.0 and 0.22.1 swap the meaning of scale_rewards: False and "none" divide the advantages by the std of'
        " the group, also for Dr. GRPO. Use TRL 0.22.2 or later.",
        "TRL #3991, PR #3992",
        {"scale_rewards": "none"},
        {"scale_rewards": "group"},
        release="0.22.1",
    ),
    Trap(
        "scale_rewards is text, which counts as True",
        lambda s, given: (
            s.scale_rewards_meaning == "truth"
            and isinstance(s.scale_rewards, str)
            and s.scale_rewards not in ("", "group")
            and "scale_rewards" in given
        ),
        'Until TRL 0.21, scale_rewards is True or False. Any text, even "none" or "batch", counts as True, so the'
        " advantages are divided by the std of the group. For no division set scale_rewards=False. These releases"
        " cannot divide by the std of the batch.",
        "TRL 0.21.0 GRPOTrainer._generate_and_score_completions",
        {"scale_rewards": "none"},
        {"scale_rewards": False},
        release="0.21.0",
    ),
    Trap(
        "steps_per_generation: the loss is divided by the tokens of all steps",
        lambda s, given: (
            s.loss_type in WINDOW_LOSSES and has_several_steps(s) and s.denominator_counts_all_steps
        ),
        "Until TRL 1.9.0, dapo, cispo and vespo divide each optimizer step by the tokens of the whole generation batch."
        " The gradient lacks the factor steps_per_generation / gradient_accumulation_steps. Adam hides the factor;"
        " gradient clipping, weight decay and SGD do not.",
        "TRL PR #6024",
        {"steps_per_generation": 4},
        {"steps_per_generation": 4, "loss_type": "grpo"},
        release="1.9.0",
    ),
    Trap(
        'loss_type="luspo" trains on padding',
        lambda s, given: _trains_on_padding(s),
        "Until TRL 1.9.2, luspo takes the mean over the padded matrix of losses without the mask. Padding has a gradient,"
        " and each row is divided by the padded length. Only losses with one value per completion are right.",
        "TRL PR #6654",
        {"loss_type": "luspo"},
        {"loss_type": "luspo", "importance_sampling_level": "sequence"},
        release="1.9.2",
    ),
    Trap(
        "entropy_coef depends on the denominator of the loss",
        lambda s, given: (
            s.loss_type in WINDOW_LOSSES
            and s.bonus_shares_denominator
            and bool(s.entropy_coef or s.use_adaptive_entropy)
        ),
        "Until TRL 1.9.2, dapo, cispo and vespo divide the entropy bonus by the same number of tokens as the policy loss."
        " Other loss types use the mean over the tokens of the micro-batch.",
        "TRL PR #6648",
        {"entropy_coef": 0.01},
        {"entropy_coef": 0.01, "loss_type": "grpo"},
        release="1.9.2",
    ),
    Trap(
        "temperature does not reach the loss",
        lambda s, given: not s.logits_are_divided_by_temperature and s.temperature != 1.0,
        "Until TRL 0.15, temperature (0.9 by default) is for sampling only. The loss has the log-probabilities of"
        " temperature 1, which is not the distribution that was sampled.",
        "TRL PR #3029",
        {"temperature": 0.7},
        {"temperature": 1.0},
        release="0.15.2",
    ),
    Trap(
        "temperature is missing in vLLM's log-probabilities",
        lambda s, given: s.sampler_reports_raw_log_probs and is_corrected(s) and s.temperature != 1.0,
        "In TRL 0.23, vLLM reports log-probabilities of temperature 1, and the loss has those of the given temperature."
        " The weights for vLLM are then far from 1 without any mismatch. TRL 0.24 asks vLLM for processed ones.",
        "TRL #4159",
        {"use_vllm": True, "temperature": 0.6},
        {"use_vllm": True, "temperature": 1.0},
        release="0.23.1",
    ),
    Trap(
        "use_vllm: a token that vLLM cannot score makes the gradient NaN",
        lambda s, given: s.unscored_tokens_give_nan and is_corrected(s) and s.loss_type != "vespo",
        "Until TRL 1.10, a token for which vLLM reports no log-probability has the weight NaN, and so has the whole"
        ' gradient. From TRL 1.11 on its weight is 1. With loss_type="vespo", the completion has the weight 0 instead.',
        "TRL PR #6693",
        {"use_vllm": True},
        {"use_vllm": False},
        release="1.10.0",
    ),
)
TRAPS = tuple(trap if trap.name in GMPO_TOO else _of_grpo(trap) for trap in _ALL)
"""The traps, in the order in which they are reported."""
