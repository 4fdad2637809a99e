"""Record OpenRLHF 3c3be623: `python tests/data/record/record_openrlhf.py SOURCES`, a checkout of it.

What runs is theirs: the argument parser and its checks (the main block of `cli/train_ppo_ray.py`),
`RemoteExperienceMaker.make_experience` and `compute_advantages_and_returns`,
`SamplesGenerator._generate_vllm`, and `ActorPPOTrainer.training_step` with the loss, the KL and the
normalizers of one optimizer step. Stubs take the place of ray, DeepSpeed and the models. The policy's stub
returns the log-probabilities of the case, 0 where the mask is, as `Actor.forward` does; the sampler's are
padded with 0. Torch 2.13.0 on the CPU; what they cast to float32 (the KL, advantages) is float32 here too.
"""

import ast
import contextlib
import io
import itertools
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import writing
from absent import stand_in_for

ABSENT = (
    *(
        "PIL",
        "aiohttp",
        "deepspeed",
        "fastapi",
        "flash_attn",
        "loralib",
        "optree",
        "peft",
        "pylatexenc",
        "ray",
    ),
    *("ring_flash_attn", "torchdata", "uvicorn", "vllm", "wandb"),
)
GROUP = 4
COMMIT = "OpenRLHF 3c3be623 (2026-08-13)"


def main_block(sources: Path) -> Any:
    """Their `if __name__ == "__main__"`, compiled: it parses sys.argv, checks, and calls `train`."""
    path = sources / "openrlhf" / "cli" / "train_ppo_ray.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return compile(ast.Module(block.body, type_ignores=[]), str(path), "exec")


def words(config: dict[str, Any]) -> list[str]:
    """A configuration as the command line gives it."""
    told = []
    for key, value in config.items():
        if value is not False:
            values = value if isinstance(value, list) else [] if value is True else [value]
            told += [f"--{key}", *map(str, values)]
    return told


def parsed(config: dict[str, Any]) -> Any:
    """Their arguments after parser and checks; what these print is dropped."""
    taken: list[Any] = []
    usual = {"actor.model_name_or_path": "policy", "reward.remote_url": "url"}
    sys.argv = ["train_ppo_ray", *words(usual | config)]
    error = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
        try:
            exec(BLOCK, {"argparse": __import__("argparse"), "datetime": DATETIME, "train": taken.append})
        except SystemExit as stopped:
            raise ValueError(error.getvalue().strip().splitlines()[-1]) from stopped
    return taken[0]


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    if name == "mask":
        return array.long()
    return array.to(getattr(torch, case.get("dtype", "float64")))


def strategy(args: Any, **others: Any) -> Any:
    """Their strategy, which would run DeepSpeed."""
    return SimpleNamespace(args=args, ring_attn_group=None, **others)


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """One `training_step` on the whole batch."""
    args = parsed(case["config"])
    policy = tensor(case, "log_probs").requires_grad_()
    mask, advantages = tensor(case, "mask"), tensor(case, "advantages")
    has = {name: tensor(case, name) for name in case["given"]}
    zeros = torch.zeros_like(policy)
    entropy = has.get("entropies", zeros)
    masked = {name: has[name] * mask for name in ("old_log_probs", "ref_log_probs") if name in has}
    actor = MagicMock(return_value=(policy * mask, SimpleNamespace(entropy=entropy, aux_loss=zeros.sum())))
    stub = strategy(args, backward=lambda total, *_: total.backward() or losses.append(total.detach()))
    stub.optimizer_step, stub.get_grad_norm = MagicMock(), lambda model: 0.0
    losses: list[torch.Tensor] = []
    scheduler = SimpleNamespace(get_last_lr=lambda: [0.0])
    trainer = ACTOR.ActorPPOTrainer(stub, actor, None, None, scheduler, micro_train_batch_size=len(mask))
    tokens = advantages if advantages.ndim == 2 else advantages[:, None] * torch.ones_like(policy)
    experience = ACTOR.Experience(
        action_mask=mask,
        action_log_probs=masked.get("old_log_probs", policy.detach() * mask),
        base_action_log_probs=masked.get("ref_log_probs"),
        rollout_log_probs=torch.where(mask == 1, has.get("rollout_log_probs", zeros), 0.0),
        advantages=tokens,
    )
    windows = ACTOR.iter_grad_accum_global_norm([experience], stub, 1, lambda each: each.action_mask)
    weight = MAKER_KL.FixedKLController(args.algo.kl.init_coef).value
    status = trainer.training_step(experience, weight, 0, next(iter(windows))[1])
    names = ("policy_loss", "ppo_clip_ratio", "ppo_kl", "vllm_kl", "kl", "logprobs_diff", "entropy_loss")
    logged = {name: status["metrics"][name].item() for name in names if name in status["metrics"]}
    return {"loss": losses[0].item(), "grad_logp": policy.grad.tolist(), "metrics": logged}


def length(action_mask: torch.Tensor) -> int:
    """The length of a response, by their lines of `_process_response_into_experience`."""
    tree = ast.parse(Path(SAMPLES.__file__).read_text(encoding="utf-8"))
    lines = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and ast.unparse(node).startswith(("ones_indices =", "response_length ="))
    ]
    names = {"torch": torch, "action_mask": action_mask}
    exec(compile(ast.Module(lines, type_ignores=[]), SAMPLES.__file__, "exec"), names)
    found: int = names["response_length"]
    return found


def experiences(case: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Their maker with stubs for the models, and its experiences after all that it does."""
    args = parsed(case["config"])
    mask, rewards = tensor(case, "mask"), tensor(case, "rewards")
    has = {name: tensor(case, name) for name in case["given"]}
    old = has.get("old_log_probs", torch.zeros(mask.shape, dtype=rewards.dtype))
    reference = object() if args.algo.kl.init_coef > 0 else None
    answers = iter([[old * mask], [has["ref_log_probs"] * mask]] if reference else [[old]])
    maker = object.__new__(MAKER.RemoteExperienceMaker)
    maker.strategy, maker.args = strategy(args), args
    maker.advantage_estimator = args.algo.advantage.estimator
    maker.actor_model_group, maker.critic_model_group = object(), None
    maker.reward_model_group, maker.initial_model_group = None, reference
    maker.kl_ctl = MAKER_KL.FixedKLController(args.algo.kl.init_coef)
    maker._dispatch_forward = lambda *args, **kwargs: next(answers)
    maker._flatten_results = lambda results, factor: results if isinstance(results, list) else [None]
    sample = MAKER.Experience(
        sequences=mask,
        action_mask=mask,
        rewards=rewards.clone(),
        response_length=torch.tensor([length(row) for row in mask]),
        truncated=has["ended"] == 0 if "ended" in has else None,
        index=list(range(len(rewards))),
        info={"reward": rewards.clone()},
    )
    made = maker.make_experience([sample])
    logged = {name: made[0].info[name].mean().item() for name in ("kl", "logprobs_diff")}
    made = maker.compute_advantages_and_returns(made)
    logged |= {name: value.mean().item() for name, value in made[0].info.items() if name not in logged}
    return made[0], logged


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """What the policy is trained with, per token."""
    made, logged = experiences(case)
    return {"value": made.advantages.tolist(), "axes": ["completion", "token"], "metrics": logged}


def shaped_rewards(case: dict[str, Any]) -> dict[str, Any]:
    """The rewards after the punishments for length."""
    return {"value": experiences(case)[0].rewards.tolist()}


def advantages_of_shaped(case: dict[str, Any]) -> dict[str, Any]:
    """The same as `advantages`, with metrics where the case has asked for them."""
    numbers = advantages(case)
    return numbers if "metrics" in case else {name: numbers[name] for name in ("value", "axes")}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups `_generate_vllm` accepts, as 0 and 1."""
    args = parsed(case["config"])
    groups = tensor(case, "rewards").reshape(-1, GROUP)
    maker = object.__new__(SAMPLES.SamplesGenerator)
    maker.args = args
    refs = [[(number, score) for score in group] for number, group in enumerate(groups)]
    maker._process_response_into_experience = lambda response, **_: MAKER.Experience(
        scores=response[1][None], index=[response[0]]
    )
    SAMPLES.ray.wait = lambda pending, **_: (pending[:1], pending[1:])
    SAMPLES.ray.get = lambda ref: ref
    kept = set()
    for ref in refs:  # one prompt at a time: there is no other one to take its place
        maker._dispatch_prompts_to_vllm = lambda *_, ref=ref, **__: [ref]
        prompts = iter([(None, ["?"], [None], [None])])
        made = maker._generate_vllm(prompts, 1, args.algo.dynamic_filtering_enable)[0]
        kept |= {each.index[0] for each in made}
    return {"value": [float(number in kept) for number in range(len(groups))]}


CALLS = {
    "loss": loss,
    "advantages": advantages,
    "shaped rewards": shaped_rewards,
    "advantages of shaped rewards": advantages_of_shaped,
    "kept groups": kept_groups,
}
USUAL = {"algo.advantage.estimator": "group_norm", "rollout.n_samples_per_prompt": GROUP}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
BARE = USUAL | {"algo.kl.init_coef": 0.0}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
EVERY = PLAIN | {"rollout_log_probs": "sampler_logp", "ref_log_probs": "ref_logp"}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"openrlhf, {name}", "call": call, "config": config, "given": given, **others}


LEVELS = {"ppo": {}, "gspo": {"actor.policy_loss_type": "gspo"}}
ODD_CLIPS = {
    "eps 1.5": {"actor.eps_clip": 1.5},
    "eps -0.1": {"actor.eps_clip": -0.1},
    "both above 1": {"actor.eps_clip_low_high": [-0.2, 0.5]},
    "both above 1, dual": {"actor.eps_clip_low_high": [-0.2, 0.5], "actor.dual_clip": 1.3},
    "both below 1": {"actor.eps_clip_low_high": [0.5, -0.3]},
    "in the wrong order": {"actor.eps_clip_low_high": [-0.2, 0.1]},
    "in the wrong order, dual": {"actor.eps_clip_low_high": [-0.6, 0.5], "actor.dual_clip": 1.2},
    "below 0": {"actor.eps_clip_low_high": [3.0, -1.5]},
}
"""Bounds that are not on either side of 1."""
CLIPS = {
    "default": {},
    "eps 0.1": {"actor.eps_clip": 0.1},
    "low high": {"actor.eps_clip_low_high": [0.2, 0.28]},
    "both keys": {"actor.eps_clip": 0.3, "actor.eps_clip_low_high": [0.05, 0.08]},
    "tight": {"actor.eps_clip_low_high": [0.0003, 0.0004]},
    "dual 3": {"actor.dual_clip": 3.0},
    "dual 1.2 low high": {"actor.dual_clip": 1.2, "actor.eps_clip_low_high": [0.2, 0.28]},
    "dual below the clip": {"actor.dual_clip": 1.1, "actor.eps_clip": 0.2},
}
MASKS = ("mask", "mask_holes", "mask_empty", "mask_first_empty", "mask_single")
POLICIES = ("logp", "logp_at_bounds", "logp_extreme", "logp_limited")
KLS = {
    **{
        f"kl {name}": {"algo.kl.use_loss": True, "algo.kl.estimator": name, "algo.kl.init_coef": 0.05}
        for name in ("k1", "k2", "k3")
    },
    "kl k3 default weight": {"algo.kl.use_loss": True, "algo.kl.estimator": "k3"},
    "kl of no weight": {"algo.kl.use_loss": True, "algo.kl.init_coef": 0.0},
    "kl of negative weight": {"algo.kl.use_loss": True, "algo.kl.init_coef": -0.5, "algo.kl.estimator": "k2"},
}
ON = {"algo.advantage.is_correction_enable": True}
CORRECTIONS = {
    name: ON | {"algo.advantage.is_correction_type": name} for name in ("tis", "icepop", "seq-mask-tis")
}
ODD_WINDOWS = {
    "wrong order": {"algo.advantage.is_correction_threshold": [2.0, 0.5]},
    "below 0": {"algo.advantage.is_correction_threshold": [-2.0, -0.5]},
    "from below 0": {"algo.advantage.is_correction_threshold": [-1.0, 1.1]},
}
WINDOWS = {"default": {}, "narrow": {"algo.advantage.is_correction_threshold": [0.8, 1.25]}}
ENTROPY = {"actor.entropy_coef": 0.02}


def losses() -> Any:
    """The policy loss alone, then with penalty, correction and bonus, alone and in pairs."""
    for (level, by), (clip, c) in itertools.product(LEVELS.items(), CLIPS.items()):
        for policy in ("logp", "logp_at_bounds"):
            yield case(f"{level}, {clip}, {policy}", "loss", BARE | by | c, PLAIN | {"log_probs": policy})
    for (level, by), (clip, c) in itertools.product(LEVELS.items(), ODD_CLIPS.items()):
        yield case(f"{level}, bounds {clip}", "loss", BARE | by | c, PLAIN)
    for (level, by), mask in itertools.product(LEVELS.items(), MASKS):
        yield case(f"{level}, {mask}", "loss", BARE | by, PLAIN | {"mask": mask})
        tokens = {"advantages": "token_advantages", "mask": mask}
        yield case(f"{level}, {mask}, per token", "loss", BARE | by, PLAIN | tokens)
    for (level, by), policy in itertools.product(LEVELS.items(), ("logp_extreme", "logp_limited")):
        for precision, rtol in (("float64", 1e-6), ("float32", 1e-5)):
            name = f"{level}, {policy}, {precision}"
            given = PLAIN | {"log_probs": policy}
            yield case(name, "loss", BARE | by, given, dtype=precision, rtol=rtol)
    for level, by in LEVELS.items():
        for clip, c in CLIPS.items():
            yield case(f"{level}, {clip}, float32", "loss", BARE | by | c, PLAIN, dtype="float32", rtol=1e-5)
        on_policy = {name: source for name, source in PLAIN.items() if name != "old_log_probs"}
        yield case(f"{level}, on policy", "loss", BARE | by, on_policy)


def penalties() -> Any:
    for (level, by), (kl, k) in itertools.product(LEVELS.items(), KLS.items()):
        for reference in ("ref_logp", "ref_logp_far"):
            given = REFERENCE | {"ref_log_probs": reference}
            yield case(f"{level}, {kl}, {reference}", "loss", USUAL | by | k, given, rtol=2e-6)
    beyond = {"inputs": {"ref beyond the limit": within(80.0)}}
    for (level, by), kl in itertools.product(LEVELS.items(), ("kl k1", "kl k2", "kl k3")):
        given = REFERENCE | {"ref_log_probs": "ref beyond the limit"}
        name = f"{level}, {kl}, reference beyond the limit"
        yield case(name, "loss", USUAL | by | KLS[kl], given, rtol=2e-6, **beyond)
    for (level, by), mask in itertools.product(LEVELS.items(), MASKS[1:]):
        k = KLS["kl k3"]
        yield case(f"{level}, kl k3, {mask}", "loss", USUAL | by | k, REFERENCE | {"mask": mask}, rtol=2e-6)
    for level, by in LEVELS.items():
        for bonus in (0.0, 0.02):
            e = {"actor.entropy_coef": bonus}
            given = PLAIN | {"entropies": "entropy"}
            yield case(f"{level}, entropy {bonus}", "loss", BARE | by | e, given)
        given = REFERENCE | {"entropies": "entropy", "mask": "mask_holes"}
        config = USUAL | by | KLS["kl k2"] | ENTROPY
        yield case(f"{level}, kl k2, entropy, holes", "loss", config, given, rtol=2e-6)
        config = USUAL | by | KLS["kl k3"]
        yield case(f"{level}, kl k3, float32", "loss", config, REFERENCE, dtype="float32", rtol=1e-5)
        yield case(f"{level}, kl in the reward, so not here", "loss", USUAL | by, PLAIN)


def corrections() -> Any:
    for (kind, c), (window, w) in itertools.product(CORRECTIONS.items(), WINDOWS.items()):
        for level, by in LEVELS.items():
            for policy in ("logp", "logp_at_bounds"):
                given = SAMPLER | {"log_probs": policy}
                yield case(f"{level}, {kind} {window}, {policy}", "loss", BARE | by | c | w, given)
        name = f"ppo, {kind} {window}"
        yield case(f"{name}, holes", "loss", BARE | c | w, SAMPLER | {"mask": "mask_holes"})
        yield case(f"{name}, per token", "loss", BARE | c | w, SAMPLER | {"advantages": "token_advantages"})
    for (kind, c), (clip, p) in itertools.product(CORRECTIONS.items(), CLIPS.items()):
        if clip != "default":
            for level, by in LEVELS.items():
                yield case(f"{level}, {kind}, {clip}", "loss", BARE | by | c | p, SAMPLER)
    for (kind, c), (kl, k) in itertools.product(CORRECTIONS.items(), KLS.items()):
        yield case(f"ppo, {kind}, {kl}", "loss", USUAL | c | k, EVERY, rtol=2e-6)
    for (kind, c), (window, w) in itertools.product(CORRECTIONS.items(), ODD_WINDOWS.items()):
        yield case(f"ppo, {kind}, window {window}", "loss", BARE | c | w, SAMPLER | {"mask": "mask_holes"})
        unknown = SAMPLER | {"log_probs": "old_logp", "rollout_log_probs": "one NaN"}
        inputs = {"one NaN": one_nan()}
        yield case(f"ppo, {kind}, window {window}, one NaN", "loss", BARE | c | w, unknown, inputs=inputs)
    odd = LEVELS["gspo"] | ODD_CLIPS["in the wrong order"]
    yield case("gspo, corrected, bounds in the wrong order", "loss", BARE | ON | odd, SAMPLER)
    for kind, c in CORRECTIONS.items():
        config = USUAL | c | LEVELS["gspo"] | KLS["kl k3"]
        yield case(f"gspo, {kind}, kl k3", "loss", config, EVERY, rtol=2e-6)
        yield case(f"ppo, {kind}, float32", "loss", BARE | c, SAMPLER, dtype="float32", rtol=1e-5)
        unclipped = SAMPLER | {"log_probs": "old_logp"}
        far = unclipped | {"rollout_log_probs": "sampler_logp_far"}
        yield case(f"ppo, {kind}, sampler far", "loss", BARE | c, far)
        unknown = unclipped | {"rollout_log_probs": "sampler_logp_nan"}
        yield case(f"ppo, {kind}, NaN from the sampler", "loss", BARE | c, unknown)
        unknown = unclipped | {"rollout_log_probs": "one NaN"}
        inputs = {"one NaN": one_nan()}
        for level, by in LEVELS.items():
            yield case(f"{level}, {kind}, one NaN", "loss", BARE | by | c, unknown, inputs=inputs)


def within(nats: float) -> Any:
    """A far reference of which exp is no infinity in float32, whose clamp would have the gradient NaN."""
    pairs = zip(writing.given("logp"), writing.given("ref_logp_far"), strict=True)
    return [
        [p + min(max(r - p, -nats), nats) for p, r in zip(policy, ref, strict=True)] for policy, ref in pairs
    ]


def one_nan() -> Any:
    """The sampler's log-probabilities with a NaN in the first token of a completion without padding."""
    sampler = writing.given("sampler_logp")
    sampler[4][0] = math.nan
    return sampler


ESTIMATORS = {
    **{
        name: {"algo.advantage.estimator": name, "rollout.n_samples_per_prompt": GROUP}
        for name in ("group_norm", "dr_grpo", "rloo", "reinforce_baseline", "reinforce")
    },
    "reinforce, discounted": {
        "algo.advantage.estimator": "reinforce",
        "rollout.n_samples_per_prompt": GROUP,
        "algo.advantage.gamma": 0.9,
    },
    "reinforce_baseline, no std": {
        "algo.advantage.estimator": "reinforce_baseline",
        "rollout.n_samples_per_prompt": GROUP,
        "algo.advantage.no_std_norm": True,
    },
    "reinforce, no std, discounted": {
        "algo.advantage.estimator": "reinforce",
        "rollout.n_samples_per_prompt": GROUP,
        "algo.advantage.no_std_norm": True,
        "algo.advantage.gamma": 0.5,
    },
    "group_norm, gamma without effect": {
        "algo.advantage.estimator": "group_norm",
        "rollout.n_samples_per_prompt": GROUP,
        "algo.advantage.gamma": 0.9,
    },
}
REWARDS = ("rewards", "rewards_some_equal", "rewards_tied", "rewards_huge")
NO_KL = {"algo.kl.init_coef": 0.0}
SCORED = {"rewards": "rewards", "mask": "mask"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
LOOSE = 2e-5
"""Their advantages are float32, and what is whitened has lost some digits."""


def advantage_cases() -> Any:
    for (name, e), rewards in itertools.product(ESTIMATORS.items(), REWARDS):
        given = SCORED | {"rewards": rewards}
        yield case(f"advantages: {name}, {rewards}", "advantages", e | NO_KL, given, rtol=LOOSE)
    for name, e in ESTIMATORS.items():
        for mask in ("mask_holes", "mask_empty"):
            given = SCORED | {"mask": mask}
            yield case(f"advantages: {name}, {mask}", "advantages", e | NO_KL, given, rtol=LOOSE)
        yield case(f"advantages: {name}, kl loss", "advantages", e | KLS["kl k3"], JUDGED, rtol=LOOSE)
        for kl in ("k1", "k2", "k3"):
            k = {"algo.kl.estimator": kl, "algo.kl.init_coef": 0.1}
            yield case(f"advantages: {name}, {kl} in the reward", "advantages", e | k, JUDGED, rtol=LOOSE)
        yield case(f"advantages: {name}, default", "advantages", e, JUDGED, rtol=LOOSE)
        far = JUDGED | {"ref_log_probs": "ref_logp_far", "mask": "mask_holes"}
        yield case(f"advantages: {name}, default, far, holes", "advantages", e, far, rtol=LOOSE)
        limits = {"reward.clip_range": [-0.5, 0.25]}
        yield case(f"advantages: {name}, limited", "advantages", e | NO_KL | limits, SCORED, rtol=LOOSE)
    uneven = {
        "dtype": "float32",
        "inputs": {"uneven": [round(0.37 * row**1.5 - 3.1, 3) for row in range(12)]},
        "rtol": LOOSE,
    }
    for name in ("group_norm", "dr_grpo", "rloo"):
        given = SCORED | {"rewards": "uneven"}
        yield case(
            f"advantages: {name}, a return of 0", "advantages", ESTIMATORS[name] | NO_KL, given, **uneven
        )
    for name in ("group_norm", "dr_grpo", "rloo", "reinforce_baseline"):
        given = SCORED | {"rewards": "rewards_all_equal"}
        config = ESTIMATORS[name] | NO_KL
        yield case(f"advantages: {name}, all equal", "advantages", config, given, rtol=LOOSE)


def shaping() -> Any:
    ended = {"ended": [int(row % 3 != 0) for row in range(12)]}
    budget = {"rollout.max_new_tokens": 7}
    for name, keys in {
        "overlong": {"reward.overlong_buffer_len": 4},
        "overlong, factor": {"reward.overlong_buffer_len": 4, "reward.overlong_penalty_factor": 0.5},
        "overlong, all of it": {"reward.overlong_buffer_len": 7},
        "stop, scaled": {"reward.stop_properly_penalty_coef": 0.25},
        "stop, none left": {"reward.stop_properly_penalty_coef": 0.0},
        "stop, overwritten": {"reward.stop_properly_penalty_coef": -0.5},
        "both": {"reward.overlong_buffer_len": 3, "reward.stop_properly_penalty_coef": 0.5},
    }.items():
        given = SCORED | {"ended": "ended"}
        config = USUAL | budget | keys | NO_KL
        yield case(f"shaped rewards: {name}", "shaped rewards", config, given, inputs=ended)
    both = {"reward.overlong_buffer_len": 3, "reward.stop_properly_penalty_coef": -0.5}
    for name, estimator in ESTIMATORS.items():
        given = JUDGED | {"ended": "ended"}
        told = {"inputs": ended, "rtol": LOOSE}
        config = estimator | budget | both
        yield case(f"punished, then {name}", "advantages of shaped rewards", config, given, **told)
        asked = told | {"metrics": {}}
        given = given | {"mask": "mask_holes"}
        yield case(
            f"punished with holes, then {name}", "advantages of shaped rewards", config, given, **asked
        )
    for mask in ("mask_holes", "mask_empty"):
        for name, keys in {"short": {"reward.overlong_buffer_len": 6}, "long": budget | both}.items():
            given = SCORED | {"ended": "ended", "mask": mask}
            config = BARE | {"rollout.max_new_tokens": 8} | keys
            yield case(f"shaped rewards: {name}, {mask}", "shaped rewards", config, given, inputs=ended)
    at = BARE | {"algo.dynamic_filtering_enable": True, "algo.dynamic_filtering_range": [0.1, 0.9]}
    bounds = {"inputs": {"at the bounds": [0.9] * 4 + [0.1] * 4 + [0.1, 0.9, 0.5, 0.5]}}
    for precision in ("float32", "float64"):
        name = f"kept groups: at the bounds, {precision}"
        yield case(name, "kept groups", at, {"rewards": "at the bounds"}, dtype=precision, **bounds)
    for name, keys in {
        "default range": {},
        "off": {"algo.dynamic_filtering_enable": False},
        "narrow": {"algo.dynamic_filtering_range": [0.3, 0.7]},
        "wide": {"algo.dynamic_filtering_range": [-2.0, 2.0]},
    }.items():
        for rewards in ("rewards", "rewards_some_equal", "rewards_tied"):
            config = BARE | {"algo.dynamic_filtering_enable": True} | keys
            given = {"rewards": rewards}
            yield case(f"kept groups: {name}, {rewards}", "kept groups", config, given)


REFUSED = {
    "group_norm of one": {"rollout.n_samples_per_prompt": 1},
    "dr_grpo of one": {"algo.advantage.estimator": "dr_grpo", "rollout.n_samples_per_prompt": 1},
    "rloo of one": {"algo.advantage.estimator": "rloo", "rollout.n_samples_per_prompt": 1},
    "reinforce_baseline of one": {
        "algo.advantage.estimator": "reinforce_baseline",
        "rollout.n_samples_per_prompt": 1,
    },
    "no such estimator": {"algo.advantage.estimator": "grpo"},
    "no such loss": {"actor.policy_loss_type": "cispo"},
    "no such kl": {"algo.kl.estimator": "k4"},
    "no such correction": ON | {"algo.advantage.is_correction_type": "mis"},
    "no such correction, though off": {"algo.advantage.is_correction_type": "mis"},
    "dual clip of 1": {"actor.dual_clip": 1.0},
    "dual clip below 1": {"actor.dual_clip": 0.5},
    "filter without range": {
        "algo.dynamic_filtering_enable": True,
        "algo.dynamic_filtering_range": [0.5, 0.5],
    },
    "filter range backwards": {
        "algo.dynamic_filtering_enable": True,
        "algo.dynamic_filtering_range": [1.0, 0.0],
    },
    "filter, group of one": {
        "algo.advantage.estimator": "reinforce",
        "rollout.n_samples_per_prompt": 1,
        "algo.dynamic_filtering_enable": True,
    },
    "partial rollout without async": {"train.partial_rollout_enable": True},
    "more rollouts without async": {"rollout.vllm_generate_batch_size": 2048},
    "sleep in async": {"train.async_enable": True, "vllm.enable_sleep": True, "train.colocate_all": True},
    "images packed": {
        "data.max_images_per_prompt": 1,
        "ds.packing_samples": True,
        "vllm.num_engines": 1,
    },
    "packed without vllm": {"ds.packing_samples": True, "vllm.num_engines": 0},
    "packed, engines left out": {"ds.packing_samples": True},
    "a ring is packed": {"ds.ring_attn_size": 2},
    "dynamic batches are packed": {"train.dynamic_batch_enable": True},
    "together with another reference": {
        "train.colocate_all": True,
        "actor.num_nodes": 2,
        "algo.kl.init_coef": 0.1,
    },
    "actor with another reference": {
        "train.colocate_actor_ref": True,
        "ref.num_gpus_per_node": 4,
        "algo.kl.init_coef": 0.1,
    },
    "together with other engines": {"train.colocate_all": True, "vllm.num_engines": 3},
    "fewer batches than actors": {"rollout.batch_size": 1},
    "stop coefficient above 1": {"reward.stop_properly_penalty_coef": 1.5},
    "buffer above the budget": {"reward.overlong_buffer_len": 64, "rollout.max_new_tokens": 7},
    "one threshold": ON | {"algo.advantage.is_correction_threshold": [2.0]},
    "one clip": {"actor.eps_clip_low_high": [0.2]},
    "a clip in words": {"actor.eps_clip": "small"},
}
"""What the parser, the checks or the first step refuse; the loss is asked for, or the rewards."""


def refusals() -> Any:
    for name, keys in REFUSED.items():
        shaped = any(key.startswith("reward.") for key in keys)
        call, given = ("shaped rewards", SCORED) if shaped else ("loss", SAMPLER)
        given = given | ({"ended": "ended"} if shaped else {})
        ended = {"inputs": {"ended": [0] * 12}} if shaped else {}
        yield case(f"refused: {name}", call, BARE | keys, given, **ended) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        if "refused" in case:
            CLI.train(parsed(case["config"]))
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError, TypeError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": str(error)}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


LEFT_OUT = ("openrlhf, gspo, logp_extreme, float32",)
"""exp overflows, and their mask times infinity is NaN on the padding."""


def finite(case: dict[str, Any]) -> bool:
    """Whether the gradient is one, or the loss is none either."""
    rows = case.get("grad_logp", [])
    if case["id"] in LEFT_OUT:
        return False
    return all(math.isfinite(x) for row in rows for x in row) or not math.isfinite(case["loss"])


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    stand_in_for(ABSENT)
    sys.path.insert(0, str(SOURCES))
    from datetime import datetime as DATETIME

    import openrlhf.cli.train_ppo_ray as CLI
    import openrlhf.trainer.ppo_utils.experience_maker as MAKER
    import openrlhf.trainer.ppo_utils.kl_controller as MAKER_KL
    import openrlhf.trainer.ppo_utils.samples_generator as SAMPLES
    import openrlhf.trainer.ray.ppo_actor as ACTOR

    for name in (
        "get_strategy",
        "RayActorGroup",
        "create_vllm_engines",
        "placement_group",
        "PolicyModelActor",
        "ReferenceModelActor",
    ):
        setattr(CLI, name, MagicMock())
    torch.cuda.current_device = lambda: 0
    ACTOR.torch_dist_barrier_and_cuda_sync = lambda: None
    BLOCK = main_block(SOURCES)
    wanted = [*losses(), *penalties(), *corrections(), *advantage_cases(), *shaping(), *refusals()]
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_openrlhf.py"}
    print(writing.write("openrlhf", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
