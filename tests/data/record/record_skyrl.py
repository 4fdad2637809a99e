"""Record SkyRL a9564572: `python tests/data/record/record_skyrl.py SOURCES`, a checkout of it.

What runs is theirs: `SkyRLTrainConfig` with `validate_cfg`, `PolicyWorkerBase._forward_backward_micro` with
the loss, the penalty and the bonus, `RayPPOTrainer._normalize_advantages`, `apply_reward_kl_penalty`,
`compute_advantages_and_returns` and `postprocess_generator_output`, `apply_overlong_filtering`,
`handle_dynamic_sampling`, the checks and the filter of the asynchronous trainer, and the trainer of the DAPO
example. Stubs take the place of ray, vLLM, the distributed groups and the model, whose log-probabilities are
those of the case. Torch 2.13.0 on the CPU; ratios are float32 where they cast them.
"""

import itertools
import sys
import types
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import writing
from absent import stand_in_for

ABSENT = (
    *("PIL", "accelerate", "aiohttp", "bs4", "cloudpathlib", "datasets", "deepspeed", "einops", "fastapi"),
    *("flash_attn", "fsspec", "func_timeout", "gcsfs", "httpx", "hydra", "jaxtyping", "litellm", "loguru"),
    *(
        "math_verify",
        "mlflow",
        "msgpack",
        "openai",
        "orjson",
        "pandas",
        "peft",
        "polars",
        "prometheus_client",
    ),
    *("pybase64", "pylatexenc", "pynvml", "ray", "requests", "rich", "s3fs", "safetensors", "sqlalchemy"),
    *("swanlab", "tensorboard", "tensordict", "torchdata", "torchvision", "tqdm", "transformers", "uvicorn"),
    *("uvloop", "vllm", "vllm_router", "wandb", "zmq", "zstandard"),
)
GROUP = 4
COMMIT = "SkyRL a9564572 (2026-08-21)"
ALGORITHM = "trainer.algorithm"
CORRECTION = f"{ALGORITHM}.off_policy_correction"
SIZES = {
    "trainer.train_batch_size": 3,
    "trainer.policy_mini_batch_size": 3,
    "trainer.logger": "console",
    "generator.n_samples_per_prompt": GROUP,
}


def checked(config: dict[str, Any]) -> Any:
    """Their configuration after their checks, or their error."""
    found = THEIRS.CONFIG.SkyRLTrainConfig.from_cli_overrides(SIZES | config)
    THEIRS.CHECKS.validate_cfg(found)
    if found.trainer.fully_async.enabled:
        THEIRS.ASYNC.FullyAsyncRayPPOTrainer(cfg=found)
    return found


def _begin(self: Any, cfg: Any) -> None:
    """In place of `RayPPOTrainer.__init__`, which starts workers."""
    self.cfg, self.colocate_all = cfg, cfg.trainer.placement.colocate_all
    self.train_dataloader = MagicMock()
    self._callback_handler = SimpleNamespace(callbacks=[])


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.to(getattr(torch, case.get("dtype", "float64")))


def batch(**fields: Any) -> Any:
    """Their batch."""
    return THEIRS.BATCH({name: value for name, value in fields.items() if value is not None})


def counted(case: dict[str, Any], config: Any) -> torch.Tensor:
    """The loss mask after what they mask out for its length or its group."""
    masks = [row.tolist() for row in tensor(case, "mask")]
    if config.generator.apply_overlong_filtering:
        stops = ["stop" if end else "length" for end in tensor(case, "ended")]
        masks = THEIRS.OVERLONG(masks, stops)
    if "rewards" in case["given"]:
        output = {
            "rewards": tensor(case, "rewards").tolist(),
            "response_ids": masks,
            "loss_masks": masks,
        }
        trainer = SimpleNamespace(cfg=config, all_metrics={})
        uids = [str(row // GROUP) for row in range(len(masks))]
        masks = THEIRS.TRAINER.postprocess_generator_output(trainer, output, uids)[0]["loss_masks"]
    return torch.tensor(masks, dtype=getattr(torch, case.get("dtype", "float64")))


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """One mini-batch: the advantages scaled, then every micro-batch forward and backward."""
    config = checked(case["config"])
    has = {name: tensor(case, name) for name in case["given"]}
    policy, mask = has["log_probs"].clone().requires_grad_(), counted(case, config)
    advantages = has["advantages"]
    tokens = advantages if advantages.ndim == 2 else advantages[:, None] * torch.ones_like(policy)
    data = batch(advantages=tokens * has["mask"], loss_mask=mask, response_mask=has["mask"])
    prompts = [(start, start + GROUP) for start in range(0, len(mask), GROUP)]
    scaled = THEIRS.TRAINER._normalize_advantages(
        SimpleNamespace(cfg=_plain(config)), data, [(0, len(mask))], prompts
    )["advantages"]
    sampler = has.get("rollout_log_probs") if config.generator.sampling_params.logprobs is not None else None
    zeros = torch.zeros_like(policy)
    old, entropy = has.get("old_log_probs", policy.detach()), has.get("entropies", zeros)
    losses: list[torch.Tensor] = []
    worker = MagicMock()
    worker.cfg, worker.mesh_rank.dp_size = config.trainer, 1
    worker.policy_loss_fn = THEIRS.PPO.PolicyLossRegistry.get(config.trainer.algorithm.policy_loss_type)
    worker.strategy.backward = lambda total, *_: total.backward() or losses.append(total.detach())
    worker.scheduler.get_last_lr = lambda: [0.0]
    size, statuses = config.trainer.micro_train_batch_size_per_gpu, []
    for rows in torch.arange(len(mask)).split(size):
        padded = torch.cat([entropy[rows], zeros[rows, :1]], dim=1)
        worker.model.return_value = (policy[rows], {"entropy": padded})
        experience = SimpleNamespace(
            to_device=lambda device: None,
            sequences=None,
            action_log_probs=old[rows],
            base_action_log_probs=has["ref_log_probs"][rows] if "ref_log_probs" in has else None,
            advantages=scaled[rows],
            num_actions=mask.shape[1],
            attention_mask=None,
            loss_mask=mask[rows],
            response_mask=None,
            rollout_logprobs=None if sampler is None else sampler[rows],
            pixel_values=None,
            image_grid_thw=None,
        )
        weight = len(rows) / len(mask)
        statuses.append(THEIRS.WORKER._forward_backward_micro(worker, experience, weight))
    found = {"loss": sum(losses).item(), "grad_logp": policy.grad.tolist()}
    logged = {name: value for name, value in statuses[0].items() if name in NAMES}
    if "entropies" not in case["given"]:
        logged.pop("policy_entropy")
    if config.trainer.algorithm.policy_loss_type not in ("regular", "dual_clip", "gspo"):
        logged.pop("loss_metrics/clip_ratio", None)
    return found | ({"metrics": logged} if len(statuses) == 1 else {})


NAMES = ("final_loss", "policy_loss", "policy_kl", "policy_entropy", "loss_metrics/clip_ratio")


def _plain(config: Any) -> Any:
    """The advantages of a case are already normalized over the batch; they are scaled alone."""
    config.trainer.algorithm.advantage_batch_normalize = False
    return config


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """The advantages as `train` computes them, before they are scaled for the average."""
    config = checked(case["config"])
    rewards, mask = tensor(case, "rewards"), tensor(case, "mask")
    scores = torch.zeros_like(mask)
    for row, length in enumerate(mask.sum(-1).long().tolist()):
        scores[row, length - 1] = rewards[row]
    has = {name: tensor(case, name) for name in case["given"]}
    data = batch(
        rewards=scores,
        loss_mask=mask,
        response_mask=mask,
        action_log_probs=has.get("old_log_probs"),
        base_action_log_probs=has.get("ref_log_probs"),
        values=torch.zeros_like(mask),
    )
    uids = [str(row // GROUP) for row in range(len(mask))]
    data.metadata = {"uids": uids, "avg_response_length": 0.0}
    algorithm = config.trainer.algorithm
    trainer = SimpleNamespace(cfg=config, all_metrics={}, reward_kl_controller=None)
    if algorithm.use_kl_in_reward:
        trainer.reward_kl_controller = THEIRS.PPO.get_kl_controller(algorithm)
        data = THEIRS.TRAINER.apply_reward_kl_penalty(trainer, data)
    data = THEIRS.TRAINER.compute_advantages_and_returns(trainer, data)
    found = data["advantages"]
    if algorithm.advantage_batch_normalize:  # a sum over one token each is the average of nothing
        algorithm.loss_reduction, algorithm.max_seq_len = "seq_mean_token_sum_norm", 1
        found = THEIRS.TRAINER._normalize_advantages(trainer, data, [(0, len(mask))])["advantages"] * len(
            mask
        )
    return {"value": found.tolist(), "axes": ["completion", "token"]}


def shaped_rewards(case: dict[str, Any]) -> dict[str, Any]:
    """The rewards after the generator, or after the trainer of the DAPO example."""
    rewards, mask = tensor(case, "rewards").tolist(), tensor(case, "mask")
    if "ended" in case["given"]:
        stops = ["stop" if end else "length" for end in tensor(case, "ended")]
        return {"value": THEIRS.GENERATOR._zero_reward_if_not_stop(None, rewards, stops)}
    config = THEIRS.DAPO.DAPOConfig.from_cli_overrides(SIZES | case["config"])
    trainer = object.__new__(THEIRS.DAPO.DAPOTrainer)
    trainer.cfg, trainer.all_metrics = config, {}
    responses = [[1] * int(row.sum()) for row in mask]
    output = {"rewards": rewards, "response_ids": responses, "loss_masks": responses}
    made = trainer.postprocess_generator_output(output, ["0"] * len(mask))[0]
    return {"value": [sum(each) for each in made["rewards"]]}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups `handle_dynamic_sampling` keeps."""
    config, rewards = checked(case["config"]), tensor(case, "rewards").tolist()
    uids = [str(row // GROUP) for row in range(len(rewards))]
    if config.trainer.fully_async.enabled:
        trainer = SimpleNamespace(cfg=config)
        groups = [rewards[start : start + GROUP] for start in range(0, len(rewards), GROUP)]
        kept = [
            THEIRS.ASYNC.FullyAsyncRayPPOTrainer._should_keep_group(
                trainer,
                SimpleNamespace(generator_output={"rewards": group, "loss_masks": [[1]] * GROUP}, uid="0"),
            )
            for group in groups
        ]
        return {"value": [float(each) for each in kept]}
    output = {"rewards": rewards, "response_ids": [[1]] * len(rewards)}
    settings = {
        "type": config.trainer.algorithm.dynamic_sampling.type,
        "train_batch_size": len(rewards),
        "n_samples_per_prompt": GROUP,
    }
    collected: dict[str, Any] = {"sample_batch_count": 1}
    THEIRS.UTILS.handle_dynamic_sampling(output, uids, settings, collected)
    kept = collected["collected_uids"]
    return {"value": [float(uid in kept) for uid in dict.fromkeys(uids)]}


def admitted_completions(case: dict[str, Any]) -> dict[str, Any]:
    """Which completions have a token in the loss mask."""
    mask = counted(case, checked(case["config"]))
    return {"value": (mask.sum(-1) > 0).double().tolist(), "axes": ["completion"]}


CALLS = {
    "loss": loss,
    "advantages": advantages,
    "shaped rewards": shaped_rewards,
    "kept groups": kept_groups,
    "admitted completions": admitted_completions,
}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
WHOLE = {"generator.n_samples_per_prompt": GROUP}
LIMITED = ("regular", "dual_clip", "cispo", "rollout_is", "dppo", "sapo")
REDUCTIONS = {
    "token_mean": {},
    "token_mean_legacy": {"trainer.micro_train_batch_size_per_gpu": 2},
    "sequence_mean": {},
    "seq_mean_token_sum_norm": {f"{ALGORITHM}.max_seq_len": 50},
    "prompt_mean": {},
}


def algorithm(**config: Any) -> dict[str, Any]:
    """Keys of the algorithm, without a penalty unless it is named."""
    given = {"use_kl_loss": False} | config
    return WHOLE | ONE | {f"{ALGORITHM}.{key}": value for key, value in given.items()}


ONE = SIZES | {"trainer.micro_train_batch_size_per_gpu": 12}
"""All twelve rows are one micro-batch."""


def correction(**config: Any) -> dict[str, Any]:
    """Keys of the corrections."""
    return {f"{CORRECTION}.{key}": value for key, value in config.items()}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    config = {key: value for key, value in config.items() if key != "trainer.logger"}
    return {"id": f"SkyRL, {name}", "call": call, "config": config, "given": given, "rtol": 1e-5, **others}


def losses() -> Any:
    kinds = {kind: {"policy_loss_type": kind} for kind in (*LIMITED, "gspo", "importance_sampling")}
    kinds["dppo by KL"] = {"policy_loss_type": "dppo", "dppo.dppo_type": "binary_kl"}
    kinds["cispo against the sampler"] = {"policy_loss_type": "cispo", "cispo.cispo_anchor": "rollout"}
    for name, keys in kinds.items():
        config = algorithm(**keys)
        yield case(name, "loss", config, SAMPLER)
        yield case(f"{name}, at the bounds", "loss", config, SAMPLER | {"log_probs": "logp_at_bounds"})
        if name != "importance_sampling":
            yield case(f"{name}, extremes", "loss", config, SAMPLER | {"log_probs": "logp_extreme"})
        given = SAMPLER | {"mask": "mask_holes"}
        yield case(f"{name}, holes, float32", "loss", config, given, dtype="float32")
    for name, keys in REDUCTIONS.items():
        for mask in ("mask", "mask_empty"):
            config = algorithm(loss_reduction=name) | keys
            yield case(f"{name}, {mask}", "loss", config, PLAIN | {"mask": mask})
        config = algorithm(loss_reduction=name, policy_loss_type="gspo", use_kl_loss=True, kl_loss_coef=0.1)
        yield case(f"gspo by {name}, penalty", "loss", config | keys, REFERENCE)
    config = algorithm(loss_reduction="token_mean_legacy")
    for size in (1, 4):
        rows = {"trainer.micro_train_batch_size_per_gpu": size}
        yield case(f"token_mean_legacy of {size}", "loss", config | rows, PLAIN | {"mask": "mask_empty"})
    for kind in ("regular", "dual_clip", "gspo", "rollout_is"):
        config = algorithm(policy_loss_type=kind, eps_clip_low=1.5, eps_clip_high=3.0, clip_ratio_c=1.5)
        yield case(f"{kind}, wide clips", "loss", config, SAMPLER | {"log_probs": "logp_at_bounds"})
    config = algorithm(policy_loss_type="cispo", **{"cispo.cispo_eps_clip_low": 0.2})
    yield case("cispo with a floor", "loss", config, PLAIN | {"log_probs": "logp_at_bounds"})
    for low, high in ((0.01, 0.3), (0.3, 0.01)):
        for kind in ("binary_tv", "binary_kl"):
            keys = {"dppo.dppo_type": kind, "dppo.delta_low": low, "dppo.delta_high": high}
            config = algorithm(policy_loss_type="dppo", **keys)
            yield case(f"{kind} between {low} and {high}", "loss", config, SAMPLER)
    config = algorithm(policy_loss_type="sapo", **{"sapo.tau_pos": 2.0, "sapo.tau_neg": 0.5})
    yield case("sapo, other sharpness", "loss", config, PLAIN)
    given = {key: source for key, source in PLAIN.items() if key != "old_log_probs"}
    yield case("on policy", "loss", algorithm(), given)
    yield case("an advantage per token", "loss", algorithm(), PLAIN | {"advantages": "token_advantages"})


def covariances() -> Any:
    for average in ("token_mean", "sequence_mean", "prompt_mean"):
        keys = {"loss_reduction": average, "policy_loss_type": "kl_cov"}
        for share in (0.2, 0.4):
            config = algorithm(**keys, **{"kl_cov.kl_cov_frac": share})
            yield case(f"kl_cov of {share} by {average}", "loss", config, PLAIN)
        given = PLAIN | {"noise": "token_advantages"}
        keys["policy_loss_type"] = "clip_cov"
        yield case(f"clip_cov by {average}", "loss", algorithm(**keys), given)
        chosen = {"clip_cov.clip_ratio": 1.0, "clip_cov.clip_cov_lb": 0.0, "clip_cov.clip_cov_ub": 0.05}
        config = algorithm(**keys, **chosen)
        yield case(f"clip_cov by {average}, all that may be", "loss", config, given | {"mask": "mask_empty"})
    for kind in ("kl_cov", "clip_cov"):
        chosen = {"clip_cov.clip_ratio": 1.0, "clip_cov.clip_cov_lb": 0.0, "kl_cov.kl_cov_frac": 0.1}
        for size in (1, 4):
            config = algorithm(policy_loss_type=kind, **chosen)
            config |= {"trainer.micro_train_batch_size_per_gpu": size}
            given = PLAIN | {"noise": "token_advantages", "advantages": "token_advantages"}
            yield case(f"{kind} in micro-batches of {size}", "loss", config, given)
    config = algorithm(policy_loss_type="kl_cov", **{"kl_cov.ppo_kl_coef": 0.01})
    yield case("kl_cov, a small penalty", "loss", config, PLAIN | {"mask": "mask_holes"})


CORRECTIONS = {
    "token": {"tis_ratio_type": "token"},
    "token to 1.1": {"tis_ratio_type": "token", "token_tis_ratio_clip_high": 1.1},
    "sequence": {"tis_ratio_type": "sequence"},
    "geometric": {"sequence_mask_metric": "geometric", "geo_mask_low": 0.8, "geo_mask_high": 1.1},
    "product": {"sequence_mask_metric": "product"},
    "outliers above": {"outlier_token_is_threshold_high": 1.5},
    "outliers below": {"outlier_token_is_threshold_low": 0.6},
    "outliers": {"outlier_token_is_threshold_low": 0.5, "outlier_token_is_threshold_high": 1.7},
    "window": {"token_mask_is_threshold_low": 0.8, "token_mask_is_threshold_high": 1.3},
    "half a window": {"token_mask_is_threshold_high": 1.1},
}


def corrections() -> Any:
    for name, keys in CORRECTIONS.items():
        yield case(f"correction: {name}", "loss", algorithm() | correction(**keys), SAMPLER)
    for one, two in itertools.combinations(
        ("token", "sequence", "geometric", "product", "outliers", "window"), 2
    ):
        both = CORRECTIONS[one] | CORRECTIONS[two]
        if len(both) == len(CORRECTIONS[one]) + len(CORRECTIONS[two]):
            given = SAMPLER | {"mask": "mask_empty"}
            yield case(f"corrections: {one}, {two}", "loss", algorithm() | correction(**both), given)
    every = (
        CORRECTIONS["sequence"] | CORRECTIONS["geometric"] | CORRECTIONS["outliers"] | CORRECTIONS["window"]
    )
    for kind in ("dual_clip", "cispo", "rollout_is", "dppo", "sapo", "gspo", "importance_sampling"):
        config = algorithm(policy_loss_type=kind) | correction(**every)
        yield case(f"corrections: all, {kind}", "loss", config, SAMPLER)
    far = SAMPLER | {"rollout_log_probs": "sampler_logp_far"}
    for name in ("token", "sequence", "window"):
        yield case(
            f"correction: {name}, far away", "loss", algorithm() | correction(**CORRECTIONS[name]), far
        )
    config = algorithm(use_kl_loss=True, kl_loss_coef=0.1) | correction(**CORRECTIONS["geometric"])
    yield case("a correction beside a penalty", "loss", config, SAMPLER | {"ref_log_probs": "ref_logp"})
    config = algorithm(use_tis=True, tis_imp_ratio_cap=1.2)
    yield case("the old name of a correction", "loss", config, SAMPLER)
    silent = {"generator.sampling_params.logprobs": None}
    config = algorithm() | correction(**CORRECTIONS["outliers"]) | silent
    yield case("outliers without log-probabilities", "loss", config, SAMPLER)
    given = {key: source for key, source in SAMPLER.items() if key != "rollout_log_probs"}
    yield case("dppo without a sampler", "loss", algorithm(policy_loss_type="dppo") | silent, given)


def penalties() -> Any:
    for kind in ("k1", "abs", "k2", "k3"):
        for ref in ("ref_logp", "ref_logp_far"):
            config = algorithm(use_kl_loss=True, kl_estimator_type=kind, kl_loss_coef=0.1)
            given = REFERENCE | {"ref_log_probs": ref, "mask": "mask_empty"}
            yield case(f"penalty {kind}, {ref}", "loss", config, given)
    yield case("the penalty by default", "loss", ONE | WHOLE, REFERENCE)
    given = PLAIN | {"entropies": "entropy"}
    config = algorithm(use_entropy_loss=True, entropy_loss_coef=0.05)
    yield case("entropy", "loss", config, given | {"mask": "mask_empty"})
    yield case("entropy that is off", "loss", algorithm(entropy_loss_coef=0.05), given)
    config |= {"trainer.micro_train_batch_size_per_gpu": 3} | {f"{ALGORITHM}.use_kl_loss": True}
    yield case("entropy and penalty in micro-batches", "loss", config, given | {"ref_log_probs": "ref_logp"})


ASYNCHRONOUS = algorithm(policy_loss_type="dppo", zero_variance_filter=True) | {
    "trainer.fully_async.enabled": True,
    "trainer.fully_async.num_parallel_generation_workers": 3,
    "trainer.placement.colocate_all": False,
}
SOME = {"ended": [int(row % 3 != 0) for row in range(12)]}


def masks() -> Any:
    given = PLAIN | {"rewards": "rewards_some_equal", "ended": "ended"}
    filters = {
        "overlong": {"generator.apply_overlong_filtering": True},
        "contrast": {f"{ALGORITHM}.zero_variance_filter": True},
        "coarse contrast": {
            f"{ALGORITHM}.zero_variance_filter": True,
            f"{ALGORITHM}.zero_variance_filter_tol": 1.0,
        },
    }
    filters["both"] = filters["overlong"] | filters["contrast"]
    for name, keys in filters.items():
        for rewards in ("rewards_some_equal", "rewards_tied"):
            scored = {"rewards": rewards, "ended": "ended", "mask": "mask"}
            yield case(f"{name}, {rewards}", "admitted completions", algorithm() | keys, scored, inputs=SOME)
        yield case(
            f"{name}, an empty one",
            "admitted completions",
            algorithm() | keys,
            {"rewards": "rewards_some_equal", "ended": "ended", "mask": "mask_first_empty"},
            inputs=SOME,
        )
        for average in ("token_mean", "sequence_mean"):
            config = algorithm(loss_reduction=average, use_kl_loss=True, kl_loss_coef=0.1) | keys
            full = given | {"ref_log_probs": "ref_logp"}
            yield case(f"{name} by {average}", "loss", config, full, inputs=SOME)
    for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
        config = algorithm(**{"dynamic_sampling.type": "filter"})
        yield case(f"filter, {rewards}", "kept groups", config, {"rewards": rewards})
        config = ASYNCHRONOUS | {"trainer.fully_async.sample_full_batch": True}
        yield case(f"a full batch, {rewards}", "kept groups", config, {"rewards": rewards})


SCORED = {"rewards": "rewards", "mask": "mask"}


def rewards_after_length() -> Any:
    config = algorithm() | {"generator.zero_reward_on_non_stop": True}
    yield case("cut off", "shaped rewards", config, SCORED | {"ended": "ended"}, inputs=SOME)
    for budget, keys in ((7, {"overlong_buffer_len": 4}), (5, {"overlong_buffer_len": 2})):
        config = algorithm(**keys) | {"generator.sampling_params.max_generate_length": budget}
        yield case(f"overlong of {budget}", "shaped rewards", config, SCORED)
        config |= {f"{ALGORITHM}.overlong_buffer_penalty_factor": 0.5}
        yield case(f"overlong of {budget} by half", "shaped rewards", config, SCORED)
    config = algorithm(overlong_buffer_penalty_factor=2.0)
    budget = {"generator.sampling_params.max_generate_length": 514}
    yield case("overlong by default", "shaped rewards", config | budget, SCORED)


JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}


def advantage_cases() -> Any:
    for kind in ("grpo", "rloo", "reinforce++", "maxrl"):
        config = algorithm(advantage_estimator=kind)
        for rewards in ("rewards", "rewards_tied"):
            yield case(f"{kind}, {rewards}", "advantages", config, SCORED | {"rewards": rewards})
        if kind != "reinforce++":
            given = SCORED | {"rewards": "rewards_all_equal"}
            yield case(f"{kind}, rewards_all_equal", "advantages", config, given)
        given = SCORED | {"mask": "mask_empty"}
        yield case(f"{kind}, mask_empty, float32", "advantages", config, given, dtype="float32")
        normed = algorithm(advantage_estimator=kind, advantage_batch_normalize=True)
        yield case(f"{kind}, normalized", "advantages", normed, SCORED)
        for penalty in ("k1", "k3"):
            keys = {"use_kl_in_reward": True, "kl_estimator_type": penalty, "kl_loss_coef": 0.1}
            config = algorithm(advantage_estimator=kind, **keys)
            yield case(f"{kind}, {penalty} in the reward", "advantages", config, JUDGED)
        normed = config | {f"{ALGORITHM}.advantage_batch_normalize": True}
        yield case(f"{kind}, penalty in the reward, normalized", "advantages", normed, JUDGED)
    config = algorithm(grpo_norm_by_std=False)
    yield case("grpo without std", "advantages", config, SCORED)
    config = algorithm(use_kl_in_reward=True, kl_loss_coef=-0.1)
    yield case("a negative weight is none", "advantages", config, JUDGED)
    config = algorithm(advantage_estimator="reinforce++", gamma=0.9)
    yield case("discount", "advantages", config, SCORED)
    yield case("grpo, a discount that is not read", "advantages", algorithm(gamma=0.5), SCORED)


REFUSED = {
    "no such loss": algorithm(policy_loss_type="ppo"),
    "no such estimator": algorithm(advantage_estimator="gpg"),
    "no such average": algorithm(loss_reduction="mean"),
    "no critic": algorithm(advantage_estimator="gae"),
    "a length that is not told": algorithm(loss_reduction="seq_mean_token_sum_norm"),
    "two penalties": algorithm(use_kl_loss=True, use_kl_in_reward=True),
    "no such penalty": algorithm(use_kl_loss=True, kl_estimator_type="k4"),
    "no such ratio": algorithm() | correction(tis_ratio_type="group"),
    "no such mask": algorithm() | correction(sequence_mask_metric="sum"),
    "a corrected clip_cov": algorithm(policy_loss_type="clip_cov") | correction(tis_ratio_type="token"),
    "corrected twice": algorithm(policy_loss_type="cispo", **{"cispo.cispo_anchor": "rollout"})
    | correction(tis_ratio_type="token"),
    "no such anchor": algorithm(**{"cispo.cispo_anchor": "new"}),
    "no such divergence": algorithm(**{"dppo.dppo_type": "top_k"}),
    "updates that do not fit": algorithm() | {"trainer.train_batch_size": 4},
    "micro-batches that do not fit": algorithm() | {"trainer.micro_train_batch_size_per_gpu": 5},
    "GPUs that do not fit": algorithm() | {"trainer.placement.policy_num_gpus_per_node": 2},
    "no checkpoints": algorithm() | {"trainer.max_ckpts_to_keep": 0},
    "many log-probabilities": algorithm() | {"generator.sampling_params.logprobs": 5},
    "no log-probabilities": algorithm(policy_loss_type="rollout_is")
    | {"generator.sampling_params.logprobs": None},
    "an asynchronous loss of old log-probabilities": ASYNCHRONOUS
    | {f"{ALGORITHM}.policy_loss_type": "regular"},
    "asynchronous and collocated": ASYNCHRONOUS | {"trainer.placement.colocate_all": True},
    "too many workers": ASYNCHRONOUS | {"trainer.fully_async.num_parallel_generation_workers": 99},
    "an asynchronous filter": ASYNCHRONOUS | {f"{ALGORITHM}.dynamic_sampling.type": "filter"},
    "a full batch of anything": ASYNCHRONOUS
    | {"trainer.fully_async.sample_full_batch": True, f"{ALGORITHM}.zero_variance_filter": False},
    "another parallelism": algorithm() | {"trainer.sequence_parallel_backend": "ring"},
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", config, SAMPLER | {"ref_log_probs": "ref_logp"}) | {
            "refused": ""
        }


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError, NotImplementedError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": (str(error) or type(error).__name__).splitlines()[0]}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def prepare(sources: Path) -> Any:
    """Their modules, without what the package of all backends imports."""
    import typing_extensions

    typing.TypedDict = typing_extensions.TypedDict  # they need Python 3.12, where these are one
    sys.path[1:1] = [str(sources), str(sources / "skyrl-gym")]
    stand_in_for(ABSENT)
    sys.meta_path.insert(0, sys.meta_path.pop())  # also for those that are installed, in other versions
    backends = sys.modules["skyrl.backends"] = types.ModuleType("skyrl.backends")
    backends.__path__ = [str(sources / "skyrl" / "backends")]
    import ray

    ray.is_initialized = lambda: False
    ray.remote = lambda given=None, **_: given if given is not None else lambda function: function
    from examples.train.algorithms.dapo import main_dapo
    from skyrl.backends.skyrl_train.training_batch import TrainingInputBatch
    from skyrl.backends.skyrl_train.utils import ppo_utils
    from skyrl.backends.skyrl_train.workers import worker
    from skyrl.train import config, fully_async_trainer, trainer
    from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
    from skyrl.train.generators.utils import apply_overlong_filtering
    from skyrl.train.utils import trainer_utils, utils

    worker.torch.cuda.current_device = lambda: "cpu"
    trainer.get_metrics_from_generator_output = lambda *_: dict.fromkeys(
        ("pass_at_n", "avg_score", "mean_positive_reward"), 0.0
    )
    trainer.RayPPOTrainer.__init__ = _begin
    return SimpleNamespace(
        ASYNC=fully_async_trainer,
        CONFIG=config,
        CHECKS=utils,
        UTILS=trainer_utils,
        PPO=ppo_utils,
        TRAINER=trainer.RayPPOTrainer,
        WORKER=worker.PolicyWorkerBase,
        BATCH=TrainingInputBatch,
        DAPO=main_dapo,
        GENERATOR=SkyRLGymGenerator,
        OVERLONG=apply_overlong_filtering,
    )


if __name__ == "__main__":
    THEIRS = prepare(Path(sys.argv[1]).resolve())
    cases = (losses(), covariances(), corrections(), penalties(), masks(), advantage_cases())
    cases += (rewards_after_length(), refusals())
    done = [*map(recorded, itertools.chain(*cases))]
    by = "tests/data/record/record_skyrl.py"
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": by}
    print(writing.write("skyrl", done, about), len(done))
