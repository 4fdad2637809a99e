"""Write a simulated run as TRL or verl writes it: the records of its log, and its launch file."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from simulated_runs.loop import Generation, Step, generations, scale_of, task_of
from simulated_runs.setting import Setting

from grpo_ref.learning.task import Task

PROMPT_LENGTH = 10
LOSSES_OF_VERL = {
    "grpo": "seq-mean-token-mean",
    "dapo": "token-mean",
    "dr_grpo": "seq-mean-token-sum-norm",
}


def records(setting: Setting) -> Iterator[dict[str, float]]:
    """Train, and yield the records of the log."""
    of = of_trl if setting.trainer == "trl" else of_verl
    for generation in generations(setting):
        yield from of(setting, generation)


def over_tokens(values, mask) -> float:
    """Return the mean over the tokens of the mask."""
    return float((values * mask).sum() / max(mask.sum(), 1.0))


def measured_lengths(setting: Setting, generation: Generation) -> np.ndarray:
    """Return the lengths (P, G) as the log counts them."""
    more = PROMPT_LENGTH if "prompt counted in the length" in setting.faults else 0
    return generation.batch.lengths + more


def of_trl(setting: Setting, generation: Generation) -> Iterator[dict[str, float]]:
    """Yield the records of TRL: one per optimizer step. Only the first has the metrics of the generation."""
    batch, faults = generation.batch, setting.faults
    lengths, ended = measured_lengths(setting, generation), generation.ended
    if "truncation counted inversely" in faults:
        ended = ~ended
    rewards = generation.groups
    ddof = 0 if "std with divisor G" in faults else 1
    stds = rewards.std(axis=1, ddof=ddof)
    components = dict(zip(generation.criteria, np.moveaxis(batch.components, -1, 0), strict=True))
    sampled = {
        "num_tokens": float(generation.tokens + PROMPT_LENGTH * generation.update * batch.rewards.size),
        "reward": float(batch.rewards.mean()),
        "reward_std": float(batch.rewards.std(ddof=1) if setting.pooled else stds.mean()),
        "frac_reward_zero_std": float((rewards.std(axis=1) < 1e-8).mean()),
        "completions/mean_length": float(lengths.mean()),
        "completions/min_length": float(lengths.min()),
        "completions/max_length": float(lengths.max()),
        "completions/clipped_ratio": float(1.0 - ended.mean()),
    }
    terminated = lengths[ended] if ended.any() else np.zeros(1)
    for name in ("mean", "min", "max"):
        sampled[f"completions/{name}_terminated_length"] = float(getattr(terminated, name)())
    for name, values in components.items():
        sampled[f"rewards/{name}/mean"] = float(values.mean())
        sampled[f"rewards/{name}/std"] = float(values.std(ddof=1))
    if setting.logs_sampler:
        gap, mask = np.abs(generation.gap), batch.mask
        weights = np.minimum(np.exp(generation.gap), 2.0)[mask]
        sampled |= {
            "sampling/sampling_logp_difference/mean": over_tokens(gap, mask),
            "sampling/sampling_logp_difference/max": float(gap[mask].max()),
            "sampling/importance_sampling_ratio/min": float(weights.min()),
            "sampling/importance_sampling_ratio/mean": float(weights.mean()),
            "sampling/importance_sampling_ratio/max": float(weights.max()),
        }
    for number, step in enumerate(generation.steps):
        yield {
            "step": (generation.update - 1) * setting.steps + number + 1,
            "loss": step.loss,
            "grad_norm": step.grad_norm,
            "learning_rate": setting.learning_rate,
            **({"kl": over_tokens(step.kl, step.mask)} if setting.kl_coef else {}),
            "entropy": over_tokens(step.entropies, step.mask),
            "clip_ratio/low_mean": over_tokens(step.low, step.mask),
            "clip_ratio/low_min": over_tokens(step.low, step.mask),
            "clip_ratio/high_mean": over_tokens(step.high, step.mask),
            "clip_ratio/high_max": over_tokens(step.high, step.mask),
            "clip_ratio/region_mean": over_tokens(step.low | step.high, step.mask),
            **(sampled if number == 0 else {}),
        }


def of_verl(setting: Setting, generation: Generation) -> Iterator[dict[str, float]]:
    """Yield the record of verl: one per generation batch, with means over the steps."""
    batch, faults, steps = generation.batch, setting.faults, generation.steps
    lengths = measured_lengths(setting, generation)
    mask = batch.mask.astype(float)
    advantages = generation.advantages
    advantages = (advantages if advantages.ndim == 3 else advantages[..., None]) + 0.0 * mask
    truncated = lengths == batch.max_length
    if "truncation counted inversely" in faults:
        truncated = ~truncated
    of_tokens = advantages[mask > 0.0]
    kl = float(np.mean([_averaged(setting, step.kl, step, batch.max_length) for step in steps]))
    shift = 0.001 * over_tokens(steps[0].kl, steps[0].mask) * float(lengths.mean())
    shaped = batch.rewards - (shift if "KL in the reward" in faults else 0.0)
    record = {
        "step": generation.update,
        "actor/entropy": over_tokens(steps[0].entropies, steps[0].mask),
        "actor/pg_loss": float(np.mean([step.policy_loss for step in steps])),
        "actor/pg_clipfrac": float(np.mean([over_tokens(step.low | step.high, step.mask) for step in steps])),
        "actor/ppo_kl": float(np.mean([over_tokens(-step.log_ratio, step.mask) for step in steps])),
        "actor/grad_norm": float(np.mean([step.grad_norm for step in steps])),
        "actor/lr": setting.learning_rate,
        "perf/total_num_tokens": float((batch.lengths + PROMPT_LENGTH).sum()),
        **_extremes("critic/score", batch.rewards),
        **_extremes("critic/rewards", shaped),
        **_extremes("critic/advantages", of_tokens),
        **_extremes("critic/returns", of_tokens),
        **_extremes("response_length", lengths.astype(float)),
        "response_length/clip_ratio": float(truncated.mean()),
        **_extremes("prompt_length", np.full(1, float(PROMPT_LENGTH))),
    }
    if setting.kl_coef:
        record |= {"actor/kl_loss": kl, "actor/kl_coef": setting.kl_coef}
    if setting.logs_sampler:
        gap = generation.gap
        weights = np.exp(gap)
        record |= {
            "rollout_corr/kl": over_tokens(-gap, mask),
            "rollout_corr/k3_kl": over_tokens(weights - 1.0 - gap, mask),
            "rollout_corr/chi2_token": over_tokens(weights**2, mask) - 1.0,
        }
    yield record


def _averaged(setting: Setting, values, step: Step, budget: int) -> float:
    """Return the average of verl's `agg_loss`, times the factor of the loss."""
    sums, counts = (values * step.mask).sum(-1), step.mask.sum(-1)
    average = {
        "grpo": lambda: (sums / np.maximum(counts, 1.0)).mean(),
        "dapo": lambda: sums.sum() / counts.sum(),
        "dr_grpo": lambda: sums.mean() / budget,
    }[setting.loss]()
    return float(average) * scale_of(setting)


def _extremes(name: str, values) -> dict[str, float]:
    return {f"{name}/{end}": float(getattr(values, end)()) for end in ("mean", "max", "min")}


# ---- files -----------------------------------------------------------------------------------------


def write_run(setting: Setting, folder: Path) -> tuple[Path, Path]:
    """Train, and write log and launch file into a folder. Return their paths."""
    rows, task = list(records(setting)), task_of(setting)
    folder.mkdir(parents=True, exist_ok=True)
    if setting.trainer == "verl":
        log, launch = folder / "run.log", folder / "run.sh"
        log.write_text("".join(map(console_line, rows)), encoding="utf-8")
        launch.write_text(launch_of_verl(setting, task), encoding="utf-8")
        return log, launch
    launch = folder / "config.yaml"
    launch.write_text(launch_of_trl(setting, task), encoding="utf-8")
    if setting.seed % 2:
        log = folder / "trainer_state.json"
        log.write_text(
            json.dumps({"log_history": [dict(sorted(row.items())) for row in rows]}), encoding="utf-8"
        )
        return log, launch
    log = folder / "train.log"
    printed = [{name: value for name, value in row.items() if name != "step"} for row in rows]
    log.write_text("".join(f"{row | {'loss': round(row['loss'], 4)}}\n" for row in printed), encoding="utf-8")
    return log, launch


def console_line(row: dict[str, float]) -> str:
    """Return a record as verl's console prints it."""
    fields = " - ".join(f"{name}:{value!r}" for name, value in row.items() if name != "step")
    return f"(TaskRunner pid=2476) step:{row['step']} - {fields}\n"


def launch_of_trl(setting: Setting, task: Task) -> str:
    """Return the YAML file of a TRL run. The batch is generated on one process."""
    given = replace(setting, **setting.in_file)
    completions = given.prompts * given.group_size
    keys = {
        "reward_funcs": list(task.criteria),
        "reward_weights": task.weights.tolist(),
        "per_device_train_batch_size": completions // given.minibatches,
        "gradient_accumulation_steps": 1,
        "steps_per_generation": given.minibatches,
        "num_iterations": given.epochs,
        "num_generations": given.group_size,
        "max_completion_length": task.max_length,
        "learning_rate": given.learning_rate,
        "beta": given.kl_coef,
        "loss_type": given.loss,
        "scale_rewards": "none" if given.loss == "dr_grpo" else "group",
        "use_vllm": str(given.logs_sampler).lower(),
        "logging_steps": 1,
    }
    return "".join(f"{name}: {value}\n" for name, value in keys.items())


def launch_of_verl(setting: Setting, task: Task) -> str:
    """Return the shell script of a verl run."""
    given = replace(setting, **setting.in_file)
    keys = {
        "algorithm.adv_estimator": "grpo",
        "algorithm.norm_adv_by_std_in_grpo": given.loss != "dr_grpo",
        "algorithm.use_kl_in_reward": False,
        "data.train_batch_size": given.prompts,
        "data.max_response_length": task.max_length,
        "actor_rollout_ref.rollout.n": given.group_size,
        "actor_rollout_ref.rollout.calculate_log_probs": given.logs_sampler,
        "actor_rollout_ref.actor.ppo_mini_batch_size": given.prompts // given.minibatches,
        "actor_rollout_ref.actor.ppo_epochs": given.epochs,
        "actor_rollout_ref.actor.use_kl_loss": given.kl_coef > 0.0,
        "actor_rollout_ref.actor.kl_loss_coef": given.kl_coef,
        "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
        "actor_rollout_ref.actor.loss_agg_mode": LOSSES_OF_VERL[given.loss],
        "actor_rollout_ref.actor.entropy_coeff": given.entropy_coef,
        "actor_rollout_ref.actor.optim.lr": given.learning_rate,
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": given.prompts * given.group_size,
        "trainer.n_gpus_per_node": 1,
        "trainer.nnodes": 1,
    }
    return (
        "python3 -m verl.trainer.main_ppo"
        + "".join(f" \\\n    {name}={value}" for name, value in keys.items())
        + "\n"
    )
