"""Record ROLL 8eb27cc2: `python tests/data/record/record_roll.py SOURCES`, SOURCES being a checkout.

What is run is theirs: `RLVRConfig` by way of dacite, with its checks; the masks, rewards and advantages of
the RLVR pipeline in their order (`get_sample_level_mask`, `reward_postprocess`, `compute_token_reward`,
`compute_advantage`); the weights for the sampler; the counts of the strategy; `loss_func` of ActorWorker and
ActorPGWorker; and the filter of groups. Stubs take the place of ray, the processes, and the model, whose
log-probabilities are those of the case. Torch 2.13.0, CPU; dacite, codetiming and tensordict are needed.

The losses of the micro-batches of a step are added up, as the strategy's loss_scale makes the optimizer do.
"""

import ast
import importlib.util
import itertools
import math
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import writing
from absent import stand_in_for

ABSENT = """ray hydra vllm deepspeed peft modelscope opentelemetry grpc google PIL megatron mcore_adapter
transfer_queue nltk gymnasium gem openai tensorboard wandb swanlab zmq qwen_vl_utils func_timeout langdetect
cachetools more_itertools uvicorn fastapi aiohttp httpx requests decord av sglang pybase64 imageio""".split()
STUBBED = ("roll.distributed.strategy.factory", "roll.distributed.strategy.strategy")
GROUP, ROWS, WIDTH = 4, 12, 7
COMMIT = "ROLL 8eb27cc2 (2026-08-18)"
BASE = {"sequence_length": WIDTH + 1, "prompt_length": 1}
"""One column is the prompt."""
PG = "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker"
KEYS = ["response_mask", "final_response_mask"]


# ---- ROLL's code ------------------------------------------------------------------------------------


def load() -> None:
    """Make ROLL importable."""
    sys.path.insert(0, str(SOURCES))
    os.chdir(tempfile.mkdtemp())
    stand_in_for([name for name in ABSENT if importlib.util.find_spec(name) is None])
    for name in STUBBED:
        module = ModuleType(name)
        module.__getattr__ = lambda attribute: MagicMock(name=attribute)  # type: ignore[method-assign]
        sys.modules[name] = module


def nested(config: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys as groups; those of a filter are of a domain."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        *groups, last = (f"rewards.math.{key}" if key.startswith("query_filter") else key).split(".")
        place = found
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return found


def parsed(config: dict[str, Any]) -> Any:
    """Their configuration, from the values as `start_rlvr_pipeline.py` reads them."""
    from dacite import from_dict
    from roll.pipeline.rlvr.rlvr_config import RLVRConfig

    values = nested(BASE | {"actor_infer.generating_args.do_sample": True} | config)
    values.setdefault("rewards", {}).setdefault("math", {})
    return from_dict(data_class=RLVRConfig, data=values)


@cache
def counts() -> tuple[Any, ...]:
    """The strategy's counts of tokens and completions."""
    text = (SOURCES / "roll" / "distributed" / "strategy" / "strategy.py").read_text(encoding="utf-8")
    wanted = ("_get_batch_num_tokens", "_get_global_valid_samples")
    found = [node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") in wanted]
    future = ast.parse("from __future__ import annotations").body
    scope: dict[str, Any] = {"torch": torch, "dist": MagicMock(), "IGNORE_INDEX": -100}
    exec(compile(ast.Module(body=[*future, *found], type_ignores=[]), "ROLL", "exec"), scope)
    return tuple(scope[name] for name in wanted)


def worker(config: dict[str, Any], policy: torch.Tensor, entropy: torch.Tensor) -> Any:
    """Their worker with a model that answers this."""
    from roll.pipeline.rlvr.actor_pg_worker import ActorPGWorker
    from roll.pipeline.rlvr.actor_worker import ActorWorker

    args = parsed(config)
    self = object.__new__(ActorPGWorker if args.actor_train.worker_cls == PG else ActorWorker)
    self.pipeline_config = args
    flags = ("pg_variant", "topr_sample", "cispo_config", "kimi15_config")
    self.__dict__ |= {"_pg_config_cache": {}} | {f"_{flag}_logged": False for flag in flags}
    self.strategy = SimpleNamespace(
        op_compute_log_probs=lambda **_: policy, op_compute_entropy=lambda **_: entropy
    )
    return self


class Batch(dict[str, Any]):
    """Tensors by name, as many as there are completions."""

    def __len__(self) -> int:
        return ROWS


# ---- what is recorded -------------------------------------------------------------------------------


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.long() if name == "mask" else array.to(getattr(torch, case.get("dtype", "float64")))


def widened(mask: torch.Tensor) -> torch.Tensor:
    """The mask with the prompt's column before it."""
    return torch.cat([torch.zeros_like(mask[:, :1]), mask], dim=1)


def proto(tensors: dict[str, Any]) -> Any:
    """Their record of tensors."""
    return SimpleNamespace(batch=tensors, meta_info={"loss_mask_keys": KEYS}, non_tensor_batch={})


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """The micro-batches of one step."""
    from roll.utils.train_infer_corrections import apply_train_infer_correction_to_batch

    has = {name: tensor(case, name) for name in case["given"]}
    mask, steps = has["mask"], case.get("micro_batches", 1)
    masked = {name: torch.where(mask > 0, x, 0.0) for name, x in has.items() if x.shape == mask.shape}
    policy = has["log_probs"].clone().requires_grad_()
    answered = torch.where(mask > 0, policy, 0.0)
    advantages = has["advantages"]
    old = masked.get("old_log_probs", answered.detach())
    tensors = {
        "input_ids": widened(mask),
        "response_mask": widened(mask),
        "final_response_mask": mask.clone(),
        "ref_log_probs": masked.get("ref_log_probs", old),
        "old_log_probs": old,
        "advantages": (advantages if advantages.ndim == 2 else advantages[:, None]) * mask,
    }
    args = parsed(case["config"])
    if "rollout_log_probs" in has and (args.async_pipeline or args.actor_infer.generating_args.logprobs):
        tensors["infer_logprobs"] = masked["rollout_log_probs"]
    batch = proto(Batch(tensors))
    if args.enable_old_logprobs_recompute:
        apply_train_infer_correction_to_batch(args, batch, update_mask_keys=KEYS)
    stub = SimpleNamespace(__len__=lambda: ROWS, batch=batch.batch, meta_info=batch.meta_info)
    tokens, completions = (count(None, Sized(stub)) for count in counts())
    total, logged = torch.zeros((), dtype=policy.dtype), {}
    entropy = masked.get("entropies", torch.zeros_like(policy))
    for rows in torch.arange(ROWS).chunk(steps):
        self = worker(case["config"], answered[rows], entropy[rows])
        part = proto({name: values[rows] for name, values in batch.batch.items()})
        part.meta_info |= {"batch_num_tokens": dict(tokens), "global_valid_samples": dict(completions)}
        value, metrics = self.loss_func(part, torch.zeros(len(rows)))
        total = total + value
        for name in NAMES:
            logged[name] = logged.get(name, 0.0) + metrics[name]
    total.backward()
    metrics = logged if steps == 1 else {}
    return {"loss": total.item(), "grad_logp": policy.grad.tolist(), "metrics": metrics}


class Sized:
    """A record with a length."""

    def __init__(self, record: Any) -> None:
        self.batch, self.meta_info = record.batch, record.meta_info

    def __len__(self) -> int:
        return ROWS


def prepared(case: dict[str, Any]) -> Any:
    """What the pipeline has after scoring, in their record."""
    from roll.distributed.scheduler.protocol import DataProto

    has = {name: tensor(case, name) for name in case["given"]}
    mask, args = has["mask"], parsed(case["config"])
    last = (torch.arange(1, WIDTH + 1) * mask).amax(-1, keepdim=True)
    attended = (torch.arange(WIDTH + 1) <= last).long()
    old = has.get("old_log_probs", torch.zeros(mask.shape, dtype=torch.float64)) * mask
    reference = has["ref_log_probs"] * mask if args.enable_reference and "ref_log_probs" in has else old
    tensors = {
        "response_level_rewards": has["rewards"],
        "scores": has["rewards"].clone(),
        "attention_mask": attended,
        "position_ids": (attended.cumsum(-1) - 1).clip(min=0),
        "response_mask": widened(mask),
        "responses": torch.zeros(ROWS, WIDTH),
        "old_log_probs": old,
        "ref_log_probs": reference.clone(),
    }
    return args, DataProto.from_dict(tensors=tensors)


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """What the policy is trained with, per token, as the pipeline goes about it."""
    from roll.utils import functionals
    from roll.utils.kl_controller import get_kl_controller

    args, data = prepared(case)
    data, _ = functionals.get_sample_level_mask(data, args)
    data, _ = functionals.reward_postprocess(data, args, {})
    controller = get_kl_controller(args.init_kl_coef, args.target_kl, args.kl_horizon)
    data, _ = functionals.compute_token_reward(data, args, controller)
    made = functionals.compute_advantage(
        data=data,
        gamma=args.gamma,
        lambd=args.lambd,
        adv_estimator=args.adv_estimator,
        advantage_clip=args.advantage_clip,
        whiten_advantages=args.whiten_advantages,
        whiten_rewards=args.whiten_rewards,
        response_mask=data.batch["final_response_mask"].clone(),
        pipeline_config=args,
    )
    return {"value": made.batch["advantages"].tolist(), "axes": ["completion", "token"]}


def admitted(case: dict[str, Any]) -> dict[str, Any]:
    """Which completions are trained on."""
    from roll.utils.functionals import get_sample_level_mask

    args, data = prepared(case)
    made, _ = get_sample_level_mask(data, args)
    return {"value": (made.batch["final_response_mask"].sum(-1) > 0).double().tolist()}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups `query_filter` takes, as 0 and 1."""
    from roll.distributed.scheduler.user_defined_rollout_loop import query_filter

    args, kept = parsed(case["config"]), []
    for group in tensor(case, "rewards").reshape(-1, GROUP):
        answers = [
            SimpleNamespace(
                batch={"response_level_rewards": score[None]}, non_tensor_batch={"domain": ["math"]}
            )
            for score in group
        ]
        kept.append(float(query_filter(answers, args)))
    return {"value": kept}


CALLS = {
    "loss": loss,
    "advantages": advantages,
    "admitted completions": admitted,
    "kept groups": kept_groups,
}
NAMES = ("actor/weighted_pg_loss@sum", "actor/kl_loss@sum", "actor/total_loss@sum")
USUAL = {"adv_estimator": "grpo", "num_return_sequences_in_group": GROUP}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
SAMPLER = REFERENCE | {"rollout_log_probs": "sampler_logp"}
EVERY = SAMPLER | {"entropies": "entropy"}
KL = {"use_kl_loss": True, "kl_loss_coef": 0.05}
MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
LEVELS = ("token", "seq")
CLIPS = {
    "default": {},
    "clip 0.1": {"pg_clip": 0.1},
    "range": {"use_pg_clip_range": True, "pg_clip_low": 0.2, "pg_clip_high": 0.28},
    "range that is not read": {"pg_clip_low": 0.05, "pg_clip_high": 0.5},
    "dual": {"dual_clip_loss": True},
    "dual and range": {
        "dual_clip_loss": True,
        "use_pg_clip_range": True,
        "pg_clip": 0.3,
        "pg_clip_high": 0.28,
    },
    "no lower bound": {"use_pg_clip_range": True, "pg_clip_low": 1.5},
    "tight": {"pg_clip": 0.0003},
}
VARIANTS = {
    name: {"actor_train.worker_cls": PG, "actor_train.pg_variant": name}
    for name in ("vanilla", "ppo", "tis", "cispo", "kimi15")
}
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single")
WEIGHTS = {"train_infer_correction.is_weight.enabled": True, "async_generation_ratio": 1.0}
TYPES = ("token", "segment", "geometric", "sequence")
CACHED = {"init_kl_coef": 0.0}
"""Without a KL in the reward, in one step of a batch, no old log-probabilities are computed anew."""


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"roll, {name}", "call": call, "config": USUAL | config, "given": given, **others}


def losses() -> Any:
    """Levels, averages, clips and variants, alone and in pairs."""
    for level, (clip, c) in itertools.product(LEVELS, CLIPS.items()):
        config, given = {"importance_sampling": level} | c, REFERENCE | {"log_probs": "logp_at_bounds"}
        yield case(f"{level}, {clip}", "loss", config, given)
    for level, mode in itertools.product(LEVELS, MODES):
        config = {"importance_sampling": level, "loss_agg_mode": mode}
        yield case(f"{level}, {mode}", "loss", config, REFERENCE)
        yield case(f"{level}, {mode}, penalty", "loss", config | KL, REFERENCE | {"mask": "mask_holes"})
        for mask in MASKS:
            yield case(f"{level}, {mode}, {mask}", "loss", config | KL, REFERENCE | {"mask": mask})
    for mode in MODES:
        config = {"loss_agg_mode": mode}
        yield case(f"{mode}, 3 micro-batches", "loss", config | KL, REFERENCE, micro_batches=3)
        scaled = config | KL | {"rl_loss_coef": 0.5, "entropy_loss_coef": 0.02}
        yield case(f"{mode}, scaled, bonus", "loss", scaled, EVERY | {"mask": "mask_empty"})
        weighed = config | KL | {"length_loss_weight": True}
        yield case(f"{mode}, length", "loss", weighed, REFERENCE, rtol=2e-6)
        single = {"dtype": "float32", "rtol": 2e-5}
        yield case(f"{mode}, float32", "loss", config | KL, REFERENCE, **single)
        tokens = REFERENCE | {"advantages": "token_advantages"}
        yield case(f"{mode}, advantages by token", "loss", config, tokens)
    norm = {"loss_agg_mode": MODES[3], "sequence_length": WIDTH + 1}
    yield case("the width is given", "loss", norm, REFERENCE)
    norm = {"loss_agg_mode": MODES[3], "response_length": WIDTH, "prompt_length": 1}
    yield case("the width in two parts", "loss", norm, REFERENCE)
    for (name, v), mode in itertools.product(VARIANTS.items(), (MODES[0], MODES[2])):
        config, given = v | {"loss_agg_mode": mode}, REFERENCE | {"log_probs": "logp_at_bounds"}
        yield case(f"{name}, {mode}", "loss", config, given)
        yield case(f"{name}, {mode}, penalty, holes", "loss", config | KL, EVERY | {"mask": "mask_holes"})
        yield case(f"{name}, {mode}, on policy", "loss", config, without(REFERENCE, "old_log_probs"))
        weighed = config | WEIGHTS | KL
        yield case(f"{name}, {mode}, weighed", "loss", weighed, SAMPLER)
        yield case(f"{name}, {mode}, bonus", "loss", config | {"entropy_loss_coef": 0.01}, EVERY)
    ppo = VARIANTS["ppo"] | {"importance_sampling": "seq", "dual_clip_loss": True}
    yield case("ppo of the other worker has no level", "loss", ppo, REFERENCE)
    for level, policy in itertools.product(LEVELS, ("logp_limited",)):
        config, given = {"importance_sampling": level}, REFERENCE | {"log_probs": policy}
        yield case(f"{level}, {policy}", "loss", config, given)
        yield case(f"{level}, {policy}, dual", "loss", config | {"dual_clip_loss": True}, given)
    yield case("a weight without the loss", "loss", {"kl_loss_coef": 0.5}, REFERENCE)
    yield case("a loss without weight", "loss", {"use_kl_loss": True}, REFERENCE)
    yield case("a negative bonus is none", "loss", {"entropy_loss_coef": -0.5}, EVERY)
    apart = {"inputs": {"far": shifted(6.0)}}
    yield case("penalty at its limit", "loss", KL, REFERENCE | {"ref_log_probs": "far"}, **apart)


def without(given: dict[str, str], name: str) -> dict[str, str]:
    return {key: source for key, source in given.items() if key != name}


def shifted(nats: float) -> Any:
    """A reference that finds every other token much likelier than the policy."""
    rows = writing.given("logp")
    return [[x + nats * (place % 2) for place, x in enumerate(row)] for row in rows]


def corrections() -> Any:
    """The weights for the sampler, on all levels, old log-probabilities computed anew or not."""
    for kind, (name, c) in itertools.product(TYPES, {"anew": {}, "cached": CACHED}.items()):
        keys = WEIGHTS | c | {"train_infer_correction.is_weight.weight_type": kind}
        for mask in ("mask", "mask_holes", "mask_empty"):
            yield case(f"{kind}, {name}, {mask}", "loss", keys, SAMPLER | {"mask": mask})
        free = keys | {"train_infer_correction.is_weight.upper_bound": None}
        yield case(f"{kind}, {name}, no bound, penalty", "loss", free | KL, SAMPLER)
        low = keys | {"train_infer_correction.is_weight.upper_bound": 0.7, "importance_sampling": "seq"}
        yield case(f"{kind}, {name}, bound 0.7, seq", "loss", low, SAMPLER)
    for kind in TYPES:
        keys = WEIGHTS | {"train_infer_correction.is_weight.weight_type": kind}
        note = "The loss is small beside its terms."
        single = {"dtype": "float32", "rtol": 1e-4, "note": note}
        yield case(f"{kind}, float32", "loss", keys, SAMPLER, **single)
        unknown = SAMPLER | {"rollout_log_probs": "sampler_logp_nan", "log_probs": "old_logp"}
        yield case(f"{kind}, NaN from the sampler", "loss", keys, unknown)
    enabled = {"train_infer_correction.is_weight.enabled": True}
    yield case("weights without a sampler", "loss", enabled, SAMPLER)
    logged = enabled | {"actor_infer.generating_args.logprobs": 1}
    yield case("weights with logprobs", "loss", logged, SAMPLER)


SCORED = {"rewards": "rewards", "mask": "mask"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
LOOSE = 2e-5
"""Their advantages are float32, and what is whitened has lost some digits."""
NORMS = (
    (None, None),
    ("group", None),
    ("batch", None),
    (None, "batch"),
    ("group", "group"),
    ("batch", "batch"),
)
AFTER = {
    "whitened": {"whiten_advantages": True},
    "rewards whitened": {"whiten_rewards": True},
    "both whitened": {"whiten_rewards": True, "whiten_advantages": True, "gamma": 0.9},
    "limited": {"reward_clip": 0.75, "advantage_clip": 0.5},
    "as in the examples": {"reward_clip": 10, "advantage_clip": 2.0, "whiten_advantages": True},
    "discounted": {"gamma": 0.8},
    "not at all beyond": {"gamma": 0.0},
}


def advantage_cases() -> Any:
    estimators = {"grpo": {}} | {
        f"{mean}, {std}": {"adv_estimator": "reinforce", "norm_mean_type": mean, "norm_std_type": std}
        for mean, std in (*NORMS, ("group", "batch"))
    }
    for name, e in estimators.items():
        for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
            given = SCORED | {"rewards": rewards}
            yield case(f"advantages: {name}, {rewards}", "advantages", e, given, rtol=LOOSE)
        for after, a in AFTER.items():
            yield case(f"advantages: {name}, {after}", "advantages", e | a, SCORED, rtol=LOOSE)
        for kl in ("kl", "abs", "mse"):
            k = {"add_token_level_kl": True, "kl_penalty": kl, "init_kl_coef": 0.1}
            yield case(f"advantages: {name}, {kl}", "advantages", e | k, JUDGED, rtol=LOOSE)
        k = k | {"reward_clip": 0.3, "gamma": 0.9, "whiten_advantages": True}
        holes = JUDGED | {"mask": "mask_holes"}
        yield case(f"advantages: {name}, mse, all", "advantages", e | k, holes, rtol=LOOSE)
    for mask in ("mask_empty", "mask_single"):
        given = SCORED | {"mask": mask}
        yield case(f"advantages: {mask}", "advantages", AFTER["both whitened"], given, rtol=LOOSE)
    kl = {"add_token_level_kl": True}
    yield case("advantages: default weight", "advantages", kl, JUDGED, rtol=LOOSE)
    yield case("advantages: no weight", "advantages", kl | {"init_kl_coef": 0.0}, JUDGED, rtol=LOOSE)
    bonus = kl | {"init_kl_coef": -0.1}
    yield case("advantages: negative weight, no reference", "advantages", bonus, JUDGED, rtol=LOOSE)
    bonus = bonus | {"use_kl_loss": True}
    yield case("advantages: negative weight, reference", "advantages", bonus, JUDGED, rtol=LOOSE)
    gigpo = {"adv_estimator": "gigpo", "pipeline": "rlvr"}
    yield case("advantages: gigpo", "advantages", gigpo, SCORED, rtol=LOOSE)
    read = {"norm_mean_type": "batch", "norm_std_type": None}
    yield case("advantages: norms that are not read", "advantages", read, SCORED, rtol=LOOSE)


def filters() -> Any:
    for name, keys in {
        "none": {},
        "budget": {"max_len_mask": True},
        "difficulty": {"difficulty_mask": True},
        "difficulty, narrow": {
            "difficulty_mask": True,
            "difficulty_low_threshold": 0.3,
            "difficulty_high_threshold": 0.7,
        },
        "errors": {"error_max_len_clip": True},
        "long errors": {"error_max_len_clip": True, "error_max_len_threshold": 4},
        "all": {"max_len_mask": True, "difficulty_mask": True, "error_max_len_clip": True},
    }.items():
        for rewards in ("rewards", "rewards_some_equal"):
            given = SCORED | {"rewards": rewards}
            yield case(f"admitted: {name}, {rewards}", "admitted completions", keys, given)
    prefix = "query_filter_config"
    for name, keys in {
        "none": {},
        "mean": {f"{prefix}.type": "mean_filter"},
        "mean, narrow": {
            f"{prefix}.type": "mean_filter",
            f"{prefix}.filter_args.threshold_up": 0.9,
            f"{prefix}.filter_args.threshold_down": 0.1,
        },
        "std": {f"{prefix}.type": "std_filter"},
        "std above 0": {f"{prefix}.type": "std_filter", f"{prefix}.filter_args.std_threshold": 0.0},
        "std above 0.4": {f"{prefix}.type": "std_filter", f"{prefix}.filter_args.std_threshold": 0.4},
    }.items():
        for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
            yield case(f"kept groups: {name}, {rewards}", "kept groups", keys, {"rewards": rewards})


REFUSED = {
    "no such estimator": {"adv_estimator": "rloo"},
    "agentic": {"adv_estimator": "agentic_reinforce"},
    "gae, which needs a critic": {"adv_estimator": "gae"},
    "no such norm": {"norm_mean_type": "prompt"},
    "a std of the group alone": {"adv_estimator": "reinforce", "norm_std_type": "group"},
    "a std of the group, a mean of the batch": {
        "adv_estimator": "reinforce",
        "norm_mean_type": "batch",
        "norm_std_type": "group",
    },
    "no such average": {"loss_agg_mode": "token-sum"},
    "no such level": {"importance_sampling": "segment"},
    "no such weight": {"train_infer_correction.is_weight.weight_type": "group"},
    "no such kl": {"kl_penalty": "k4"},
    "no variant": {"actor_train.worker_cls": PG},
    "no such variant": {"actor_train.worker_cls": PG, "actor_train.pg_variant": "gspo"},
    "half a step ahead": {"async_generation_ratio": 0.5},
    "ahead without the scheduler": {"async_generation_ratio": 1.0, "generate_opt_level": 0},
    "two profilers": {"profiler_timeline": True, "profiler_memory": True},
    "half a validation": {"val_sequence_length": 64},
    "half a validation, the other": {"val_prompt_length": 64},
    "a clip of none": {"pg_clip": None},
    "a filter that is none": {"query_filter_config.type": "pass_filter"},
    "a teacher of nothing": {"use_opd": True},
    "both teachers": {"use_opd": True, "is_pure_opd": True},
}
"""What the configuration or the first step refuses; the advantages are asked for, or the loss."""


def refusals() -> Any:
    for name, keys in REFUSED.items():
        scored = any(key in keys for key in ("adv_estimator", "norm_mean_type", "kl_penalty"))
        call, given = ("advantages", SCORED) if scored else ("loss", EVERY)
        yield case(f"refused: {name}", call, keys, given) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except Exception as error:
        if "refused" not in case:
            raise ValueError(case["id"]) from error
        told = " ".join(str(error).split())[:300]
        return case | {"refused": f"{type(error).__name__}: {told}"}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def finite(case: dict[str, Any]) -> bool:
    """Whether the gradient is one, or the loss is none either."""
    rows = case.get("grad_logp", [])
    return all(math.isfinite(x) for row in rows for x in row) or not math.isfinite(case["loss"])


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    load()
    wanted = [*losses(), *corrections(), *advantage_cases(), *filters(), *refusals()]
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_roll.py"}
    print(writing.write("roll", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
