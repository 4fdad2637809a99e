"""Record AReaL cbff54d64: `python tests/data/record/record_areal.py SOURCES`, a checkout of it.

What runs is theirs: the dataclasses of the configuration with their checks, merged by OmegaConf as in
`to_structured_cfg`; `PPOActor._compute_advantages` with `Normalization`, `KLEstimator` and the punishment
for length; `PPOActor._ppo_update` down to `grpo_loss_fn`, with both losses and the filters. The engine's stub
hands the mini-batch to that function as one micro-batch. A sequence is one token of prompt and the completion
up to its last token that counts. Torch 2.13.0 on the CPU; what they cast to float32 (returns, advantages, the
filters' ratios) is float32 here too.
"""

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

GROUP = 4
COMMIT = "AReaL cbff54d64 (2026-08-22)"
REAL = ("", ".api", ".trainer", ".trainer.ppo", ".utils", ".engine", ".engine.fsdp_utils")
"""Packages of theirs whose modules are imported, without what their __init__ would import."""
EMPTY = (
    "areal.infra",
    "areal.infra.platforms",
    "areal.infra.rpc",
    "areal.infra.rpc.serialization",
    "areal.v2",
    "areal.v2.training_service",
    "areal.v2.training_service.controller",
    "areal.v2.training_service.controller.controller",
    "areal.utils.logging",
    "areal.utils.perf_tracer",
    "areal.utils.stats_tracker",
)


class Nothing:
    """Any of the classes, functions and contexts that are not there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, function: Any = None, *args: Any, **kwargs: Any) -> Any:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        pass


def nothing(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing


def stand_ins(sources: Path) -> None:
    for name in REAL:
        module = types.ModuleType(f"areal{name}")
        module.__path__ = [str(sources / "areal" / Path(*name.split(".")))]
        sys.modules[module.__name__] = module
    sys.modules["areal.api"].TrainEngine = Nothing
    for name in EMPTY:
        module = types.ModuleType(name)
        module.__getattr__ = nothing  # type: ignore[method-assign]
        module.__path__ = []
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        setattr(sys.modules[parent], last, module)
    silent = SimpleNamespace(info=lambda *_: None, warning=lambda *_: None)
    sys.modules["areal.utils.logging"].getLogger = lambda name: silent


def parsed(config: dict[str, Any]) -> Any:
    """Their configuration of a run after all checks."""
    nested: dict[str, Any] = {
        "experiment_name": "x",
        "trial_name": "y",
        "actor": {"backend": "fsdp:d1", "experiment_name": "x", "trial_name": "y"},
        "rollout": {"backend": "sglang:d1"},
    }
    for key, value in config.items():
        groups = key.split(".")
        if groups[0] not in ("actor", "gconfig", "ref", "total_train_epochs"):
            groups = ["actor", *groups]
        place = nested
        for name in groups[:-1]:
            if not isinstance(place.get(name), dict):
                place[name] = {}
            place = place[name]
        place[groups[-1]] = value
    if "ref" in nested:
        nested["ref"] |= {"experiment_name": "x", "trial_name": "y"}
    merged = CLI.to_structured_cfg(CLI.OmegaConf.create(nested), CLI.PPOConfig)
    base = CLI.OmegaConf.to_object
    run = SimpleNamespace(
        actor=base(merged.actor), ref=None if merged.ref is None else base(merged.ref), gconfig=merged.gconfig
    )
    if merged.total_train_epochs <= 0:
        CLI.BaseExperimentConfig.__post_init__(merged)
    return run


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.long() if name == "mask" else array.to(getattr(torch, case.get("dtype", "float64")))


def behind_a_prompt(values: torch.Tensor) -> torch.Tensor:
    """One more place in front, for the token of the prompt."""
    return torch.cat([torch.zeros_like(values[:, :1]), values], dim=1)


def attention(mask: torch.Tensor) -> torch.Tensor:
    """The prompt's token and everything up to the last one that counts."""
    counted = mask.flip(1).cumsum(1).flip(1) > 0
    return torch.cat([torch.ones_like(mask[:, :1]), counted.long()], dim=1)


def actor_of(run: Any, engine: Any = None) -> Any:
    actor = object.__new__(ACTOR.PPOActor)
    ACTOR.PPOActor._log_configuration = lambda self: None
    actor.__init__(run.actor, engine)
    return actor


def scored(case: dict[str, Any]) -> dict[str, Any]:
    """What `_compute_advantages` makes of a batch."""
    run = parsed(case["config"])
    run.actor.should_compute_prox_logp()
    mask, has = tensor(case, "mask"), {name: tensor(case, name) for name in case["given"]}
    zeros = torch.zeros(mask.shape, dtype=has["rewards"].dtype)
    decoupled = run.actor.use_decoupled_loss
    sampler = has.get("rollout_log_probs" if decoupled else "old_log_probs", zeros)
    data = {
        "input_ids": behind_a_prompt(mask),
        "rewards": has["rewards"].clone().float(),
        "loss_mask": behind_a_prompt(mask),
        "attention_mask": attention(mask),
        "logprobs": behind_a_prompt(sampler),
    }
    if run.actor.should_compute_prox_logp():
        old = behind_a_prompt(has.get("old_log_probs", zeros))
        data["prox_logp"] = torch.roll(old, shifts=-1, dims=-1)
    if run.actor.kl_ctl > 0 and run.ref is not None:
        data["ref_logp"] = torch.roll(behind_a_prompt(has["ref_log_probs"]), shifts=-1, dims=-1)
    size = case.get("inputs", {}).get("group_size", GROUP)
    meta = SimpleNamespace(traj_group_sizes=[size] * (len(mask) // size))
    return actor_of(run)._compute_advantages(data, meta)


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """Per token, where they were before they were shifted to what predicts them."""
    found = scored(case)["advantages"][:, :-1]
    return {"value": found.tolist(), "axes": ["completion", "token"]}


def shaped_rewards(case: dict[str, Any]) -> dict[str, Any]:
    """The reward that stands at the last token, nothing else being done to it."""
    data = scored(case)
    return {"value": data["tot_rewards"].sum(-1).tolist()}


LOGGED = ("importance_weight", "approx_kl", "clip_ratio", "dual_clip_ratio", "actor_loss")
WITHOUT = ("rejection_sampling", "m2_threshold", "use_sapo_loss", "use_cispo_loss", "prox_logp_method")
"""With these the metrics are of other tokens, or other ratios."""


class Tracker:
    """What `stats_tracker` is told: a mean over the tokens that count."""

    def __init__(self) -> None:
        self.logged: dict[str, float] = {}
        self.masks: dict[str, torch.Tensor] = {}

    def denominator(self, **masks: torch.Tensor) -> None:
        self.masks |= masks

    def stat(self, denominator: str, **values: torch.Tensor) -> None:
        mask = self.masks[denominator]
        for name in LOGGED:
            if name in values:
                self.logged[name] = values[name][mask].double().sum().item() / max(mask.sum().item(), 1)


class Engine:
    """The loss of each micro-batch, weighed with its share of the tokens; their padded layout."""

    def __init__(self, policy: torch.Tensor, entropy: torch.Tensor) -> None:
        self.policy, self.entropy, self.losses = policy, entropy, []

    def train(self) -> None:
        pass

    def get_version(self) -> int:
        return 1

    def train_batch(self, batch: dict[str, Any], loss_fn: Any, loss_weight_fn: Any) -> dict[str, float]:
        loss = loss_fn(self.policy, self.entropy, batch) * (
            loss_weight_fn(batch) / loss_weight_fn(batch).clamp(min=1)
        )
        loss.backward()
        self.losses.append(loss.detach())
        return {}


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """One `_ppo_update` of one mini-batch."""
    run = parsed({"actor.ppo_n_minibatches": 1} | case["config"])
    run.actor.should_compute_prox_logp()
    has = {name: tensor(case, name) for name in case["given"]}
    mask = has["mask"]
    policy = has["log_probs"].requires_grad_()
    old = has.get("old_log_probs", policy.detach())
    decoupled = run.actor.use_decoupled_loss
    tokens = has["advantages"]
    tokens = tokens if tokens.ndim == 2 else tokens[:, None] * torch.ones_like(old)
    zeros = torch.zeros_like(old)
    engine = Engine(policy, zeros)
    data = {
        "attention_mask": torch.ones_like(mask),
        "loss_mask": mask.float(),
        "rewards": torch.ones(len(mask)),
        "advantages": tokens,
        "kl_rewards": zeros,
        "tot_rewards": zeros,
        "logprobs": has.get("rollout_log_probs", old) if decoupled else old,
        "prox_logp": old,
    }
    ACTOR.split_padded_tensor_dict_into_mb_list = lambda data, mb_spec: SimpleNamespace(mbs=[data])
    tracker = Tracker()
    ACTOR.stats_tracker.denominator, ACTOR.stats_tracker.stat = tracker.denominator, tracker.stat
    actor_of(run, engine)._ppo_update(data)
    simple = not any(key.startswith(WITHOUT) for key in case["config"])
    metrics = {"metrics": tracker.logged} if simple else {}
    return {"loss": engine.losses[0].item(), "grad_logp": policy.grad.tolist()} | metrics


CALLS = {"loss": loss, "advantages": advantages, "shaped rewards": shaped_rewards}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
USUAL = {"gconfig.n_samples": GROUP, "kl_ctl": 0.0}
LOOSE = 1e-5
"""Their ratios to the sampler and their advantages are float32."""


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"areal, {name}", "call": call, "config": USUAL | config, "given": given, **others}


LEVELS = {"token": {}, "sequence": {"importance_sampling_level": "sequence"}}
CLIPS = {
    "default": {},
    "low high": {"eps_clip": 0.2, "eps_clip_higher": 0.28},
    "narrow": {"eps_clip": 0.0},
    "wide": {"eps_clip": 1.5},
    "dual 3": {"c_clip": 3.0},
    "dual 1.2 low high": {"c_clip": 1.2, "eps_clip_higher": 0.28},
    "sapo": {"use_sapo_loss": True},
    "sapo, sharp": {"use_sapo_loss": True, "sapo_tau_pos": 3.0, "sapo_tau_neg": 0.5},
}
CISPOS = {
    "cispo": {"use_cispo_loss": True, "eps_clip_higher": 0.28},
    "cispo, one-sided": {"use_cispo_loss": True, "eps_clip": 1.0, "eps_clip_higher": 4.0},
    "cispo, below 0": {"use_cispo_loss": True, "eps_clip": 1.5, "eps_clip_higher": 0.1},
}
REUSE = {"prox_logp_method": "reuse_train_logp"}
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single")
APART = {"use_decoupled_loss": True}
R = "rejection_sampling."
FILTERS = {
    "token mask": {f"{R}upper": 1.25},
    "token mask, window": {f"{R}upper": 1.25, f"{R}lower": 0.8},
    "token clamp": {f"{R}action": "clamp", f"{R}upper": 1.25},
    "token clamp, window": {f"{R}action": "clamp", f"{R}upper": 1.25, f"{R}lower": 0.9},
    "sequence mask": {f"{R}level": "sequence", f"{R}upper": 1.1, f"{R}lower": 0.95},
    "sequence mask, sum": {f"{R}level": "sequence", f"{R}agg": "sum", f"{R}upper": 1.3},
    "sequence mask, max": {f"{R}level": "sequence", f"{R}agg": "max", f"{R}upper": 1.3, f"{R}lower": 1.05},
    "sequence clamp": {f"{R}level": "sequence", f"{R}action": "clamp", f"{R}upper": 1.05},
    "sequence clamp, sum": {
        f"{R}level": "sequence",
        f"{R}action": "clamp",
        f"{R}agg": "sum",
        f"{R}upper": 1.05,
        f"{R}lower": 1.0,
    },
    "k1": {f"{R}metric": "kl_k1", f"{R}upper": 0.2, f"{R}lower": -0.2},
    "k2": {f"{R}metric": "kl_k2", f"{R}upper": 0.02},
    "k3": {f"{R}metric": "kl_k3", f"{R}upper": 0.02},
    "k1, sum": {f"{R}metric": "kl_k1", f"{R}level": "sequence", f"{R}agg": "sum", f"{R}upper": 0.1},
    "k2, mean": {f"{R}metric": "kl_k2", f"{R}level": "sequence", f"{R}upper": 0.03},
    "k3, max": {f"{R}metric": "kl_k3", f"{R}level": "sequence", f"{R}agg": "max", f"{R}upper": 0.1},
    "default": {f"{R}metric": "ratio"},
}
PAIRED = ("token mask", "token clamp", "sequence mask", "sequence mask, sum", "k1", "k3, max")
MOMENT = {"m2_threshold": 0.04}


def losses() -> Any:
    """The loss of given advantages, without filters."""
    for (level, by), (clip, c) in itertools.product(LEVELS.items(), CLIPS.items()):
        for policy in ("logp", "logp_at_bounds"):
            yield case(f"{level}, {clip}, {policy}", "loss", by | c, PLAIN | {"log_probs": policy})
    for (level, by), mask in itertools.product(LEVELS.items(), MASKS):
        yield case(f"{level}, {mask}", "loss", by, PLAIN | {"mask": mask})
        tokens = {"advantages": "token_advantages", "mask": mask}
        yield case(f"{level}, {mask}, per token", "loss", by, PLAIN | tokens)
    for level, by in LEVELS.items():
        soft = by | CLIPS["sapo"]
        tokens = {"advantages": "token_advantages", "mask": "mask_holes"}
        yield case(f"{level}, sapo, holes, per token", "loss", soft, PLAIN | tokens)
        alone = {name: source for name, source in PLAIN.items() if name != "old_log_probs"}
        yield case(f"{level}, on policy", "loss", by, alone)
        yield case(f"{level}, float32", "loss", by, PLAIN, dtype="float32", rtol=LOOSE)
        yield case(f"{level}, sapo, float32", "loss", soft, PLAIN, dtype="float32", rtol=LOOSE)
        policies = ("logp_limited",) if level == "token" else ("logp_extreme", "logp_limited")
        for policy, precision in itertools.product(policies, ("float64", "float32")):
            others = {} if precision == "float64" else {"rtol": LOOSE}
            given = PLAIN | {"log_probs": policy, "mask": "everywhere"}
            told = f"{level}, {policy}, {precision}"
            yield case(told, "loss", by, given, inputs=EVERYWHERE, dtype=precision, **others)


EVERYWHERE = {"everywhere": [[1] * 7] * 12}
"""Without padding. Tokens of an infinite ratio are left out too: their gradient is 0 times infinity."""


def filters() -> Any:
    """What the sampler's staleness leaves out, alone and in pairs."""
    for (level, by), (name, f) in itertools.product(LEVELS.items(), FILTERS.items()):
        yield case(f"{level}, {name}", "loss", APART | by | f, SAMPLER, rtol=LOOSE)
        given = SAMPLER | {"mask": "mask_holes", "advantages": "token_advantages"}
        yield case(f"{level}, {name}, holes, per token", "loss", APART | by | f, given, rtol=LOOSE)
    for (level, by), name in itertools.product(LEVELS.items(), PAIRED):
        both = APART | by | FILTERS[name] | MOMENT
        yield case(f"{level}, {name}, second moment", "loss", both, SAMPLER, rtol=LOOSE)
    for name in PAIRED:
        f, empty = FILTERS[name], SAMPLER | {"mask": "mask_empty"}
        yield case(f"token, {name}, mask_empty", "loss", APART | f | CLIPS["dual 3"], empty, rtol=LOOSE)
        far = SAMPLER | {"rollout_log_probs": "sampler_logp_far"}
        yield case(f"{name}, sampler far", "loss", APART | f, far, rtol=2e-5)
    for (level, by), name in itertools.product(LEVELS.items(), PAIRED):
        reused = APART | REUSE | by | FILTERS[name]
        yield case(f"{level}, {name}, reused", "loss", reused, SAMPLER, rtol=LOOSE)
    for level, by in LEVELS.items():
        yield case(f"{level}, reused", "loss", APART | REUSE | by, SAMPLER)
        yield case(f"{level}, reused, not decoupled", "loss", REUSE | by, SAMPLER)
        told = REUSE | by | FILTERS["token mask"]
        yield case(f"{level}, token mask, reused, not decoupled", "loss", told, SAMPLER, rtol=LOOSE)
        told = APART | REUSE | by | MOMENT | FILTERS["k1"]
        given = SAMPLER | {"mask": "mask_holes", "advantages": "token_advantages"}
        yield case(f"{level}, k1, second moment, reused", "loss", told, given, rtol=LOOSE)
        told = REUSE | by | MOMENT | CLIPS["sapo"]
        yield case(f"{level}, sapo, second moment, reused", "loss", told, SAMPLER, rtol=LOOSE)
    for name, c in CISPOS.items():
        for policy in ("logp", "logp_at_bounds"):
            yield case(f"{name}, {policy}", "loss", c, PLAIN | {"log_probs": policy})
        for f in ("token mask", "sequence clamp", "k2"):
            yield case(f"{name}, {f}", "loss", APART | c | FILTERS[f], SAMPLER, rtol=LOOSE)
        yield case(
            f"{name}, reused, token clamp",
            "loss",
            APART | REUSE | c | FILTERS["token clamp"],
            SAMPLER,
            rtol=LOOSE,
        )
        yield case(f"{name}, second moment", "loss", APART | c | MOMENT, SAMPLER, rtol=LOOSE)
        yield case(f"{name}, float32", "loss", c, PLAIN, dtype="float32", rtol=LOOSE)
    for name in ("token mask", "sequence clamp", "k3"):
        yield case(f"{name}, not decoupled", "loss", FILTERS[name], SAMPLER)
    for (level, by), threshold in itertools.product(LEVELS.items(), (1e-4, 0.04, 10.0)):
        config = APART | by | {"m2_threshold": threshold}
        yield case(f"{level}, second moment {threshold}", "loss", config, SAMPLER)
        holes = SAMPLER | {"mask": "mask_holes"}
        yield case(f"{level}, second moment {threshold}, holes", "loss", config, holes)
    for level, by in LEVELS.items():
        yield case(f"{level}, decoupled without filter", "loss", APART | by, SAMPLER)
    yield case("second moment, not decoupled", "loss", MOMENT, SAMPLER)
    yield case("lower above 1, not decoupled", "loss", {f"{R}lower": 1.5}, SAMPLER)
    clamp = {f"{R}lower": 1.5, f"{R}action": "clamp"}
    yield case("clamp above 1, not decoupled", "loss", clamp, SAMPLER)
    yield case("k1 below 0, not decoupled", "loss", {f"{R}metric": "kl_k1", f"{R}upper": -0.1}, SAMPLER)
    yield case("sapo with a filter that is not read", "loss", CLIPS["sapo"] | FILTERS["token mask"], SAMPLER)
    yield case("metrics", "loss", APART | {"prox_logp_method": "metrics"}, SAMPLER)


def norm(kind: str, mean: Any, std: Any, **others: Any) -> dict[str, Any]:
    told = {"mean_level": mean, "std_level": std, **others}
    return {f"{kind}.{key}": value for key, value in told.items()}


REWARD_NORMS = {
    "none": {},
    **{
        f"{mean} and {std}": norm("reward_norm", mean, std)
        for mean, std in itertools.product(("group", "batch", None), repeat=2)
    },
    "others": norm("reward_norm", "group", None, mean_leave1out=True),
    "others, divided": norm("reward_norm", "group", "group", mean_leave1out=True),
    "others of the batch": norm("reward_norm", "batch", "batch", mean_leave1out=True),
    "biased": norm("reward_norm", "group", "group", std_unbiased=False, eps=0.1),
    "a size that is not read": norm("reward_norm", "group", "group", group_size=5),
    "one key alone": {"reward_norm.mean_level": "group"},
}
TOKEN_NORMS = {
    "batch": norm("adv_norm", "batch", "batch"),
    "group": norm("adv_norm", "group", "group"),
    "others": norm("adv_norm", "batch", "batch", mean_leave1out=True),
    "others of the group": norm("adv_norm", "group", None, mean_leave1out=True),
    "spread alone": norm("adv_norm", None, "batch", std_unbiased=False),
    "group mean, batch spread": norm("adv_norm", "group", "batch"),
    "batch mean, group spread": norm("adv_norm", "batch", "group"),
}
ONE = {"inputs": {"group_size": 1}, "rtol": LOOSE}
ALONE = {"gconfig.n_samples": 1}
SINGLES = {
    "usual": {},
    "biased": {"std_unbiased": False},
    "others": {"mean_leave1out": True},
    "others, biased": {"mean_leave1out": True, "std_unbiased": False},
}
SCORED = {"rewards": "rewards", "mask": "mask"}
JUDGED = SCORED | {
    "old_log_probs": "old_logp",
    "ref_log_probs": "ref_logp",
    "rollout_log_probs": "sampler_logp",
}
REF = {"ref.backend": "fsdp:d1"}
USUAL_NORM = REWARD_NORMS["group and group"]


def advantage_cases() -> Any:
    for (name, n), rewards in itertools.product(REWARD_NORMS.items(), ("rewards", "rewards_some_equal")):
        yield case(
            f"advantages: {name}, {rewards}", "advantages", n, SCORED | {"rewards": rewards}, rtol=LOOSE
        )
    for name in ("group and group", "group and batch", "others", "none"):
        for rewards in ("rewards_tied", "rewards_all_equal"):
            given = SCORED | {"rewards": rewards, "mask": "mask_holes"}
            told = f"advantages: {name}, {rewards}, holes"
            yield case(told, "advantages", REWARD_NORMS[name], given, rtol=LOOSE)
    for (name, n), mask in itertools.product(TOKEN_NORMS.items(), ("mask", "mask_holes", "mask_empty")):
        config = USUAL_NORM | n
        yield case(
            f"advantages: tokens, {name}, {mask}", "advantages", config, SCORED | {"mask": mask}, rtol=LOOSE
        )
    for (name, how), (mean, std) in itertools.product(SINGLES.items(), (("group", "group"), ("group", None))):
        told = f"advantages: groups of one, {name}, {mean} and {std}"
        config = ALONE | norm("reward_norm", mean, std, **how)
        yield case(told, "advantages", config, SCORED, **ONE)
        config = ALONE | norm("adv_norm", mean, std, **how)
        decaying = config | {"discount": 0.9}
        yield case(f"{told}, tokens", "advantages", decaying, SCORED | {"mask": "mask_holes"}, **ONE)
    for estimator, (name, reference) in itertools.product(
        ("k1", "k2", "k3"), {"reference": REF, "no reference": {}}.items()
    ):
        for apart in ({}, APART, {"recompute_logprob": True}):
            kl = (
                {"kl_ctl": 0.05, "kl_estimator": estimator}
                | reference
                | apart
                | REWARD_NORMS["group and None"]
            )
            told = f"{estimator}, {name}{', '.join(['', *apart])}"
            yield case(f"advantages: {told}", "advantages", kl, JUDGED, rtol=LOOSE)
        kl = {"kl_ctl": 0.05, "kl_estimator": estimator, "discount": 0.9} | reference | TOKEN_NORMS["batch"]
        far = JUDGED | {"ref_log_probs": "ref_logp_far", "mask": "mask_holes"}
        yield case(f"advantages: {estimator}, {name}, far, decaying", "advantages", kl, far, rtol=LOOSE)
    negative = {"kl_ctl": -0.05} | REF
    yield case("advantages: a negative weight", "advantages", negative, JUDGED, rtol=LOOSE)
    default = {"kl_ctl": 0.1}
    yield case("advantages: the defaults", "advantages", default, JUDGED, rtol=LOOSE)
    for decay in ({"discount": 0.9}, {"gae_lambda": 0.5}, {"discount": 0.9, "gae_lambda": 0.95}):
        for mask in ("mask", "mask_holes"):
            told = ", ".join(f"{key} {value}" for key, value in decay.items())
            given = SCORED | {"mask": mask}
            yield case(f"advantages: {told}, {mask}", "advantages", USUAL_NORM | decay, given, rtol=LOOSE)


LENGTH = {"overlong_reward_penalty": True, "overlong_tokens": 3, "overlong_penalty_factor": 0.5}
SHAPES = {
    "defaults": {},
    "moved and scaled": {"reward_bias": -0.5, "reward_scaling": 10.0},
    "limited": {"reward_scaling": 3.0, "reward_clip": 1.5},
    "too long": LENGTH | {"actor.max_new_tokens": 7},
    "beyond the budget": LENGTH | {"actor.max_new_tokens": 5},
    "budget left out": LENGTH,
    "too long, scaled": LENGTH | {"actor.max_new_tokens": 6, "reward_bias": 1.0, "reward_scaling": 2.0},
}


def shaping() -> Any:
    for (name, config), rewards in itertools.product(SHAPES.items(), ("rewards", "rewards_huge")):
        given = SCORED | {"rewards": rewards}
        yield case(f"shaped rewards: {name}, {rewards}", "shaped rewards", config, given, rtol=LOOSE)
    config = SHAPES["too long, scaled"] | USUAL_NORM | TOKEN_NORMS["batch"]
    yield case("advantages: shaped", "advantages", config, SCORED, rtol=LOOSE)


REFUSED = {
    "no such estimator": {"kl_estimator": "k4"},
    "no such level": {"importance_sampling_level": "batch"},
    "no such method": {"prox_logp_method": "linear"},
    "a dual clip of 1": {"c_clip": 1.0},
    "sapo, decoupled": {"use_sapo_loss": True} | APART,
    "sapo, blunt": {"use_sapo_loss": True, "sapo_tau_pos": 0.0},
    "no such mean": {"reward_norm.mean_level": "prompt"},
    "no such spread": {"adv_norm.std_level": "token"},
    "groups of none": {"reward_norm.mean_level": "group", "reward_norm.group_size": 0},
    "no such filter": {f"{R}action": "drop"},
    "no such measure": {f"{R}metric": "kl"},
    "no such aggregate": {f"{R}agg": "min"},
    "no such place": {f"{R}level": "batch"},
    "a window backwards": {f"{R}lower": 6.0},
    "a ratio of at most 1": {f"{R}upper": 1.0},
    "a ratio of 0": {f"{R}lower": 0.0},
    "a KL of 0": {f"{R}metric": "kl_k3", f"{R}upper": 0.0},
    "clamped by a KL": {f"{R}metric": "kl_k1", f"{R}action": "clamp"},
    "a key that was taken out": {"behave_imp_weight_cap": 5.0},
    "cispo without a bound": {"use_cispo_loss": True},
    "cispo with a bound of 0": {"use_cispo_loss": True, "eps_clip_higher": 0.0},
    "cispo and sapo": {"use_cispo_loss": True, "use_sapo_loss": True, "eps_clip_higher": 0.2},
    "cispo by completion": CISPOS["cispo"] | LEVELS["sequence"],
    "a measure that only the loss knows": {f"{R}metric": "binary_kl"},
    "no such step": {"gae_timestep_unit": "word"},
    "deltas of more than one step": {"enable_delta_weight_update": True, "ppo_n_minibatches": 2},
    "no epochs": {"total_train_epochs": 0},
    "agents without keys": {"log_agent_stats": True},
    "a tail that is not told": {"overlong_reward_penalty": True, "overlong_penalty_factor": 1.0},
    "a factor that is not told": {"overlong_reward_penalty": True, "overlong_tokens": 4},
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        call, given = ("advantages", JUDGED) if "overlong_reward_penalty" in config else ("loss", SAMPLER)
        yield case(f"refused: {name}", call, config, given) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError, RuntimeError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def finite(case: dict[str, Any]) -> bool:
    """Whether the gradient is one, or the loss is none either."""
    rows = case.get("grad_logp", [])
    return all(math.isfinite(x) for row in rows for x in row) or not math.isfinite(case["loss"])


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    stand_ins(SOURCES)
    stand_in_for(("uvloop", "hydra", "einops", "torchdata", "orjson", "colorlog", "pynvml", "ray", "numba"))
    import areal.api.cli_args as CLI
    import areal.trainer.ppo.actor as ACTOR

    wanted = [*losses(), *filters(), *advantage_cases(), *shaping(), *refusals()]
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_areal.py"}
    print(writing.write("areal", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
