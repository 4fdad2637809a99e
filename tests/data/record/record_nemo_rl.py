"""Record NeMo-RL 7ea279ab: `python tests/data/record/record_nemo_rl.py SOURCES`, a checkout of it.

What runs is theirs: `examples/configs/grpo_math_1B.yaml` with its interpolations, the classes of loss_fn and
of grpo, `ClippedPGLossFn`, `scale_rewards`, `apply_reward_shaping`, the lines of `grpo_train` from rewards to
the filter, `dynamic_sampling`, the advantage estimators, the filter by the sampler's error, and the checks of
`setup`, `run_grpo.py` and `async_grpo_train`. What needs Ray is cut out of its file, function by function.
Torch 2.13.0 on the CPU; advantages are float32, as in training. Sequences begin with a token that is not
trained on.
"""

import ast
import contextlib
import copy
import importlib.abc
import importlib.machinery
import io
import itertools
import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional
from unittest.mock import MagicMock

import torch
import writing
from omegaconf import OmegaConf

GROUP = 4
COMMIT = "NeMo-RL 7ea279ab (2026-08-22)"
SURROUNDING = (
    "models",
    "distributed.model_utils",
    "distributed.collectives",
    "data",
    "environments",
    "utils",
)
"""What the loss and the advantages import and do not use here."""
CUT = """RewardScalingConfig AsyncGRPOConfig GRPOConfig dynamic_sampling scale_rewards
_create_advantage_estimator _clip_grpo_advantages _validate_use_kl_in_reward_compat
compute_and_apply_seq_logprob_error_masking""".split()


class Surrounding(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of theirs that can be imported, and do nothing."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        heavy = [f"nemo_rl.{part}" for part in SURROUNDING] + ["nemo_rl.algorithms.x_token"]
        if any(name == part or name.startswith(f"{part}.") for part in heavy):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return MagicMock(name=spec.name)

    def exec_module(self, module: Any) -> None:
        module.__path__ = []


def tree_of(path: str) -> ast.Module:
    return ast.parse((SOURCES / path).read_text(encoding="utf-8"))


def body_of(path: str, function: str) -> list[ast.stmt]:
    """All statements of a function, those inside of others too."""
    nodes = ast.walk(tree_of(path))
    found = next(node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == function)
    return [node for node in ast.walk(found) if isinstance(node, ast.stmt)]


def run(nodes: list[ast.stmt], names: dict[str, Any]) -> dict[str, Any]:
    """What their statements leave behind; what they print is dropped."""
    code = compile(ast.fix_missing_locations(ast.Module(nodes, type_ignores=[])), "theirs", "exec")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    return names


def functions_of_grpo() -> dict[str, Any]:
    """The parts of grpo.py that need no Ray."""
    import nemo_rl.algorithms.advantage_estimator as estimators
    import nemo_rl.algorithms.loss as losses
    import nemo_rl.algorithms.reward_functions as rewards
    import nemo_rl.algorithms.utils as tools
    from nemo_rl.distributed.batched_data_dict import BatchedDataDict
    from pydantic import BaseModel, Field, model_validator

    names: dict[str, Any] = {"torch": torch, "warnings": warnings, "__name__": "theirs"}
    for module in (estimators, losses, rewards, tools):
        names |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    skips = [node for node in tree_of("nemo_rl/algorithms/opd.py").body if isinstance(node, ast.FunctionDef)]
    skip = run([node for node in skips if node.name == "_skip_prev_logprobs"], {"Any": Any})
    names |= {"opd_module": SimpleNamespace(_skip_prev_logprobs=skip["_skip_prev_logprobs"])}
    names |= {"BaseModel": BaseModel, "Field": Field, "model_validator": model_validator}
    names |= {"BatchedDataDict": BatchedDataDict, "DatumSpec": dict, "Timer": Any, "Optional": Optional}
    names |= {"Any": Any, "MasterConfig": Any}
    nodes = [node for node in tree_of("nemo_rl/algorithms/grpo.py").body if getattr(node, "name", "") in CUT]
    return run(nodes, names)


def configured(config: dict[str, Any]) -> SimpleNamespace:
    """Their classes from their YAML file with these keys on top."""
    base = copy.deepcopy(BASE)
    for key, value in config.items():
        first = key.split(".")[0]
        group = "loss_fn." if key in LOSS_KEYS else "" if first in base else "grpo."
        OmegaConf.update(base, f"{group}{key}", value, force_add=True)
    for group in ("megatron_cfg", "dtensor_cfg", "optimizer", "scheduler"):
        del base.policy[group]
    told = {name: OmegaConf.to_container(base[name], resolve=True) for name in GROUPS}
    return SimpleNamespace(
        loss_fn=GRPO["ClippedPGLossConfig"](**told["loss_fn"]),
        grpo=GRPO["GRPOConfig"](**told["grpo"]),
        policy=told["policy"],
        data=told["data"],
    )


def checked(config: SimpleNamespace) -> Any:
    """Their loss, after all checks that need no cluster."""
    check_of_entry(config)
    names = {"master_config": config, "loss_config": config.loss_fn, "grpo_config": config.grpo}
    names |= {"policy_config": config.policy, "data_config": config.data, "os": MagicMock()}
    names |= {"_validate_use_kl_in_reward_compat": GRPO["_validate_use_kl_in_reward_compat"]}
    names |= {"num_prompts_per_step": config.grpo.num_prompts_per_step, "dataloader_batch_size": 1}
    wanted = (
        "batch_multiplier = grpo_config.batch_multiplier",
        "if grpo_config.use_dynamic_sampling:",
        "if loss_config.force_on_policy_ratio:",
        "if grpo_config.skip_reference_policy_logprobs_calculation:",
        "_validate_use_kl_in_reward_compat(master_config)",
    )
    run([node for node in SETUP if ast.unparse(node).startswith(wanted)], names)
    return GRPO["ClippedPGLossFn"](config.loss_fn)


def check_of_entry(config: SimpleNamespace) -> None:
    """What `run_grpo.py` and `async_grpo_train` refuse."""
    branch = next(n for n in ENTRY if ast.unparse(n).startswith("if config.grpo.async_grpo.enabled:"))
    assert isinstance(branch, ast.If)
    refusing = [node for node in branch.body if isinstance(node, ast.If)]
    if config.grpo.async_grpo is not None and config.grpo.async_grpo.enabled:
        run(refusing, {"config": config})
        asks = "assert master_config.loss_fn.use_importance_sampling_correction"
        run([node for node in ASYNC if ast.unparse(node).startswith(asks)], {"master_config": config})
    precision = config.policy["generation"]["vllm_cfg"]["precision"]
    asks = "if generation_config['vllm_cfg']['precision'] == 'fp8':"
    names = {"generation_config": {"vllm_cfg": {"precision": precision}}, "loss_config": config.loss_fn}
    run([node for node in SETUP if ast.unparse(node).startswith(asks)], names)


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.to(getattr(torch, case.get("dtype", "float64")))


def led(array: torch.Tensor) -> torch.Tensor:
    """With the first token, which nothing is predicted of."""
    return torch.nn.functional.pad(array, (1, 0))


LOGGED = """probs_ratio probs_ratio_clamped probs_ratio_min probs_ratio_max probs_ratio_clamped_min
probs_ratio_clamped_max kl_penalty token_mult_prob_error gen_kl_error policy_kl_error js_divergence_error
sampling_importance_ratio approx_entropy is_oob_ratio""".split()


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """Loss and gradient of one batch, with the filters of completions before."""
    config = configured(case["config"])
    function = checked(config)
    policy = tensor(case, "log_probs").requires_grad_()
    mask, advantages = tensor(case, "mask"), tensor(case, "advantages")
    has = {name: tensor(case, name) for name in case["given"]}
    old = has.get("old_log_probs", policy.detach())
    data = {
        "token_mask": led(mask),
        "sample_mask": torch.ones(len(mask), dtype=policy.dtype),
        "advantages": led(advantages if advantages.ndim == 2 else advantages[:, None].expand(mask.shape)),
        "prev_logprobs": led(old),
        "generation_logprobs": led(has.get("rollout_log_probs", old)),
        "reference_policy_logprobs": led(has.get("ref_log_probs", old)),
    }
    if "ended" in has:
        batch = {"loss_multiplier": data["sample_mask"], "truncated": has["ended"] == 0}
        node = next(node for node in TRAIN if ast.unparse(node).startswith("if use_overlong_filtering:"))
        overlong = config.grpo.overlong_filtering
        names = run([node], {"repeated_batch": batch, "torch": torch, "use_overlong_filtering": overlong})
        data["sample_mask"] = names["repeated_batch"]["loss_multiplier"]
    with contextlib.redirect_stdout(io.StringIO()):
        GRPO["compute_and_apply_seq_logprob_error_masking"](
            data, torch.zeros(len(mask)), config.grpo.seq_logprob_error_threshold
        )
    tokens = data["token_mask"][:, 1:] * data["sample_mask"][:, None]
    total, logged = function(policy, data, data["sample_mask"].sum(), tokens.sum())
    total.backward()
    metrics = {name: logged[name] for name in LOGGED if name in logged and math.isfinite(logged[name])}
    if case["call"] != "loss" or "dtype" in case:
        metrics = {}
    return {"loss": total.item(), "grad_logp": policy.grad.tolist(), "metrics": metrics}


def judged(case: dict[str, Any]) -> tuple[SimpleNamespace, Any, Any]:
    """Their batch after scaling, shaping and dynamic sampling, as `grpo_train` does it."""
    config = configured(case["config"])
    checked(config)
    has = {name: tensor(case, name) for name in case["given"]}
    components = has.get("components")
    rewards = has["rewards"] if "rewards" in has else components.sum(-1)
    count = len(rewards)
    prompts = torch.arange(count)[:, None] // GROUP
    batch = GRPO["BatchedDataDict"](
        total_reward=rewards.clone(),
        truncated=has["ended"] == 0 if "ended" in has else torch.zeros(count, dtype=torch.bool),
        response_token_lengths=has["mask"].sum(-1).long() if "mask" in has else torch.ones(count),
        place=torch.arange(count),
        prompt=prompts,
        loss_multiplier=torch.ones(count),
    )
    for number in range(components.shape[-1] if components is not None else 0):
        batch[f"reward/{number}"] = components[:, number].clone()
    with contextlib.redirect_stdout(io.StringIO()):
        batch = GRPO["scale_rewards"](batch, config.grpo.reward_scaling)
        if config.grpo.reward_shaping.enabled:
            batch = GRPO["apply_reward_shaping"](batch, config.grpo.reward_shaping)
    step = next(
        node for node in TRAIN if ast.unparse(node).startswith("with timer.time('reward_calculation')")
    )
    assert isinstance(step, ast.With)
    last = [number for number, node in enumerate(step.body) if "is_batch_complete" in ast.unparse(node)][-1]
    names = {
        **GRPO,
        **{"repeated_batch": batch, "master_config": config, "input_ids": prompts, "batch_cache": None},
        **{"dynamic_sampling_num_gen_batches": 1, "timer": MagicMock()},
    }
    shaped = batch["total_reward"].clone()
    names = run(step.body[:last], names)
    names["shaped"] = shaped
    return config, names["repeated_batch"], names


def shaped_rewards(case: dict[str, Any]) -> dict[str, Any]:
    """The rewards after scaling and shaping."""
    return {"value": judged(case)[2]["shaped"].tolist()}


def kept(case: dict[str, Any]) -> dict[str, Any]:
    """Which completions are left."""
    left = set(judged(case)[1]["place"].tolist())
    return {"value": [float(row in left) for row in range(len(tensor(case, "rewards")))]}


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """What the tokens are trained with; 0 for what is left out."""
    config, batch, names = judged(case)
    mask, left = tensor(case, "mask"), batch["place"]
    node = next(node for node in TRAIN if ast.unparse(node).startswith("if use_overlong_filtering:"))
    told = {"repeated_batch": batch, "torch": torch, "use_overlong_filtering": config.grpo.overlong_filtering}
    sample_mask = run([node], told)["repeated_batch"]["loss_multiplier"]
    value = torch.zeros_like(mask)
    if len(left):
        with contextlib.redirect_stdout(io.StringIO()):
            estimator = GRPO["_create_advantage_estimator"](config)
        both = {"logprobs_policy": "old_log_probs", "logprobs_reference": "ref_log_probs"}
        given = {key: tensor(case, name)[left] for key, name in both.items() if name in case["given"]}
        taking_part = mask[left] * sample_mask[:, None]
        found = estimator.compute_advantage(
            prompt_ids=batch["prompt"],
            rewards=names["rewards"],
            mask=taking_part,
            repeated_batch=batch,
            **given,
        )
        found = GRPO["_clip_grpo_advantages"](found, config.grpo)
        value[left] = (found * taking_part).to(value.dtype)
    return {"value": value.tolist(), "axes": ["completion", "token"]}


CALLS = {
    "loss": loss,
    "loss of what is admitted": loss,
    "shaped rewards": shaped_rewards,
    "kept completions": kept,
    "advantages from the verifier's rewards": advantages,
}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
EVERY = SAMPLER | {"ref_log_probs": "ref_logp"}
BARE = {"reference_policy_kl_penalty": 0.0}
GROUPS = ("loss_fn", "grpo", "policy", "data")
LOSS_KEYS: set[str] = set()


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"nemo_rl, {name}", "call": call, "config": config, "given": given, **others}


BY_COMPLETION = {"token_level_loss": False}
KINDS = {
    "token": {},
    "by completion": BY_COMPLETION,
    "gspo": BY_COMPLETION | {"sequence_level_importance_ratios": True},
    "cispo": {"use_cispo": True},
    "reinforce": {"disable_ppo_ratio": True},
    "on policy": {"force_on_policy_ratio": True},
    "on policy by completion": BY_COMPLETION | {"force_on_policy_ratio": True},
}
CLIPS = {
    "low high": {"ratio_clip_max": 0.28},
    "tight": {"ratio_clip_min": 0.0003, "ratio_clip_max": 0.0004},
    "dual 3": {"ratio_clip_c": 3.0},
    "dual 1.1 within the clip": {"ratio_clip_c": 1.1},
    "wide": {"ratio_clip_min": 1.0, "ratio_clip_max": 4.0},
}
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single")
ON = {"use_importance_sampling_correction": True}


def bounded(kind: str, low: float | None, high: float) -> dict[str, Any]:
    name = "truncated_importance_sampling"
    return ON | {f"{name}_type": kind, f"{name}_ratio": high, f"{name}_ratio_min": low}


CORRECTIONS = {
    "plain": ON,
    "tis": bounded("tis", None, 1.2),
    "tis from below": bounded("tis", 0.9, 1.2),
    "icepop": bounded("icepop", 0.8, 1.25),
    "seq-mask-tis": bounded("seq-mask-tis", 0.9, 1.1),
}


def penalty(name: str, **others: Any) -> dict[str, Any]:
    return {"reference_policy_kl_penalty": 0.05, "reference_policy_kl_type": name, **others}


def losses() -> Any:
    """The policy's loss alone, of every kind, mask, clip and precision."""
    for kind, k in KINDS.items():
        for policy in ("logp", "logp_at_bounds"):
            yield case(f"{kind}, {policy}", "loss", BARE | k, PLAIN | {"log_probs": policy})
        for mask in MASKS if kind in ("token", "by completion", "gspo") else MASKS[:2]:
            yield case(f"{kind}, {mask}", "loss", BARE | k, PLAIN | {"mask": mask})
        if "on policy" not in kind:
            given = PLAIN | {"log_probs": "logp_limited"}
            yield case(f"{kind}, far, float32", "loss", BARE | k, given, dtype="float32", rtol=1e-5)
        yield case(f"{kind}, token advantages", "loss", BARE | k, PLAIN | {"advantages": "token_advantages"})
    for kind in ("token", "gspo", "cispo"):
        for clip, c in CLIPS.items():
            if kind != "cispo" or "dual" not in clip:
                yield case(
                    f"{kind}, {clip}", "loss", BARE | KINDS[kind] | c, PLAIN | {"log_probs": "logp_at_bounds"}
                )
    yield case("reinforce, dual 3", "loss", BARE | KINDS["reinforce"] | CLIPS["dual 3"], PLAIN)
    yield case("on policy, dual 3", "loss", BARE | KINDS["on policy"] | CLIPS["dual 3"], PLAIN)
    yield case("token, extreme", "loss", BARE, PLAIN | {"log_probs": "logp_extreme", "mask": "mask_single"})
    yield case("weight of right answers", "loss", BARE | {"positive_example_nll_weight": 0.5}, PLAIN)


def penalties() -> Any:
    for kind, estimator in itertools.product(
        ("token", "by completion", "gspo", "on policy"), ("k1", "k2", "k3")
    ):
        config = KINDS[kind] | penalty(estimator)
        yield case(f"{kind}, {estimator}", "loss", config, REFERENCE)
        far = REFERENCE | {"ref_log_probs": "ref_logp_far", "mask": "mask_holes"}
        yield case(f"{kind}, {estimator}, reference far", "loss", config, far)
        config = config | {"use_on_policy_kl_approximation": True}
        yield case(f"{kind}, {estimator}, weighted", "loss", config, EVERY)
    for estimator in ("k1", "k2", "k3"):
        limits = {"kl_input_clamp_value": 0.5, "kl_output_clamp_value": 0.1}
        yield case(f"{estimator}, narrow limits", "loss", penalty(estimator, **limits), REFERENCE)
        weighted = limits | {"use_on_policy_kl_approximation": True}
        yield case(f"{estimator}, narrow limits, weighted", "loss", penalty(estimator, **weighted), EVERY)
        none = {"kl_input_clamp_value": None, "kl_output_clamp_value": None}
        yield case(f"{estimator}, no limits", "loss", penalty(estimator, **none), REFERENCE)
        one = {"kl_input_clamp_value": None}
        yield case(f"{estimator}, no limit before", "loss", penalty(estimator, **one), REFERENCE)
        yield case(f"{estimator}, float32", "loss", penalty(estimator), REFERENCE, dtype="float32", rtol=1e-5)
        nan = EVERY | {"rollout_log_probs": "sampler_logp_nan"}
        config = penalty(estimator, use_on_policy_kl_approximation=True)
        yield case(f"{estimator}, weighted, NaN from the sampler", "loss", config, nan)
    yield case("default penalty", "loss", {}, REFERENCE)
    yield case("the penalty is in the reward, so not here", "loss", {"use_kl_in_reward": True}, PLAIN)
    yield case("cispo, k3", "loss", KINDS["cispo"] | penalty("k3"), REFERENCE)
    yield case("reinforce, k2", "loss", KINDS["reinforce"] | penalty("k2"), REFERENCE)


def corrections() -> Any:
    for (kind, k), (name, c) in itertools.product(KINDS.items(), CORRECTIONS.items()):
        if (kind == "gspo" and name == "seq-mask-tis") or kind == "on policy by completion":
            continue
        yield case(f"{kind}, {name}", "loss", BARE | k | c, SAMPLER)
        if kind in ("token", "gspo"):
            yield case(f"{kind}, {name}, empty", "loss", BARE | k | c, SAMPLER | {"mask": "mask_empty"})
            far = SAMPLER | {"rollout_log_probs": "sampler_logp_far", "mask": "mask_holes"}
            yield case(f"{kind}, {name}, sampler far", "loss", BARE | k | c, far)
    for name, c in CORRECTIONS.items():
        nan = SAMPLER | {"rollout_log_probs": "sampler_logp_nan"}
        yield case(f"token, {name}, NaN from the sampler", "loss", BARE | c, nan)
        yield case(f"token, {name}, k3, dual", "loss", c | penalty("k3") | CLIPS["dual 3"], EVERY)
        given = SAMPLER | {"mask": "mask_holes"}
        yield case(f"token, {name}, float32", "loss", BARE | c, given, dtype="float32", rtol=1e-5)


ENDED = {"ended": [int(row % 3 != 0) for row in range(12)]}


def filters() -> Any:
    call, threshold = "loss of what is admitted", {"seq_logprob_error_threshold": 1.3}
    overlong = {"overlong_filtering": True}
    for (kind, k), reference in itertools.product(list(KINDS.items())[:4], (False, True)):
        config = k | (penalty("k3") if reference else BARE)
        given = (EVERY if reference else SAMPLER) | {"ended": "ended"}
        name = f"{kind}{', k3' * reference}"
        yield case(f"{name}, overlong", call, config | overlong, given, inputs=ENDED)
        yield case(f"{name}, overlong, both", call, config | overlong | threshold, given, inputs=ENDED)
        plain = {key: value for key, value in given.items() if key != "ended"}
        yield case(f"{name}, close to the sampler", call, config | threshold, plain)
    config = KINDS["on policy"] | threshold | BARE | CORRECTIONS["tis"]
    yield case("on policy, close to the sampler", call, config, SAMPLER)


ESTIMATORS = {
    "default": {},
    "of the group": {"use_leave_one_out_baseline": False},
    "not divided": {"normalize_rewards": False},
    "of the group, not divided": {"use_leave_one_out_baseline": False, "normalize_rewards": False},
    "keys of its own": {
        "adv_estimator.use_leave_one_out_baseline": False,
        "adv_estimator.normalize_rewards": True,
        "normalize_rewards": False,
    },
    "limited": {"advantage_clip_low": -0.5, "advantage_clip_high": 0.75},
    "limited from above": {"advantage_clip_high": 0.5, "use_leave_one_out_baseline": False},
    "reinforce_plus_plus": {"adv_estimator.name": "reinforce_plus_plus"},
    "reinforce_plus_plus, no baseline": {
        "adv_estimator.name": "reinforce_plus_plus",
        "adv_estimator.minus_baseline": False,
    },
    "reinforce_plus_plus, limited": {
        "adv_estimator.name": "reinforce_plus_plus",
        "advantage_clip_low": -0.25,
    },
}
VERDICTS = ("rewards", "rewards_some_equal", "rewards_tied")
SCORED = {"rewards": "rewards", "mask": "mask"}
LOOSE = 2e-5
"""Their advantages are float32, and a variance as a difference of squares has lost some digits."""
AS_TRAINED = {"dtype": "float32", "rtol": LOOSE}
CALL = "advantages from the verifier's rewards"
BY_OTHERS = {"use_dynamic_sampling": True}
BY_GROUP = {"use_dynamic_sampling": True, "use_leave_one_out_baseline": False}
SCALED = {"reward_scaling.enabled": True, "reward_scaling.target_min": -1.0}
NARROW = {
    "reward_scaling.enabled": True,
    "reward_scaling.source_min": 0.25,
    "reward_scaling.source_max": 0.75,
}
OVERLONG = {
    "reward_shaping.enabled": True,
    "reward_shaping.overlong_buffer_length": 4,
    "reward_shaping.max_response_length": 6,
}
STOPPED = {"reward_shaping.enabled": True, "reward_shaping.stop_properly_penalty_coef": 0.25}


def advantage_cases() -> Any:
    for (name, e), rewards in itertools.product(ESTIMATORS.items(), VERDICTS):
        given = SCORED | {"rewards": rewards}
        yield case(f"advantages: {name}, {rewards}", CALL, e, given, **AS_TRAINED)
    for name in ("reinforce_plus_plus", "reinforce_plus_plus, no baseline"):
        given = SCORED | {"mask": "mask_holes"}
        yield case(f"advantages: {name}, holes", CALL, ESTIMATORS[name], given, **AS_TRAINED)
    for name, e in ESTIMATORS.items():
        for kind, f in (("by the others", BY_OTHERS), ("by the group", BY_GROUP)):
            for rewards in VERDICTS[:2]:
                if not {"adv_estimator.use_leave_one_out_baseline", "use_leave_one_out_baseline"} & set(e):
                    given = SCORED | {"rewards": rewards}
                    yield case(
                        f"advantages: {name}, filtered {kind}, {rewards}", CALL, e | f, given, **AS_TRAINED
                    )
    for name, shape in (("scaled", SCALED), ("narrow", NARROW), ("overlong", OVERLONG), ("stopped", STOPPED)):
        given = SCORED | {"ended": "ended"}
        for kind, f in (("all", {}), ("by the others", BY_OTHERS)):
            for estimator in ("default", "reinforce_plus_plus"):
                config = shape | f | ESTIMATORS[estimator]
                told = f"advantages: {estimator}, {name}, {kind}"
                yield case(told, CALL, config, given, inputs=ENDED, **AS_TRAINED)
    given = SCORED | {"ended": "ended"}
    for name in ("default", "reinforce_plus_plus"):
        config = ESTIMATORS[name] | {"overlong_filtering": True}
        yield case(f"advantages: {name}, overlong filtering", CALL, config, given, inputs=ENDED, **AS_TRAINED)
    penalized = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
    for kl, baseline in itertools.product(("k1", "k2", "k3"), (True, False)):
        config = ESTIMATORS["reinforce_plus_plus"] | {"use_kl_in_reward": True} | penalty(kl)
        config |= {"adv_estimator.minus_baseline": baseline}
        yield case(f"advantages: {kl} in the reward, {baseline}", CALL, config, penalized, **AS_TRAINED)
    yield case("advantages: the KL is nowhere", CALL, {"use_kl_in_reward": True}, penalized, **AS_TRAINED)
    yield from criteria()


def criteria() -> Any:
    gdpo = {"adv_estimator.name": "gdpo"}
    given = {"rewards": "sums", "components": "rewards_per_func", "mask": "mask"}
    sums = {"inputs": {"sums": [sum(row) for row in writing.given("rewards_per_func")]}}
    for name, e in {
        "default": {},
        "of the group": {"use_leave_one_out_baseline": False},
        "not divided": {"normalize_rewards": False},
        "weighted": {"adv_estimator.reward_weights": [1.0, 0.5, 2.0]},
        "limited": {"advantage_clip_low": -0.5, "advantage_clip_high": 0.5},
        "scaled": SCALED | {"normalize_rewards": False},
        "shaped in vain": STOPPED,
        "filtered by the group": BY_GROUP,
        "filtered by the others": BY_OTHERS,
        "filtered by the others, narrow": BY_OTHERS | NARROW,
    }.items():
        ended = {"ended": "ended"} if name == "shaped in vain" else {}
        inputs = {"inputs": sums["inputs"] | (ENDED if ended else {})}
        yield case(f"advantages: gdpo, {name}", CALL, gdpo | e, given | ended, **inputs, **AS_TRAINED)


def shaping() -> Any:
    given = SCORED | {"ended": "ended"}
    for name, config in {
        "scaled": SCALED,
        "narrow": NARROW,
        "overlong": OVERLONG,
        "overlong, factor": OVERLONG | {"reward_shaping.overlong_buffer_penalty": 0.5},
        "overlong, the longest text": {
            "reward_shaping.enabled": True,
            "reward_shaping.overlong_buffer_length": 5,
            "policy.max_total_sequence_length": 7,
        },
        "overlong, scaled": OVERLONG | SCALED,
        "stopped": STOPPED,
        "stopped, scaled": STOPPED | SCALED,
        "stopped, nothing left": STOPPED | {"reward_shaping.stop_properly_penalty_coef": 0.0},
        "stopped, all left": STOPPED | {"reward_shaping.stop_properly_penalty_coef": 1.0},
        "off": {"reward_shaping.overlong_buffer_length": 4},
    }.items():
        yield case(f"shaped rewards: {name}", "shaped rewards", config, given, inputs=ENDED, **AS_TRAINED)
    for name, config in {
        "no filter": {},
        "by the others": BY_OTHERS,
        "by the group": BY_GROUP,
        "by the others, narrow": BY_OTHERS | NARROW,
        "by the group, narrow": BY_GROUP | NARROW,
        "by the group, shaped": BY_GROUP | STOPPED,
    }.items():
        for rewards in VERDICTS:
            told = given | {"rewards": rewards}
            yield case(
                f"kept: {name}, {rewards}", "kept completions", config, told, inputs=ENDED, **AS_TRAINED
            )
    pairs = {"inputs": {"pairs": [1.0, 0.0, 0.0, 0.0] * 3, "group_size": GROUP}}
    told = {"rewards": "pairs", "mask": "mask", "ended": "ended"}
    pairs["inputs"] |= ENDED
    yield case("kept: one right answer", "kept completions", BY_OTHERS, told, **pairs, **AS_TRAINED)


TIS = "truncated_importance_sampling"
REFUSED = {
    "gspo by token": {"sequence_level_importance_ratios": True},
    "cispo without ratio": {"use_cispo": True, "disable_ppo_ratio": True},
    "cispo on policy": {"use_cispo": True, "force_on_policy_ratio": True},
    "cispo by completion": {"use_cispo": True, "token_level_loss": False},
    "cispo of whole completions": {
        "use_cispo": True,
        "token_level_loss": False,
        "sequence_level_importance_ratios": True,
    },
    "cispo, dual": {"use_cispo": True, "ratio_clip_c": 3.0},
    "dual below 1": {"ratio_clip_c": 0.9},
    "tis without correction": {f"{TIS}_type": "tis", f"{TIS}_ratio": 2.0},
    "tis without bound": ON | {f"{TIS}_type": "tis"},
    "tis with a bound of 0": bounded("tis", None, 0.0),
    "tis upside down": bounded("tis", 3.0, 2.0),
    "icepop without lower bound": bounded("icepop", None, 2.0),
    "seq-mask-tis without lower bound": bounded("seq-mask-tis", None, 2.0),
    "seq-mask-tis with gspo": bounded("seq-mask-tis", 0.9, 1.1) | KINDS["gspo"],
    "a bound without kind": ON | {f"{TIS}_ratio": 2.0},
    "a kind that is none": bounded("mis", 0.5, 2.0),
    "an estimator that is none": penalty("k4"),
    "on policy with two mini-batches": {"force_on_policy_ratio": True, "policy.train_global_batch_size": 256},
    "no reference, but a penalty": {"skip_reference_policy_logprobs_calculation": True},
    "more prompts without filter": {"batch_multiplier": 2},
    "a KL of log-probabilities that are not there": {
        "use_kl_in_reward": True,
        "force_on_policy_ratio": True,
        "adv_estimator.name": "reinforce_plus_plus",
    },
    "async without correction": {"async_grpo.enabled": True},
    "async with filter": ON | {"async_grpo.enabled": True, "use_dynamic_sampling": True},
    "async with scaling": ON | {"async_grpo.enabled": True, "reward_scaling.enabled": True},
    "async with shaping": ON | {"async_grpo.enabled": True} | STOPPED,
    "async with two loaders": ON | {"async_grpo.enabled": True, "data.use_multiple_dataloader": True},
    "fp8 without correction": {"policy.generation.vllm_cfg.precision": "fp8"},
    "a clip in words": {"ratio_clip_min": "small"},
}
REFUSED_REWARDS = {
    "a share above 1": STOPPED | {"reward_shaping.stop_properly_penalty_coef": 1.5},
    "no buffer": OVERLONG | {"reward_shaping.overlong_buffer_length": None},
    "a penalty below 0": OVERLONG | {"reward_shaping.overlong_buffer_penalty": -1.0},
    "an advantage that is none": {"adv_estimator.name": "rloo"},
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", config, EVERY) | {"refused": ""}
    for name, config in REFUSED_REWARDS.items():
        given = SCORED | {"ended": "ended"}
        yield case(f"refused: {name}", CALL, config, given, inputs=ENDED, dtype="float32") | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError, NotImplementedError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": str(error).splitlines()[0]}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def finite(case: dict[str, Any]) -> bool:
    """Whether every number is one."""
    if "refused" in case:
        return True
    rows = case.get("grad_logp", case.get("value"))
    numbers = [x for row in rows for x in (row if isinstance(row, list) else [row])]
    return all(map(math.isfinite, numbers)) and math.isfinite(case.get("loss", 0.0))


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(SOURCES))
    sys.meta_path.insert(0, Surrounding())
    warnings.simplefilter("ignore")
    OmegaConf.register_new_resolver("mul", lambda one, two: one * two)
    GRPO = functions_of_grpo()
    BASE = OmegaConf.load(SOURCES / "examples" / "configs" / "grpo_math_1B.yaml")
    BASE.policy.make_sequence_length_divisible_by = 1
    LOSS_KEYS = set(GRPO["ClippedPGLossConfig"].model_fields)
    SETUP = body_of("nemo_rl/algorithms/grpo.py", "setup")
    TRAIN = body_of("nemo_rl/algorithms/grpo.py", "grpo_train")
    ASYNC = body_of("nemo_rl/algorithms/grpo.py", "async_grpo_train")
    ENTRY = body_of("examples/run_grpo.py", "main")
    wanted = itertools.chain(
        losses(), penalties(), corrections(), filters(), advantage_cases(), shaping(), refusals()
    )
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_nemo_rl.py"}
    print(writing.write("nemo_rl", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
