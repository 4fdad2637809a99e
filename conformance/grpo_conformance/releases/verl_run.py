"""Run the cases with the release of verl on PYTHONPATH.

    python -m grpo_conformance.releases.verl_run OUT.json [CASE ...]

Functions of `core_algos` are called by the names of their arguments. The FSDP actor's `update_policy` runs as
released, with a scripted forward. The engine's `ppo_loss` gets the counts of tokens and rows of the mini-batch,
as the engine passes them. Recorded are the gradient by the policy's log-probabilities and the losses of the
calls, or the advantages in the place of the gradient. Packages that verl imports and that no loss needs are
replaced by empty modules.
"""

import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import logging
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from grpo_conformance.releases import scripted
from grpo_conformance.releases.verl_cases import ACTOR_KEYS, CASES, Case

NOT_INSTALLED = set(
    """ray hydra codetiming torchdata peft orjson transfer_queue cachetools PIL vllm tensorboard wandb
    flash_attn latex2sympy2_extended math_verify pylatexenc qwen_vl_utils mathruler uvicorn fastapi starlette
    aiohttp zmq einops liger_kernel megatron sglang pybind11 dill torchvision mbridge""".split()
)


# Where the FSDP actor is: since 0.2, and in 0.1. Releases from 0.8.0 on have none.
ACTOR_MODULES = ("verl.workers.actor.dp_actor", "verl.trainer.ppo.actor.dp_actor")


class Absent(Exception):
    """The release lacks a function or key of the case."""


class AnyName(type):
    """Metaclass of a class that has every attribute and decorates anything."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyName(
            name, (), {"__init__": lambda self, *a, **k: None, "__call__": lambda self, made: made}
        )


class EmptyModule(types.ModuleType):
    """Module of a package that is not installed."""

    __path__: Any = ()
    __version__ = "0.0.0"

    def __getattr__(self, name: str) -> Any:
        return getattr(AnyName("module", (), {}), name)


class EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder that makes empty modules for the packages that are not installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a specification if the package is one of `NOT_INSTALLED`."""
        missing = fullname.split(".")[0] in NOT_INSTALLED
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if missing else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return the empty module."""
        return EmptyModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute nothing."""


def prepare_imports() -> None:
    """Make verl importable on a CPU. The oldest releases move every batch to a GPU and ask for its memory."""
    sys.meta_path.append(EmptyModules())
    cpu: Any = torch.cpu
    torch.cuda.current_device = lambda: "cpu"
    names = ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved")
    for name in (*names, "reset_peak_memory_stats"):
        setattr(cpu, name, getattr(cpu, name, lambda *_, **__: 0))
    cpu.mem_get_info = getattr(cpu, "mem_get_info", lambda *_, **__: (0, 1))
    tensordict = importlib.import_module("tensordict")
    tensordict.TensorDictBase.cuda = lambda self, *_, **__: self
    try:
        importlib.import_module("pkg_resources")
    except ImportError:
        from packaging.version import parse

        def not_found(name: str) -> None:
            raise LookupError(name)

        stand_in = types.ModuleType("pkg_resources")
        vars(stand_in).update(
            parse_version=parse, DistributionNotFound=LookupError, get_distribution=not_found
        )
        sys.modules["pkg_resources"] = stand_in


class Keys(dict[str, Any]):
    """Dictionary whose keys are attributes too, as in OmegaConf."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        value = self[name]
        return Keys(value) if type(value) is dict else value


class WithFallback:
    """The release's configuration, and our keys for everything that the release's class lacks."""

    def __init__(self, released: Any, keys: Keys) -> None:
        self.released, self.keys = released, keys

    def __getattr__(self, name: str) -> Any:
        return getattr(self.released, name) if hasattr(self.released, name) else getattr(self.keys, name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a key's value."""
        return getattr(self.released, name) if hasattr(self.released, name) else self.keys.get(name, default)

    # The losses check that the configuration is an ActorConfig.
    __class__ = property(lambda self: type(self.released))


def config_classes() -> tuple[Any, Any] | None:
    """Return ActorConfig and PolicyLossConfig, or None before 0.6.0."""
    try:
        workers = importlib.import_module("verl.workers.config")
        return workers.ActorConfig, workers.PolicyLossConfig
    except (ImportError, AttributeError):
        return None


def actor_config(keys: Keys) -> Any:
    """Return the keys as the release's own configuration, if it has a class for it."""
    classes = config_classes()
    if classes is None:
        return keys
    actor, policy = ({field.name for field in dataclasses.fields(cls)} for cls in classes)
    kept = {k: v for k, v in keys.items() if k in actor - {"policy_loss", "fsdp_config", "strategy"}}
    if "global_batch_info" in kept:
        kept["global_batch_info"] = {}
    own = {k: v for k, v in keys["policy_loss"].items() if k in policy}
    return classes[0](strategy="fsdp", policy_loss=classes[1](**own), **kept)


def call(function: Any, **given: Any) -> Any:
    """Call a function with the arguments that it has, under their older names too.

    Raises:
      Absent: if the function does not exist, or if the mode is not token-mean and the function has no mode.
    """
    if function is None:
        raise Absent("no such function")
    names = inspect.signature(function).parameters
    if given.get("loss_agg_mode", "token-mean") != "token-mean" and "loss_agg_mode" not in names:
        raise Absent("loss_agg_mode")
    older = {"eos_mask": "response_mask", "loss_mask": "response_mask", "cliprange": "clip_ratio"}
    given |= {old: given[new] for old, new in older.items() if new in given}
    return function(**{name: value for name, value in given.items() if name in names})


def gradient(
    tables: scripted.Tables, loss_of: Callable[[torch.Tensor], torch.Tensor]
) -> dict[str, list[Any]]:
    """Return the gradient of a loss by the policy's log-probabilities, and the loss."""
    policy = tables.policy.clone().requires_grad_()
    loss = loss_of(policy)
    loss.backward()
    return recorded(policy, [loss.item()])


def recorded(policy: torch.Tensor, losses: list[float]) -> dict[str, list[Any]]:
    """Return what is recorded of one batch: the gradient, and the losses of the calls that are known."""
    assert policy.grad is not None
    return {"gradient": policy.grad.tolist(), "losses": losses}


def run_batch(case: Case, seed: int) -> dict[str, list[Any]]:
    """Return the gradient and the losses of one batch; for an estimator, the advantages as the gradient."""
    import verl.trainer.ppo.core_algos as core

    torch.manual_seed(seed)  # clip_cov chooses the tokens that it drops at random
    tables = scripted.make_tables(seed, case.tables)
    mask = scripted.mask_of(tables, case.mask)
    keys = Keys({**ACTOR_KEYS, **case.keys})
    if case.layer == "agg_loss":
        function = getattr(core, "agg_loss", None)
        given = {"response_mask": mask, "loss_agg_mode": keys.loss_agg_mode}
        return gradient(tables, lambda policy: call(function, loss_mat=policy.square(), **given))
    if case.layer == "kl_penalty":
        return gradient(
            tables, lambda policy: (core.kl_penalty(policy, tables.reference, case.name) * mask).sum()
        )
    if case.layer == "policy_loss":
        return run_policy_loss(core, case, tables, mask, keys)
    if case.layer == "advantage":
        return run_advantage(core, case, tables, mask, keys)
    worker = case.layer
    if worker == "step":  # the worker that a launch file without other keys gets
        worker = "update" if any(map(has_module, ACTOR_MODULES)) else "engine"
    return (run_update if worker == "update" else run_engine)(keys, tables, mask)


def run_policy_loss(
    core: Any, case: Case, tables: scripted.Tables, mask: torch.Tensor, keys: Keys
) -> dict[str, list[Any]]:
    """Return the gradient of a policy loss that `core_algos` has under this name."""
    try:
        function = core.get_policy_loss_fn(case.name)
    except (AttributeError, ValueError):
        function = core.compute_policy_loss if case.name == "vanilla" else None
    given: dict[str, Any] = {
        "old_log_prob": tables.old,
        "advantages": scripted.centered(tables),
        "response_mask": mask,
        "clip_ratio": 0.2,
        "cliprange_low": 0.2,
        "cliprange_high": 0.2,
        "clip_ratio_c": 3.0,
        "loss_agg_mode": keys.loss_agg_mode,
        "config": actor_config(keys),
    }
    if "rollout_weights" in keys:
        if function is None or "rollout_is_weights" not in inspect.signature(function).parameters:
            raise Absent("rollout_is_weights")
        given["rollout_is_weights"] = (tables.old - tables.sampler).exp().clamp(max=2.0)

    def loss(policy: torch.Tensor) -> torch.Tensor:
        result = call(function, log_prob=policy, **given)
        value: torch.Tensor = result[0] if isinstance(result, tuple) else result
        return value

    return gradient(tables, loss)


def run_advantage(
    core: Any, case: Case, tables: scripted.Tables, mask: torch.Tensor, keys: Keys
) -> dict[str, list[Any]]:
    """Return the advantages of an estimator."""
    import numpy as np

    function = getattr(core, f"compute_{case.name}_outcome_advantage", None)
    key = "norm_adv_by_std_in_grpo"
    if (
        function
        and not keys[key]
        and case.name == "grpo"
        and key not in inspect.signature(function).parameters
    ):
        raise Absent(key)
    scores = torch.zeros(scripted.ROWS, scripted.LENGTH)
    scores[torch.arange(scripted.ROWS), tables.lengths - 1] = tables.rewards[:, 1]
    result = call(
        function,
        token_level_rewards=scores,
        response_mask=mask,
        index=np.array([row // scripted.GENERATIONS for row in range(scripted.ROWS)]),
        norm_adv_by_std_in_grpo=keys[key],
        config=keys,
        gamma=1.0,
    )
    return {"gradient": result[0].tolist(), "losses": []}


def has_module(name: str) -> bool:
    """Return true if the release has a module and the module can be imported."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def rows_of(tables: scripted.Tables, mask: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the batch as the workers receive it."""
    prompts = torch.full((scripted.ROWS, 1), scripted.FIRST_PROMPT)
    return {
        "prompts": prompts,
        "responses": tables.ids,
        "response_mask": mask,
        "input_ids": torch.cat([prompts, tables.ids], 1),
        "attention_mask": torch.cat([torch.ones(scripted.ROWS, 1), mask], 1),
        "position_ids": torch.arange(scripted.LENGTH + 1).expand(scripted.ROWS, -1).contiguous(),
        "old_log_probs": tables.old,
        "advantages": scripted.centered(tables) * mask,
        "ref_log_prob": tables.reference,
    }


def entropies_of(log_probs: torch.Tensor) -> torch.Tensor:
    """Return a number for each token that depends on the policy, in the place of an entropy."""
    return -(log_probs.exp() * log_probs)


def check_loss_scale_factor(keys: Keys) -> None:
    """Raise Absent if the key is set and the release does not have it."""
    classes = config_classes()
    fields = {field.name for field in dataclasses.fields(classes[0])} if classes else set()
    if keys.loss_scale_factor is not None and "loss_scale_factor" not in fields:
        raise Absent("loss_scale_factor")


def run_update(keys: Keys, tables: scripted.Tables, mask: torch.Tensor) -> dict[str, list[Any]]:
    """Return the gradient of all updates of the FSDP actor on one batch.

    Raises:
      Absent: if the release has no FSDP actor, or lacks a key.
    """
    name = next((name for name in ACTOR_MODULES if has_module(name)), None)
    if name is None:
        raise Absent(ACTOR_MODULES[0])
    from verl import DataProto

    dp_actor = importlib.import_module(name)
    source = inspect.getsource(dp_actor)
    in_trainer = name == ACTOR_MODULES[1]
    if in_trainer:  # 0.1 computes entropies from logits, and has an older key for the micro-batch
        if keys.use_kl_loss or keys.entropy_coeff:
            raise Absent("use_kl_loss, or entropies that are scripted")
        keys = Keys({**keys, "ppo_micro_batch_size": keys.ppo_micro_batch_size_per_gpu})
    in_class = config_classes() is not None
    check_loss_scale_factor(keys)
    for key in ("loss_agg_mode", "clip_ratio_high", "clip_ratio_c"):
        if keys[key] != ACTOR_KEYS[key] and key not in source and not (in_class and key.startswith("clip")):
            raise Absent(key)
    if keys["policy_loss"] != ACTOR_KEYS["policy_loss"] and "loss_mode" not in source:
        raise Absent("policy_loss.loss_mode")

    policy = tables.policy.clone().requires_grad_()
    module = torch.nn.Linear(1, 1)
    actor = object.__new__(dp_actor.DataParallelPPOActor)
    actor.__dict__.update(
        config=WithFallback(actor_config(keys), keys) if in_class else keys,
        actor_module=module,
        actor_optimizer=torch.optim.SGD(module.parameters(), lr=0.0),
        use_ulysses_sp=False,
        ulysses_sequence_parallel_size=1,
        use_remove_padding=False,
        use_fused_kernels=False,
        use_prefix_grouper=False,
        use_dynamic_bsz=False,
        scaler=None,
        device_name="cpu",
    )

    def forward(micro_batch: Any, *_: Any, **__: Any) -> Any:
        log_probs = policy[micro_batch["responses"][:, 0] - scripted.FIRST_ROW]
        if in_trainer:
            return scripted.logits_for(log_probs, micro_batch["responses"]), log_probs
        if 'outputs["log_probs"]' in source:
            return {"log_probs": log_probs, "entropys": entropies_of(log_probs)}
        return entropies_of(log_probs), log_probs

    actor._forward_micro_batch = forward
    actor._optimizer_step = lambda: torch.tensor(0.0)
    data = DataProto.from_single_dict(rows_of(tables, mask))
    data.meta_info["temperature"] = 1.0
    inspect.unwrap(dp_actor.DataParallelPPOActor.update_policy)(actor, data)
    return recorded(policy, [])


def run_engine(keys: Keys, tables: scripted.Tables, mask: torch.Tensor) -> dict[str, list[Any]]:
    """Return the gradient of the engine's loss over all micro-batches of one batch.

    Raises:
      Absent: if the release has no engine.
    """
    if not has_module("verl.workers.utils.losses"):
        raise Absent("verl.workers.utils.losses")
    from tensordict import TensorDict
    from verl.utils import tensordict_utils
    from verl.workers.utils.losses import ppo_loss

    check_loss_scale_factor(keys)
    policy, losses = tables.policy.clone().requires_grad_(), []
    rows = rows_of(tables, mask)
    mini, micro = keys.ppo_mini_batch_size, keys.ppo_micro_batch_size_per_gpu

    def packed(values: torch.Tensor) -> torch.Tensor:
        # The engine has a value for the prompt's token too, and shifts all of them by one.
        return torch.cat([values, torch.zeros_like(values[:, :1])], 1).reshape(-1)

    for _ in range(keys.ppo_epochs):
        for start in range(0, scripted.ROWS, mini):
            for first in range(start, start + mini, micro):
                part = {name: value[first : first + micro] for name, value in rows.items()}
                part["prompts"] = torch.zeros(micro, 1)
                part["attention_mask"] = torch.ones(micro, 1 + scripted.LENGTH, dtype=torch.int64)
                micro_batch = TensorDict(part, batch_size=micro)
                tokens = int(mask[start : start + mini].sum())
                counts = {"dp_size": 1, "batch_num_tokens": tokens, "global_batch_size": mini}
                tensordict_utils.assign_non_tensor(micro_batch, **counts)
                log_probs = policy[first : first + micro]
                output = {"log_probs": packed(log_probs)}
                if keys.entropy_coeff:
                    output["entropy"] = packed(entropies_of(log_probs))
                loss, _metrics = ppo_loss(actor_config(keys), output, micro_batch)
                loss.backward()
                losses.append(loss.item())
    return recorded(policy, losses)


def run_case(case: Case) -> dict[str, Any]:
    """Run one case. The result has `batches`, or `absent` with the missing name, or `error`."""
    try:
        return {"batches": [run_batch(case, seed) for seed in range(scripted.BATCHES)]}
    except Absent as error:
        return {"absent": [str(error)]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}


def main() -> None:
    """Run the cases that the file lacks, and write the file."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    prepare_imports()
    path = Path(sys.argv[1])
    results = json.loads(path.read_text()) if path.exists() else {}
    wanted = sys.argv[2:] or [name for name in CASES if name not in results]
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{folder}/store"
        torch.distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
        for place, name in enumerate(wanted, 1):
            results[name] = run_case(CASES[name])
            print(f"{place}/{len(wanted)} {name}", file=sys.stderr, flush=True)
        torch.distributed.destroy_process_group()
    path.write_text(json.dumps({name: results[name] for name in CASES if name in results}))


if __name__ == "__main__":
    main()
