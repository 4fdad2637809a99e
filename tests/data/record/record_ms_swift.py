"""Record ms-swift 3602360a5: `python tests/data/record/record_ms_swift.py SOURCES`, SOURCES being a checkout.

What is run is theirs: `RLHFArguments` with its checks, and of `GRPOTrainer` the methods that set up the
algorithm, filter groups, compute advantages and the loss, found in its file by their syntax; then the line
of `transformers.Trainer.training_step` that divides the loss by the micro-batches of a step. Stubs take the
place of vLLM, the processes, and the model, whose log-probabilities are those of the case. Torch 2.13.0, CPU;
TRL and transformers have to be installed.

With gradient accumulation the completions are cut into as many micro-batches, in their order, and the losses
and gradients are added up, as the optimizer sees them.
"""

import ast
import contextlib
import io
import itertools
import math
import sys
import textwrap
import types
import typing
from collections import defaultdict, deque
from dataclasses import field, fields, make_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import keys_ms_swift
import torch
import writing

GROUP, ROWS = 4, 12
USUALLY = {
    **{"rlhf_type": "grpo", "model": "policy", "eval_strategy": "no"},
    "per_device_train_batch_size": ROWS,
}
COMMIT = "ms-swift 3602360a5 (2026-08-22)"
METHODS = """
    _prepare_algorithm_params _compute_fipo_influence _compute_loss_and_metrics _update_metrics
    _compute_advantages _get_rollout_is_correction
    _apply_rollout_importance_sampling _compute_sequence_level_ratios
    _compute_off_policy_sequence_mask _compute_rollout_offpolicy_metrics _compute_is_correction_metrics
    _dynamic_sampling compute_std _compute_loss_single
""".split()


# ---- ms-swift's code --------------------------------------------------------------------------------


def stub(name: str, folder: str | None = None, **attributes: Any) -> types.ModuleType:
    """A module that has everything, or one whose files are found in a folder of the sources."""
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    if folder is None:
        module.__getattr__ = lambda attribute: MagicMock(name=attribute)  # type: ignore[method-assign]
    else:
        module.__path__ = [str(SOURCES / folder)]
    sys.modules[name] = module
    return module


def nodes(path: str, *names: str) -> list[ast.stmt]:
    """These functions and classes of a file, without what decorates the methods."""
    tree = ast.parse((SOURCES / path).read_text(encoding="utf-8"))
    found = [node for node in tree.body if getattr(node, "name", None) in names]
    return found


def run(body: list[ast.stmt], names: dict[str, Any]) -> dict[str, Any]:
    """Run statements with these names."""
    scope = {**vars(typing), "torch": torch, **names}
    exec(compile(ast.Module(body=body, type_ignores=[]), "ms-swift", "exec"), scope)
    return scope


def stubs() -> None:
    """The modules that theirs import, and that would need a model or packages that are not here."""
    stub("swift", "swift")
    helpers = run(nodes("swift/utils/torch_utils.py", "nanstd"), {})
    stub("swift.utils", nanstd=helpers["nanstd"], is_mp=lambda: False, is_master=lambda: False)
    stub("swift.model", MODEL_MAPPING={})
    stub("swift.template", TEMPLATE_MAPPING={})
    stub("swift.rl_core", "swift/rl_core")
    stub("swift.rlhf_trainers", "swift/rlhf_trainers")
    from swift.rlhf_trainers.args_mixin import GRPOArgumentsMixin

    sys.modules["swift.rlhf_trainers"].GRPOArgumentsMixin = GRPOArgumentsMixin
    stub("swift.arguments", "swift/arguments")
    own = {each.name for each in fields(GRPOArgumentsMixin)}
    known = keys_ms_swift.classes(SOURCES)
    names = {name for name, _ in keys_ms_swift.fields(known, "SftArguments")} - own
    values = {name: value for name, value in keys_ms_swift.defaults(SOURCES).items() if name in names}
    made = make_dataclass(
        "SftArguments",
        [(name, Any, field(default_factory=lambda value=value: value)) for name, value in values.items()],
        namespace={"__post_init__": lambda self: None, "world_size": 1, "eval_strategy": "no"},
    )
    stub("swift.arguments.sft_args", SftArguments=made)


@cache
def arguments() -> Any:
    """Their module with `RLHFArguments`."""
    import swift.arguments.rlhf_args as module

    return module


def parsed(config: dict[str, Any]) -> Any:
    """Their arguments after parser and checks, with those of `GRPOConfig` that need no model."""
    from transformers import HfArgumentParser

    known = {each.name for each in fields(arguments().GRPOArguments)}
    told = [word for key in config if key in known for word in words(key, config[key])]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            (given,) = HfArgumentParser(arguments().GRPOArguments).parse_args_into_dataclasses(told)
        except SystemExit as stopped:
            raise ValueError(said.getvalue().strip().splitlines()[-1]) from stopped
    values = {key: getattr(given, key) if key in known else value for key, value in config.items()}
    args = arguments().RLHFArguments(**USUALLY | values)
    args._init_generation_batch_params()
    run(reasoning_check(), {"self": args})
    return args


def words(key: str, value: Any) -> list[str]:
    """A setting as on the command line."""
    return [f"--{key}", *map(str, value if isinstance(value, list) else [value])]


@cache
def reasoning_check() -> list[ast.stmt]:
    """The statement of `GRPOConfig` that looks at vllm_reasoning_parser."""
    (config,) = nodes("swift/rlhf_trainers/arguments.py", "GRPOConfig")
    (method,) = (node for node in config.body if getattr(node, "name", "") == "__post_init__")
    return [node for node in method.body if isinstance(node, ast.If) and "reasoning" in ast.unparse(node)]


@cache
def trainer_class() -> Any:
    """`GRPOTrainer` with the methods that compute, and nothing above it."""
    from swift.rl_core import advantage
    from trl.trainer.utils import nanmax, nanmin

    (found,) = nodes("swift/rlhf_trainers/grpo_trainer.py", "GRPOTrainer")
    found.body = [node for node in found.body if getattr(node, "name", "") in METHODS]
    found.bases = []
    for node in found.body:
        node.decorator_list = []
    names = {
        "gather": lambda values: values,
        "gather_object": lambda values: values,
        "nanmin": nanmin,
        "nanmax": nanmax,
        "logger": MagicMock(),
        **{name: value for name, value in vars(advantage).items() if callable(value)},
    }
    future = ast.parse("from __future__ import annotations").body
    return run([*future, found], names)["GRPOTrainer"]


@cache
def division() -> Any:
    """The lines of transformers that divide a loss by the micro-batches of a step."""
    import inspect

    from transformers import Trainer

    source = textwrap.dedent(inspect.getsource(Trainer.training_step))
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.If) and "current_gradient_accumulation_steps" in ast.unparse(node)
    ]
    return min(found, key=lambda node: len(ast.unparse(node)))


def trainer(config: dict[str, Any], functions: int = 1) -> Any:
    """A trainer that was set up from its arguments and has no model, dataset or processes."""
    self = trainer_class()()
    self.args = parsed(config)
    self._prepare_algorithm_params()
    args, names = self.args, ("beta", "num_generations", "max_completion_length")
    self.__dict__ |= {name: getattr(args, name) for name in names}
    self.__dict__ |= {"_has_teacher": False, "dynamic_num_samples": False, "chord_sft_iterator": None}
    self.disable_rollout_importance_sampling = False
    self.compute_entropy = args.log_entropy or self.top_entropy_quantile < 1.0
    self._metrics, self._logs = {"train": defaultdict(list)}, defaultdict(lambda: defaultdict(deque))
    self.model = SimpleNamespace(training=True)
    same = {"gather_for_metrics": lambda values: values, "device": torch.device("cpu")}
    self.accelerator = SimpleNamespace(num_processes=1, process_index=0, **same)
    self.reward_func_names = [str(place) for place in range(functions)]
    return self


# ---- what is recorded -------------------------------------------------------------------------------


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array if name == "mask" else array.to(getattr(torch, case.get("dtype", "float64")))


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """The micro-batches of one step, as `compute_loss` and `training_step` have them."""
    from swift.rl_core.advantage import expand_advantage_to_per_token

    self = trainer(case["config"])
    has = {name: tensor(case, name) for name in case["given"]}
    policy = has["log_probs"].clone().requires_grad_()
    mask = has["mask"].bool()
    padded = {name: torch.where(mask, values, 0.0) for name, values in has.items() if values.ndim == 2}
    steps = self.args.gradient_accumulation_steps
    ended = has.get("ended", torch.ones(ROWS)) != 0
    advantages = has["advantages"]
    if advantages.ndim == 1:
        advantages = expand_advantage_to_per_token(advantages, mask)
    total = torch.zeros((), dtype=policy.dtype)
    for rows in torch.arange(ROWS).chunk(steps):
        batch = SimpleNamespace(
            completion_mask=mask[rows],
            truncated_mask=~ended[rows],
            advantages=advantages[rows],
            teacher_per_token_logps=None,
            num_items_in_batch=mask.sum(),
            old_per_token_logps=padded["old_log_probs"][rows] if "old_log_probs" in has else None,
            ref_per_token_logps=padded["ref_log_probs"][rows] if "ref_log_probs" in has else None,
            rollout_per_token_logps=padded["rollout_log_probs"][rows]
            if "rollout_log_probs" in has and self.args.use_vllm
            else None,
        )
        answer = (
            torch.where(mask, policy, 0.0)[rows],
            padded["entropies"][rows] if "entropies" in has else None,
        )
        self._get_per_token_logps_and_entropies = lambda *_, answer=answer, **__: answer
        total = total + divided(self._compute_loss_single(None, {}, batch), steps)
    total.backward()
    logged = {name: sum(values) / len(values) for name, values in self._metrics["train"].items()}
    known = {name: value for name, value in logged.items() if name in NAMES and steps == 1}
    return {"loss": total.item(), "grad_logp": policy.grad.tolist(), "metrics": known}


def divided(value: torch.Tensor, steps: int) -> torch.Tensor:
    """What transformers makes of the loss of a micro-batch."""
    stub_of = SimpleNamespace(
        model_accepts_loss_kwargs=False,
        compute_loss_func=None,
        loss_is_scaled_for_ga=None,
        current_gradient_accumulation_steps=steps,
    )
    scope = {"self": stub_of, "loss": value, "num_items_in_batch": None, "loss_is_scaled_for_ga": False}
    found: torch.Tensor = run([division()], scope)["loss"]
    return found


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """One per completion, of what the reward functions say."""
    has = {name: tensor(case, name) for name in case["given"]}
    components = has["components"] if "components" in has else has["rewards"][:, None]
    self = trainer(case["config"], components.shape[1])
    self.reward_weights = has.get("weights", torch.ones(components.shape[1], dtype=components.dtype))
    batch = SimpleNamespace(completion_mask=has["mask"].bool())
    if "ref_log_probs" in has:
        batch.old_per_token_logps = has["old_log_probs"] * has["mask"]
        batch.ref_per_token_logps = has["ref_log_probs"] * has["mask"]
    found = self._compute_advantages([None] * ROWS, components, [{"grpo_batch": batch}])
    logged = {name: sum(values) / len(values) for name, values in self._metrics["train"].items()}
    known = {name: value for name, value in logged.items() if name in NAMES}
    return {"value": found.tolist(), "metrics": known}


def shaped_rewards(case: dict[str, Any]) -> dict[str, Any]:
    """What the sum of the reward functions is with soft_overlong among them."""
    from swift.rl_core.advantage import compute_advantages

    args = parsed(case["config"])
    rewards, mask = tensor(case, "rewards"), tensor(case, "mask")
    scope = run(nodes("swift/rewards/orm.py", "ORM", "SoftOverlong"), {})
    words_of = [[0] * int(length) for length in mask.sum(-1)]
    punished = torch.tensor(scope["SoftOverlong"](args=args)([None] * ROWS, response_token_ids=words_of))
    functions = [punished if name == "soft_overlong" else rewards for name in args.reward_funcs]
    weights = torch.tensor(args.reward_weights or [1.0] * len(functions), dtype=torch.float64)
    columns = torch.stack([column.double() for column in functions], dim=1)
    return {"value": compute_advantages(columns, weights, GROUP)[1].tolist()}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups `_dynamic_sampling` takes, as 0 and 1, one group at a time."""
    groups, kept = tensor(case, "rewards").reshape(-1, GROUP), []
    for group in groups:
        self = trainer(case["config"])
        self.reward_weights, self.max_resample_times = torch.ones(1, dtype=group.dtype), 1
        self.args.generation_batch_size = GROUP
        drawn: list[None] = []
        self.dynamic_resample_iterator = iter([None])
        self.template = SimpleNamespace(truncation_strategy="left")
        self.to_samples = lambda inputs, drawn=drawn: drawn.append(inputs) or []
        self._generate_completions = lambda samples: samples
        self._compute_rewards_per_func = lambda samples: torch.zeros((0, 1))
        self._dynamic_sampling(list(range(GROUP)), group[:, None])
        kept.append(float(not drawn))
    return {"value": kept}


CALLS = {
    "loss": loss,
    "loss of what is admitted": loss,
    "advantages": advantages,
    "shaped rewards": shaped_rewards,
    "kept groups": kept_groups,
}
NAMES = {
    *("kl", "clip_ratio/low_mean", "clip_ratio/low_min", "clip_ratio/high_mean", "clip_ratio/high_max"),
    *("clip_ratio/region_mean", "cispo_clip_ratio", "reward", "reward_std", "frac_reward_zero_std"),
}
USUAL = {"num_generations": GROUP}
BARE = USUAL | {"beta": 0.0}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
EVERY = REFERENCE | {"rollout_log_probs": "sampler_logp", "entropies": "entropy"}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"ms_swift, {name}", "call": call, "config": config, "given": given, **others}


LOSSES = {
    name: {"loss_type": name} for name in ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "fipo")
} | {"real": {"loss_type": "real", "per_device_train_batch_size": ROWS}}
LEVELS = ("token", "sequence", "sequence_token")
VLLM = {"use_vllm": True, "vllm_mode": "colocate"}
MODES = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
BUDGET = {"max_completion_length": 7}
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single")
DELTA = {"delta": 1.3}
FRESH = {"off_policy_sequence_mask_delta": 0.02}
ENTROPY = {"top_entropy_quantile": 0.4}
FIPO = {
    "half-life": {"fipo_decay_rate": 2.0},
    "both sides": {"fipo_decay_rate": 4.0, "fipo_clip_high_only": False},
    "no clip": {"fipo_clip_range": 0.0, "fipo_decay_rate": 8.0},
    "delta": {"delta": 1.25, "fipo_clip_high_only": False, "fipo_decay_rate": 3.0},
    "safety": {"fipo_safety_threshold": 0.9, "fipo_clip_high_only": False},
}


def losses() -> Any:
    """Every loss on every level and mask, then its own keys."""
    for (name, c), level in itertools.product(LOSSES.items(), LEVELS):
        config = BARE | BUDGET | c | {"importance_sampling_level": level}
        yield case(f"{name}, {level}", "loss", config, PLAIN | {"log_probs": "logp_at_bounds"})
    for name, c in LOSSES.items():
        for mask in MASKS:
            yield case(f"{name}, {mask}", "loss", BARE | BUDGET | c, PLAIN | {"mask": mask})
        yield case(f"{name}, penalty", "loss", USUAL | BUDGET | c | {"beta": 0.1}, REFERENCE)
        far = REFERENCE | {"ref_log_probs": "ref_logp_far", "mask": "mask_holes"}
        yield case(f"{name}, penalty far away", "loss", USUAL | BUDGET | c, far)
        on_policy = {key: source for key, source in PLAIN.items() if key != "old_log_probs"}
        yield case(f"{name}, on policy", "loss", BARE | BUDGET | c, on_policy)
        single = {"dtype": "float32", "rtol": 2e-5}
        yield case(f"{name}, float32", "loss", USUAL | BUDGET | c, REFERENCE, **single)
        limited = PLAIN | {"log_probs": "logp_limited"}
        yield case(f"{name}, far from the old policy", "loss", BARE | BUDGET | c, limited)
    for name in ("grpo", "dapo", "fipo"):
        for level in LEVELS:
            config = BARE | LOSSES[name] | DELTA | {"importance_sampling_level": level}
            yield case(f"{name}, {level}, delta", "loss", config, PLAIN | {"log_probs": "logp_at_bounds"})
    narrow = {"epsilon": 0.1, "epsilon_high": 0.05, "delta": 1.02}
    yield case("grpo, delta below the clip", "loss", BARE | narrow, PLAIN)
    wide = {"epsilon": 1.5, "epsilon_high": 0.28}
    yield case("grpo, no lower bound", "loss", BARE | wide, PLAIN | {"log_probs": "logp_at_bounds"})
    yield case("cispo, cap 1.3", "loss", BARE | LOSSES["cispo"] | {"epsilon_high": 1.3}, PLAIN)
    taus = {"tau_pos": 2.0, "tau_neg": 0.5}
    yield case("sapo, other temperatures", "loss", BARE | LOSSES["sapo"] | taus, PLAIN)
    for name, keys in FIPO.items():
        config, given = BARE | LOSSES["fipo"] | keys, PLAIN | {"log_probs": "logp_at_bounds"}
        yield case(f"fipo, {name}", "loss", config, given | {"mask": "mask_holes"})
    for tau in (0.05, 2.0):
        yield case(f"real, tau {tau}", "loss", BARE | LOSSES["real"] | {"real_tau": tau}, PLAIN)
    yield case("a list of one loss", "loss", BARE | {"loss_type": ["bnpo"]}, PLAIN)
    tokens = PLAIN | {"advantages": "token_advantages"}
    for name in ("grpo", "dapo", "sapo"):
        yield case(f"{name}, advantages by token", "loss", BARE | LOSSES[name], tokens)
    for name, steps in itertools.product(("grpo", "dr_grpo", "dapo", "cispo", "fipo"), (3,)):
        config = USUAL | BUDGET | LOSSES[name] | {"gradient_accumulation_steps": steps}
        yield case(f"{name}, {steps} micro-batches", "loss", config, REFERENCE)
    given = REFERENCE | {"log_probs": "logp_limited"}
    yield case("kl in the reward, so not here", "loss", USUAL | {"advantage_estimator": "rloo"}, given)
    gdpo = USUAL | {"kl_in_reward": True, "scale_rewards": "gdpo"}
    yield case("kl back from the reward", "loss", gdpo, REFERENCE)


def corrections() -> Any:
    """The weights alone, in pairs, beside the penalty, and where the sampler is far away or says nothing."""
    for mode, (name, c) in itertools.product(MODES, LOSSES.items()):
        config = USUAL | BUDGET | VLLM | c | {"rollout_importance_sampling_mode": mode}
        yield case(f"{name}, {mode}, penalty", "loss", config, EVERY)
    for mode in MODES:
        keys = VLLM | {"rollout_importance_sampling_mode": mode}
        narrow = keys | {"rollout_importance_sampling_threshold": 1.0}
        yield case(f"{mode}, threshold 1, holes", "loss", BARE | narrow, SAMPLER | {"mask": "mask_holes"})
        for sampler in ("sampler_logp_far", "sampler_logp_nan"):
            given = SAMPLER | {"rollout_log_probs": sampler, "log_probs": "old_logp"}
            yield case(f"{mode}, {sampler}", "loss", BARE | keys, given)
        yield case(f"{mode}, entropy", "loss", USUAL | keys | ENTROPY, EVERY)
        yield case(f"{mode}, stale", "loss", USUAL | keys | FRESH, EVERY)
        single = {"dtype": "float32", "rtol": 2e-5}
        yield case(f"{mode}, float32", "loss", USUAL | keys, EVERY, **single)
    mode = {"rollout_importance_sampling_mode": "token_truncate"}
    yield case("a mode without vLLM", "loss", USUAL | mode, EVERY)
    for name, c in LOSSES.items():
        yield case(f"{name}, stale", "loss", USUAL | BUDGET | VLLM | c | FRESH, EVERY)
        yield case(f"{name}, stale by the old policy", "loss", USUAL | BUDGET | c | FRESH, REFERENCE)
        yield case(f"{name}, entropy", "loss", USUAL | BUDGET | c | ENTROPY, EVERY)
    yield case("bnpo, stale, entropy, mask", "loss", USUAL | VLLM | LOSSES["bnpo"] | FRESH | ENTROPY, EVERY)
    for share in (0.0, 0.5, 0.9):
        config = BARE | {"top_entropy_quantile": share}
        yield case(f"entropy {share}", "loss", config, PLAIN | {"entropies": "entropy"})
    given = PLAIN | {"entropies": "entropy_equal", "mask": "mask_holes"}
    yield case("entropy, all equal", "loss", BARE | ENTROPY, given)


def overlong() -> Any:
    ended = {"ended": [int(row % 3 != 0) for row in range(ROWS)]}
    for name in ("grpo", "bnpo", "dr_grpo", "sapo", "real"):
        config = USUAL | BUDGET | LOSSES[name] | {"overlong_filter": True}
        given = REFERENCE | {"ended": "ended"}
        yield case(f"{name}, cut off", "loss of what is admitted", config, given, inputs=ended)
    for level, keys in itertools.product(
        LEVELS[1:], ({}, VLLM | {"rollout_importance_sampling_mode": MODES[3]})
    ):
        config = USUAL | keys | {"overlong_filter": True, "importance_sampling_level": level}
        given, name = EVERY | {"ended": "ended"}, "corrected, " if keys else ""
        yield case(f"{level}, {name}cut off", "loss of what is admitted", config, given, inputs=ended)
    some = {"reward_funcs": ["accuracy", "soft_overlong"], "soft_cache_length": 3}
    for name, keys in {
        "budget": BUDGET,
        "below the budget": BUDGET | {"soft_max_length": 5},
        "weighted": {"soft_max_length": 6, "reward_weights": [2.0, 0.5]},
    }.items():
        weight = {"inputs": {"doubled": [2.0 * reward for reward in writing.given("rewards")]}}
        given = {"rewards": "rewards", "mask": "mask"}
        shaped = case(f"soft_overlong, {name}", "shaped rewards", USUAL | some | keys, given)
        yield shaped if name != "weighted" else shaped | {"weighted": True} | weight


ESTIMATORS = ("grpo", "rloo", "reinforce_plus_plus")
SCALES = ("group", "batch", "none", "gdpo")
SCORED = {"rewards": "rewards", "mask": "mask"}
SEVERAL = {"components": "rewards_per_func", "weights": "reward_weights", "mask": "mask"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}


def advantage_cases() -> Any:
    for estimator, scale in itertools.product(ESTIMATORS, SCALES):
        keys = BARE | {"advantage_estimator": estimator, "scale_rewards": scale}
        for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
            given = SCORED | {"rewards": rewards}
            yield case(f"advantages: {estimator}, {scale}, {rewards}", "advantages", keys, given)
        yield case(f"advantages: {estimator}, {scale}, functions", "advantages", keys, SEVERAL)
        unknown = SEVERAL | {"components": "rewards_per_func_unknown"}
        yield case(f"advantages: {estimator}, {scale}, unscored", "advantages", keys, unknown)
        if scale != "gdpo":
            keys = keys | {"kl_in_reward": True, "beta": 0.1}
            yield case(f"advantages: {estimator}, {scale}, kl", "advantages", keys, JUDGED)
            holes = JUDGED | {"mask": "mask_holes", "rewards": "rewards_tied"}
            yield case(f"advantages: {estimator}, {scale}, kl, holes", "advantages", keys, holes)
    for estimator in ESTIMATORS:
        config = USUAL | {"advantage_estimator": estimator}
        yield case(f"advantages: {estimator}, defaults", "advantages", config, JUDGED)
        config = BARE | LOSSES["real"] | {"advantage_estimator": estimator}
        yield case(f"advantages: {estimator}, real", "advantages", config, SCORED)
    config = USUAL | {"scale_rewards": "gdpo", "kl_in_reward": True}
    yield case("advantages: gdpo without the kl", "advantages", config, JUDGED)
    for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
        yield case(
            f"kept groups: {rewards}", "kept groups", BARE | {"dynamic_sample": True}, {"rewards": rewards}
        )


REFUSED = {
    "no such loss": {"loss_type": "luspo"},
    "two losses": {"loss_type": ["grpo", "bnpo"]},
    "no such level": {"importance_sampling_level": "group"},
    "no such estimator": {"advantage_estimator": "gae"},
    "no such scale": {"scale_rewards": "max"},
    "a scale of before": {"scale_rewards": True},
    "no such mode": VLLM | {"rollout_importance_sampling_mode": "token"},
    "a group of one": {"num_generations": 1},
    "vllm without a mode": {"use_vllm": True},
    "a mode without vllm": {"vllm_mode": "colocate"},
    "a server that is not known": {"use_vllm": True, "vllm_mode": "server"},
    "async without a server": {"async_generate": True},
    "async beside a colocated vllm": VLLM | {"async_generate": True},
    "reasoning": {"vllm_reasoning_parser": "deepseek_r1"},
    "a cached dataset": {"cached_dataset": ["data"]},
    "truncated on the right": {"truncation_strategy": "right"},
    "no steps": {"steps_per_generation": 0},
    "a batch that is no multiple": {"per_device_train_batch_size": 8, "generation_batch_size": 12},
    "a batch that cuts groups": {"per_device_train_batch_size": 3, "generation_batch_size": 6},
    "steps that do not fit": {
        **{"per_device_train_batch_size": 4, "generation_batch_size": 8},
        "steps_per_generation": 3,
    },
    "a half-life of none": {"fipo_decay_rate": 0.0},
    "a share below 0": {"top_entropy_quantile": -0.5},
    "overlong without a buffer": {"reward_funcs": ["soft_overlong"]},
    "a buffer of everything": {"reward_funcs": ["soft_overlong"], "soft_cache_length": 7} | BUDGET,
    "real with the kl in the reward": LOSSES["real"] | {"kl_in_reward": True, "beta": 0.1},
    "real, whose gdpo does not put the kl back": LOSSES["real"]
    | {"kl_in_reward": True, "beta": 0.1, "scale_rewards": "gdpo"},
    "real and rloo": LOSSES["real"] | {"advantage_estimator": "rloo", "beta": 0.1},
    "real on parts of groups": {"loss_type": "real", "num_generations": 8, "per_device_train_batch_size": 12},
}
"""What the parser, the checks or the first step refuse; the loss is asked for, or the rewards."""


def refusals() -> Any:
    for name, keys in REFUSED.items():
        shaped = "reward_funcs" in keys
        call, given = ("shaped rewards", SCORED) if shaped else ("loss", EVERY)
        yield case(f"refused: {name}", call, BARE | keys, given) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    weighted = case.pop("weighted", False)
    try:
        numbers = CALLS[case["call"]](case)
    except Exception as error:
        if "refused" not in case:
            raise ValueError(case["id"]) from error
        return case | {"refused": f"{type(error).__name__}: {error}"}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    if weighted:
        case = case | {"given": case["given"] | {"rewards": "doubled"}}
    return case | numbers


def finite(case: dict[str, Any]) -> bool:
    """Whether the gradient is one, or the loss is none either."""
    rows = case.get("grad_logp", [])
    return all(math.isfinite(x) for row in rows for x in row) or not math.isfinite(case["loss"])


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    stubs()
    wanted = [*losses(), *corrections(), *overlong(), *advantage_cases(), *refusals()]
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_ms_swift.py"}
    print(writing.write("ms_swift", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
