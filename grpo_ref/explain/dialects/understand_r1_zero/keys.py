"""The arguments of `train_zero_math.py`, understand-r1-zero dfca49dd, and of its framework, oat 0.1.3.post1."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS, DIVISOR, PASSES

OBJECTIVE: dict[str, Any] = {
    "critic_type": "drgrpo",
    "cliprange": 0.2,
    "beta": 0.1,
    "kl_penalty_coef": 0.0,
    "reinforce_update": False,
    "reward_scale": 1.0,
    "ignore_no_eos": False,
    "generate_max_length": 512,
    "num_samples": 2,
    "num_ppo_epochs": 1,
}
CHECKED: dict[str, Any] = {
    "prompt_template": "qwen_math",
    "verifier_version": "fast",
    "oracle_type": "preference",
    "asynchronous": False,
    "collocate": False,
    "learn_rm": False,
    "learn_rm_only": False,
    "best_of_n_eval": False,
    "exp_method": "no",
    "rm_pretrain": "",
}
"""Keys that do not affect the objective, but have values or combinations that are refused."""
DEFAULTS = OBJECTIVE | CHECKED
OTHERS = frozenset(
    """activation_offloading adam_beta_1 adam_beta_2 adam_offload algo apply_chat_template bf16 bon_temperature
    bt_sample buffer_clear_every burn_in_period cliprange_value critic_learning_rate
    critic_max_step_adjustment critic_pretrain debug disable_fast_tokenizer disable_trace_cache
    dpo_positive_lambda dump_all_buffer dump_replay_every enable_prefix_caching enn_lambda enn_max_try
    eval_batch_size eval_data eval_generate_max_length eval_input_key eval_n eval_output_key
    eval_query_interval eval_split eval_steps eval_temperature eval_top_k eval_top_p exp_allow_second_best
    exp_rnd_sample flash_attn gamma gamma_beta_ratio gpus grad_accum_dtype gradient_checkpointing
    gradient_checkpointing_use_reentrant group_rank input_key l2 label_smoothing lam launch_type
    learning_rate len_reg_alpha load_in_4bit local_rank logging_steps lora_alpha lora_dropout lora_rank
    lr_scheduler lr_warmup_ratio master_addr master_port max_epochs max_eval max_model_data_ratio
    max_model_len max_norm max_queries max_save_mem max_save_num max_sgd_steps max_step_adjustment max_train
    model_data_strategy model_rollout non_stop_fixed_reward non_stop_penalty num_bon num_ensemble
    num_gpus_per_actor num_groups num_prompt_epoch online_evaluation oracle oracle_batch_size output_key
    pi_buffer_maxlen_per_device pretrain prompt_data prompt_max_length pure_model_based r_buffer_maxlen
    ref_offload ref_pretrain remote_rm_client_workers remote_rm_url resume_dir resume_tag rm_act_fn
    rm_backbone rm_fixed_reg rm_hidden_dim rm_lr rm_sgd_steps rm_train_budget rm_wd rnd_seed
    rollout_batch_size rollout_batch_size_per_device save_ckpt save_from save_path save_steps seed
    sft_weight shm_size_mb sync_params_every target_modules temperature test_split tokenizer top_k top_p
    train_batch_size train_batch_size_per_device train_split use_wb vf_coef vllm_gpu_ratio vllm_sleep
    wb_group wb_org wb_project wb_run_name whiten_adv whiten_rewards zero_stage zpg""".split()
)
ALIASES = {name.replace("_", "-"): name for name in [*DEFAULTS, *OTHERS] if "_" in name} | {
    "max_completion_length": "generate_max_length"
}
"""Other names of flags: each may be written with hyphens."""
CONCEPTS = {COMPLETIONS: "num_samples", PASSES: "num_ppo_epochs", DIVISOR: "generate_max_length"}
ABOUT = {
    **dict.fromkeys(CHECKED, "This does not touch the objective; some values and combinations are refused."),
    "beta": "This is the weight of the KL penalty.",
    "generate_max_length": 'This is the generation budget. critic_type="drgrpo" divides by it; it is `max_length`'
    " elsewhere here.",
    "non_stop_fixed_reward": "The actor of understand-r1-zero does not read this: what was cut off gets 0.",
    "non_stop_penalty": "The actor of understand-r1-zero does not read this: what was cut off gets 0.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
}
