"""Record Tunix c7d8950f: `python tests/data/record/record_tunix.py SOURCES`, a checkout of it.

What runs is theirs: the classes of the configurations with their checks; `grpo_loss_fn` with what it calls;
the estimators of advantages; `SequenceRewardManager` with DAPO's `reward_shaping`; the lines of `GRPOLearner`
that choose the old log-probabilities and weigh the sampler's mismatch, and `_sampler_trainer_agreement` of
the agentic one; and the reciprocal that `PeftTrainer` multiplies a gradient by. A stub in place of the model
hands on the log-probabilities. JAX 0.10.2 on the CPU, in float32 as they ask for; flax, absl-py, humanize.
"""

import ast
import dataclasses
import importlib
import itertools
import logging
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import jax
import jax.numpy as jnp
import numpy as np
import writing

GROUP = 4
COMMIT = "Tunix c7d8950f (2026-08-21)"
LEARNER = "tunix/rl/grpo/grpo_learner.py"
AGENTIC = "tunix/rl/agentic/agentic_grpo_learner.py"


def package(name: str) -> None:
    """A package whose modules are those of the checkout, and which imports nothing itself."""
    module = types.ModuleType(name)
    module.__path__ = [str(SOURCES / name.replace(".", "/"))]
    sys.modules[name] = module


def named(path: str, *names: str) -> list[ast.stmt]:
    """The classes and functions of a file by name, wherever they stand."""
    tree = ast.parse((SOURCES / path).read_text(encoding="utf-8"))
    return [node for name in names for node in ast.walk(tree) if getattr(node, "name", "") == name]


def run(path: str, nodes: list[ast.stmt], scope: dict[str, Any]) -> dict[str, Any]:
    future = ast.parse("from __future__ import annotations").body
    exec(compile(ast.Module([*future, *nodes], type_ignores=[]), path, "exec"), scope)
    return scope


def classes() -> dict[str, Any]:
    """The four configurations, each of its own file, and `reward_shaping`."""
    config = importlib.import_module("tunix.rl.algorithm_config")
    typing = {name: getattr(importlib.import_module("typing"), name) for name in ("Any", "Optional", "Set")}
    common = {"dataclasses": dataclasses, "algo_config_lib": config, **typing}
    plain = run(LEARNER, named(LEARNER, "GRPOConfig")[:1], dict(common))["GRPOConfig"]
    others = {**common, "grpo_learner_lib": SimpleNamespace(GRPOConfig=plain), "rl_engine_lib": MagicMock()}
    dapo = run("tunix/rl/grpo/dapo_learner.py", named("tunix/rl/grpo/dapo_learner.py", "DAPOConfig"), others)
    shaping = run(
        "tunix/rl/grpo/dapo_learner.py", named("tunix/rl/grpo/dapo_learner.py", "reward_shaping"), others
    )
    drgrpo = run(
        "tunix/rl/grpo/drgrpo_learner.py", named("tunix/rl/grpo/drgrpo_learner.py", "DrGRPOConfig"), others
    )
    base = "tunix/rl/agentic/agentic_rl_learner.py"
    above = run(base, named(base, "AgenticRLConfig"), dict(common))
    below = {**common, "agentic_rl_learner": SimpleNamespace(AgenticRLConfig=above["AgenticRLConfig"])}
    agentic = run(AGENTIC, named(AGENTIC, "GRPOConfig")[:1], below)["GRPOConfig"]
    return {
        "GRPOConfig": plain,
        "DAPOConfig": dapo["DAPOConfig"],
        "DrGRPOConfig": drgrpo["DrGRPOConfig"],
        "agentic": agentic,
        "reward_shaping": shaping["reward_shaping"],
    }


def parsed(config: dict[str, Any]) -> Any:
    """Their configuration after all checks, as a learner completes it."""
    given: dict[str, Any] = {}
    for key, value in config.items():
        group, _, name = key.rpartition(".")
        place = given.setdefault(group, {}) if group else given
        place[name] = value
    is_agentic = given.pop("training_mode", "grpo") == "agentic_grpo"
    name = given.pop("config_class", "GRPOConfig")
    made = CLASSES["agentic" if is_agentic else name](**given)
    made.temperature = 1.0
    return made


def array(case: dict[str, Any], name: str) -> np.ndarray:
    """An input of the case."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    return np.array(writing.given(source) if values is None else values, dtype=np.float64)


def lines(first: str, last: str) -> Any:
    """The statements of the learner's generation from one that begins so to one that begins so."""
    (method,) = named(LEARNER, "_generate_and_compute_advantage")
    told = [ast.unparse(node) for node in method.body]
    begin = next(place for place, line in enumerate(told) if line.startswith(first))
    end = next(place for place, line in enumerate(told) if place >= begin and line.startswith(last))
    return compile(ast.Module(method.body[begin : end + 1], type_ignores=[]), LEARNER, "exec")


def weighed(case: dict[str, Any], config: Any, mask: Any) -> tuple[Any, Any]:
    """The old log-probabilities that the loss is given, and the weights for the sampler's mismatch."""
    if "old_log_probs" not in case["given"]:
        return None, None
    old = jnp.asarray(array(case, "old_log_probs"), dtype=jnp.float32)
    sampler = jnp.asarray(array(case, "rollout_log_probs")) if "rollout_log_probs" in case["given"] else old
    engine = MagicMock()
    engine.get_actor_per_token_logps = lambda **others: old
    learner = SimpleNamespace(algo_config=config, rl_engine=engine)
    if case["config"].get("training_mode") == "agentic_grpo":
        trainer, rollout = old, sampler if config.use_rollout_logps else None
        method = run(AGENTIC, named(AGENTIC, "_sampler_trainer_agreement"), dict(SCOPE))
        agree = method["_sampler_trainer_agreement"]
        return old, agree(learner, rollout, trainer, mask)[1]
    scope = {
        **SCOPE,
        "self": learner,
        "rollout_output": SimpleNamespace(logprobs=list(sampler)),
        "rollout_config": SimpleNamespace(max_tokens_to_generate=mask.shape[1]),
        "utils": SimpleNamespace(pad_to_length=lambda values, **others: values),
        "jax_completion_mask": mask,
        "mode": None,
        **dict.fromkeys(("prompt_ids", "jax_completion_ids", "pad_value", "eos_value")),
        **dict.fromkeys(("compute_logps_micro_batch_size", "perf_tags")),
        "rl_engine_lib": MagicMock(),
        "perf_constants": MagicMock(),
    }
    exec(OLD, scope)
    exec(WEIGHTS, scope)
    return scope["old_per_token_logps"], scope["sampler_is_weights"]


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """The loss of a mini-batch, and its gradient as an optimizer gets it."""
    config = parsed(case["config"])
    mask = jnp.asarray(array(case, "mask"), dtype=jnp.int32)
    old, weights = weighed(case, config, mask)
    ref = jnp.asarray(array(case, "ref_log_probs")) if config.beta != 0.0 else None
    advantages = jnp.asarray(array(case, "advantages"))

    def judged(policy: Any) -> Any:
        COMMON.compute_per_token_logps = lambda graph, state, **others: (state, jnp.zeros_like(state))
        example = SimpleNamespace(
            prompt_ids=None,
            completion_ids=None,
            completion_mask=mask,
            advantages=advantages,
            old_per_token_logps=old,
            ref_per_token_logps=ref,
            sampler_is_weights=weights,
        )
        output = REGISTRY.get_policy_loss_fn(config.policy_loss_fn)(policy, example, config, 0, 0)
        return output.primary_loss.unreduced_sum, output

    policy = jnp.asarray(array(case, "log_probs"), dtype=jnp.float32)
    (_, output), gradient = jax.value_and_grad(judged, has_aux=True)(policy)
    scale = RECIPROCAL(jnp.asarray(output.primary_loss.denominator, dtype=jnp.float32))
    told = {name: value for name, value in output.aux_metrics.items() if name in METRICS}
    if not mask.any() or ref is None:
        told = {name: value for name, value in told.items() if not name.startswith(("is_ratio", "kl"))}
    metrics = {
        name: float(value.compute() if hasattr(value, "compute") else value) for name, value in told.items()
    }
    return {
        "loss": float(output.primary_loss.compute()),
        "grad_logp": np.asarray(gradient * scale, dtype=np.float64).tolist(),
        "metrics": metrics,
    }


METRICS = ("unreduced_pg_loss", "kl_loss", "kl", "ppo_kl", "pg_clipfrac", "is_ratio/mean", "is_ratio/max")
METRICS += ("is_ratio/min",)


def rewarded(case: dict[str, Any], config: Any) -> np.ndarray:
    """The rewards as `SequenceRewardManager` adds them up."""
    given = case["given"]
    each = array(case, "components").T if "components" in given else [array(case, "rewards")]

    def paying(values: Any) -> Any:
        def verifier(prompts: Any, completions: Any, **others: Any) -> Any:
            return list(values)

        return verifier

    functions = [paying(values) for values in each]
    if case["call"] == "shaped rewards":
        buffer = config.overlong_buffer
        functions += [CLASSES["reward_shaping"]] if buffer and buffer["enable"] else []
    sizes = array(case, "lengths") if "lengths" in given else np.ones(len(each[0]))
    manager = REWARDS.SequenceRewardManager(functions, config)
    texts = ["x" * int(size) for size in sizes]
    return manager(prompts=[""] * len(texts), completions=texts, mode=None)["rewards"]


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """One per completion."""
    config = parsed(case["config"])
    estimator = REGISTRY.get_advantage_estimator(config.advantage_estimator)
    found = estimator(rewards=rewarded(case, config), num_generations=config.num_generations)
    return {"value": np.asarray(found, dtype=np.float64).tolist(), "axes": ["completion"]}


def shaped(case: dict[str, Any]) -> dict[str, Any]:
    return {"value": rewarded(case, parsed(case["config"])).tolist(), "axes": ["completion"]}


CALLS = {"loss": loss, "advantages": advantages, "shaped rewards": shaped}
GIVEN = {
    "log_probs": "logp",
    "old_log_probs": "old_logp",
    "ref_log_probs": "ref_logp",
    "advantages": "tilted",
    "mask": "mask",
}
TILTED = {"tilted": [1.2, -0.7, 0.4, -0.9, 0.6, 0.0, 1.1, 0.0, -1.5, 0.3, 2.0, -0.8]}
"""Advantages that do not add up to 0, so that no loss is all rounding."""
SCORED = {"rewards": "rewards", "mask": "mask"}
APART = (30.0, -30.0, 19.0, -19.0, 45.0, 12.0, -12.0, 2.0, -90.0, 300.0, -400.0)
"""Log-ratios within the limits of 20 and beyond; at a limit itself JAX halves the slope."""


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    others["inputs"] = TILTED | others.get("inputs", {})
    return {"id": f"tunix, {name}", "call": call, "config": config, "given": given, "rtol": 1e-5} | others


SIZE = {"num_generations": GROUP}
DAPO = SIZE | {"config_class": "DAPOConfig"}
DR = SIZE | {"config_class": "DrGRPOConfig"}
LONG = SIZE | {"training_mode": "agentic_grpo", "max_response_length": 7}
LOSSES = {
    "defaults": SIZE,
    "low_var_kl": SIZE | {"kl_loss_mode": "low_var_kl", "beta": 0.08},
    "mse_kl": SIZE | {"kl_loss_mode": "mse_kl"},
    "no penalty": SIZE | {"beta": 0.0},
    "any name without penalty": SIZE | {"beta": 0.0, "kl_loss_mode": "k3"},
    "nothing for beta": SIZE | {"beta": None},
    "kl, clamped": SIZE | {"kl_clamp_value": 0.3},
    "mse_kl, clamped": SIZE | {"kl_loss_mode": "mse_kl", "kl_clamp_value": 0.1},
    "low_var_kl, clamped": SIZE | {"kl_loss_mode": "low_var_kl", "kl_clamp_value": 0.1},
    "narrow": SIZE | {"epsilon": 0.05},
    "wider than 1": SIZE | {"epsilon": 1.5},
    "below 0": SIZE | {"epsilon": -0.1},
    "token-mean": SIZE | {"loss_agg_mode": "token-mean"},
    "token-scale": SIZE | {"loss_agg_mode": "sequence-mean-token-scale"},
    "token-sum": SIZE | {"loss_agg_mode": "seq-mean-token-sum"},
    "token-sum-norm": SIZE | {"loss_agg_mode": "sequence-mean-token-sum-norm"},
    "gspo": SIZE | {"loss_algo": "gspo-token"},
    "gspo, narrow": SIZE | {"loss_algo": "gspo-token", "epsilon": 3e-4, "beta": 0.0},
    "gspo, token-mean": SIZE | {"loss_algo": "gspo-token", "loss_agg_mode": "token-mean"},
    "dapo": DAPO,
    "dapo, wider": DAPO | {"epsilon": 0.1, "epsilon_high": 0.4},
    "dapo, unknown algorithm": DAPO | {"loss_algo": "cispo"},
    "dr": DR,
    "dr, no penalty": DR | {"beta": 0.0, "loss_agg_mode": "token-mean"},
    "agentic": LONG,
    "agentic, asymmetric": LONG | {"epsilon_high": 0.28, "beta": 0.0, "loss_agg_mode": "token-mean"},
    "agentic, gspo": LONG | {"loss_algo": "gspo-token", "epsilon": 0.003, "epsilon_high": 0.005},
    "agentic, token-scale": LONG | {"loss_agg_mode": "sequence-mean-token-scale"},
}
PLAIN = ("low_var_kl", "gspo", "dapo", "dr", "token-sum", "token-sum-norm")
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single", "mask_none")
CORRECTED = {
    "on": SIZE | {"sampler_is": "token"},
    "tight": SIZE | {"sampler_is": "token", "sampler_is_threshold": 1.05},
    "gspo": SIZE | {"sampler_is": "token", "loss_algo": "gspo-token", "epsilon": 0.01},
    "dapo": DAPO | {"sampler_is": "token"},
    "off without rollout": SIZE | {"sampler_is": "token", "use_rollout_logps": False},
    "agentic": LONG | {"sampler_is": "token", "epsilon_high": 0.28},
    "agentic, off by name": LONG | {"sampler_is": "sequence"},
    "agentic, off without rollout": LONG | {"sampler_is": "token", "use_rollout_logps": False},
}


def losses() -> Any:
    for (name, config), policy in itertools.product(LOSSES.items(), ("logp", "logp_at_bounds")):
        if policy == "logp" or not name.startswith(("agentic", "dapo")):
            yield case(f"{name}, {policy}", "loss", config, GIVEN | {"log_probs": policy})
    for name in PLAIN:
        config = LOSSES[name]
        for mask in MASKS:
            yield case(f"{name}, {mask}", "loss", config, GIVEN | {"mask": mask})
        alone = {key: value for key, value in GIVEN.items() if key != "old_log_probs"}
        yield case(f"{name}, on policy", "loss", config, alone)
        tokens = {"advantages": "token_advantages", "mask": "mask_holes"}
        yield case(f"{name}, per token", "loss", config, GIVEN | tokens)
    for name in ("no penalty", "gspo, narrow"):
        old = np.array(writing.given("old_logp"))
        far = {"far": (old + np.resize(APART, old.shape)).tolist()}
        yield case(f"{name}, far", "loss", LOSSES[name], GIVEN | {"log_probs": "far"}, inputs=far)
    for (name, config), sampler in itertools.product(CORRECTED.items(), ("sampler_logp", "sampler_logp_far")):
        given = GIVEN | {"rollout_log_probs": sampler}
        if sampler == "sampler_logp" or name in ("on", "agentic"):
            yield case(f"sampler_is {name}, {sampler}", "loss", config, given)


REWARD = ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied", "rewards_huge")
ESTIMATED = {
    "grpo": SIZE,
    "rloo": SIZE | {"advantage_estimator": "rloo"},
    "drgrpo": DR,
    "agentic": LONG | {"advantage_estimator": "rloo"},
}
LENGTHS = {"characters": [0, 5, 10, 12, 15, 16, 20, 21, 25, 30, 40, 100]}
BUFFER = {
    "overlong_buffer.enable": True,
    "overlong_buffer.overlong_buffer_length": 10,
    "overlong_buffer.overlong_buffer_penalty": 0.5,
    "overlong_buffer.max_response_length": 25,
}
SHAPED = {
    "small": DAPO | BUFFER,
    "defaults": DAPO,
    "off": DAPO | {"overlong_buffer.enable": False},
    "none": DAPO | {"overlong_buffer": None},
    "no weight": DAPO | BUFFER | {"overlong_buffer.overlong_buffer_penalty": 0.0},
}


def scores() -> Any:
    for (name, config), rewards in itertools.product(ESTIMATED.items(), REWARD):
        given = SCORED | {"rewards": rewards}
        if name != "agentic" or rewards == "rewards":
            yield case(f"advantages: {name}, {rewards}", "advantages", config, given)
    given = {"components": "rewards_per_func", "weights": "ones", "mask": "mask"}
    ones = {"ones": [1.0, 1.0, 1.0]}
    yield case("advantages: three rewards", "advantages", SIZE, given, inputs=ones)
    alone = DAPO | {"num_generations": 1}
    for name in ("grpo", "rloo", "drgrpo"):
        config = alone | {"advantage_estimator": name}
        yield case(f"advantages: one, {name}", "advantages", config, SCORED, inputs={"group_size": 1})
    for name, config in SHAPED.items():
        given = {"rewards": "rewards", "lengths": "characters"}
        yield case(f"shaped rewards: {name}", "shaped rewards", config, given, inputs=LENGTHS)
    far = {"characters": [0, 16000, 16384, 16385, 20000, 20480, 20481, 30000, 1, 2, 3, 4]}
    given = {"rewards": "rewards", "lengths": "characters"}
    yield case("shaped rewards: defaults, long", "shaped rewards", DAPO, given, inputs=far)


REFUSED = {
    "a group of one": {"num_generations": 1},
    "an algorithm": SIZE | {"loss_algo": "gspo"},
    "a correction by sequence": SIZE | {"sampler_is": "sequence"},
    "an upper width": SIZE | {"epsilon_high": 0.28},
    "an upper width of Dr. GRPO": DR | {"epsilon_high": 0.28},
    "an estimator of Dr. GRPO": DR | {"advantage_estimator": "grpo"},
    "a buffer": SIZE | {"overlong_buffer": None},
    "dynamic sampling": SIZE | {"dynamic_sampling": True},
    "a length": SIZE | {"max_response_length": 1024},
    "PPO's loss": SIZE | {"policy_loss_fn": "ppo"},
    "PPO's advantages": SIZE | {"advantage_estimator": "gae"},
    "a loss of nobody": SIZE | {"policy_loss_fn": "dapo"},
    "an estimator of nobody": SIZE | {"advantage_estimator": "opo"},
    "a mode": SIZE | {"loss_agg_mode": "seq-mean-token-mean"},
    "k3": SIZE | {"kl_loss_mode": "k3"},
    "DAPO with a penalty": DAPO | {"beta": 0.04},
    "DAPO below": DAPO | {"epsilon": 0.3},
    "DAPO without a width": DAPO | {"epsilon_high": None},
    "DAPO, half a buffer": DAPO | {"overlong_buffer.enable": True},
    "DAPO, a negative penalty": DAPO | BUFFER | {"overlong_buffer.overlong_buffer_penalty": -1.0},
    "DAPO, no buffer": DAPO | BUFFER | {"overlong_buffer.overlong_buffer_length": 0},
    "DAPO, no budget": DAPO | BUFFER | {"overlong_buffer.max_response_length": 0},
    "agentic, a group of one": LONG | {"num_generations": 1},
    "agentic, an algorithm": LONG | {"loss_algo": "sapo"},
    "a dual clip": SIZE | {"epsilon_c": 3.0},
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        call, given = ("advantages", SCORED) if "estimator" in name or "advant" in name else ("loss", GIVEN)
        yield case(f"refused: {name}", call, config, given, refused="")


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
    for place in ("tunix", "tunix.rl", "tunix.sft", "tunix.oss"):
        package(place)
    sys.modules["tunix.oss.utils"] = MagicMock()
    COMMON = importlib.import_module("tunix.rl.common")
    CORE = importlib.import_module("tunix.rl.algo_core")
    REGISTRY = importlib.import_module("tunix.rl.function_registry")
    REWARDS = importlib.import_module("tunix.rl.reward_manager")
    CORE.nnx = SimpleNamespace(split=lambda model: (None, model))
    CLASSES = classes()
    SCOPE = {"jax": jax, "jnp": jnp, "np": np, "logging": logging}
    OLD = lines("rollout_per_token_logps = None", "if self.algo_config.num_iterations > 1")
    (generation,) = named(LEARNER, "_generate_and_compute_advantage")
    weighing = [
        node for node in generation.body if ast.unparse(node).startswith("if self.algo_config.sampler_is")
    ]
    WEIGHTS = compile(ast.Module(weighing, type_ignores=[]), LEARNER, "exec")
    trainer = "tunix/sft/peft_trainer.py"
    RECIPROCAL = run(trainer, named(trainer, "_zero_safe_reciprocal"), dict(SCOPE))["_zero_safe_reciprocal"]
    done = [*map(recorded, [*losses(), *scores(), *refusals()])]
    about = {"trainer": COMMIT, "jax": jax.__version__, "by": "tests/data/record/record_tunix.py"}
    print(writing.write("tunix", done, about), len(done))
