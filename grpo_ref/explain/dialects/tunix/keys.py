"""The configuration of Tunix c7d8950f (August 2026): its classes for GRPO, and the YAML sections of its command line."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS, PASSES

NOT_SET = ""
"""Mark for a key that is refused, or does nothing, unless it is given. None is a value of some keys."""
BUFFER = "overlong_buffer."
OVERLONG: dict[str, Any] = {
    "enable": True,
    "overlong_buffer_length": 4096,
    "overlong_buffer_penalty": 1.0,
    "max_response_length": 20480,
}
"""Default of DAPOConfig's overlong_buffer."""
OBJECTIVE: dict[str, Any] = {
    "training_mode": "grpo",
    "config_class": "GRPOConfig",
    "advantage_estimator": "grpo",
    "loss_algo": "grpo",
    "loss_agg_mode": "sequence-mean-token-mean",
    "num_generations": 2,
    "num_iterations": 1,
    "beta": 0.04,
    "kl_loss_mode": "kl",
    "kl_clamp_value": None,
    "epsilon": 0.2,
    "epsilon_high": None,
    "use_rollout_logps": True,
    "sampler_is": None,
    "sampler_is_threshold": 2.0,
    "max_response_length": None,
    "overlong_filter": False,
    "overlong_buffer": NOT_SET,
    **{f"{BUFFER}{name}": NOT_SET for name in OVERLONG},
}
CHECKED: dict[str, Any] = {
    "policy_loss_fn": "grpo",
    "dynamic_sampling": NOT_SET,
    "rl_training_config.max_seq_token_per_tpu": None,
}
"""Keys that do not affect the objective, but are refused in some combinations."""
SINCE = "0.1.7"
HIDDEN = {"since": SINCE}
"""Differences of versions that no key sets, as the oldest version with the present behaviour."""
DEFAULTS = OBJECTIVE | CHECKED | HIDDEN
VARIANTS: dict[tuple[str, Any], dict[str, Any]] = {
    ("training_mode", "agentic_grpo"): {"max_response_length": 1024},
    ("config_class", "DAPOConfig"): {"loss_agg_mode": "token-mean", "beta": None, "epsilon_high": 0.28},
    ("config_class", "DrGRPOConfig"): {
        "advantage_estimator": "drgrpo",
        "loss_agg_mode": "sequence-mean-token-scale",
    },
}
FILES: dict[str, dict[str, Any]] = {
    name: {"grpo_config.beta": 0.08} for name in ("base_config", "base_agentic_config")
}
MADE: dict[str, dict[str, Any]] = {
    r"tunix\.(.*agentic.*\.G(RPO|rpo)Config|AgenticGRPOConfig)": {"training_mode": "agentic_grpo"},
    r"tunix\..*DAPOConfig": {"config_class": "DAPOConfig"},
    r"tunix\..*DrGRPOConfig": {"config_class": "DrGRPOConfig"},
}
SECTIONS = {
    "grpo_config": ("training_mode", "grpo"),
    "agentic_grpo_config": ("training_mode", "agentic_grpo"),
}
_OF_CLASSES = """algo_variant reward_manager force_compute_kl system_prompt max_concurrency off_policy_steps
degenerate_group_masking episode_timeout filter_statuses max_turns per_turn_timeout_secs""".split()
_OF_RUNS = """data_source data_directory data_module apply_chat_template_to_dataset data_config dataset_name batch_size
prompt_key max_target_length num_train_epochs train_fraction num_test_batches tfds_download num_batches rollout_engine
offload_to_cpu verl_compatible reward_functions chat_parser_config agent_class_path agent_kwargs env_class_path
env_kwargs kubernetes_config override_config_file eos_tokens""".split()
_SECTIONS = """model_config actor_model_config critic_model_config reference_model_config rollout_model_config
tokenizer_config optimizer_config training_config rl_training_config ppo_config agentic_ppo_config rollout_config
vllm_config sglang_jax_config""".split()
IGNORED = frozenset(
    [*_SECTIONS, "data_config", "chat_parser_config", "agent_kwargs", "env_kwargs", "kubernetes_config"]
)
"""Sections without keys that affect the objective."""
OTHERS = frozenset([*_OF_CLASSES, *_OF_RUNS, *_SECTIONS, "grpo_config", "agentic_grpo_config"])
GROUPS = frozenset(("grpo_config", "agentic_grpo_config", "overlong_buffer"))
CONCEPTS = {COMPLETIONS: "num_generations", PASSES: "num_iterations"}
_BUFFER = "This is of DAPOConfig alone: from where on length is punished, which Tunix counts in characters."
ABOUT = {
    **{f"{BUFFER}{name}": _BUFFER for name in OVERLONG},
    "overlong_buffer": _BUFFER,
    "training_mode": "This is which section and which learner a run has: grpo_config, or agentic_grpo_config for many"
    " turns.",
    "config_class": "This is the class of a Python script; the command line has GRPOConfig alone.",
    "policy_loss_fn": 'This is the name of a function; "grpo" is the one for these configurations.',
    "algo_variant": "Nothing reads this.",
    "dynamic_sampling": "Nothing reads this: groups without contrast stay in the batch.",
    "degenerate_group_masking": "Nothing reads this: groups without contrast stay in the batch.",
    "force_compute_kl": "The KL to the reference is logged even where beta is 0.",
    "kl_loss_mode": "This is the estimator of the penalty, the plain log-ratio where it is left out; before 0.1.7 there"
    " was low_var_kl alone.",
    "overlong_filter": "What was cut off, by filter_statuses, is not trained on; its group is compared with it all the same,"
    " by the reward that it has without the environment's last one.",
    "off_policy_steps": "This is how many steps the weights that sample may be behind.",
    "use_rollout_logps": "The old log-probabilities are the sampler's, where it reports them, and with False the"
    " trainer's; without either every ratio is 1.",
    "max_response_length": "This is the generation budget, which sequence-mean-token-scale divides by; outside of"
    " agentic_grpo it is max_tokens_to_generate of the rollout.",
    "epsilon_high": "This is the width of the clip above 1; a field of DAPOConfig and of agentic_grpo alone.",
    "rl_training_config.max_seq_token_per_tpu": "Completions are packed into rows; this does not touch the objective,"
    " but sequence-mean-token-scale is refused with it.",
}
