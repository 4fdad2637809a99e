"""Record RLinf a3816b596 (2026-08-22): `python tests/data/record/record_rlinf.py SOURCES`.

SOURCES is a checkout of github.com/RLinf/RLinf at that commit; PyTorch and OmegaConf are needed, and no GPU.
What is recorded is what its actors do with one micro-batch: the lines between the model's forward pass and
the backward pass are cut out of `fsdp_actor_worker.py` and `megatron_actor_worker.py` and executed as they
stand, and so are those that compute and normalize the advantages. The decoupled loss is called as its one
actor does, with one action per token and a critic that is right. Only what surrounds them is replaced: the
configuration is OmegaConf's, of one rank without others, and `.cuda()` stays where it is.

The sampler's, the recomputed and the reference's log-probabilities are 0 on padding, as they arrive there; in
FSDP's advantages they are what its model computes, on padding too.
The gradient is that with respect to log-probabilities that the actor fills with 0 on padding, as Megatron's
does; FSDP's does not, and there a completion without tokens makes the gradient of its padding NaN too. What
is left out is told at the end: cases in which a ratio beyond the numbers makes autograd's gradient NaN.
"""

import ast
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Optional

import torch
from inputs import GROUP, ROWS, TOKENS
from omegaconf import OmegaConf
from writing import given, write

COMMIT = "a3816b596478dcd8a5c69a6ec1468c9519f77b5b"
ACTORS = ("fsdp", "megatron")
AGGREGATES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean")
PENALTIES = ("kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3")
MASKS = ("mask", "mask_holes", "mask_empty", "mask_first_empty", "mask_none", "mask_single")
REWARDS = ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied", "rewards_huge")
PAGE = {
    "adv_type": "grpo",
    "loss_type": "actor",
    "loss_agg_func": "token-mean",
    "group_size": GROUP,
    "kl_beta": 0.0,
    "kl_penalty_type": "low_var_kl",
    "ratio_clip_eps": 0.2,
    "clip_ratio_c": None,
    "calculate_entropy": False,
    "entropy_bonus": 0.0,
    "normalize_advantages": False,
    "early_stop_imp_ratio": None,
    "use_valid_token_scale": False,
    "training_batch_size_per_gpu": ROWS,
}
"""The keys that RLinf has no default for, as its files for language models have them; all rows at once."""
HERE = SimpleNamespace()
"""What `prepare` finds in the sources."""


def prepare(sources: Path) -> None:
    """Import what can be imported of RLinf, and cut the rest out of its files."""
    sys.path.insert(0, str(sources))
    for name in (
        "rlinf.scheduler",
        "rlinf.agents",
        "rlinf.agents.tool_call",
        "rlinf.agents.tool_call.parsers",
    ):
        sys.modules[name] = ModuleType(name)
    worker = SimpleNamespace(
        torch_platform=SimpleNamespace(current_device=lambda: "cpu"), torch_device_type="cpu"
    )
    sys.modules["rlinf.scheduler"].Worker = worker
    sys.modules["rlinf.scheduler"].Tracer = object
    sys.modules["rlinf.agents.tool_call"].parsers = sys.modules["rlinf.agents.tool_call.parsers"]
    torch.Tensor.cuda = lambda self, *_args, **_kwargs: self
    import rlinf.algorithms.registry as registry
    from rlinf.algorithms.utils import kl_penalty
    from rlinf.utils import metric_utils, utils
    from rlinf.utils.distributed import masked_normalization

    distributed = SimpleNamespace(
        all_reduce=lambda *_args, **_kwargs: None,
        broadcast_object_list=lambda *_args: None,
        ReduceOp=SimpleNamespace(AVG=None),
    )
    HERE.names = {
        **{name: getattr(utils, name) for name in vars(utils)},
        "torch": _Torch(distributed),
        "Worker": worker,
        "policy_loss": registry.policy_loss,
        "calculate_adv_and_returns": registry.calculate_adv_and_returns,
        "kl_penalty": kl_penalty,
        "masked_normalization": masked_normalization,
        "parallel_state": SimpleNamespace(
            get_data_parallel_group=lambda: None, get_data_parallel_world_size=lambda: 1
        ),
        "average_losses_across_data_parallel_group": lambda losses: losses[0],
        "append_to_dict": metric_utils.append_to_dict,
        "pop_critic_explained_variance_stats": metric_utils.pop_critic_explained_variance_stats,
        "get_last_rank": lambda: 0,
        "CRITIC_EXPLAINED_VARIANCE_KEY": "critic",
        "CRITIC_EXPLAINED_VARIANCE_STAT_KEYS": (),
    }
    workers = sources / "rlinf" / "workers"
    HERE.files = {
        "fsdp": (workers / "actor" / "fsdp_actor_worker.py").read_text(encoding="utf-8"),
        "megatron": (workers / "actor" / "megatron_actor_worker.py").read_text(encoding="utf-8"),
        "worker": (workers / "megatron_worker.py").read_text(encoding="utf-8"),
        "config": (sources / "rlinf" / "config.py").read_text(encoding="utf-8"),
        "async": (workers / "actor" / "async_ppo_fsdp_worker.py").read_text(encoding="utf-8"),
    }


class _Torch:
    """PyTorch with one rank and no GPU."""

    def __init__(self, distributed: Any) -> None:
        self.distributed = distributed
        self.cuda = SimpleNamespace(current_device=lambda: "cpu")

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


# ---- cutting -------------------------------------------------------------------------------------


@cache
def tree(file: str) -> ast.Module:
    """A file, parsed once."""
    return ast.parse(HERE.files[file])


@cache
def function(file: str, name: str) -> ast.FunctionDef:
    """A function or method of a file, without decorators."""
    found = next(
        node for node in ast.walk(tree(file)) if isinstance(node, ast.FunctionDef) and node.name == name
    )
    found.decorator_list = []
    return found


def execute(statements: list[ast.stmt], **names: Any) -> dict[str, Any]:
    """Run statements as they stand with these names, and return all names."""
    space = {**HERE.names, **names}
    exec(compile(ast.Module(statements, []), "RLinf", "exec"), space)
    return space


def between(statements: list[ast.stmt], first: str, last: str) -> list[ast.stmt]:
    """The statements from the one that begins with some source to the one that does with another."""
    texts = [ast.unparse(statement) for statement in statements]
    begin = next(place for place, text in enumerate(texts) if text.startswith(first))
    end = next(place for place, text in enumerate(texts) if text.startswith(last))
    return statements[begin : end + 1]


def setting(file: str, owner: str, *names: str) -> list[ast.stmt]:
    """The statements of a class's __init__ that set these attributes."""
    of_class = next(
        node for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef) and node.name == owner
    )
    init = next(node for node in of_class.body if getattr(node, "name", "") == "__init__")
    wanted = [f"self.{name} =" for name in names] + ["clip_ratio ="]
    return [
        each
        for each in init.body
        if isinstance(each, (ast.Assign, ast.If)) and any(name in ast.unparse(each) for name in wanted)
    ]


# ---- the actors ----------------------------------------------------------------------------------


def actor(config: dict[str, Any]) -> SimpleNamespace:
    """What the actor of a configuration keeps in `self`, set by its own lines."""
    cfg = OmegaConf.create(
        {
            "algorithm": {name: value for name, value in config.items() if "." not in name},
            "runner": {"task_type": config.get("runner.task_type", "reasoning")},
            "actor": {"training_backend": config["actor.training_backend"]},
        }
    )
    OmegaConf.set_struct(cfg, True)
    self = SimpleNamespace(cfg=cfg, response_len=TOKENS, num_microbatches=1, do_down_sampling=False)
    self.log_warning, self.worker_timer, self.kind = (
        (lambda _text: None),
        nullcontext,
        config["actor.training_backend"],
    )
    kept = ("calculate_entropy", "calculate_entropy_loss", "kl_beta", "kl_penalty_type", "loss_agg_func")
    if self.kind == "fsdp":
        statements = setting("fsdp", "FSDPActor", *kept, "reinpp_kl_beta", "task_type")
    else:
        statements = setting("worker", "MegatronWorker", "kl_beta", "kl_penalty_type", "loss_agg_func")
        statements += setting(
            "megatron", "MegatronActor", *kept, "clip_ratio_low", "clip_ratio_high", "clip_ratio_c"
        )
    execute(statements, self=self, cfg=cfg)
    return self


def micro_batch(
    self: SimpleNamespace, batch: dict[str, Any], logps: Any, entropy: Any
) -> tuple[Any, dict[str, Any]]:
    """Loss and metrics of one micro-batch, by the lines of its actor."""
    if self.kind == "megatron":
        space = execute([function("megatron", "loss_func")], self=self, batch=batch, response_len=TOKENS)
        one_longer = {"log_probs": logps, "entropy": entropy}
        return space["loss_func"](
            {name: torch.nn.functional.pad(value, (0, 1)) for name, value in one_longer.items()}
        )
    loop = next(
        node
        for node in ast.walk(function("fsdp", "training_step"))
        if isinstance(node, ast.For) and "enumerate(micro_batches_iter)" in ast.unparse(node.iter)
    )
    lines = between(loop.body, "old_logprobs =", "final_loss_metric =")
    lines += between(loop.body, "mbs_metrics_data.update", "mbs_metrics_data.update")
    found = execute(lines, self=self, m_batch=batch, logprobs=logps, entropy=entropy)
    mismatch = execute([function("fsdp", "compute_rollout_train_kl")], Optional=Optional)
    far = mismatch["compute_rollout_train_kl"](batch, found["loss_mask"])
    return found["loss"], found["mbs_metrics_data"] | ({} if far is None else {"actor/rollout_train_kl": far})


def over_step(self: SimpleNamespace, parts: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """What an actor logs of a step, from the batch and the metrics of each micro-batch, by its lines."""
    if self.kind == "megatron":
        whole = execute([function("worker", "_process_fwd_bwd_outputs")], self=self)
        return whole["_process_fwd_bwd_outputs"](self, [metrics for _, metrics in parts], False)
    collected: dict[str, list[Any]] = {}
    for _, metrics in parts:
        own = {name: value for name, value in metrics.items() if name != "actor/rollout_train_kl"}
        HERE.names["append_to_dict"](collected, own)
    lines = between(function("fsdp", "training_step").body, "rollout_train_kl =", "if rollout_train_kl")
    mismatch = execute([function("fsdp", "compute_rollout_train_kl")], Optional=Optional)
    last = parts[-1][0]
    space = {"m_batch": last, "loss_mask": last["response_mask"], "mbs_metrics_list": collected}
    return execute(lines, **mismatch, **space)["mean_metric_dict"]


def advantages(self: SimpleNamespace, batch: dict[str, Any]) -> Any:
    """The advantages as they reach the loss: computed, and normalized once more if the file says so.

    What the policy attends to are all tokens up to the last one, those of others between them too.
    """
    if self.kind == "fsdp":
        training = function("fsdp", "run_training")
        again = [each for each in training.body if ast.unparse(each).startswith("if self.cfg.algorithm.norm")]
        method = execute([function("fsdp", "compute_advantages_and_returns")])
        batch = method["compute_advantages_and_returns"](self, batch)
        return execute(again, self=self, global_batch=batch)["global_batch"]["advantages"]
    method = execute([function("worker", "compute_advantages_and_returns")])
    self.compute_advantages_and_returns = lambda each: method["compute_advantages_and_returns"](self, each)
    training = function("worker", "run_training").body
    lines = [
        each
        for each in training
        if ast.unparse(each).startswith(("if 'advantages' not in", "if self.cfg.algorithm.norm"))
    ]
    batch["attention_mask"] = batch["response_mask"].flip(1).cumsum(1).flip(1) > 0
    return execute(lines, self=self, batch=batch, output_channel=None)["batch"]["advantages"]


# ---- cases ---------------------------------------------------------------------------------------


def tensor(name: str, dtype: Any = torch.float32) -> Any:
    """An input as a tensor."""
    return torch.tensor(given(name), dtype=dtype)


def padded(name: str, mask: Any, dtype: Any = torch.float32) -> Any:
    """An input that is 0 on padding."""
    return tensor(name, dtype).masked_fill(~mask, 0.0)


def computed(kind: str, name: str, mask: Any) -> Any:
    """Log-probabilities that an actor computes before the step: FSDP's are not cleared where no token is."""
    return padded(name, mask) if kind == "megatron" else tensor(name)


def plain(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items()}


LOGPS = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}


def batch_of(names: dict[str, str]) -> dict[str, Any]:
    """The micro-batch that an actor gets, with what the case gives."""
    mask = tensor(names["mask"]).bool()
    values = tensor(names["advantages"])
    values = values if values.ndim == 2 else values[:, None].expand(mask.shape)
    batch = {"response_mask": mask, "advantages": values * mask}
    kept = {"recomputed": "old_log_probs", "rollout": "rollout_log_probs", "ref": "ref_log_probs"}
    return batch | {f"{kind}_logprobs": padded(names[by], mask) for kind, by in kept.items() if by in names}


def filled(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with the keys that RLinf insists on; what is `...` is left out."""
    return {name: value for name, value in (PAGE | config).items() if value is not ...}


def loss(name: str, config: dict[str, Any], **names: str) -> dict[str, Any] | None:
    """A case of the loss on one micro-batch, None if its gradient is not a number on some token."""
    config, names = filled(config), LOGPS | names
    batch, self = batch_of(names), actor(config)
    logps = tensor(names["log_probs"]).requires_grad_()
    entropy = tensor(names.get("entropies", "entropy"))
    if config["use_valid_token_scale"] and self.kind == "megatron":
        scale = execute([function("worker", "_setup_valid_token_scale")], Optional=Optional)
        scale["_setup_valid_token_scale"](self, batch)
    value, metrics = micro_batch(self, batch, logps.masked_fill(~batch["response_mask"], 0.0), entropy)
    case = {"id": f"{self.kind} {name}", "call": "loss", "config": config, "given": names, "dtype": "float32"}
    return with_gradient(case, value, metrics, logps)


def with_gradient(
    case: dict[str, Any], value: Any, metrics: dict[str, Any], logps: Any
) -> dict[str, Any] | None:
    """The case with its numbers."""
    slope = torch.autograd.grad(value, logps, allow_unused=True)[0] if value.requires_grad else None
    slope = torch.zeros_like(logps) if slope is None else slope
    unknown = case["given"].get("rollout_log_probs") == "sampler_logp_nan"
    if not slope.isfinite().all() and not (unknown and case["config"]["loss_type"] == "actor"):
        LEFT_OUT.append(case["id"])
        return None
    return case | {
        "rtol": 1e-5,
        "loss": float(value),
        "grad_logp": slope.tolist(),
        "metrics": plain(metrics),
    }


LEFT_OUT: list[str] = []
"""Cases whose gradient by autograd is no number on some token, and the sampler is not the cause."""


def losses(kind: str) -> list[dict[str, Any] | None]:
    """The loss of an actor: averages, clips, penalties, corrections, bonuses, alone and in pairs."""
    by = {"actor.training_backend": kind}
    cases = []
    for average in AGGREGATES:
        setting = by | {"loss_agg_func": average}
        cases += [loss(f"{average} on {mask}", setting, mask=mask) for mask in MASKS]
        penalized = setting | {"kl_beta": 0.1}
        cases.append(loss(f"{average} with k3", penalized, ref_log_probs="ref_logp"))
        cases.append(
            loss(f"{average} with k3, holes", penalized, ref_log_probs="ref_logp", mask="mask_holes")
        )
        cases.append(
            loss(f"{average} with k3, no token", penalized, ref_log_probs="ref_logp", mask="mask_none")
        )
        bonus = setting | {"calculate_entropy": True, "entropy_bonus": 0.05}
        cases.append(loss(f"{average} with a bonus", bonus, entropies="entropy"))
        cases.append(
            loss(f"{average}, first empty, bonus", bonus, entropies="entropy", mask="mask_first_empty")
        )
    for estimator in PENALTIES:
        setting = by | {"kl_beta": 0.2, "kl_penalty_type": estimator}
        cases.append(loss(f"penalty {estimator}", setting, ref_log_probs="ref_logp"))
        cases.append(loss(f"penalty {estimator}, far", setting, ref_log_probs="ref_logp_far"))
    negative = by | {"kl_beta": -0.2, "training_batch_size_per_gpu": 3}
    cases.append(loss("penalty of negative weight", negative, ref_log_probs="ref_logp"))
    cases += clips(by) + sampled(by) + stopped(by)
    cases.append(loss("advantages per token", by, advantages="token_advantages"))
    cases.append(loss("a bonus without an entropy", by | {"entropy_bonus": 0.05}, entropies="entropy"))
    cases.append(loss("an entropy without a bonus", by | {"calculate_entropy": True}, entropies="entropy"))
    cases.append(loss("on policy", by, log_probs="old_logp"))
    scaled = by | {"use_valid_token_scale": True}
    for name, weight in {"": {}, ", k3": {"kl_beta": 0.1}}.items():
        for mask in ("mask_none", "mask_first_empty", "mask_holes"):
            told = f"scaled on {mask}{name}"
            cases.append(loss(told, scaled | weight, ref_log_probs="ref_logp", mask=mask))
    cases += unread(by)
    return cases


def unread(by: dict[str, str]) -> list[dict[str, Any] | None]:
    """Weights that are not above 0, the kind of a penalty without one, and what is logged of an entropy."""
    cases = [loss("a penalty of less than nothing", by | {"kl_beta": -0.1}, ref_log_probs="ref_logp")]
    cases.append(loss("a kind of no penalty", by | {"kl_penalty_type": "full"}, ref_log_probs="ref_logp"))
    rewarded = {"calculate_entropy": True, "entropy_bonus": -0.05}
    cases.append(loss("a bonus of less than nothing", by | rewarded, entropies="entropy"))
    for average in AGGREGATES:
        entropy = by | {"loss_agg_func": average, "calculate_entropy": True}
        for mask in ("mask_empty", "mask_first_empty"):
            cases.append(loss(f"{average}, an entropy on {mask}", entropy, entropies="entropy", mask=mask))
    lower = by | {"clip_ratio_low": 1.0, "clip_ratio_high": 0.28}
    cases.append(loss("clip: a lower width of 1", lower, log_probs="logp_limited"))
    low = lower | {"clip_log_ratio_min": -60.0, "clip_log_ratio_max": 20.0}
    cases.append(loss("clip: a lower width of 1, far below", low, log_probs="logp_extreme"))
    return cases


def clips(by: dict[str, str]) -> list[dict[str, Any] | None]:
    """Bounds of the ratio and of its logarithm, on usual ratios and on extreme ones."""
    bounds = {
        "one bound": {"ratio_clip_eps": 0.1},
        "two bounds": {"clip_ratio_low": 0.2, "clip_ratio_high": 0.28},
        "one of two bounds": {"clip_ratio_high": 0.28},
        "dual": {"clip_ratio_c": 3.0},
        "dual, near": {"clip_ratio_c": 1.2, "clip_ratio_low": 0.3},
        "dual, far": {"clip_ratio_c": 10.0},
        "limited": {"clip_log_ratio_min": -20, "clip_log_ratio_max": 20},
        "limited, near": {"clip_log_ratio_min": -0.2, "clip_log_ratio_max": 0.1},
        "limited below": {"clip_log_ratio_min": -0.2, "clip_ratio_c": 3.0},
        "limited above": {"clip_log_ratio_max": 0.1, "clip_ratio_c": 3.0},
    }
    if by["actor.training_backend"] == "fsdp":
        bounds["no clip_ratio_c"] = {"clip_ratio_c": ...}
    cases = [loss(f"clip: {name}", by | setting) for name, setting in bounds.items()]
    for name in ("dual", "limited", "limited, near", "two bounds"):
        setting = by | bounds[name]
        cases.append(loss(f"clip: {name}, at the bounds", setting, log_probs="logp_at_bounds"))
        cases.append(loss(f"clip: {name}, to the limits of exp", setting, log_probs="logp_limited"))
        cases.append(loss(f"clip: {name}, beyond them", setting, log_probs="logp_extreme"))
    limited = by | bounds["limited"] | {"clip_ratio_c": 3.0}
    cases.append(loss("clip: limited and dual, beyond exp", limited, log_probs="logp_extreme"))
    if by["actor.training_backend"] == "fsdp":
        left = by | {"clip_ratio_c": ...}
        cases.append(loss("clip: no clip_ratio_c, at the bounds", left, log_probs="logp_at_bounds"))
    return cases


def sampled(by: dict[str, str]) -> list[dict[str, Any] | None]:
    """The sampler's mismatch, near, far and unknown."""
    cases = []
    for bound in (1.0, 2, 10.0):
        fix = by | {"importance_sampling_fix": True, "importance_sampling_clip": bound}
        for sampler in ("sampler_logp", "sampler_logp_far", "sampler_logp_nan"):
            cases.append(loss(f"{sampler} to {bound}", fix, rollout_log_probs=sampler))
    pairs = {
        "dual": {"clip_ratio_c": 1.5},
        "k3": {"kl_beta": 0.1},
        "mean of sums": {"loss_agg_func": "seq-mean-token-sum"},
        "mean of means": {"loss_agg_func": "seq-mean-token-mean"},
    }
    fix = by | {"importance_sampling_fix": True, "importance_sampling_clip": 1.5}
    reference = {"ref_log_probs": "ref_logp", "rollout_log_probs": "sampler_logp"}
    cases += [loss(f"sampler and {name}", fix | more, **reference) for name, more in pairs.items()]
    cases.append(loss("sampler, holes", fix, rollout_log_probs="sampler_logp", mask="mask_holes"))
    cases.append(loss("sampler, and no fix", by, rollout_log_probs="sampler_logp"))
    for sampler in ("sampler_logp_far", "sampler_logp_nan"):
        names = {"rollout_log_probs": sampler, "mask": "mask_first_empty", "ref_log_probs": "ref_logp"}
        cases.append(loss(f"{sampler}, first empty", fix, **names))
        cases.append(loss(f"{sampler}, first empty, k3", fix | {"kl_beta": 0.1}, **names))
    return cases


def stopped(by: dict[str, str]) -> list[dict[str, Any] | None]:
    """Early stopping with what it stops, and the batch that begins with an empty completion."""
    more = {
        "alone": {},
        "k3": {"kl_beta": 0.1},
        "a bonus": {"calculate_entropy": True, "entropy_bonus": 0.05},
        "a limit": {"clip_log_ratio_max": -0.5},
        "mean of sums": {"loss_agg_func": "seq-mean-token-sum", "kl_beta": 0.1, "kl_penalty_type": "k1"},
    }
    names = {"ref_log_probs": "ref_logp", "entropies": "entropy"}
    cases = []
    for what, setting in more.items():
        for bound in (0.9, 5.0):
            early = by | setting | {"early_stop_imp_ratio": bound}
            cases.append(loss(f"early stop at {bound}, {what}", early, **names))
        cases.append(
            loss(
                f"early stop after an empty one, {what}",
                by | setting | {"early_stop_imp_ratio": 0.9},
                mask="mask_first_empty",
                **names,
            )
        )
        cases.append(loss(f"after an empty one, {what}", by | setting, mask="mask_first_empty", **names))
    early = by | {"early_stop_imp_ratio": 5.0, "kl_beta": 0.1, "clip_ratio_c": 3.0}
    cases.append(loss("early stop, limited ratios", early, log_probs="logp_limited", **names))
    cases.append(loss("valid tokens", by | {"use_valid_token_scale": True, "kl_beta": 0.1}, **names))
    return cases


def steps(kind: str) -> list[dict[str, Any]]:
    """The mean over the micro-batches of a step, each with its own average."""
    cases = []
    for size in (1, 2, 4, 6):
        for average in AGGREGATES:
            cases += [step(kind, average, size, scaled) for scaled in (False, True)]
    for average, size in (("token-mean", 1), ("token-mean", 4), ("seq-mean-token-sum", 4)):
        cases.append(step(kind, average, size, True, mask="mask_none", kl_beta=0.1))
    cases.append(step(kind, "token-mean", 4, False, mask="mask_empty", kl_beta=0.1))
    cases.append(step(kind, "token-mean", 1, True, mask="mask_empty", kl_beta=0.1))
    return cases + measured_steps(kind)


def measured_steps(kind: str) -> list[dict[str, Any]]:
    """Steps with what is logged of them; with Megatron none of their micro-batches begins empty."""
    fix = {"importance_sampling_fix": True, "importance_sampling_clip": 2.0}
    bonus = {"calculate_entropy": True, "entropy_bonus": 0.05}
    mask = "mask_first_empty" if kind == "fsdp" else "mask_holes"
    cases = []
    for name, more in {"": {}, " and k3": {"kl_beta": 0.1}, " and a bonus": bonus}.items():
        for size in (1, 4):
            told, steps = f", measured{name}", {"average": "token-mean", "size": size, "scaled": True}
            cases.append(step(kind, **steps, mask=mask, told=told, measured=True, **fix, **more))
    early = {"early_stop_imp_ratio": 1.05}
    cases.append(step(kind, "token-mean", 4, True, told=", measured, stopped", measured=True, **early))
    if kind == "fsdp":
        for average in AGGREGATES:
            entropy = {"calculate_entropy": True, "mask": "mask_empty", "measured": True}
            cases.append(step(kind, average, 1, False, told=", measured", **entropy))
    return cases


def step(
    kind: str,
    average: str,
    size: int,
    scaled: bool,
    mask: str = "mask",
    told: str = "",
    measured: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """A case of a step, with its metrics if they are wanted; the sampler is there where it is looked at."""
    config = filled(
        {
            "actor.training_backend": kind,
            "loss_agg_func": average,
            "training_batch_size_per_gpu": size,
            "use_valid_token_scale": scaled,
            **more,
        }
    )
    names = LOGPS | {"mask": mask, "ref_log_probs": "ref_logp"}
    names |= {"rollout_log_probs": "sampler_logp"} if config.get("importance_sampling_fix") else {}
    names |= {"entropies": "entropy"} if config["calculate_entropy"] else {}
    whole, self, logps = batch_of(names), actor(config), tensor("logp").requires_grad_()
    self.num_microbatches = ROWS // size
    if kind == "megatron" and scaled:
        scale = execute([function("worker", "_setup_valid_token_scale")], Optional=Optional)
        scale["_setup_valid_token_scale"](self, whole)
    total, parts = torch.tensor(0.0), []
    for begin in range(0, ROWS, size):
        rows = slice(begin, begin + size)
        part = {name: value[rows] for name, value in whole.items()}
        logp = logps[rows].masked_fill(~part["response_mask"], 0.0)
        value, metrics = micro_batch(self, part, logp, tensor("entropy")[rows])
        total = total + value / self.num_microbatches
        parts.append((part, metrics))
    told = f"{average}, {'scaled' if scaled else 'not scaled'}" + f" on {mask}" * bool(more) + told
    case = {
        "id": f"{kind} step of {size}, {told}",
        "call": "loss of a step",
        "config": config,
        "given": names,
        "dtype": "float32",
    }
    return with_gradient(case, total, over_step(self, parts) if measured else {}, logps)


# ---- the decoupled loss --------------------------------------------------------------------------


CRITIC = {"value_clip": 0.2, "huber_delta": 10.0}
"""What the critic's part of the loss reads."""


def decoupled(name: str, config: dict[str, Any], **names: str) -> dict[str, Any] | None:
    """A case of the decoupled loss as the asynchronous actor calls it, with one action per token."""
    config = {"loss_type": "decoupled_actor_critic", "clip_ratio_low": 0.2, "clip_ratio_high": 0.28} | config
    names = LOGPS | {"rollout_log_probs": "sampler_logp"} | names
    cfg = OmegaConf.create(
        {
            "algorithm": {**config, **CRITIC, "logprob_type": "token_level", "reward_type": "action_level"},
            "actor": {"model": {"action_dim": 1}},
            "env": {"train": {"max_episode_steps": None}},
            "runner": {"task_type": "embodied"},
        }
    )
    batch = batch_of(names)
    mask, logps = batch["response_mask"], tensor(names["log_probs"]).requires_grad_()
    nothing = torch.zeros(mask.shape)
    space = {
        "self": SimpleNamespace(cfg=cfg, optimizer_steps=0, critic_warmup_steps=0, version=0),
        "out": {"logprobs": logps.masked_fill(~mask, 0.0), "values": nothing},
        "old_logprobs": batch["rollout_logprobs"],
        "proximal_logprobs": batch["recomputed_logprobs"],
        **{"advantages": batch["advantages"], "loss_mask": mask, "loss_mask_sum": None},
        **dict.fromkeys(("returns", "prev_values"), nothing),
        **dict.fromkeys(("versions", "proximal_values", "current_version")),
    }
    call = [
        node
        for node in ast.walk(function("async", "run_training"))
        if ast.unparse(node).startswith(("loss_kwargs = {", "loss, metrics_data = policy_loss("))
        and isinstance(node, ast.Assign)
    ]
    found = execute(call, **space)
    metrics = {key: value for key, value in found["metrics_data"].items() if key.startswith("actor/")}
    case = {"id": f"decoupled {name}", "call": "loss", "config": config, "given": names, "dtype": "float32"}
    return with_gradient(case, found["loss"], metrics, logps)


def all_decoupled() -> list[dict[str, Any] | None]:
    """Without a threshold and with one, on every mask, sampler and limit."""
    cases = [decoupled("without a threshold", {})]
    for threshold in (None, 0.9, 1.2, 5):
        bound = {"behave_weight_threshold": threshold}
        for sampler in ("sampler_logp", "logp_limited", "sampler_logp_far"):
            cases.append(decoupled(f"{sampler}, {threshold}", bound, rollout_log_probs=sampler))
    at = {"behave_weight_threshold": 1.2}
    cases += [decoupled(f"on {mask}", at, mask=mask) for mask in MASKS]
    cases += [decoupled(f"dual {bound}", at | {"clip_ratio_c": bound}) for bound in (None, 1.2, 10.0)]
    for logps in ("logp_at_bounds", "logp_limited", "logp_extreme"):
        cases.append(decoupled(f"with {logps}", at, log_probs=logps))
    cases.append(decoupled("per token", at, advantages="token_advantages"))
    return cases


# ---- penalties and advantages --------------------------------------------------------------------


def penalties(kind: str) -> list[dict[str, Any]]:
    """What the penalty says of each token, called as the actor calls it."""
    cases = []
    for dtype in ("float64", "float32"):
        for estimator in PENALTIES:
            for far in ("ref_logp", "ref_logp_far"):
                logp, ref = (tensor(name, getattr(torch, dtype)) for name in ("logp", far))
                pair = (ref, logp) if kind == "fsdp" else (logp, ref)
                cases.append(
                    {
                        "id": f"{kind} {estimator} of each token, {far}, {dtype}",
                        "call": "penalty values",
                        "config": filled({"actor.training_backend": kind, "kl_penalty_type": estimator}),
                        "given": {"log_probs": "logp", "ref_log_probs": far},
                        "dtype": dtype,
                        "rtol": 1e-6 if dtype == "float64" else 1e-5,
                        "value": HERE.names["kl_penalty"](*pair, estimator).tolist(),
                    }
                )
    return cases


EQUAL = [0.25] * ROWS
"""In place of 0.3, whose mean is off by a rounding, which a standard deviation of 0 would blow up."""


def valued(kind: str, config: dict[str, Any], rewards: str, mask: str, **names: str) -> dict[str, Any]:
    """A case of the advantages."""
    config = filled(config | {"actor.training_backend": kind})
    present = tensor(mask).bool()
    names = {"rewards": rewards, "mask": mask, "old_log_probs": "old_logp"} | names
    numbers = {rewards: EQUAL} if rewards == "rewards_all_equal" else {}
    batch = {
        "rewards": torch.tensor(EQUAL) if numbers else tensor(rewards),
        "response_mask": present,
        "recomputed_logprobs": computed(kind, "old_logp", present),
    }
    if "ref_log_probs" in names:
        batch["ref_logprobs"] = computed(kind, names["ref_log_probs"], present)
    told = config["adv_type"] + " normalized" * config["normalize_advantages"]
    more = "".join(
        f", {name} {config[name]}"
        for name in ("reinpp_kl_beta", "kl_penalty_type")
        if "reinpp_kl_beta" in config
    )
    return {
        "id": f"{kind} {told} of {rewards} on {mask}{more}",
        "call": "advantages",
        "config": config,
        "given": names,
        "axes": ["completion", "token"],
        "dtype": "float32",
        "rtol": 1e-5,
        "value": advantages(actor(config), batch).tolist(),
        **({"inputs": numbers} if numbers else {}),
    }


def all_advantages(kind: str) -> list[dict[str, Any]]:
    """Every estimator, normalized once more or not, on every kind of rewards and masks."""
    cases = []
    for estimator in ("grpo", "raw", "gae", "reinpp"):
        for again in (False, True):
            config = {"adv_type": estimator, "normalize_advantages": again}
            cases += [valued(kind, config, rewards, "mask") for rewards in REWARDS]
            cases += [
                valued(kind, config, "rewards", mask) for mask in ("mask_holes", "mask_empty", "mask_single")
            ]
    for estimator in ("raw", "gae", "reinpp"):
        config = {"adv_type": estimator, "normalize_advantages": True}
        cases.append(valued(kind, config, "rewards_all_equal", "mask_holes"))
    for estimator in PENALTIES:
        config = {"adv_type": "reinpp", "reinpp_kl_beta": 0.05, "kl_penalty_type": estimator}
        cases.append(valued(kind, config, "rewards", "mask", ref_log_probs="ref_logp"))
    config = {"adv_type": "reinpp", "reinpp_kl_beta": 0.05, "normalize_advantages": True}
    cases.append(valued(kind, config, "rewards_tied", "mask_holes", ref_log_probs="ref_logp"))
    cases.append(valued(kind, config, "rewards_tied", "mask_empty", ref_log_probs="ref_logp_far"))
    return cases


# ---- refusals ------------------------------------------------------------------------------------


def refusal(name: str, call: str, config: dict[str, Any]) -> dict[str, Any]:
    """A configuration that RLinf refuses, with its error."""
    config = filled(config)
    kind = config["actor.training_backend"]
    case = {"id": f"{kind} refuses {name}", "call": call, "config": config}
    try:
        if call == "loss":
            given_names = LOGPS | {"ref_log_probs": "ref_logp"}
            loss(name, config, ref_log_probs="ref_logp")
        else:
            given_names = {"rewards": "rewards", "mask": "mask", "old_log_probs": "old_logp"}
            valued(kind, config, "rewards", "mask", **{"ref_log_probs": "ref_logp"})
    except Exception as error:
        return case | {"given": given_names, "refused": f"{type(error).__name__}: {error}".split("\n")[0]}
    raise AssertionError(f"{name}: RLinf does not refuse it")


def validated(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """A configuration that the assertions of `validate_cfg` and of the online coding task refuse."""
    config = filled(config)
    tree: dict[str, Any] = {
        "algorithm": {},
        "actor": {},
        "runner": {"task_type": "reasoning", "only_eval": False},
    }
    for key, value in config.items():
        group, _, short = key.rpartition(".")
        tree[group or "algorithm"][short] = value
    cfg = OmegaConf.create(tree)
    wanted = ("cfg.algorithm.group_size > 1", "cfg.actor.training_backend in", "must use megatron training")
    task = cfg.runner.task_type == "coding_online_rl"
    checks = [
        node
        for place in ("validate_cfg", *["validate_coding_online_rl_cfg"] * task)
        for node in ast.walk(function("config", place))
        if isinstance(node, (ast.Assert, ast.If))
        and any(text in ast.unparse(node) for text in wanted)
        and len(ast.unparse(node)) < 400
    ]
    try:
        execute(checks, cfg=cfg, SUPPORTED_TRAINING_BACKENDS=["megatron", "fsdp"])
    except AssertionError as error:
        told = {"given": LOGPS, "refused": f"AssertionError: {error}"}
        return {"id": f"refused: {name}", "call": "loss", "config": config} | told
    raise AssertionError(f"{name}: RLinf does not refuse it")


def refusals() -> list[dict[str, Any]]:
    """What each actor refuses."""
    cases = []
    wrong = {
        "an average of another name": {"loss_agg_func": "masked_mean"},
        "an average with other dashes": {"loss_agg_func": "token_mean"},
        "an unknown penalty": {"kl_penalty_type": "k4", "kl_beta": 0.1},
        "the full penalty": {"kl_penalty_type": "full", "kl_beta": 0.1},
        "a loss without a critic": {"loss_type": "decoupled_actor"},
        "a loss of another trainer": {"loss_type": "gspo"},
        "a loss of the asynchronous actor": {
            "loss_type": "decoupled_actor_critic",
            "runner.task_type": "reasoning",
        },
        "a dual clip inside the range": {"clip_ratio_c": 1.0},
        "a fix without the sampler": {"importance_sampling_fix": True, "importance_sampling_clip": 2.0},
    }
    valued_wrong = {
        "an unknown estimator": {"adv_type": "rloo"},
        "an estimator in capitals": {"adv_type": "GRPO"},
        "reinpp with a baseline": {"adv_type": "reinpp", "use_reinpp_baseline": True},
        "an estimator for videos": {"adv_type": "grpo_video"},
        "an unknown penalty of rewards": {
            "adv_type": "reinpp",
            "reinpp_kl_beta": 0.1,
            "kl_penalty_type": "k4",
        },
    }
    for kind in ACTORS:
        by = {"actor.training_backend": kind}
        cases += [refusal(name, "loss", by | config) for name, config in wrong.items()]
        cases += [refusal(name, "advantages", by | config) for name, config in valued_wrong.items()]
        cases.append(validated(f"a group of one, {kind}", by | {"group_size": 1}))
    cases.append(validated("a third actor", {"actor.training_backend": "fsdp2"}))
    coding = {"actor.training_backend": "fsdp", "runner.task_type": "coding_online_rl"}
    cases.append(validated("code online with FSDP", coding))
    return cases


def main(sources: Path) -> None:
    prepare(sources)
    cases: list[dict[str, Any] | None] = []
    for kind in ACTORS:
        cases += losses(kind) + steps(kind) + penalties(kind) + all_advantages(kind)
    cases += all_decoupled() + refusals()
    kept = [case for case in cases if case is not None]
    about = {"trainer": "RLinf", "commit": COMMIT, "torch": torch.__version__.split("+")[0]}
    path = write("rlinf", kept, about)
    print(f"{path.name}: {len(kept)} cases; without a gradient: {', '.join(LEFT_OUT)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
