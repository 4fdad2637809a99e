"""Record torchtune bd2a0fc7c: `python tests/data/record/record_torchtune.py SOURCES`, a checkout of it.

What runs is theirs: `config.instantiate`, the losses of `dev/grpo/loss.py` and `dev/rl/linear_grpo_loss.py`,
`masked_mean` and `masked_sum`, `grpo_step` of both recipes, and the lines of `generate_trajectory` and of
`PostProcessingWorker.run` that compute the advantages. Stubs take the place of the model and of what makes
log-probabilities of its output; they hand on those of the case. Torch 2.13.0 on the CPU, with omegaconf.
"""

import ast
import importlib
import itertools
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import writing
from omegaconf import OmegaConf

GROUP = 4
COMMIT = "torchtune bd2a0fc7c (2026-04-23)"
SYNC = "recipes/dev/grpo_full_finetune_distributed.py"
TRAINING = "torchtune/dev/rl/workers/trainers/training.py"
SCORING = "torchtune/dev/rl/workers/postprocessing.py"


def body(path: str, name: str) -> list[ast.stmt]:
    """The statements of a method, wherever it stands in the file."""
    tree = ast.parse((SOURCES / path).read_text(encoding="utf-8"))
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    return found.body


def method(path: str, name: str, scope: dict[str, Any]) -> Any:
    """A method as a function."""
    tree = ast.parse((SOURCES / path).read_text(encoding="utf-8"))
    node = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    future = ast.parse("from __future__ import annotations").body
    exec(compile(ast.Module([*future, node], type_ignores=[]), path, "exec"), scope)
    return scope[name]


def lines(path: str, name: str, first: str, last: str) -> Any:
    """The statements of a method from one that begins so to the first one after it that begins so."""
    statements = [node for top in body(path, name) for node in ast.walk(top) if isinstance(node, ast.stmt)]
    blocks = [node.body for node in statements if isinstance(node, (ast.While, ast.With))]
    for block in [body(path, name), *blocks]:
        told = [ast.unparse(node) for node in block]
        if any(line.startswith(first) for line in told):
            begin = next(place for place, line in enumerate(told) if line.startswith(first))
            end = next(place for place, line in enumerate(told) if place >= begin and line.startswith(last))
            return compile(ast.Module(block[begin : end + 1], type_ignores=[]), path, "exec")
    raise ValueError(f"{path}: no line {first}")


def package(name: str, **contents: Any) -> types.ModuleType:
    """A package whose modules are those of the checkout, and which imports nothing itself."""
    module = types.ModuleType(name)
    module.__path__ = [str(SOURCES / name.replace(".", "/"))]
    vars(module).update(contents)
    sys.modules[name] = module
    return module


def stand_ins() -> None:
    """The packages around the losses."""
    means: dict[str, Any] = {"torch": torch}
    for name in ("masked_mean", "masked_sum"):
        method("torchtune/rlhf/rewards.py", name, means)
    rlhf = package("torchtune.rlhf", masked_mean=means["masked_mean"], masked_sum=means["masked_sum"])
    package("torchtune", rlhf=rlhf)
    package("torchtune.config")
    package("torchtune.modules")
    package("torchtune.modules.loss", RLLoss=type("RLLoss", (), {}))
    sys.modules["torchtune.utils"] = MagicMock()
    sys.modules["torchtune.utils._logging"] = MagicMock()


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    if name == "mask":
        return array.bool()
    return array.to(getattr(torch, case.get("dtype", "float64")))


def nested(config: dict[str, Any]) -> Any:
    """Their configuration, from dotted keys."""
    return OmegaConf.from_dotlist([f"{key}={'null' if v is None else v}" for key, v in config.items()])


def is_asynchronous(config: dict[str, Any]) -> bool:
    return "orchestration.num_steps" in config


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """`grpo_step` of the recipe, with its loss."""
    cfg = nested(case["config"])
    function = INSTANTIATE(cfg.training.loss if is_asynchronous(case["config"]) else cfg.loss)
    policy = tensor(case, "log_probs").requires_grad_()
    old = tensor(case, "old_log_probs") if "old_log_probs" in case["given"] else policy.detach().clone()
    padding = ~tensor(case, "mask")
    ref = tensor(case, "ref_log_probs")
    trajectory = SimpleNamespace(
        query_responses=torch.zeros((len(policy), 1 + policy.shape[1]), dtype=torch.int64),
        logprobs=old,
        ref_logprobs=ref,
        advantages=tensor(case, "advantages"),
        response_padding_masks=padding,
        position_ids=None,
        masks=None,
    )
    step = asynchronous if is_asynchronous(case["config"]) else synchronous
    stats = step(function, policy, trajectory)
    names = ("policy_loss", "kl_loss", "ratios", "clipfrac")
    metrics = {name: getattr(stats, name).item() for name in names}
    metrics["approx_policy_kl"] = stats.approx_policy_kls.item()
    return {"loss": stats.loss.item(), "grad_logp": policy.grad.tolist(), "metrics": metrics}


def synchronous(function: Any, policy: torch.Tensor, trajectory: SimpleNamespace) -> Any:
    """A step of the synchronous recipe, after the lines that set its log-probabilities of padding to 1."""
    exec(MASKING, vars(trajectory))
    rlhf = SimpleNamespace(
        truncate_sequence_for_logprobs=lambda logits, length: logits,
        batched_logits_to_logprobs=lambda logits, *rest, **others: policy.clone(),
    )
    scope = {"torch": torch, "rlhf": rlhf, "GRPOStats": STATS}
    stub = SimpleNamespace(_model=lambda *a, **k: None, _loss_fn=function, _temperature=1.0)
    return method(SYNC, "grpo_step", scope)(stub, trajectory, 1)


def asynchronous(function: Any, policy: torch.Tensor, trajectory: SimpleNamespace) -> Any:
    """A step of the asynchronous recipe: the model's output is the log-probability of each token."""
    outputs = torch.cat([policy, torch.zeros_like(policy[:, :1])], dim=1)[..., None]
    function.linear_projection = lambda hidden: hidden
    stub = SimpleNamespace(
        _model=lambda *a, **k: outputs,
        _loss_fn=function,
        _device="cpu",
        activations_handling_ctx=torch.autograd.set_grad_enabled(True),
        debug_logging_enabled=False,
    )
    scope = {"torch": torch, "GRPOStats": STATS}
    return method(TRAINING, "grpo_step", scope)(stub, trajectory, 1)


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """One per completion; rewards are float32."""
    given = case["given"]
    rewards = tensor(case, "components" if "components" in given else "rewards").float()
    rewards = rewards.reshape(len(rewards), -1)
    size = case["config"].get("grpo_samples", case["config"].get("inference.group_size"))
    scope: dict[str, Any] = {"torch": torch, "batch_size": len(rewards) // size}
    if is_asynchronous(case["config"]):
        scope |= {"group_size": size, "reward_outputs": [SimpleNamespace(total_reward=r) for r in rewards.T]}
        exec(ASYNC_SCORES, scope)
        found = scope["group_advantages"].reshape(-1)
    else:
        scope |= {"grpo_size": size, "rewards": rewards.reshape(-1, size, rewards.shape[1])}
        scope["successes"] = scope["rewards"]
        exec(SYNC_SCORES, scope)
        found = scope["advantages"]
    return {"value": found.tolist(), "axes": ["completion"]}


CALLS = {"loss": loss, "advantages": advantages}
FULL = "torchtune.dev.grpo.loss."
LINEAR = "torchtune.dev.rl.linear_grpo_loss.LinearGRPOLoss"
HERE = {"forward_batch_size": 1, "grpo_samples": GROUP}
THERE = {"orchestration.num_steps": 250, "inference.group_size": GROUP}
GIVEN = {
    "log_probs": "logp",
    "old_log_probs": "old_logp",
    "ref_log_probs": "ref_logp",
    "advantages": "advantages",
    "mask": "mask",
}
SCORED = {"rewards": "rewards", "mask": "mask"}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"torchtune, {name}", "call": call, "config": config, "given": given, **others}


def of(name: str, **settings: Any) -> dict[str, Any]:
    """The keys of a loss of the synchronous recipe."""
    told = {f"loss.{key}": value for key, value in settings.items()}
    return {**HERE, "loss._component_": f"{FULL}{name}", **told}


def linear(**settings: Any) -> dict[str, Any]:
    """The keys of the loss of the asynchronous recipe."""
    told = {f"training.loss.{key}": value for key, value in settings.items()}
    return {**THERE, "training.loss._component_": LINEAR, **told}


LOSSES = {
    "simple": of("GRPOSimpleLoss"),
    "simple, as in its file": of("GRPOSimpleLoss", epsilon=0.2, kl_coeff=0.01),
    "simple, no penalty": of("GRPOSimpleLoss", kl_coeff=0.0),
    "token": of("GRPOLoss"),
    "token, 0.2": of("GRPOLoss", epsilon=0.2, kl_coeff=0.04),
    "token, no penalty": of("GRPOLoss", kl_coeff=0.0),
    "token, wider than 1": of("GRPOLoss", epsilon=1.5, kl_coeff=0.01),
    "token, no width": of("GRPOLoss", epsilon=0.0),
    "token, below 0": of("GRPOLoss", epsilon=-0.1),
    "batch": of("GRPOCompletionLoss"),
    "batch, 0.2": of("GRPOCompletionLoss", epsilon=0.2, kl_coeff=1e-3),
    "batch, no penalty": of("GRPOCompletionLoss", kl_coeff=0.0),
    "linear": linear(),
    "linear, as in its file": linear(epsilon=0.2, kl_coeff=0.01),
    "linear, one chunk": linear(num_output_chunks=1, kl_coeff=0.04),
    "linear, all settings": linear(num_output_chunks=3, ignore_index=-1, mask_pre_projection=False),
}
PLAIN = ("simple", "token", "batch", "linear")
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single", "mask_none")
EVERYWHERE = {"everywhere": [[1] * 7] * 12}
NEAR = {"one_token": (torch.arange(84).reshape(12, 7) % 7 == 0).long().tolist()}
"""One token of each completion: sums over the batch stay small."""


def rounded(name: str) -> dict[str, Any]:
    """The asynchronous recipe's loss is float32, whatever it is given."""
    return {"rtol": 1e-5} if name.startswith("linear") else {}


def losses() -> Any:
    for (name, config), policy in itertools.product(LOSSES.items(), ("logp", "logp_at_bounds")):
        yield case(f"{name}, {policy}", "loss", config, GIVEN | {"log_probs": policy}, **rounded(name))
    for name in PLAIN:
        config, others = LOSSES[name], rounded(name)
        for mask in MASKS[:1] if name == "batch" else MASKS:
            yield case(f"{name}, {mask}", "loss", config, GIVEN | {"mask": mask}, **others)
        alone = {key: value for key, value in GIVEN.items() if key != "old_log_probs"}
        yield case(f"{name}, on policy", "loss", config, alone, **others)
        yield case(f"{name}, stale", "loss", config, GIVEN | {"old_log_probs": "sampler_logp"}, **others)
        few = GIVEN | {"mask": "one_token"}
        yield case(f"{name}, one token each", "loss", config, few, inputs=NEAR, **others)
        loose = 5e-5 if name == "batch" else 1e-5
        yield case(f"{name}, float32", "loss", config, GIVEN, dtype="float32", rtol=loose)
        for policy in ("logp_limited", "logp_extreme") if name == "simple" else ("logp_limited",):
            given = GIVEN | {"log_probs": policy, "mask": "everywhere"}
            yield case(f"{name}, {policy}", "loss", config, given, inputs=EVERYWHERE, **others)
    for name in ("simple", "token"):
        far = GIVEN | {"ref_log_probs": "ref_logp_far", "mask": "everywhere"}
        yield case(f"{name}, far reference", "loss", LOSSES[name], far, inputs=EVERYWHERE)


REWARDS = ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied")
ONES = {"ones": [1.0, 1.0, 1.0]}


def scores() -> Any:
    """Advantages of both recipes."""
    for (name, config), rewards in itertools.product((("sync", HERE), ("async", linear())), REWARDS):
        given = SCORED | {"rewards": rewards}
        yield case(f"advantages: {name}, {rewards}", "advantages", config, given, rtol=1e-5)
    for name, config in (("sync", HERE), ("async", linear())):
        given = {"components": "rewards_per_func", "weights": "ones", "mask": "mask"}
        told = f"advantages: {name}, three rewards"
        yield case(told, "advantages", config, given, inputs=ONES, rtol=1e-5)
        one = {key: 1 if value == GROUP else value for key, value in config.items()}
        alone = {"group_size": 1}
        yield case(f"advantages: {name}, groups of one", "advantages", one, SCORED, inputs=alone)


REFUSED = {
    "linear in the synchronous recipe": HERE | {"loss._component_": LINEAR},
    "chunked in the synchronous recipe": of("GRPOWithChunkedOutputLoss"),
    "chunked in the asynchronous recipe": THERE
    | {"training.loss._component_": f"{FULL}GRPOWithChunkedOutputLoss"},
    "simple in the asynchronous recipe": THERE | {"training.loss._component_": f"{FULL}GRPOSimpleLoss"},
    "token in the asynchronous recipe": THERE | {"training.loss._component_": f"{FULL}GRPOLoss"},
    "batch in the asynchronous recipe": THERE | {"training.loss._component_": f"{FULL}GRPOCompletionLoss"},
    "a loss that is not there": of("GRPODualClipLoss"),
    "a short name": HERE | {"loss._component_": "GRPOLoss"},
    "chunks of the token loss": of("GRPOLoss", num_output_chunks=8),
    "an index of the simple loss": of("GRPOSimpleLoss", ignore_index=-100),
    "a setting of TRL": of("GRPOSimpleLoss", beta=0.04),
    "a second width": of("GRPOLoss", epsilon_high=0.28),
    "no chunks": linear(num_output_chunks=0),
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", config, GIVEN, refused="")


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except Exception as error:
        if "refused" not in case:
            raise
        return case | {"refused": f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    stand_ins()
    INSTANTIATE = importlib.import_module("torchtune.config._instantiate").instantiate
    STATS = importlib.import_module("torchtune.dev.rl.types").GRPOStats
    chunked = importlib.import_module("torchtune.dev.rl.linear_grpo_loss")
    chunked.F = SimpleNamespace(cross_entropy=lambda logits, targets, reduction: -logits[:, 0])
    MASKING = lines(SYNC, "generate_trajectory", "logprobs[response_padding", "ref_logprobs[response_padding")
    SYNC_SCORES = lines(
        SYNC, "generate_trajectory", "rewards = rewards.sum", "advantages = advantages.reshape"
    )
    ASYNC_SCORES = lines(SCORING, "run", "group_rewards = torch.stack", "group_advantages =")
    done = [*map(recorded, [*losses(), *scores(), *refusals()])]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_torchtune.py"}
    print(writing.write("torchtune", done, about), len(done))
