"""Record prime-rl 559b44772: `python tests/data/record/record_prime_rl.py SOURCES`, a checkout of it.

What runs is theirs: the classes of the configuration with their checks, from `RLConfig` down; `score_group`
of the algorithms; the gates; `_prune_zero_advantages`; the lines of `train` that count the tokens of a step;
and `compute_loss` with both losses. Stubs take the place of the environments (package verifiers), the
renderers and the models; a completion is a trace of one node. Torch 2.13.0 on the CPU; pydantic 2.14 and
prime-pydantic-config are needed beside it.
"""

import ast
import asyncio
import itertools
import math
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import writing
from absent import stand_in_for
from pydantic import BaseModel, ConfigDict

GROUP = 4
COMMIT = "prime-rl 559b44772 (2026-08-21)"


class Open(BaseModel):
    """Any of the configurations of the packages that are not there."""

    model_config = ConfigDict(extra="allow")
    name: str = "auto"

    @property
    def env_id(self) -> str:
        return "tasks"


def opened(name: str) -> type[Open]:
    if name.startswith("__"):
        raise AttributeError(name)
    return Open


def stand_ins() -> None:
    """The packages whose types the configuration is made of."""
    verifiers, renderers = types.ModuleType("verifiers"), types.ModuleType("renderers")
    v1, base = types.ModuleType("verifiers.v1"), types.ModuleType("renderers.base")
    v1.__getattr__ = renderers.__getattr__ = opened  # type: ignore[method-assign]
    v1.narrowed_env_annotation = lambda cls: Open
    v1.resolve_env_field = lambda data, annotation: data
    base.MODEL_RENDERER_MAP = {"Qwen/Qwen3-0.6B": None}
    verifiers.v1, renderers.base = v1, base
    modules = (verifiers, v1, renderers, base)
    sys.modules |= {module.__name__: module for module in modules}


def functions(path: Path, *names: str) -> list[ast.stmt]:
    """The functions of a file by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in tree.body if getattr(node, "name", "") in names]


def compiled(path: Path, nodes: list[ast.stmt]) -> Any:
    future = ast.parse("from __future__ import annotations").body
    return compile(ast.Module(future + nodes, type_ignores=[]), str(path), "exec")


def counting(sources: Path) -> Any:
    """The lines of `train` between the first count of a step's tokens and the divisors."""
    path = sources / "src/prime_rl/trainer/rl/train.py"
    (train,) = functions(path, "train")
    loop = next(node for node in train.body if isinstance(node, ast.While))
    told = [ast.unparse(node) for node in loop.body]
    first = next(place for place, line in enumerate(told) if line.startswith("local_rl_scale"))
    last = next(place for place, line in enumerate(told) if line.startswith("rl_scale, ce_scale"))
    return compiled(path, loop.body[first : last + 1])


def parsed(config: dict[str, Any]) -> Any:
    """Their configuration of a run after all checks."""
    nested: dict[str, Any] = {"trainer": {}, "orchestrator": {}}
    for key, value in config.items():
        place, (*groups, last) = nested, key.split(".")
        for name in [("trainer" if groups[:1] == ["loss"] else "orchestrator"), *groups]:
            place = place.setdefault(name, {})
        place[last] = value
    nested["orchestrator"].setdefault("train", {}).setdefault("source", [{}])
    for source in nested["orchestrator"]["train"]["source"]:
        source.setdefault("env", {"taskset": {"id": "tasks"}})
    return RL.RLConfig(**nested)


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    if name == "mask":
        return array.bool()
    return array.to(getattr(torch, case.get("dtype", "float64")))


def scored(case: dict[str, Any], run: Any) -> list[Any]:
    """Traces of one node each, after `score_group` of the source's algorithm."""
    source = run.orchestrator.train.source[0]
    algorithm = ALGORITHMS[source.algo.type](source.algo, None)
    mask, rewards = tensor(case, "mask"), tensor(case, "rewards")
    has = {name: tensor(case, name) for name in case["given"] if name in ("input_lengths", "turns")}
    traces = [
        SimpleNamespace(
            id=str(row),
            has_error=False,
            agent=SimpleNamespace(trainable=True, name="agent"),
            reward=rewards[row].item(),
            num_output_tokens=int(mask[row].sum()),
            num_total_tokens=int(mask[row].sum()) + int(has["input_lengths"][row] if has else 5),
            num_turns=int(has["turns"][row] if has else 1),
            nodes=[SimpleNamespace(mask=mask[row].tolist(), token_ids=[0] * mask.shape[1], advantages=None)],
        )
        for row in range(len(mask))
    ]
    for begin in range(0, len(traces), GROUP):
        group = [SimpleNamespace(id="e", traces=[trace]) for trace in traces[begin : begin + GROUP]]
        asyncio.run(algorithm.score_group(group))
    return traces


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """One per completion."""
    traces = scored(case, parsed(case["config"]))
    return {"value": [trace.nodes[0].advantages[0] for trace in traces], "axes": ["completion"]}


def admitted(traces: list[Any], run: Any) -> list[bool]:
    """Whether the gates of the source let each group pass."""
    curriculum = run.orchestrator.train.source[0].curriculum
    gates = [GATE(gate) for gate in (curriculum.gates.values() if curriculum else ())]
    groups = [traces[begin : begin + GROUP] for begin in range(0, len(traces), GROUP)]
    return [all(gate.admit([SimpleNamespace(traces=group)]) for gate in gates) for group in groups]


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    run = parsed(case["config"])
    return {"value": [float(kept) for kept in admitted(scored(case, run), run)]}


def batch(case: dict[str, Any], run: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Advantages per token, mask, and weights of the rl component, from given advantages or rewards."""
    mask = tensor(case, "mask")
    if "advantages" in case["given"]:
        found = tensor(case, "advantages")
        return (found if found.ndim == 2 else found[:, None].expand(mask.shape)), mask, None
    traces = scored(case, run)
    groups = admitted(traces, run)
    tokens, weights, masks = [], [], []
    for row, trace in enumerate(traces):
        value = trace.nodes[0].advantages[0]
        sample = SimpleNamespace(
            mask=mask[row].tolist(),
            advantages=[value if is_one else 0.0 for is_one in mask[row].tolist()],
            rl_weights=None,
            ce_weights=None,
            ref_kl_weights=None,
        )
        kept = groups[row // GROUP]
        if run.orchestrator.train.filter_zero_advantages:
            kept = PRUNE["_prune_zero_advantages"](sample) and kept
        masks.append(mask[row] & kept)
        tokens.append(sample.advantages)
        weights.append(sample.rl_weights or [1.0] * mask.shape[1])
    return torch.tensor(tokens, dtype=torch.float32), torch.stack(masks), torch.tensor(weights)


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """One step: the tokens are counted, and each of its micro-batches has a loss."""
    run = parsed(case["config"])
    policy = tensor(case, "log_probs").requires_grad_()
    sampler = tensor(case, "old_log_probs") if "old_log_probs" in case["given"] else policy.detach()
    tokens, mask, weights = batch(case, run)
    tokens = tokens.to(policy.dtype)
    rows = [*range(len(mask))]
    size = case.get("micro", len(rows))
    parts = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
    micro = [
        {
            "loss_mask": mask[part],
            "rl_weights": None if weights is None else weights[part],
            "ce_weights": None,
            "ref_kl_weights": None,
        }
        for part in parts
    ]
    counted = {
        "micro_batches": micro,
        "torch": SimpleNamespace(tensor=lambda *a, device, **k: torch.tensor(*a, **k), int64=torch.int64),
        "dist": SimpleNamespace(all_reduce=lambda *a, **k: None, ReduceOp=SimpleNamespace(SUM=None)),
        "parallel_dims": SimpleNamespace(get_mesh=lambda name: SimpleNamespace(get_group=lambda: None)),
    }
    exec(COUNT, counted)
    function = LOSS.setup_rl_loss_fn(run.trainer.loss)
    total, logged = torch.zeros((), dtype=policy.dtype), []
    for part, one in zip(parts, micro, strict=True):
        value, metrics = LOSS.compute_loss(
            trainer_logprobs=[policy[row] for row in part],
            inference_logprobs=[sampler[row] for row in part],
            ref_logprobs=None,
            advantages=[tokens[row] for row in part],
            loss_mask=list(one["loss_mask"]),
            rl_weights=None if weights is None else list(one["rl_weights"]),
            ce_weights=None,
            ref_kl_weights=None,
            rl_loss_fn=function,
            **{name: counted[name] for name in ("rl_scale", "ce_scale", "ref_kl_scale")},
        )
        value.backward()
        total = total + value.detach()
        logged.append(metrics)
    names = logged[0] if weights is None else {}
    told = {name: torch.cat([each[name] for each in logged]).double().mean().item() for name in names}
    if weights is None and mask.any():
        mismatch = LOSS.compute_importance_ratio_and_mismatch_kl(policy.detach(), sampler)[2]
        told["mismatch_kl/all"] = mismatch[mask].mean().item()
    return {"loss": total.item(), "grad_logp": policy.grad.tolist(), "metrics": told}


CALLS = {
    "loss": loss,
    "loss of a batch": loss,
    "advantages": advantages,
    "advantages of several turns": advantages,
    "kept groups": kept_groups,
}
USUAL = {"group_size": GROUP}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
SCORED = {"rewards": "rewards", "mask": "mask"}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"prime_rl, {name}", "call": call, "config": USUAL | config, "given": given, **others}


LOSSES = {
    "default": {},
    "tight": {"loss.dppo_mask_low": 0.01, "loss.dppo_mask_high": 0.02},
    "high 0.28": {"loss.dppo_mask_high": 0.28},
    "thresholds of 0": {"loss.dppo_mask_low": 0.0, "loss.dppo_mask_high": 0.0},
    "half": {"loss.adv_tau": 0.5},
    "no pull": {"loss.kl_tau": 0.0},
    "pull alone": {"loss.adv_tau": 0.0, "loss.kl_tau": 0.1},
    "ipo": {"loss.type": "ipo"},
    "ipo, tight": {"loss.type": "ipo", "loss.ipo_threshold": 0.02},
    "ipo, threshold of 0": {"loss.type": "ipo", "loss.ipo_threshold": 0.0},
    "ipo, double, strong pull": {"loss.type": "ipo", "loss.adv_tau": 2.0, "loss.kl_tau": 0.5},
}
EVERYWHERE = {"everywhere": [[1] * 7] * 12}
"""No padding: exp overflows there, and their mask times infinity is NaN."""
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single", "mask_none")


def losses() -> Any:
    """The loss of given advantages."""
    for (name, config), policy in itertools.product(LOSSES.items(), ("logp", "logp_at_bounds")):
        yield case(f"{name}, {policy}", "loss", config, PLAIN | {"log_probs": policy})
    for name in ("default", "ipo", "tight"):
        for mask in MASKS:
            yield case(f"{name}, {mask}", "loss", LOSSES[name], PLAIN | {"mask": mask})
        tokens = {"advantages": "token_advantages", "mask": "mask_holes"}
        yield case(f"{name}, per token", "loss", LOSSES[name], PLAIN | tokens)
        yield case(f"{name}, sampler", "loss", LOSSES[name], PLAIN | {"old_log_probs": "sampler_logp"})
        alone = {"log_probs": "logp", "advantages": "advantages", "mask": "mask"}
        yield case(f"{name}, on policy", "loss", LOSSES[name], alone)
        yield case(f"{name}, micro-batches", "loss", LOSSES[name], PLAIN, micro=3)
        yield case(f"{name}, float32", "loss", LOSSES[name], PLAIN, dtype="float32", rtol=1e-5)
        for policy, precision in itertools.product(("logp_extreme", "logp_limited"), ("float64", "float32")):
            given = PLAIN | {"log_probs": policy, "mask": "everywhere"}
            others = {"inputs": EVERYWHERE} | ({} if precision == "float64" else {"rtol": 1e-5})
            told = f"{name}, {policy}, {precision}"
            yield case(told, "loss", LOSSES[name], given, dtype=precision, **others)


LENGTH = "algo.length_penalty."
ALGORITHMS_OF = {
    "grpo": {},
    "grpo, penalty": {f"{LENGTH}type": "linear"},
    "grpo, penalty of output alone": {
        f"{LENGTH}num_output_tokens_weight": 1.0,
        f"{LENGTH}num_input_tokens_weight": 0.0,
        f"{LENGTH}num_turns_weight": 0.0,
    },
    "grpo, no weight": {f"{LENGTH}num_output_tokens_weight": 0.0},
    "max_rl": {"algo.type": "max_rl"},
}
REWARDS = ("rewards", "rewards_some_equal", "rewards_tied", "rewards_huge")
SPREAD = {
    "input_lengths": [5, 9, 2, 30, 4, 4, 4, 4, 0, 0, 0, 0],
    "turns": [1, 3, 1, 5, 2, 2, 2, 2, 1, 1, 4, 1],
}
NEGATIVE = {"punished": [-1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -0.5, -0.5, -0.25, -1.0]}


def gated(**gates: Any) -> dict[str, Any]:
    return {"train.source": [{"curriculum": {"gates": gates}}]}


GATES = {
    "no signal": gated(low_signal={"type": "advantage_range"}),
    "a range": gated(low_signal={"reject_min": -0.5, "reject_max": 0.5}),
    "two gates": gated(one={}, other={"reject_min": -0.1, "reject_max": 3.0}),
    "its own algorithm": {
        "train.source": [{"algo": {"type": "max_rl"}, "curriculum": {"gates": {"one": {}}}}]
    },
    "its own size": {"train.source": [{"group_size": GROUP, "name": "tasks"}]},
}


def advantage_cases() -> Any:
    for (name, config), rewards in itertools.product(ALGORITHMS_OF.items(), REWARDS):
        yield case(f"advantages: {name}, {rewards}", "advantages", config, SCORED | {"rewards": rewards})
    for name, config in ALGORITHMS_OF.items():
        given = SCORED | {"rewards": "punished"}
        yield case(f"advantages: {name}, punished", "advantages", config, given, inputs=NEGATIVE)
        holes = SCORED | {"mask": "mask_holes"}
        yield case(f"advantages: {name}, holes", "advantages", config, holes)
    for name in ("grpo, penalty", "grpo, penalty of output alone"):
        given = SCORED | {"input_lengths": "input_lengths", "turns": "turns"}
        config = ALGORITHMS_OF[name]
        yield case(f"several turns: {name}", "advantages of several turns", config, given, inputs=SPREAD)
    for (name, config), rewards in itertools.product(GATES.items(), REWARDS[:3]):
        yield case(f"kept groups: {name}, {rewards}", "kept groups", config, SCORED | {"rewards": rewards})


LOOSE = 5e-6
"""Their advantages are float32."""


def batches() -> Any:
    """From rewards to the loss, with what is taken out on the way."""
    rated = {name: source for name, source in PLAIN.items() if name != "advantages"}
    for (name, config), rewards in itertools.product(ALGORITHMS_OF.items(), REWARDS[:3]):
        given = rated | {"rewards": rewards}
        yield case(f"batch: {name}, {rewards}", "loss of a batch", config, given, rtol=LOOSE)
        whole = config | {"train.filter_zero_advantages": False}
        yield case(f"batch: {name}, {rewards}, unfiltered", "loss of a batch", whole, given, rtol=LOOSE)
    for name, config in GATES.items():
        given = rated | {"rewards": "rewards_some_equal", "mask": "mask_holes"}
        yield case(f"batch: {name}", "loss of a batch", config | LOSSES["ipo"], given)
        yield case(f"batch: {name}, micro-batches", "loss of a batch", config, given, micro=5)
    given = rated | {"rewards": "halves"}
    halves = {"halves": [0.5] * 12}
    yield case("batch: no signal at all", "loss of a batch", {}, given, inputs=halves)


REFUSED = {
    "a negative threshold": {"loss.dppo_mask_low": -0.1},
    "a negative weight": {"loss.kl_tau": -1.0},
    "a negative share": {"loss.adv_tau": -1.0},
    "a threshold of the other loss": {"loss.ipo_threshold": 0.1},
    "thresholds of the other loss": {"loss.type": "ipo", "loss.dppo_mask_low": 0.2},
    "no such loss": {"loss.type": "grpo"},
    "no such algorithm": {"algo.type": "gspo"},
    "a penalty of max_rl": {"algo.type": "max_rl", f"{LENGTH}type": "linear"},
    "no such penalty": {f"{LENGTH}type": "quadratic"},
    "a negative penalty": {f"{LENGTH}num_turns_weight": -0.1},
    "an infinite penalty": {f"{LENGTH}num_turns_weight": math.inf},
    "no threshold": {"loss.dppo_mask_high": None},
    "a frozen sampler": {"algo.sampling.source": "frozen"},
    "both batches": {"batch_size": 128, "token_batch_size": 4096},
    "a batch of broken groups": {"batch_size": 126},
    "a default batch of broken groups": {"group_size": 3},
    "too few in flight": {"concurrency.max_inflight": 2},
    "too few at first": {"concurrency.initial_inflight": 3},
    "more at first than at most": {"concurrency.initial_inflight": 2000},
    "more at least than at most": {"concurrency.min_inflight": 2000},
    "groups of none": {"group_size": 0},
    "a range backwards": gated(one={"reject_min": 1.0, "reject_max": 0.0}),
    "no such gate": gated(one={"type": "reward_range"}),
    "a key that no source has": {"train.source": [{"rollouts_per_example": 8}]},
    "an algorithm of its own, with a key of another": {
        "train.source": [{"algo": {"type": "max_rl", "decay": 0.9}}]
    },
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", config, PLAIN) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except ValueError as error:
        if "refused" not in case:
            raise
        return case | {"refused": " ".join(str(error).split())[:200]}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return {name: value for name, value in case.items() if name != "micro"} | numbers


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    stand_ins()
    stand_in_for(("beartype", "jaxtyping", "wandb", "loguru"))
    for package in ("src", "packages/prime-rl-configs/src"):
        sys.path.insert(0, str(SOURCES / package))
    import prime_rl.configs.rl as RL

    trainer = SOURCES / "src/prime_rl/trainer/rl/loss.py"
    LOSS = types.ModuleType("loss")
    sys.modules["loss"] = LOSS
    LOSS.import_object = None
    nodes = ast.parse(trainer.read_text(encoding="utf-8")).body
    own = [node for node in nodes if "prime_rl.utils.utils" not in ast.unparse(node)]
    exec(compile(ast.Module(own, type_ignores=[]), str(trainer), "exec"), vars(LOSS))
    sink = SOURCES / "src/prime_rl/orchestrator/train_sink.py"
    PRUNE: dict[str, Any] = {}
    exec(compiled(sink, functions(sink, "_prune_zero_advantages")), PRUNE)
    gate = SOURCES / "src/prime_rl/orchestrator/curriculum/gates/adv.py"
    scope: dict[str, Any] = {"AdmissionGate": object}
    exec(compiled(gate, functions(gate, "AdvRangeGate")), scope)
    GATE = scope["AdvRangeGate"]
    ALGO = SOURCES / "src/prime_rl/orchestrator/algo"
    run: dict[str, Any] = {"torch": torch, "vf": None, "ClassVar": None}
    for name, wanted in {
        "base": ("iter_trainable_traces", "Algorithm"),
        "routing": ("assign_advantages",),
        "grpo": ("GRPOAlgorithm",),
        "max_rl": ("MaxRLAlgorithm",),
    }.items():
        exec(compiled(ALGO / f"{name}.py", functions(ALGO / f"{name}.py", *wanted)), run)
    ALGORITHMS = {"grpo": run["GRPOAlgorithm"], "max_rl": run["MaxRLAlgorithm"]}
    COUNT = counting(SOURCES)
    wanted_cases = [*losses(), *advantage_cases(), *batches(), *refusals()]
    done = [*map(recorded, wanted_cases)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_prime_rl.py"}
    print(writing.write("prime_rl", done, about), len(done))
