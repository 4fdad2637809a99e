"""Record what Open Instruct computes: `python tests/data/record/record_open_instruct.py SOURCES`.

SOURCES is a checkout of allenai/open-instruct at e6c3044aa (August 2026). Its packages are imported as they
are; what they import and is not installed here (ray, vllm, deepspeed, olmo_core ...) is replaced by a module
that can be imported and does nothing. Needs torch 2.13.0, transformers, datasets, accelerate and pandas.

Losses, gradients and metrics come from `PolicyTrainerRayProcess.step`, the whole training step of
`grpo_fast.py`, on a CPU, as one process of a gloo group. Stubs: the forward pass, which returns the
log-probabilities of the inputs, and DeepSpeed's engine, which only calls `backward`. A ratio other than 1
comes from a second epoch (`num_epochs`: the policy moves between the two) or from mini-batches. Each
completion is a pack of its own, except in the call that says otherwise. A few losses come from the other
training step, `GRPOTrainModule.train_batch`, which `grpo.py` takes. Advantages are computed by the lines of
`DataPreparationActor` that compute them, cut out of the file; groups are dropped by `process_group`.

What is refused only in settings without effect on the objective is left out, and so is a gradient that is
NaN because autograd multiplies 0 by infinity.
"""

import ast
import importlib.machinery
import importlib.util
import inspect
import itertools
import logging
import math
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch
import torch.distributed as dist
from inputs import inputs
from writing import given, write

COMMIT = "Open Instruct e6c3044aa"
ABOUT = {
    "trainer": "allenai/open-instruct e6c3044aa (2026-08-20)",
    "by": "tests/data/record/record_open_instruct.py",
    "with": "PyTorch 2.13.0 (CPU)",
}
NOT_OF_THE_LOSS = ("lr", "_token_count", "optim/grad_norm")
"""What is logged beside the loss."""
FLOAT32_MAX = 3.4e38


# ---- Open Instruct, imported where most of what surrounds it is missing -----------------------------


class Nothing:
    """Whatever is asked of a package that is not installed; as a decorator it leaves things as they are."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and inspect.isroutine(args[0]) | inspect.isclass(args[0]):
            return args[0]
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __getitem__ = __sub__ = __add__ = __or__

    def __lt__(self, other: Any) -> bool:
        return False


class Empty(types.ModuleType):
    """A module in which everything is `Nothing`."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Missing:
    """Finds an empty module for every package that the sources import and that is not installed."""

    def __init__(self, sources: Path) -> None:
        packages = {name for file in (sources / "open_instruct").rglob("*.py") for name in imported(file)}
        self.packages = {name for name in packages if importlib.util.find_spec(name) is None}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def imported(file: Path) -> Iterator[str]:
    """The names of the packages that a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def load(sources: Path) -> SimpleNamespace:
    """The modules of Open Instruct that compute the loss."""
    sys.path.insert(0, str(sources))
    sys.meta_path.append(Missing(sources))  # type: ignore[arg-type]
    sys.modules["open_instruct.vllm_utils"] = Empty("open_instruct.vllm_utils")
    from open_instruct import (
        data_loader,
        data_types,
        grpo_fast,
        grpo_utils,
        model_utils,
        olmo_core_train_modules,
        rl_utils,
        utils,
    )

    logging.disable(logging.CRITICAL)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    modules = (
        data_loader,
        data_types,
        grpo_fast,
        grpo_utils,
        model_utils,
        olmo_core_train_modules,
        rl_utils,
        utils,
    )
    return SimpleNamespace(**{module.__name__.split(".")[-1]: module for module in modules})


# ---- one training step ------------------------------------------------------------------------------


class Engine:
    """The model as DeepSpeed wraps it: it keeps the losses of the last epoch."""

    def __init__(self) -> None:
        self.losses: list[torch.Tensor] = []

    def backward(self, loss: torch.Tensor) -> None:
        self.losses.append(loss.detach())
        if loss.requires_grad:
            loss.backward()

    def set_gradient_accumulation_boundary(self, is_boundary: bool) -> None:
        pass

    def step(self) -> None:
        pass

    def get_global_grad_norm(self) -> float:
        return 0.0


class Forward:
    """The forward pass: what the inputs hold for the rows at hand, by model and epoch.

    The first column of `query_responses` holds the places of the rows, and one more column stands where the
    prompt is. With gradients the policy gives `old` in every epoch but the last one.
    """

    def __init__(self, arrays: dict[str, torch.Tensor], micro_batches: int, epochs: int) -> None:
        self.arrays, self.calls, self.last = arrays, 0, micro_batches * (epochs - 1)

    def __call__(
        self, model: Any, rows: torch.Tensor, *args: Any, return_entropy: bool = False, **kw: Any
    ) -> Any:
        place = rows[:, 0]
        if model == "reference":
            return self.arrays["ref"][place], None
        if not torch.is_grad_enabled():
            return self.arrays["old"][place], None
        self.calls += 1
        values = self.arrays["logp" if self.calls > self.last else "old"][place]
        return values, self.arrays["entropy"][place] if return_entropy else None


def settings(oi: SimpleNamespace, config: dict[str, Any]) -> tuple[Any, Any]:
    """The two configurations that a user's keys belong to, as `grpo_fast.py` makes them."""
    streams = {field.name for field in fields(oi.data_loader.StreamingDataLoaderConfig)}
    ours = {name: value for name, value in config.items() if name not in streams}
    args = oi.grpo_utils.GRPOExperimentConfig(**{"per_device_train_batch_size": 1, **ours})
    args.world_size = 1
    theirs = {name: value for name, value in config.items() if name in streams}
    return args, oi.data_loader.StreamingDataLoaderConfig(**theirs)


def tensors(arrays: dict[str, Any], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The inputs of a case as the trainer's tensors; whatever is not given is never read, so it is NaN."""
    shape = np.shape(arrays["mask"])
    names = {
        "logp": "log_probs",
        "old": "old_log_probs",
        "ref": "ref_log_probs",
        "sampler": "rollout_log_probs",
        "entropy": "entropies",
    }
    made = {
        name: torch.tensor(np.array(arrays.get(ours, np.full(shape, np.nan))), dtype=dtype)
        for name, ours in names.items()
    }
    advantages = np.array(arrays["advantages"])
    per_token = advantages if advantages.ndim == 2 else np.repeat(advantages[:, None], shape[1], axis=1)
    return made | {
        "mask": torch.tensor(np.array(arrays["mask"])).bool(),
        "advantages": torch.tensor(per_token, dtype=dtype),
    }


def with_prompt(rows: torch.Tensor, first: float) -> torch.Tensor:
    """The rows with one column before them, where the prompt is."""
    return torch.cat([torch.full_like(rows[:, :1], first), rows], dim=1)


def collated(oi: SimpleNamespace, made: dict[str, torch.Tensor], size: int) -> Any:
    """The batch as the data loader hands it over: micro-batches of `size` rows, one after another."""
    places = torch.arange(len(made["mask"]))[:, None].expand(-1, made["mask"].shape[1] + 1)
    whole = {
        "query_responses": places,
        "attention_masks": torch.ones_like(places),
        "position_ids": torch.zeros_like(places),
        "advantages": with_prompt(made["advantages"], 0.0),
        "response_masks": with_prompt(made["mask"], False),
        "vllm_logprobs": with_prompt(made["sampler"], math.nan),
    }
    return oi.data_types.CollatedBatchData(**{name: list(rows.split(size)) for name, rows in whole.items()})


def trained(
    oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any], dtype: torch.dtype, part: int | None
) -> dict[str, Any]:
    """Loss, gradient and metrics of a training step; of one mini-batch alone where `part` says which."""
    args, streaming = settings(oi, config)
    made = tensors(arrays, dtype)
    made["logp"].requires_grad_()
    batch = collated(oi, made, args.per_device_train_batch_size)
    engine = Engine()
    forward = Forward(made, len(batch), args.num_epochs)
    oi.grpo_utils.forward_for_logprobs = forward
    worker = oi.grpo_fast.PolicyTrainerRayProcess
    actor = SimpleNamespace(
        dataloader=iter([{"batch": batch, "metrics": {}}]),
        splitter=None,
        device=torch.device("cpu"),
        rank=0,
        num_mini_batches=args.num_mini_batches,
        args=args,
        ref_policy="reference",
        model=engine,
        pad_token_id=-1,
        streaming_config=streaming,
        local_metrics=oi.utils.MetricsTracker(max_metrics=64, device="cpu"),
        scheduler=SimpleNamespace(get_last_lr=lambda: [0.0]),
    )
    actor._compute_loss_metrics = types.MethodType(worker._compute_loss_metrics, actor)
    actor.local_metrics.metrics = actor.local_metrics.metrics.double()
    metrics, _ = worker.step(actor)
    losses = engine.losses[-len(batch) :]
    gradient = torch.zeros_like(made["logp"]) if made["logp"].grad is None else made["logp"].grad
    numbers = {"loss": float(sum(losses if part is None else [losses[part]])), "grad_logp": gradient.tolist()}
    if part is not None:
        return numbers
    logged = {name: value for name, value in sorted(metrics.items()) if name not in NOT_OF_THE_LOSS}
    return numbers | {"metrics": logged}


def trained_by_olmo_core(
    oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any]
) -> dict[str, Any]:
    """Loss and gradient of the other training step; the loss of a micro-batch is seen where it is logged."""
    args, streaming = settings(oi, config)
    made = tensors(arrays, torch.float64)
    for name in ("logp", "old"):
        made[name].requires_grad_()
    batch = collated(oi, made, args.per_device_train_batch_size)
    oi.grpo_utils.forward_for_logprobs = Forward(made, len(batch), args.num_epochs)
    log, losses = oi.grpo_utils.populate_sample_loss_stats, []

    def seen(*given: Any, **named: Any) -> None:
        losses.append(float(given[5].detach()))
        log(*given, **named)

    oi.grpo_utils.populate_sample_loss_stats = seen
    module = SimpleNamespace(
        model=SimpleNamespace(train=lambda: None),
        ref_policy="reference",
        device=torch.device("cpu"),
        grpo_config=args,
        pad_token_id=-1,
        temperature=streaming.temperature,
        rank_microbatch_size=1,
        trainer=SimpleNamespace(dp_process_group=None, global_step=0),
        optim=SimpleNamespace(zero_grad=lambda set_to_none: None),
        record_metric=lambda *given, **named: None,
    )
    oi.olmo_core_train_modules.GRPOTrainModule.train_batch(module, {"batch": batch}, dry_run=True)
    oi.grpo_utils.populate_sample_loss_stats = log
    return {"loss": sum(losses[-len(batch) :]), "grad_logp": made["logp"].grad.tolist()}


# ---- advantages and groups --------------------------------------------------------------------------


def lines_between(function: Callable[..., Any], first: str, last: str) -> Any:
    """The statements of a function from the one that sets `first` to the one that sets `last`, compiled."""
    source = Path(inspect.getfile(function)).read_text(encoding="utf-8")
    named = [node for node in ast.walk(ast.parse(source)) if getattr(node, "name", "") == function.__name__]
    start = inspect.getsourcelines(function)[1]
    [body] = [
        loop.body
        for node in named
        if node.lineno == start
        for loop in ast.walk(node)
        if isinstance(loop, ast.While) and _place(loop.body, first) is not None
    ]
    begin, end = _place(body, first), _place(body, last)
    return compile(ast.Module(body[begin : end + 1], []), "data_loader.py", "exec")


def _place(body: Sequence[ast.stmt], name: str) -> Any:
    """The first statement that sets a name, or anywhere inside itself, as an if does."""
    for place, statement in enumerate(body):
        stored = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_set(node)]
        if name in stored:
            return place
    return None


def _is_set(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def advantages(oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """One per completion; 0 where a filter drops it, which leaves no number at all.

    Groups are dropped first, then with `mask_truncated_completions` what was cut off; of what is left, the
    scores and advantages are logged. If nothing is, the trainer draws again.
    """
    _, streaming = settings(oi, config)
    groups = np.reshape(arrays["rewards"], (-1, streaming.num_samples_per_prompt_rollout))
    passed = np.repeat([_is_kept(oi, streaming, list(group)) for group in groups], groups.shape[-1])
    if not passed.any():
        return {"value": np.zeros(groups.size).tolist()}
    rewards = [float(reward) for reward in groups.ravel()[passed]]
    count = len(rewards)
    blank = {name: [[]] * count for name in ("queries", "ground_truths", "datasets", "raw_queries")}
    batch = oi.model_utils.Batch(
        **blank,
        decoded_responses=[""] * count,
        indices=[*range(count)],
        scores=rewards,
        model_steps=[0] * count,
    )
    ended = np.array(arrays.get("ended", np.ones(groups.size)), dtype=bool)[passed]
    result = SimpleNamespace(
        responses=[[]] * count,
        masks=[[]] * count,
        logprobs=[[]] * count,
        finish_reasons=["stop" if each else "length" for each in ended],
    )
    kept = oi.data_loader.maybe_mask_truncated_completions(
        result, batch, streaming.mask_truncated_completions
    )
    names = {"np": np, "batch": kept, "self": SimpleNamespace(config=streaming)}
    actor = oi.data_loader.DataPreparationActor
    loop = next(
        function
        for function in vars(actor).values()
        if inspect.isfunction(function) and "mean_grouped_rewards" in function.__code__.co_varnames
    )
    exec(lines_between(loop, "scores", "advantages"), names)
    found, value = names["advantages"], np.zeros(groups.size)
    left = passed.nonzero()[0]
    value[left[ended] if streaming.mask_truncated_completions else left] = found
    logged = {f"val/advantages_{name}": float(getattr(found, name)()) for name in ("mean", "min", "max")}
    return {"value": value.tolist(), "metrics": {**logged, "scores": float(names["scores"].mean())}}


def kept_groups(
    oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any], size: int
) -> dict[str, Any]:
    """1 for each group that `process_group` keeps."""
    _, streaming = settings(oi, config)
    return {
        "value": [
            float(_is_kept(oi, streaming, list(group))) for group in np.reshape(arrays["rewards"], (-1, size))
        ]
    }


def _is_kept(oi: SimpleNamespace, streaming: Any, rewards: list[float]) -> bool:
    count = len(rewards)
    result = SimpleNamespace(
        index=0,
        reward_scores=[float(reward) for reward in rewards],
        token_statistics=0,
        responses=[[1]] * count,
        masks=[[1]] * count,
        logprobs=[[0.0]] * count,
        finish_reasons=["stop"] * count,
        prompt_id="",
        reward_metrics={},
    )
    keys = ("INPUT_IDS_PROMPT_KEY", "GROUND_TRUTHS_KEY", "VERIFIER_SOURCE_KEY", "RAW_PROMPT_KEY")
    example = {getattr(oi.data_loader, key): "" for key in keys}
    group = oi.data_loader.process_group(
        result,
        SimpleNamespace(n=count),
        SimpleNamespace(batch_decode=lambda responses, **kwargs: responses),
        [example],
        streaming.max_possible_score,
        None,
        None,
        streaming.filter_zero_std_samples,
        False,
        None,
        None,
    )
    return group is not None


# ---- corrections and penalties ----------------------------------------------------------------------


def correction(oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """The weights of the tokens, from what the training step hands over."""
    args, _ = settings(oi, config)
    made = tensors({"advantages": np.zeros(len(arrays["mask"])), **arrays}, torch.float64)
    found = oi.grpo_utils.compute_rho_correction(
        oi.grpo_utils.mask_logprobs(made["old"], made["mask"]),
        oi.grpo_utils.mask_logprobs(made["sampler"], made["mask"]),
        made["mask"],
        made["advantages"],
        args,
    )
    return {"value": found.weights.tolist()}


def all_penalties(oi: SimpleNamespace, config: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Every estimator's penalty of every token, one after another as `kl_estimator`."""
    rows = np.shape(arrays["log_probs"])
    made = tensors({"advantages": np.zeros(rows), "mask": np.ones(rows), **arrays}, torch.float64)
    zeros = torch.zeros_like(made["logp"])
    penalties = []
    for number in range(4):
        args, _ = settings(oi, {**config, "kl_estimator": number})
        ratio = torch.exp(made["logp"] - made["old"])
        found = oi.grpo_utils.compute_grpo_loss(made["logp"], ratio, zeros, made["ref"], args, zeros)
        penalties.append(found[2].tolist())
    return {"value": penalties}


# ---- cases ------------------------------------------------------------------------------------------

EPOCHS = {"num_epochs": 2}
"""The policy moves between the two, so there are ratios."""
PLAIN = {"use_rho_correction": False}
NO_KL = {"beta": 0.0}
GIVEN = {"log_probs": "logp", "advantages": "advantages", "mask": "mask"}
MOVED = {**GIVEN, "old_log_probs": "old_logp"}
REF = {"ref_log_probs": "ref_logp"}
SAMPLER = {"rollout_log_probs": "sampler_logp"}
ALL = {**MOVED, **REF, **SAMPLER}
ON_POLICY = {**GIVEN, **REF, **SAMPLER}
LOSSES = ("dapo", "cispo")
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_none", "mask_single")


class Recorder:
    """Runs cases one after another and keeps them."""

    def __init__(self, oi: SimpleNamespace) -> None:
        self.oi, self.cases, self.arrays = oi, [], inputs()

    def loss(
        self,
        id: str,
        config: dict[str, Any],
        which: dict[str, str],
        *,
        own: dict[str, Any] | None = None,
        dtype: str = "float64",
        call: str = "loss",
        rtol: float | None = None,
        part: int | None = None,
        rows: slice = slice(None),
    ) -> None:
        """A training step; `rows` are those of the mini-batch `part`, which the case holds alone."""
        arrays = self._arrays(which, own or {})
        precision = getattr(torch, dtype)
        numbers = trained(self.oi, config, arrays, precision, part)
        numbers["grad_logp"] = numbers["grad_logp"][rows]
        case: dict[str, Any] = {"id": f"oi_grid_{id}", "call": call, "config": config, "given": which}
        if part is not None:
            own = {name: _listed(np.array(arrays[field])[rows]) for field, name in which.items()}
        if own:
            case["inputs"] = own
        if dtype == "float32":
            case["dtype"] = dtype
        if dtype == "float32" or rtol:
            case["rtol"] = rtol or 1e-5
        self.cases.append({**case, **numbers})

    def value(
        self, id: str, call: str, config: dict[str, Any], which: dict[str, str], run: Any, **more: Any
    ) -> None:
        """Any other call."""
        numbers = run(self.oi, config, self._arrays(which, more.get("inputs", {})))
        self.cases.append(
            {"id": f"oi_grid_{id}", "call": call, "config": config, "given": which, **more, **numbers}
        )

    def refused(self, id: str, config: dict[str, Any], call: str = "loss", **more: Any) -> None:
        """What the trainer does not run."""
        which = {"rewards": "rewards", "mask": "mask"} if call != "loss" else ALL
        if "inputs" in more:
            which = {**which, "ended": "ended"}
        arrays = self._arrays(which, more.get("inputs", {}))
        try:
            if call == "loss":
                trained(self.oi, config, arrays, torch.float64, None)
            else:
                advantages(self.oi, config, arrays)
        except (ValueError, AssertionError, IndexError, TypeError, ZeroDivisionError) as error:
            told = f"{type(error).__name__}: {error}"
        else:
            raise ValueError(f"{id}: Open Instruct accepts this")
        case = {"id": f"oi_grid_refused_{id}", "call": call, "config": config, "given": which}
        self.cases.append({**case, **more, "refused": told})

    def _arrays(self, which: dict[str, str], own: dict[str, Any]) -> dict[str, Any]:
        return {field: own[name] if name in own else given(name) for field, name in which.items()}


def _listed(array: np.ndarray) -> Any:
    """Nested lists with text for NaN."""
    if array.ndim:
        return [_listed(each) for each in array]
    return "nan" if np.isnan(array) else array.item()


def losses(record: Recorder) -> None:
    """Both losses with every estimator, on masks of every kind."""
    for loss_fn, number in itertools.product(LOSSES, range(4)):
        config = {"loss_fn": loss_fn, "kl_estimator": number}
        record.loss(f"{loss_fn}_kl{number}", {**EPOCHS, **config}, ALL)
        record.loss(f"{loss_fn}_kl{number}_on_policy", config, ON_POLICY)
    for loss_fn, mask in itertools.product(LOSSES, MASKS):
        config = {**EPOCHS, "loss_fn": loss_fn}
        record.loss(f"{loss_fn}_{mask}", config, {**ALL, "mask": mask})
    for denominator in ("40", "1", "0.5", "1e6", 40):
        config = {**EPOCHS, "loss_denominator": denominator}
        record.loss(f"denominator_{denominator}_{type(denominator).__name__}", config, ALL)
    number = {**EPOCHS, "loss_denominator": "64"}
    record.loss("cispo_denominator_64", {**number, "loss_fn": "cispo", **PLAIN}, ALL)
    record.loss("denominator_64_none", number, {**ALL, "mask": "mask_none"})
    record.loss("denominator_64_empty", number, {**ALL, "mask": "mask_empty"})


def clips(record: Recorder) -> None:
    """Ratios at the bounds, and where exp ends."""
    bare = {**EPOCHS, **PLAIN, **NO_KL}
    at = {**ALL, "log_probs": "logp_at_bounds"}
    bounds = ((0.2, 0.2), (0.2, 0.28), (0.2, 0.272), (0.5, 1.0), (0.0, 0.0), (0.2, 4.0), (0.2, 2.0))
    for (low, high), loss_fn in itertools.product(bounds, LOSSES):
        config = {**bare, "loss_fn": loss_fn, "clip_lower": low, "clip_higher": high}
        record.loss(f"{loss_fn}_at_bounds_{low}_{high}", config, at, rtol=1e-5)  # metrics cancel, in float32
    record.loss("dapo_no_lower_bound", {**bare, "clip_lower": 1.0}, at)
    record.loss("dapo_lower_bound_below_0", {**bare, "clip_lower": 1.5}, at)
    for loss_fn, number in itertools.product(LOSSES, (2, 3)):
        config = {**EPOCHS, "loss_fn": loss_fn, "kl_estimator": number}
        record.loss(f"{loss_fn}_limited_kl{number}", config, {**ALL, "log_probs": "logp_limited"})
    far = np.clip(np.array(given("logp_extreme")) - np.array(given("old_logp")), -750.0, 300.0)
    own = {"logp_far": np.round(np.array(given("old_logp")) + far, 6).tolist()}
    for loss_fn in LOSSES:
        record.loss(f"{loss_fn}_far", {**bare, "loss_fn": loss_fn}, {**ALL, "log_probs": "logp_far"}, own=own)
    for loss_fn, number in itertools.product(LOSSES, range(4)):
        config = {**EPOCHS, "loss_fn": loss_fn, "kl_estimator": number, "beta": 1e-3}
        record.loss(f"{loss_fn}_ref_far_kl{number}", config, {**ALL, "ref_log_probs": "ref_logp_far"})
    edge = (np.array(given("logp")) + np.resize([40.0, -40.0, 39.0, 41.0], np.shape(given("logp")))).tolist()
    for number in (0, 1):
        config = {**EPOCHS, "kl_estimator": number}
        which = {**ALL, "ref_log_probs": "ref_edge"}
        record.loss(f"dapo_ref_at_the_limit_kl{number}", config, which, own={"ref_edge": edge})


def impossible(record: Recorder) -> None:
    """A token that the sampler cannot have drawn: -inf becomes the lowest number there is."""
    sampler = [list(row) for row in given("sampler_logp")]
    sampler[10][1] = sampler[4][0] = -math.inf
    which, own = {**ALL, "rollout_log_probs": "one impossible"}, {"one impossible": sampler}
    for dtype, size in itertools.product(("float32", "float64"), (1, 2, 12)):
        config = {**EPOCHS, **NO_KL, "per_device_train_batch_size": size}
        record.loss(f"sampler_impossible_{dtype}_{size}", config, which, own=own, dtype=dtype)


def correlations(record: Recorder) -> None:
    """The correction for the sampler: clamps, windows, levels and what the sampler does not know."""
    clamps = {
        "no_upper": {"rho_clamp_upper_bound": 0.0},
        "low": {"rho_clamp_lower_bound": 0.9},
        "both": {"rho_clamp_lower_bound": 0.8, "rho_clamp_upper_bound": 1.1},
        "negative_is_none": {"rho_clamp_lower_bound": -1.0, "rho_clamp_upper_bound": -1.0},
    }
    windows = {
        "low": {"rho_mask_lower_bound": 0.8},
        "high": {"rho_mask_upper_bound": 1.25},
        "both": {"rho_mask_lower_bound": 0.7, "rho_mask_upper_bound": 1.3},
    }
    sequence = {"rho_mask_sequence_level": True}
    moved = {**EPOCHS, **NO_KL}
    for name, clamp in clamps.items():
        record.loss(f"clamp_{name}", {**moved, **clamp}, ALL)
        record.loss(f"clamp_{name}_sequence", {**moved, **clamp, **sequence}, ALL)
    for (name, window), loss_fn in itertools.product(windows.items(), LOSSES):
        record.loss(f"{loss_fn}_window_{name}", {**EPOCHS, **window, "loss_fn": loss_fn}, ALL)
        record.loss(
            f"{loss_fn}_window_{name}_sequence", {**EPOCHS, **window, **sequence, "loss_fn": loss_fn}, ALL
        )
    both = {**windows["both"], **clamps["both"]}
    for level, mask in itertools.product(({}, sequence), ("mask_holes", "mask_empty", "mask_none")):
        name = f"window_and_clamp_{mask}{'_sequence' if level else ''}"
        record.loss(name, {**moved, **both, **level}, {**ALL, "mask": mask})
    for loss_fn, level, sampler in itertools.product(LOSSES, ({}, sequence), ("far", "nan")):
        config = {**moved, "loss_fn": loss_fn, **windows["both"], **level}
        name = f"{loss_fn}_sampler_{sampler}{'_sequence' if level else ''}"
        record.loss(name, config, {**ALL, "rollout_log_probs": f"sampler_logp_{sampler}"})
    record.loss("sampler_nan", EPOCHS, {**ALL, "rollout_log_probs": "sampler_logp_nan"})
    record.loss("sampler_nan_on_policy", {}, {**ON_POLICY, "rollout_log_probs": "sampler_logp_nan"})
    record.loss("no_correction", {**EPOCHS, **PLAIN}, ALL)
    unused = {**PLAIN, "rho_clamp_upper_bound": 0.5, "rho_mask_upper_bound": 0.5}
    record.loss("bounds_without_correction", {**EPOCHS, **unused}, ALL)


def divergences(record: Recorder) -> None:
    """VACO's mask, by the total variation of a completion."""
    vaco = {**EPOCHS, **NO_KL, "rho_mask_tv_divergence": True}
    bounds = {"none": {}, "low": {"rho_mask_lower_bound": 0.2}, "high": {"rho_mask_upper_bound": 1.1}}
    for name, bound in bounds.items():
        for loss_fn in LOSSES:
            record.loss(f"{loss_fn}_vaco_{name}", {**vaco, **bound, "loss_fn": loss_fn}, ALL)
        far = {**ALL, "rollout_log_probs": "sampler_logp_far"}
        record.loss(f"vaco_{name}_sampler_far", {**vaco, **bound}, far)
        unknown = {**ALL, "rollout_log_probs": "sampler_logp_nan"}
        record.loss(f"vaco_{name}_sampler_nan", {**vaco, **bound}, unknown)
    both = {**bounds["low"], "rho_mask_upper_bound": 1.5}
    record.loss("vaco_both_kl", {**vaco, **both, "beta": 0.05}, ALL)
    record.loss("vaco_both_sequence", {**vaco, **both, "rho_mask_sequence_level": True}, ALL)
    clamp = {"rho_clamp_lower_bound": 0.9, "rho_clamp_upper_bound": 1.1}
    record.loss("vaco_both_clamp", {**vaco, **both, **clamp}, {**ALL, "mask": "mask_holes"})
    record.loss("vaco_token_advantages", {**vaco, **both}, {**ALL, "advantages": "token_advantages"})
    which = {"old_log_probs": "old_logp", "rollout_log_probs": "sampler_logp_nan", "mask": "mask_holes"}
    axes = {"axes": ["completion", "token"]}
    level = {"rho_mask_sequence_level": True, "rho_mask_upper_bound": 1.05}
    for name, config in {"default": {}, "window": {"rho_mask_lower_bound": 0.5}, "sequence": level}.items():
        record.value(f"weights_{name}", "correction", config, which, correction, **axes)
    signed = {**which, "advantages": "token_advantages"}
    tv = {"rho_mask_tv_divergence": True, **bounds["low"]}
    record.value("weights_vaco", "correction", tv, signed, correction, **axes)


def others(record: Recorder) -> None:
    """The sampler as the old policy, no reference, entropy, precision, and how a batch is cut."""
    vllm = {"use_vllm_logprobs": True, **PLAIN}
    call = {"call": "loss against the sampler"}
    sampled = {name: array for name, array in ALL.items() if name != "old_log_probs"}
    for loss_fn, sampler in itertools.product(LOSSES, ("sampler_logp", "sampler_logp_nan")):
        which = {**sampled, "rollout_log_probs": sampler}
        record.loss(f"vllm_{loss_fn}_{sampler}", {**vllm, "loss_fn": loss_fn}, which, **call)
    record.loss("vllm_kl3_holes", {**vllm, "kl_estimator": 3}, {**sampled, "mask": "mask_holes"}, **call)
    alone = {"load_ref_policy": False, "beta": 0.0}
    without = {name: array for name, array in ALL.items() if name != "ref_log_probs"}
    record.loss("no_reference", {**EPOCHS, **alone}, without)
    record.loss("no_reference_cispo", {**EPOCHS, **alone, "loss_fn": "cispo"}, without)
    record.loss("beta_0_with_reference", {**EPOCHS, **NO_KL}, ALL)
    record.loss("beta_1", {**EPOCHS, "beta": 1.0}, ALL)
    record.loss("beta_negative", {**EPOCHS, "beta": -0.1}, {**ALL, "mask": "mask_holes"})
    entropy = {**EPOCHS, "record_entropy": True}
    record.loss("entropy", entropy, {**ALL, "entropies": "entropy"})
    record.loss("entropy_holes", entropy, {**ALL, "entropies": "entropy", "mask": "mask_holes"})
    record.loss("token_advantages", EPOCHS, {**ALL, "advantages": "token_advantages"})
    for size in (2, 4, 5, 12):
        config = {**EPOCHS, "per_device_train_batch_size": size}
        record.loss(f"micro_batches_of_{size}", config, {**ALL, "mask": "mask_holes"})
    cut = {"per_device_train_batch_size": 4, "num_mini_batches": 3}
    for part in range(3):
        for denominator in ("token", "40"):
            config = {**cut, "loss_denominator": denominator}
            rows = slice(4 * part, 4 * part + 4)
            record.loss(f"mini_batch_{part}_{denominator}", config, ALL, part=part, rows=rows)


def precisions(record: Recorder) -> None:
    """float32, in which Open Instruct runs."""
    single = {"dtype": "float32"}
    for loss_fn, number in itertools.product(LOSSES, range(4)):
        config = {**EPOCHS, "loss_fn": loss_fn, "kl_estimator": number}
        record.loss(f"float32_{loss_fn}_kl{number}", config, ALL, **single)
    window = {"rho_mask_lower_bound": 0.7, "rho_mask_upper_bound": 1.3}
    for name, config in {
        "window": window,
        "sequence": {**window, "rho_mask_sequence_level": True},
        "vaco": {"rho_mask_lower_bound": 0.2, "rho_mask_tv_divergence": True},
        "denominator": {"loss_denominator": "40"},
    }.items():
        record.loss(f"float32_{name}", {**EPOCHS, **config}, ALL, **single)
        nan = {**ALL, "rollout_log_probs": "sampler_logp_nan", "mask": "mask_holes"}
        record.loss(f"float32_{name}_nan", {**EPOCHS, **config}, nan, **single)
    for number in range(4):
        config = {**EPOCHS, "kl_estimator": number, "beta": 1e-3}
        record.loss(f"float32_ref_far_kl{number}", config, {**ALL, "ref_log_probs": "ref_logp_far"}, **single)


def cancelling(record: Recorder) -> None:
    """Metrics whose terms cancel; all of them are kept in float32."""
    level = [0.7, 0.3, -0.9, 0.4, -0.7, 0.2, 0.0, 0.0, -0.8, 0.0, -0.3, 0.9]
    own = {"level": level}
    which = {**ON_POLICY, "advantages": "level"}
    for dtype, size in itertools.product(("float32", "float64"), (1, 5)):
        config = {**PLAIN, "per_device_train_batch_size": size}
        record.loss(f"cancelling_{dtype}_{size}", config, which, own=own, dtype=dtype)


def olmo_core(record: Recorder) -> None:
    """The other training step."""
    window = {"rho_mask_lower_bound": 0.7, "rho_mask_upper_bound": 1.3}
    unknown = {"rollout_log_probs": "sampler_logp_nan", "mask": "mask_holes"}
    for name, (config, which) in {
        "dapo": ({}, {}),
        "cispo": ({"loss_fn": "cispo", "kl_estimator": 3}, {}),
        "number": ({"loss_denominator": "40", "per_device_train_batch_size": 5}, {}),
        "window": (window, unknown),
        "sequence": ({**window, "rho_mask_sequence_level": True, "loss_fn": "cispo"}, unknown),
        "vaco": ({"rho_mask_lower_bound": 0.2, "rho_mask_tv_divergence": True}, unknown),
        "empty": ({"kl_estimator": 1}, {"mask": "mask_empty"}),
    }.items():
        case = {**EPOCHS, **config}
        record.value(f"olmo_core_{name}", "loss", case, {**ALL, **which}, trained_by_olmo_core)


FACTORS: dict[str, tuple[Any, ...]] = {
    "loss_fn": LOSSES,
    "kl_estimator": (0, 1, 2, 3),
    "beta": (0.0, 0.05, 0.5),
    "clip_lower": (0.2, 0.1, 1.0),
    "clip_higher": (0.272, 0.05, 4.0),
    "loss_denominator": ("token", "24"),
    "use_rho_correction": (True, True, False),
    "rho_clamp_lower_bound": (0.0, 0.9),
    "rho_clamp_upper_bound": (2.0, 0.0, 1.1),
    "rho_mask_lower_bound": (0.0, 0.2, 0.9),
    "rho_mask_upper_bound": (0.0, 1.15),
    "rho_mask_sequence_level": (False, True),
    "rho_mask_tv_divergence": (False, True),
    "per_device_train_batch_size": (1, 3, 12),
}
"""Keys of the loss, each with values to draw from."""
DRAWN = {
    "mask": ("mask", "mask_holes", "mask_empty"),
    "advantages": ("advantages", "token_advantages"),
    "rollout_log_probs": ("sampler_logp", "sampler_logp_nan"),
    "log_probs": ("logp", "logp_at_bounds"),
}
"""Inputs to draw from."""


def combinations(record: Recorder, count: int = 48) -> None:
    """Everything with everything, drawn.

    In float32 a loss may be the small difference of large numbers, hence the tolerance; and no ratio is at a
    bound, since which side it falls on is a matter of the last bit of exp.
    """
    chance = np.random.default_rng(7)
    for number in range(count):
        config, which = (
            {name: values[int(chance.integers(len(values)))] for name, values in table.items()}
            for table in (FACTORS, DRAWN)
        )
        if number % 4:
            record.loss(f"drawn_{number}", {**EPOCHS, **config}, {**ALL, **which}, rtol=1e-5)
        else:
            single = {**ALL, **which, "log_probs": "logp"}
            record.loss(f"drawn_{number}", {**EPOCHS, **config}, single, dtype="float32", rtol=2e-4)


def rewards(record: Recorder) -> None:
    """Advantages, and groups that are dropped."""
    kinds = ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied", "rewards_huge")
    for kind, norm in itertools.product(kinds, ("centered", "standard")):
        config = {"advantage_normalization_type": norm}
        which = {"rewards": kind, "mask": "mask"}
        record.value(f"{norm}_{kind}", "advantages", config, which, advantages, axes=["completion"])
    ended = {"ended": [1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0]}
    whole = {"ended": [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]}
    for name, own in {"shifted": ended, "whole": whole}.items():
        for norm in ("centered", "standard"):
            config = {"advantage_normalization_type": norm, "mask_truncated_completions": True}
            which = {"rewards": "rewards", "mask": "mask", "ended": "ended"}
            more = {"axes": ["completion"], "inputs": own}
            record.value(f"{norm}_truncated_{name}", TRUNCATED, config, which, advantages, **more)
    behind = {"ended": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0]}
    for norm in ("centered", "standard"):
        config = {"advantage_normalization_type": norm, "mask_truncated_completions": True}
        which = {"rewards": "rewards_some_equal", "mask": "mask", "ended": "ended"}
        more = {"axes": ["completion"], "inputs": behind}
        record.value(f"{norm}_truncated_in_dropped_groups", TRUNCATED, config, which, advantages, **more)
        config = {"advantage_normalization_type": norm, "filter_zero_std_samples": False}
        which = {"rewards": "rewards_some_equal", "mask": "mask"}
        record.value(f"{norm}_unfiltered", "advantages", config, which, advantages, axes=["completion"])
    record.refused(
        "truncated_uneven_unfiltered",
        {"mask_truncated_completions": True, "filter_zero_std_samples": False},
        TRUNCATED,
        inputs={"ended": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]},
    )
    record.refused(
        "truncated_uneven",
        {"mask_truncated_completions": True},
        TRUNCATED,
        inputs={"ended": [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]},
    )
    for kind, is_on in itertools.product(kinds, (True, False)):
        config = {"filter_zero_std_samples": is_on}
        record.value(f"kept_{kind}_{is_on}", "kept groups", config, {"rewards": kind}, _kept(4))
    thirds = {"group_size": 3, "thirds": [0.1] * 3 + [0.3] * 3 + [1.0] * 3 + [1.0, 1.0, 0.0]}
    record.value("kept_thirds", "kept groups", {}, {"rewards": "thirds"}, _kept(3), inputs=thirds)
    for ref in ("ref_logp", "ref_logp_far"):
        which = {"log_probs": "logp", "old_log_probs": "old_logp", "ref_log_probs": ref}
        record.value(f"penalties_{ref}", "penalties of all estimators", {}, which, all_penalties)


TRUNCATED = "advantages of ended completions"


def _kept(size: int) -> Any:
    return lambda oi, config, arrays: kept_groups(oi, config, arrays, size)


def refusals(record: Recorder) -> None:
    """What __post_init__, or the step itself, refuses."""
    for name, config in {
        "beta_without_reference": {"load_ref_policy": False},
        "beta_without_reference_given": {"load_ref_policy": False, "beta": 0.1},
        "sampler_twice": {"use_vllm_logprobs": True},
        "denominator_0": {"loss_denominator": "0"},
        "denominator_negative": {"loss_denominator": "-3"},
        "denominator_word": {"loss_denominator": "tokens"},
        "denominator_none": {"loss_denominator": None},
        "mask_lower_1": {"rho_mask_lower_bound": 1.0},
        "mask_lower_2": {"rho_mask_lower_bound": 2.0},
        "mask_upper_1": {"rho_mask_upper_bound": 1.0},
        "mask_upper_half": {"rho_mask_upper_bound": 0.5},
        "vaco_small_threshold": {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 0.2},
        "clamp_lower_1": {"rho_clamp_lower_bound": 1.0},
        "clamp_upper_1": {"rho_clamp_upper_bound": 1.0},
        "clamp_upper_half": {"rho_clamp_upper_bound": 0.5},
        "loss_fn": {"loss_fn": "grpo"},
        "estimator": {"kl_estimator": 4},
        "one_sample": {"num_samples_per_prompt_rollout": 1},
        "no_samples": {"num_samples_per_prompt_rollout": 0},
        "active_without_filter": {"active_sampling": True, "filter_zero_std_samples": False},
        "active_synchronous": {"active_sampling": True, "async_steps": 1},
        "synchronous": {"async_steps": 0},
        "no_mini_batches": {"num_mini_batches": 0},
        "no_reward": {"apply_verifiable_reward": False},
        "pack_too_small": {"pack_length": 511},
        "response_too_long": {"response_length": 1024, "pack_length": 1279},
        "split_without_stage_3": {"sequence_parallel_size": 2},
        "split_in_stage_2": {"sequence_parallel_size": 2, "deepspeed_stage": 2},
    }.items():
        record.refused(name, config)
    record.refused("normalization", {"advantage_normalization_type": "batch"}, "advantages")


# ---- several completions in a pack ------------------------------------------------------------------


def packs(record: Recorder) -> None:
    """Two completions in one pack, packed by Open Instruct: for it, a row is a sequence."""
    window = {"rho_mask_lower_bound": 0.9, "rho_mask_upper_bound": 1.1}
    for name, config in {
        "token": window,
        "sequence": {**window, "rho_mask_sequence_level": True},
        "vaco": {"rho_mask_lower_bound": 0.3, "rho_mask_tv_divergence": True},
    }.items():
        record.cases.append(_in_packs(record, f"packs_{name}", {**EPOCHS, **NO_KL, **config}, ALL))
        for size in (1, 2, 8):
            case = {**EPOCHS, **config, "record_entropy": True, "per_device_train_batch_size": size}
            which = {**ALL, "entropies": "entropy", "mask": "mask_holes"}
            found = _in_packs(record, f"packs_{name}_logged_{size}", case, which, logged=True)
            record.cases.append(found)


def _in_packs(
    record: Recorder, id: str, case: dict[str, Any], which: dict[str, str], *, logged: bool = False
) -> dict[str, Any]:
    """One training step of packs."""
    arrays = {field: np.array(given(array), dtype=float) for field, array in which.items()}
    packed, places = in_packs(record.oi, arrays)
    numbers = trained(record.oi, case, packed, torch.float64, None)
    gradient = np.array(numbers["grad_logp"])
    unpacked = np.zeros(arrays["mask"].shape)
    unpacked[places[:, 0], places[:, 1]] = gradient[packed["mask"] != 0]
    whole = {"loss": numbers["loss"], "grad_logp": unpacked.tolist()}
    if logged:
        whole["metrics"] = numbers["metrics"]
    return {"id": f"oi_grid_{id}", "call": "loss in packs of two", "config": case, "given": which, **whole}


def in_packs(oi: SimpleNamespace, arrays: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
    """The arrays with two completions and their prompts in each row, and where each token came from."""
    mask = arrays["mask"] != 0
    count, length = mask.shape
    tokens = [[int(place) + 1 for place in np.flatnonzero(row)] for row in mask]
    sampler = [list(row[kept]) for row, kept in zip(arrays["rollout_log_probs"], mask, strict=True)]
    found = []
    for first in range(0, count, 2):
        pair = slice(first, first + 2)
        found.append(
            oi.rl_utils.pack_sequences(
                [[length + 1]] * 2,
                tokens[pair],
                [[1] * len(each) for each in tokens[pair]],
                100,
                0,
                sampler[pair],
            )
        )
    width = max(len(pack.query_responses[0]) for pack in found)
    names = [name for name in arrays if name not in ("mask", "advantages")]
    packed = {name: np.full((len(found), width), -1.0) for name in (*names, "advantages")}
    packed["mask"] = np.zeros((len(found), width))
    places = []
    for row, pack in enumerate(found):
        for column, (token, which) in enumerate(
            zip(pack.query_responses[0].tolist(), pack.response_masks[0].tolist(), strict=True)
        ):
            if which:
                completion = 2 * row + which - 1
                places.append((completion, token - 1))
                packed["mask"][row, column] = 1.0
                packed["advantages"][row, column] = arrays["advantages"][completion]
                for name in names:
                    packed[name][row, column] = arrays[name][completion, token - 1]
    return packed, np.array(places)


def main(sources: Path) -> None:
    record = Recorder(load(sources))
    for cases in (
        losses,
        clips,
        impossible,
        correlations,
        divergences,
        others,
        precisions,
        cancelling,
        olmo_core,
        combinations,
        rewards,
        refusals,
        packs,
    ):
        cases(record)
    for case in record.cases:
        _check(case)
    path = write("open_instruct", record.cases, ABOUT)
    print(f"wrote {len(record.cases)} cases to {path.name}")


def _check(case: dict[str, Any]) -> None:
    """A gradient is finite."""
    if "grad_logp" in case and not np.isfinite(np.array(case["grad_logp"])).all():
        raise ValueError(f"{case['id']}: a gradient that is not finite")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
