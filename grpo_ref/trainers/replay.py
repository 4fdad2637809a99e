"""Recorded cases of the trainers: rebuild each one from its id and parameters, and compare.

A file holds `inputs` (flat batches of B completions by T tokens in groups of `group_size`) and `cases`; the
format is described in tests/data/README.md. Nothing of a case's numbers is used to rebuild it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.kernels.advantages import scored_normalized
from grpo_ref.kernels.penalties import open_instruct_kl
from grpo_ref.kernels.surrogates import (
    clip_cov,
    clip_cov_eligible,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
)
from grpo_ref.loss import policy_loss
from grpo_ref.mistakes import released
from grpo_ref.recipes import Recipe
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.dialect import Dialect
from grpo_ref.types import Term

PREFIXES = {
    "trl": "trl",
    "verl": "verl",
    "oi": "open_instruct",
    "rlinf": "rlinf",
    "orlhf": "openrlhf",
    "r1zero": "understand_r1_zero",
}
FLOAT32 = ("rlinf", "verl_adv_gdpo")
"""Cases that the trainer computes in float32."""


class Verdict(NamedTuple):
    """How one case came out.

    Attributes:
      id: of the case.
      passed: whether all its numbers agree.
      rtol: relative tolerance.
      error: largest difference, relative to the largest recorded magnitude; NaN if shapes differ.
      problem: what went wrong, or "".
    """

    id: str
    passed: bool
    rtol: float
    error: float
    problem: str = ""


def verdicts(path: Path) -> Iterator[Verdict]:
    """Rebuild and compare every case of a file.

    Args:
      path: of the JSON file.

    Yields:
      Verdict of each case.

    Raises:
      ValueError: if the file has no inputs or no cases.
    """
    recorded = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(recorded, dict) or not {"inputs", "cases"} <= set(recorded):
        raise ValueError(f"{path}: expected a JSON object with 'inputs' and 'cases'")
    inputs = Inputs(recorded["inputs"])
    for case in recorded["cases"]:
        yield verdict(case, inputs)


def verdict(case: Mapping[str, Any], inputs: "Inputs") -> Verdict:
    """Rebuild one case and compare it with what was recorded."""
    rtol = 1e-5 if case["id"].startswith(FLOAT32) else 1e-6
    try:
        ours = rebuild(case, inputs)
    except (ValueError, KeyError, TypeError) as error:
        return Verdict(case["id"], False, rtol, float("nan"), f"{type(error).__name__}: {error}")
    worst, missing = 0.0, sorted(set(ours) - set(case))
    if missing:
        return Verdict(case["id"], False, rtol, float("nan"), f"the case has no {' and no '.join(missing)}")
    for name, value in ours.items():
        theirs = _numbers(case[name])
        if np.size(value) != theirs.size:
            return Verdict(
                case["id"], False, rtol, float("nan"), f"{name}: {np.size(value)} numbers, not {theirs.size}"
            )
        worst = max(worst, _error(np.reshape(value, theirs.shape), theirs))
    return Verdict(case["id"], worst <= rtol, rtol, worst)


def _error(ours: Floats, theirs: Floats) -> float:
    """Largest difference relative to the largest magnitude; NaN must meet NaN."""
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return float("inf")
    scale = np.nanmax(np.abs(theirs), initial=1e-9) if not np.isnan(theirs).all() else 1.0
    return float(np.nanmax(np.abs(ours - theirs), initial=0.0) / scale) if not np.isnan(theirs).all() else 0.0


def _numbers(value: Any) -> Floats:
    """Lists of numbers, of which the non-finite ones are text and the missing ones None."""

    def number(item: Any) -> Any:
        return (
            [number(each) for each in item]
            if isinstance(item, list)
            else float("nan" if item is None else item)
        )

    return np.array(number(value), dtype=np.float64)


class Inputs:
    """The batch of a file: flat (B, T) arrays, also as one run of groups, (P, G, T)."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        if not isinstance(inputs.get("group_size"), int):
            raise ValueError("inputs: expected a whole number as 'group_size'")
        self.group_size = int(inputs["group_size"])
        self.arrays = {
            name: _numbers(value)
            for name, value in inputs.items()
            if isinstance(value, list) and name != "lens"
        }

    def flat(self, name: str) -> Floats:
        """(B, ...) as recorded."""
        if name not in self.arrays:
            raise KeyError(f"inputs have no {name!r}")
        return self.arrays[name]

    def grouped(self, name: str) -> Floats:
        """(P, G, ...)."""
        array = self.flat(name)
        return array.reshape(-1, self.group_size, *array.shape[1:])


def rebuild(case: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """The numbers of a case, from its id and parameters alone.

    Args:
      case: with id, params and mask.
      inputs: the batch.

    Returns:
      "loss" and "grad_logp", or "value".

    Raises:
      ValueError: if the id begins with no known trainer.
    """
    prefix = case["id"].split("_")[0]
    if prefix not in PREFIXES:
        raise ValueError(f"{case['id']}: expected an id that begins with one of {', '.join(PREFIXES)}")
    if case["id"].endswith("_SNAPSHOT_BUG"):
        return _historical(case, inputs)
    if case["kind"] == "tensor":
        return {"value": _tensor(case, inputs, DIALECTS[PREFIXES[prefix]])}
    return _loss(case, inputs, DIALECTS[PREFIXES[prefix]])


# ---- losses ----------------------------------------------------------------------------------------


def _loss(case: Mapping[str, Any], inputs: Inputs, dialect: Dialect) -> dict[str, Any]:
    if "kl_penalty" in case["params"]:
        return _penalty(case, inputs, dialect)
    config = _config(case, dialect)
    recipe = dialect.recipe(**config)
    settings = dialect.settings(config)
    mask = inputs.grouped(case["mask"])
    given: dict[str, Any] = {
        "old_log_probs": None if "old_logp" in case["params"] else inputs.grouped("old_logp"),
        "ref_log_probs": inputs.grouped("ref_logp") if recipe.kl_coef else None,
        "rollout_log_probs": inputs.grouped("sampler_logp") if recipe.corrections else None,
        "max_length": getattr(settings, "max_completion_length", None)
        if "max_completion_length" in config
        else None,
    }
    if "entropies" in recipe.reads:
        given["entropies"] = inputs.grouped("entropy")
    if recipe.surrogate.kernel is clip_cov:
        given["noise"] = _torch_choice(recipe, inputs, mask, case["params"].get("torch_manual_seed", 0))
    result = policy_loss(inputs.grouped("logp"), inputs.grouped("advantages"), mask, recipe=recipe, **given)
    loss = result.loss
    if "entropy_coef" in config:
        present = inputs.flat(case["mask"]) != 0
        loss = loss - config["entropy_coef"] * inputs.flat("entropy")[present].mean()
    return {"loss": loss, "grad_logp": result.gradient}


def _config(case: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    """The configuration that a case's id and parameters stand for."""
    name, config = case["id"], dict(case["params"])
    for note in NOTES:
        config.pop(note, None)
    return CONFIGS[dialect.name](name, config)


NOTES = ("old_logp", "torch_manual_seed", "arg_order", "proximal", "behaviour")
"""Parameters that say how a case was recorded, and are no configuration keys."""


def _trl(name: str, config: dict[str, Any]) -> dict[str, Any]:
    vllm = {"use_vllm": True} if "mode" in config else {}
    return ({"loss_type": "gmpo"} if name == "trl_gmpo" else {}) | config | vllm


def _verl(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """The loss function is in the id, and the weights of a correction are written out."""
    if "rollout_is_weights" in config:
        threshold = float(config.pop("rollout_is_weights").split(",")[-1].rstrip(")"))
        config |= {"rollout_is": "token", "rollout_is_threshold": threshold}
    modes = [mode for mode in VERL_MODES if name.startswith(f"verl_{mode}")]
    return {"loss_mode": modes[0] if modes else "vanilla", "clip_ratio_high": 0.28} | config


VERL_MODES = ("gspo", "sapo", "cispo", "gpg", "geo_mean", "dro", "dppo_tv", "dppo_kl", "clip_cov", "kl_cov")


def _open_instruct(name: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"use_rho_correction": "_rho_" in name} | config


def _rlinf(name: str, config: dict[str, Any]) -> dict[str, Any]:
    floor = {"clip_ratio_c": 3.0} if name.startswith("rlinf_actor") else {}
    return {"clip_ratio_low": 0.2, "clip_ratio_high": 0.28} | floor | config


def _as_it_is(name: str, config: dict[str, Any]) -> dict[str, Any]:
    return config


CONFIGS: dict[str, Callable[[str, dict[str, Any]], dict[str, Any]]] = {
    "trl": _trl,
    "verl": _verl,
    "open_instruct": _open_instruct,
    "rlinf": _rlinf,
    "openrlhf": _as_it_is,
    "understand_r1_zero": _as_it_is,
}


def _torch_choice(recipe: Recipe, inputs: Inputs, mask: Floats, seed: int) -> Floats:
    """Noise that lets clip-cov choose what torch.randperm chooses after torch.manual_seed(seed)."""
    settings = {name: value for name, value in recipe.surrogate.settings.items() if name != "share"}
    log_probs, advantages = inputs.grouped("logp"), inputs.grouped("advantages")[..., None]
    log_ratio = log_probs - inputs.grouped("old_logp")
    places = np.flatnonzero(clip_cov_eligible(log_ratio, log_probs, advantages, mask, **settings))
    noise = np.ones(mask.size)
    noise[places[_torch_permutation(len(places), seed)]] = np.arange(len(places)) / max(len(places), 1)
    return noise.reshape(mask.shape)


def _torch_permutation(size: int, seed: int) -> list[int]:
    """torch.randperm(size) on the CPU: a shuffle by the raw 32-bit numbers of a Mersenne twister."""
    draws = np.random.RandomState(seed).randint(0, 2**32, size=size, dtype=np.uint32)
    order = list(range(size))
    for place in range(size - 1):
        other = place + int(draws[place]) % (size - place)
        order[place], order[other] = order[other], order[place]
    return order


def _penalty(case: Mapping[str, Any], inputs: Inputs, dialect: Dialect) -> dict[str, Any]:
    """A penalty by itself, as a loss, with the recipe's weights."""
    key = {"verl": "kl_loss_type", "rlinf": "kl_penalty_type"}[dialect.name]
    recipe = replace(dialect.recipe(**{key: case["params"]["kl_penalty"]}), kl_coef=1.0)
    names = ("logp", "ref_logp")
    if "swapped" in case["id"]:  # RLinf's FSDP actor before PR #1400; its slope is with respect to the second
        names = ("ref_logp", "logp")
    arrays = [inputs.grouped(name) for name in names]
    term = recipe.penalty(SimpleNamespace(log_probs=arrays[0], ref_log_probs=arrays[1]))
    weights = recipe.aggregate(SimpleNamespace(mask=inputs.grouped(case["mask"]), max_length=None))
    sign = -1.0 if "swapped" in case["id"] else 1.0
    return {"loss": (weights * term.value).sum(), "grad_logp": sign * weights * term.direct}


def _historical(case: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Bugs by name."""
    if case["id"].startswith("trl_luspo"):
        result = released.luspo_before_6654(
            inputs.flat("logp"),
            inputs.flat("old_logp"),
            inputs.flat("advantages")[:, None],
            inputs.flat(case["mask"]),
            clip_high=case["params"].get("epsilon_high", 0.2),
        )
        return {"loss": result.loss, "grad_logp": result.gradient}
    if case["id"].startswith("trl_dapo_gas"):  # before PR #6024 the accumulation was not made up for
        return _loss({**case, "params": {"loss_type": "dapo"}}, inputs, DIALECTS["trl"])
    raise ValueError(f"{case['id']}: no bug of this name is known")


# ---- tensors -----------------------------------------------------------------------------------


def _tensor(case: Mapping[str, Any], inputs: Inputs, dialect: Dialect) -> Floats:
    name, params = case["id"], case["params"]
    if "_adv_" in name:
        return _advantages(case, inputs, dialect)
    if name.startswith("trl_is_ratio"):
        return _corrections(case, inputs, dialect)
    if name.startswith("trl_dppo_mask"):
        return _dppo_mask(params, inputs)
    if name == "verl_kl_k3_clamp":
        difference = _numbers(params["logp_minus_ref"])
        return np.asarray(
            dialect.recipe(kl_loss_type="k3").penalty.kernel(difference, 0.0 * difference, **VERL_K3).value
        )
    if name == "oi_estimate_kl":
        log_probs, ref = inputs.flat("logp"), inputs.flat("ref_logp")
        ratio = log_probs - inputs.flat("old_logp")
        return np.stack(
            [open_instruct_kl(log_probs, ref, ratio, estimator=number).value for number in range(4)]
        )
    raise ValueError(f"{name}: no tensor of this name is known")


VERL_K3 = {"max_log_ratio": 20.0, "max_value": 10.0}


def _advantages(case: Mapping[str, Any], inputs: Inputs, dialect: Dialect) -> Floats:
    """Advantages, by completion or by token as the trainer has them."""
    name, params = case["id"], dict(case["params"])
    mask, group_size = inputs.flat("mask"), inputs.group_size
    rewards = inputs.flat("rewards")
    components = inputs.arrays.get("rewards_per_func", rewards[:, None])
    if isinstance(params.get("rewards_per_func"), list):
        components = _numbers(params.pop("rewards_per_func"))
    weights = _numbers(
        params.get("reward_weights", params.pop("gdpo_reward_weights", [1.0] * components.shape[1]))
    )
    if dialect.name == "trl":
        weighted = np.nansum(components * weights, axis=-1)
        rewards = np.where(np.isnan(components).all(-1), np.nan, weighted)
    if "index" in params:
        group_size = 1 if len(set(params.pop("index"))) == len(rewards) else group_size
    for note in ("rewards", "group_size"):
        params.pop(note, None)
    recipe = dialect.recipe(**_estimator(name, dialect) | params)
    advantage = (
        replace(recipe.advantage, kernel=scored_normalized) if np.isnan(rewards).any() else recipe.advantage
    )
    record = SimpleNamespace(
        rewards=rewards.reshape(-1, group_size),
        components=components.reshape(-1, group_size, components.shape[1]),
        weights=weights,
        mask=mask.reshape(-1, group_size, mask.shape[1]),
        lengths=mask.sum(-1).reshape(-1, group_size),
    )
    values = advantage(record)
    if dialect.name in ("trl", "open_instruct", "understand_r1_zero"):
        return np.asarray(values).reshape(-1)
    tokens = values[..., None] if values.ndim == 2 else values
    by_token: Floats = (tokens * record.mask).reshape(mask.shape)
    return by_token.T if dialect.name == "rlinf" else by_token


def _estimator(name: str, dialect: Dialect) -> dict[str, Any]:
    """Verl's estimator is in the id."""
    if dialect.name != "verl":
        return {}
    short = name.removeprefix("verl_adv_")
    long = {"rfpp_baseline": "reinforce_plus_plus_baseline", "reinforce_pp_gamma1": "reinforce_plus_plus"}
    return {"adv_estimator": long.get(short, short.removesuffix("_nostd").removesuffix("_singleton"))}


def _corrections(case: Mapping[str, Any], inputs: Inputs, dialect: Dialect) -> Floats:
    """The weights for the sampler's mismatch: one a token, or one a completion."""
    recipe = dialect.recipe(**_config(case, dialect))
    record = SimpleNamespace(
        old_log_probs=inputs.flat("old_logp"),
        rollout_log_probs=inputs.flat("sampler_logp"),
        mask=inputs.flat("mask"),
    )
    (correction,) = recipe.corrections
    weights: Floats = correction(record)
    return weights if case["params"]["mode"].startswith("token") else weights[:, :1]


DIVERGENCES: dict[str, Callable[..., Term]] = {
    "binary_tv": dppo_tv,
    "binary_kl": dppo_kl,
    "topk_tv": dppo_top_tv,
    "topk_kl": dppo_top_kl,
}


def _dppo_mask(params: Mapping[str, Any], inputs: Inputs) -> Floats:
    """1 where DPPO keeps a token; TRL took the sampler for the behaviour."""
    log_probs, advantages, mask = inputs.flat("logp"), inputs.flat("advantages")[:, None], inputs.flat("mask")
    kernel = DIVERGENCES[params["divergence_type"]]
    log_ratio = log_probs - inputs.flat("sampler_logp")
    tops = (inputs.flat("current_topk_logps"), inputs.flat("sampling_topk_logps"))
    arrays = (log_ratio, log_probs, *(tops if "top" in params["divergence_type"] else ()), advantages)
    kept = kernel(*arrays, low=params["epsilon_low"], high=params["epsilon_high"]).direct != 0.0
    return np.asarray(kept * mask)
