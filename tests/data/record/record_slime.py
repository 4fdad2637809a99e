"""Record slime 624b824a: `python tests/data/record/record_slime.py SOURCES`, a checkout of it.

What runs is theirs: the parser with its flags, `slime_validate_args`, `RolloutManager._post_process_rewards`,
`compute_advantages_and_returns`, `loss_function` with the policy's loss on one step, the filter of groups.
Stubs take the place of Megatron and SGLang; one process is all ranks, and the policy's log-probabilities and
entropies are those of the case. Torch 2.13.0 on the CPU, without its compiler; the KL and the advantages are
float32 in slime.
"""

import argparse
import ast
import contextlib
import importlib
import io
import itertools
import logging
import math
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TORCHDYNAMO_DISABLE"] = "1"
import torch
import writing
import yaml
from absent import stand_in_for

ABSENT = ("deep_ep", "httpx", "megatron", "ray", "requests", "sglang", "sglang_router", "wandb")
GROUP = 4
COMMIT = "slime 624b824a (2026-08-21)"
PATH = "slime.backends.megatron_utils.loss"
MIS_FILE = "examples/train_infer_mismatch_helper/mis.yaml"
MIS = {"custom_tis_function_path": "examples.train_infer_mismatch_helper.mis.compute_mis_weights_with_cp"}
OF_FILE = """use_rs tis_level rs_level tis_mode tis_lower_bound tis_upper_bound rs_lower_bound rs_upper_bound
rs_veto_threshold tis_batch_normalize""".split()
"""What stands in a file that goes before the flags; the other keys of theirs are there as well."""


class Lenient(argparse.Namespace):
    """Their arguments; one of Megatron's or SGLang's that is not theirs is None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def parsed(config: dict[str, Any]) -> Lenient:
    """Their arguments after parser and checks."""
    told = {
        "num_rollout": 1,
        "rollout_batch_size": 3,
        "n_samples_per_prompt": GROUP,
        "ref_load": str(SOURCES),
    }
    words = []
    if own := {key: value for key, value in config.items() if key in OF_FILE}:
        own = yaml.safe_load((SOURCES / MIS_FILE).read_text(encoding="utf-8")) | own
        own["use_tis"] = config.get("use_tis", False)
        file = Path(tempfile.mkdtemp()) / "mis.yaml"
        file.write_text(yaml.safe_dump(own), encoding="utf-8")
        told |= {"custom_config_path": str(file)}
        config = {key: value for key, value in config.items() if key not in OF_FILE}
    for key, value in (told | config).items():
        if value is not False and value is not None:
            flag = f"--{key.replace('_', '-')}"
            words += [flag] if value is True else [flag, str(value)]
    parser = ARGUMENTS.get_slime_extra_args_provider()(argparse.ArgumentParser())
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            args = Lenient(**vars(parser.parse_args(words)))
        except SystemExit as stopped:
            raise ValueError(said.getvalue().strip().splitlines()[-1]) from stopped
    ARGUMENTS.slime_validate_args(args)
    return args


def tensor(case: dict[str, Any], name: str) -> torch.Tensor:
    """An input of the case, in its precision."""
    source = case["given"][name]
    values = case.get("inputs", {}).get(source)
    array = torch.tensor(writing.given(source) if values is None else values, dtype=torch.float64)
    return array.to(getattr(torch, case.get("dtype", "float64")))


def lengths_of(mask: torch.Tensor) -> list[int]:
    """How long the responses are: up to the last token that counts, at least 1."""
    places = torch.arange(1, mask.shape[1] + 1)
    return torch.clamp((mask * places).max(-1).values, min=1).long().tolist()


def responses(array: torch.Tensor, lengths: list[int]) -> list[torch.Tensor]:
    return [row[:length] for row, length in zip(array, lengths, strict=True)]


LOGGED = """pg_clipfrac ppo_kl entropy_loss kl_loss ois tis tis_abs tis_clipfrac
train_rollout_logprob_abs_diff opsm_clipfrac""".split()


def loss(case: dict[str, Any]) -> dict[str, Any]:
    """Loss and gradient of one step that holds the whole batch."""
    args = parsed(case["config"])
    policy = tensor(case, "log_probs").requires_grad_()
    mask, advantages = tensor(case, "mask"), tensor(case, "advantages")
    lengths = lengths_of(mask)
    has = {name: tensor(case, name) for name in case["given"]}
    old = has.get("old_log_probs", policy.detach())
    tokens = advantages if advantages.ndim == 2 else advantages[:, None].expand(mask.shape)
    sampler = old if args.use_rollout_logprobs else has.get("rollout_log_probs")
    batch = {
        "advantages": responses(tokens, lengths),
        "log_probs": responses(old, lengths),
        "loss_masks": responses(mask, lengths),
        "response_lengths": lengths,
        "total_lengths": lengths,
        "rollout_mask_sums": [row.sum() for row in mask],
        "unconcat_tokens": None,
    }
    for name, array in (("rollout_log_probs", sampler), ("ref_log_probs", has.get("ref_log_probs"))):
        if array is not None:
            batch[name] = responses(array, lengths)
    entropies = has.get("entropies", torch.zeros_like(mask))
    told = {"log_probs": responses(policy, lengths), "entropy": responses(entropies, lengths)}
    LOSS.get_log_probs_and_entropy = lambda *_, **__: (None, told)
    count = len(mask)
    total, by, logged = LOSS.loss_function(args, batch, 1, count, torch.zeros(1))
    total = total / by
    total.backward()
    found = dict(zip(logged["keys"], logged["values"][1:].tolist(), strict=True))
    metrics = {name: found[name] / (float(by) if args.calculate_per_token_loss else count) for name in found}
    named = [*LOGGED] if "entropies" in has else [name for name in LOGGED if name != "entropy_loss"]
    metrics = {name: metrics[name] for name in named if name in metrics and math.isfinite(metrics[name])}
    metrics = {} if "dtype" in case or MIS.items() <= case["config"].items() else metrics
    return {"loss": total.item(), "grad_logp": policy.grad.tolist(), "metrics": metrics}


def advantages(case: dict[str, Any]) -> dict[str, Any]:
    """What the tokens are trained with."""
    args = parsed(case["config"])
    mask, rewards = tensor(case, "mask"), tensor(case, "rewards")
    samples = [SimpleNamespace(get_reward_value=lambda _, value=value: value) for value in rewards.tolist()]
    manager = SimpleNamespace(args=args, custom_reward_post_process_func=None)
    processed = POST_PROCESS(manager, samples)[1]
    lengths = lengths_of(mask)
    old = tensor(case, "old_log_probs") if "old_log_probs" in case["given"] else torch.zeros_like(mask)
    data = {
        "rewards": processed,
        "log_probs": responses(old, lengths),
        "rollout_log_probs": responses(old, lengths),
        "loss_masks": responses(mask, lengths),
        "response_lengths": lengths,
        "total_lengths": lengths,
    }
    if "ref_log_probs" in case["given"]:
        data["ref_log_probs"] = responses(tensor(case, "ref_log_probs"), lengths)
    LOSS.compute_advantages_and_returns(args, data)
    value = torch.zeros_like(mask)
    for row, found in enumerate(data["advantages"]):
        value[row, : len(found)] = found * mask[row, : len(found)]
    return {"value": value.tolist(), "axes": ["completion", "token"]}


def kept_groups(case: dict[str, Any]) -> dict[str, Any]:
    """Which groups the filter keeps, as 0 and 1."""
    args = parsed(case["config"])
    groups = tensor(case, "rewards").reshape(-1, GROUP).tolist()
    if args.dynamic_sampling_filter_path is None:
        return {"value": [1.0 for _ in groups]}
    module, name = args.dynamic_sampling_filter_path.rsplit(".", 1)
    keep = getattr(importlib.import_module(module), name)
    samples = [[SimpleNamespace(get_reward_value=lambda _, r=r: r) for r in group] for group in groups]
    return {"value": [float(keep(args, group).keep) for group in samples]}


CALLS = {"loss": loss, "advantages": advantages, "kept groups": kept_groups}
PLAIN = {"log_probs": "logp", "old_log_probs": "old_logp", "advantages": "advantages", "mask": "mask"}
SAMPLER = PLAIN | {"rollout_log_probs": "sampler_logp"}
REFERENCE = PLAIN | {"ref_log_probs": "ref_logp"}
EVERY = SAMPLER | {"ref_log_probs": "ref_logp"}
USUAL = {"n_samples_per_prompt": GROUP}


def case(
    name: str, call: str, config: dict[str, Any], given: dict[str, str], **others: Any
) -> dict[str, Any]:
    """A case that is yet to be recorded."""
    return {"id": f"slime, {name}", "call": call, "config": USUAL | config, "given": given, **others}


KINDS = {name: {"advantage_estimator": name} for name in ("grpo", "gspo", "cispo")}
AVERAGES = {"": {}, ", per token": {"calculate_per_token_loss": True}}
CLIPS = {
    "low high": {"eps_clip_high": 0.28},
    "tight": {"eps_clip": 0.0003, "eps_clip_high": 0.0004},
    "dual 3": {"eps_clip_c": 3.0},
    "dual 1.1 within the clip": {"eps_clip_c": 1.1},
    "wide": {"eps_clip": 1.0, "eps_clip_high": 4.0},
}
MASKS = ("mask_holes", "mask_empty", "mask_first_empty", "mask_single")
TIS = {
    "tis": {"use_tis": True},
    "tis, narrow": {"use_tis": True, "tis_clip": 1.2, "tis_clip_low": 0.8},
    "vanilla by its name": {"use_tis": True, "custom_tis_function_path": f"{PATH}.vanilla_tis_function"},
    "icepop": {
        "use_tis": True,
        "tis_clip": 1.25,
        "tis_clip_low": 0.8,
        "custom_tis_function_path": f"{PATH}.icepop_function",
    },
}
ICEPOP = {"custom_tis_function_path": f"{PATH}.icepop_function"}
OPSM = {"use_opsm": True}
KLS = ("k1", "k2", "k3", "low_var_kl")


def penalty(name: str, **others: Any) -> dict[str, Any]:
    return {"use_kl_loss": True, "kl_loss_coef": 0.05, "kl_loss_type": name, **others}


def losses() -> Any:
    for (kind, k), (average, a) in itertools.product(KINDS.items(), AVERAGES.items()):
        name, config = f"{kind}{average}", k | a
        for policy in ("logp", "logp_at_bounds"):
            yield case(f"{name}, {policy}", "loss", config, PLAIN | {"log_probs": policy})
        for mask in MASKS:
            yield case(f"{name}, {mask}", "loss", config, PLAIN | {"mask": mask})
        bonus = {"entropy_coef": 0.02}
        given = PLAIN | {"entropies": "entropy", "mask": "mask_empty"}
        yield case(f"{name}, entropy", "loss", config | bonus, given)
    for kind, k in KINDS.items():
        given = PLAIN | {"log_probs": "logp_limited"}
        yield case(f"{kind}, far, float32", "loss", k, given, dtype="float32", rtol=1e-5)
        yield case(f"{kind}, token advantages", "loss", k, PLAIN | {"advantages": "token_advantages"})
        on_policy = {name: source for name, source in PLAIN.items() if name != "old_log_probs"}
        yield case(f"{kind}, on policy", "loss", k, on_policy)
        for clip, c in CLIPS.items():
            yield case(f"{kind}, {clip}", "loss", k | c, PLAIN | {"log_probs": "logp_at_bounds"})
        against = PLAIN | {"old_log_probs": "sampler_logp"}
        yield case(f"{kind}, against the sampler", "loss", k | {"use_rollout_logprobs": True}, against)


def penalties() -> Any:
    for (kind, k), kl in itertools.product(KINDS.items(), KLS):
        config = k | penalty(kl)
        yield case(f"{kind}, {kl}", "loss", config, REFERENCE, rtol=2e-6)
        if kind != "cispo":
            weighted = config | {"use_unbiased_kl": True}
            yield case(f"{kind}, {kl}, weighted", "loss", weighted, REFERENCE, rtol=2e-6)
    for kl in KLS:
        far = {"inputs": {"reference within": within(8.0)}}
        given = REFERENCE | {"ref_log_probs": "reference within", "mask": "mask_holes"}
        for average, a in AVERAGES.items():
            yield case(f"{kl}, far{average}", "loss", penalty(kl) | a, given, rtol=5e-6, **far)
        weighted = penalty(kl, use_unbiased_kl=True)
        yield case(f"{kl}, far, weighted", "loss", weighted, given, rtol=5e-6, **far)
    yield case("a weight without its switch", "loss", {"kl_loss_coef": 0.1}, PLAIN)
    yield case("a switch without its weight", "loss", {"use_kl_loss": True}, REFERENCE)
    config = penalty("low_var_kl") | {"entropy_coef": 0.01}
    given = REFERENCE | {"entropies": "entropy"}
    yield case("low_var_kl, entropy", "loss", config, given, rtol=2e-6)


def within(nats: float) -> Any:
    """A far reference whose distance is limited, so that exp stays exact enough in float32."""
    pairs = zip(writing.given("logp"), writing.given("ref_logp_far"), strict=True)
    return [
        [p + min(max(r - p, -nats), nats) for p, r in zip(policy, ref, strict=True)] for policy, ref in pairs
    ]


def corrections() -> Any:
    for (kind, k), (name, c) in itertools.product(KINDS.items(), TIS.items()):
        yield case(f"{kind}, {name}", "loss", k | c, SAMPLER)
        far = SAMPLER | {"rollout_log_probs": "sampler_logp_far", "mask": "mask_holes"}
        yield case(f"{kind}, {name}, sampler far", "loss", k | c, far)
    for (name, c), (average, a) in itertools.product(TIS.items(), AVERAGES.items()):
        yield case(f"{name}{average}, empty", "loss", c | a, SAMPLER | {"mask": "mask_empty"})
        yield case(f"{name}{average}, opsm", "loss", c | a | OPSM, SAMPLER)
        config = c | a | penalty("low_var_kl")
        yield case(f"{name}{average}, low_var_kl", "loss", config, EVERY, rtol=2e-6)
    for (kind, k), (average, a) in itertools.product(KINDS.items(), AVERAGES.items()):
        yield case(f"{kind}{average}, opsm", "loss", k | a | OPSM, PLAIN)
        loose = OPSM | {"opsm_delta": 0.2}
        yield case(
            f"{kind}{average}, loose opsm, empty", "loss", k | a | loose, PLAIN | {"mask": "mask_empty"}
        )
    given = PLAIN | {"advantages": "token_advantages", "mask": "mask_holes"}
    yield case("opsm, token advantages", "loss", OPSM, given)
    config = {"get_mismatch_metrics": True, "tis_clip": 1.25, "tis_clip_low": 0.8} | ICEPOP
    yield case("metrics that train", "loss", config, SAMPLER)


def mismatches() -> Any:
    """The function of their examples; one micro-batch is the step."""
    plain = {"tis_batch_normalize": False, "use_rs": False}
    narrow = {"tis_lower_bound": 0.8, "tis_upper_bound": 1.25}
    for name, keys in {
        "as in its file": {"use_rs": True},
        "plain": plain,
        "clip": plain | narrow | {"tis_mode": "clip"},
        "mask": plain | narrow | {"tis_mode": "mask"},
        "mask, normalized": narrow | {"tis_mode": "mask", "use_rs": False},
        "sequence": plain | {"tis_level": "sequence"},
        "sequence, normalized": {"tis_level": "sequence", "use_rs": False},
        "sequence, rejected": narrow | {"tis_level": "sequence", "rs_level": "sequence"},
        "geometric": plain | narrow | {"tis_level": "geometric", "tis_mode": "mask"},
        "token, rejected by geometric mean": narrow | {"rs_level": "geometric", "rs_veto_threshold": None},
        "rejected by a window of its own": {"rs_lower_bound": 0.9, "rs_upper_bound": 1.3},
        "veto": plain
        | {"use_rs": True, "rs_veto_threshold": 0.7, "rs_lower_bound": 0.1, "rs_upper_bound": 9.0},
        "no lower bound": plain | {"tis_mode": "clip", "tis_lower_bound": None, "tis_upper_bound": 1.2},
    }.items():
        config = {"use_tis": True} | MIS | keys
        yield case(f"mismatch: {name}", "loss", config, SAMPLER)
        told = config | penalty("low_var_kl") | {"calculate_per_token_loss": "mask" in name}
        yield case(f"mismatch: {name}, low_var_kl", "loss", told, EVERY | {"mask": "mask_empty"}, rtol=2e-6)
        far = SAMPLER | {"rollout_log_probs": "sampler_logp_far", "mask": "mask_holes"}
        if "sequence" not in name:
            yield case(f"mismatch: {name}, sampler far", "loss", config, far)
    given = EVERY | {"entropies": "entropy"}
    config = {"use_tis": True} | MIS | narrow | penalty("k3") | {"entropy_coef": 0.02}
    yield case("mismatch: penalty and entropy", "loss", config | {"use_rs": True}, given, rtol=2e-6)
    config = {"get_mismatch_metrics": True, "use_rs": True} | MIS
    yield case("mismatch: metrics alone", "loss", config, SAMPLER)


ESTIMATORS = {
    **KINDS,
    "no spread": {"disable_grpo_std_normalization": True},
    "raw": {"disable_rewards_normalization": True},
    "normalized twice": {"normalize_advantages": True},
    "gspo, normalized twice": {"normalize_advantages": True, "advantage_estimator": "gspo"},
    "no spread, normalized": {"normalize_advantages": True, "disable_grpo_std_normalization": True},
    "raw, normalized": {"normalize_advantages": True, "disable_rewards_normalization": True},
    "rf++": {"normalize_advantages": True, "advantage_estimator": "reinforce_plus_plus"},
    "rf++, discounted": {
        "normalize_advantages": True,
        "advantage_estimator": "reinforce_plus_plus",
        "gamma": 0.9,
    },
    "rf++ baseline": {"normalize_advantages": True, "advantage_estimator": "reinforce_plus_plus_baseline"},
    "rf++ baseline, raw": {
        "normalize_advantages": True,
        "advantage_estimator": "reinforce_plus_plus_baseline",
        "disable_rewards_normalization": True,
    },
    "rf++ baseline, gamma without effect": {
        "normalize_advantages": True,
        "advantage_estimator": "reinforce_plus_plus_baseline",
        "gamma": 0.5,
    },
}
SCORED = {"rewards": "rewards", "mask": "mask"}
JUDGED = SCORED | {"old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
AS_TRAINED = {"dtype": "float32", "rtol": 2e-5}


def advantage_cases() -> Any:
    for (name, e), rewards in itertools.product(ESTIMATORS.items(), ("rewards", "rewards_some_equal")):
        given = SCORED | {"rewards": rewards}
        yield case(f"advantages: {name}, {rewards}", "advantages", e, given, **AS_TRAINED)
    for name, e in ESTIMATORS.items():
        if e.get("normalize_advantages"):
            given = SCORED | {"mask": "mask_holes"}
            yield case(f"advantages: {name}, holes", "advantages", e, given, **AS_TRAINED)
    for name, kl in itertools.product(("rf++", "rf++, discounted", "rf++ baseline"), KLS):
        config = ESTIMATORS[name] | {"kl_coef": 0.1, "kl_loss_type": kl}
        yield case(f"advantages: {name}, {kl}", "advantages", config, JUDGED, **AS_TRAINED)
    for name in ("grpo", "gspo", "normalized twice"):
        config = ESTIMATORS[name] | {"kl_coef": 0.1}
        yield case(f"advantages: {name}, a KL without effect", "advantages", config, JUDGED, **AS_TRAINED)
    lonely = {"n_samples_per_prompt": 1, "rollout_batch_size": 12}
    own = {"inputs": {"group_size": 1}}
    for name in ("grpo", "raw", "rf++", "rf++ baseline, raw"):
        config = ESTIMATORS[name] | lonely
        yield case(f"advantages: {name}, groups of one", "advantages", config, SCORED, **own, **AS_TRAINED)
    filters = "slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std"
    for rewards in ("rewards", "rewards_some_equal", "rewards_tied", "rewards_huge"):
        config = {"dynamic_sampling_filter_path": filters}
        yield case(f"kept groups: {rewards}", "kept groups", config, {"rewards": rewards})
    yield case("kept groups: no filter", "kept groups", {}, {"rewards": "rewards_some_equal"})


REFUSED = {
    "two weights of a KL": {"kl_coef": 0.1, "kl_loss_coef": 0.1},
    "rf++ without normalization": {"advantage_estimator": "reinforce_plus_plus"},
    "rf++ baseline without normalization": {"advantage_estimator": "reinforce_plus_plus_baseline"},
    "tis against the sampler": {"use_tis": True, "use_rollout_logprobs": True},
    "metrics without a function": {"get_mismatch_metrics": True},
    "dual clip below 1": {"eps_clip_c": 0.9},
    "no temperature": {"rollout_temperature": 0.0},
    "an estimator that is none": {"advantage_estimator": "rloo"},
    "a KL that is none": {"use_kl_loss": True, "kl_loss_type": "abs"},
    "a clip in words": {"eps_clip": "small"},
    "a window upside down": {"use_tis": True, "tis_mode": "mask", "tis_lower_bound": 3.0} | MIS,
    "a mean of geometric means": {"use_tis": True, "tis_level": "geometric"} | MIS,
    "a mode that is none": {"use_tis": True, "tis_mode": "drop"} | MIS,
    "fewer prompts than needed": {"rollout_batch_size": 8, "over_sampling_batch_size": 4},
    "steps that do not fit": {"rollout_batch_size": 8, "num_steps_per_rollout": 2, "global_batch_size": 32},
}


def refusals() -> Any:
    for name, config in REFUSED.items():
        yield case(f"refused: {name}", "loss", config, EVERY) | {"refused": ""}


def recorded(case: dict[str, Any]) -> dict[str, Any]:
    """The case with its numbers, or with the error."""
    try:
        numbers = CALLS[case["call"]](case)
    except (ValueError, AssertionError) as error:
        if "refused" not in case:
            raise
        return case | {"refused": str(error)}
    if "refused" in case:
        raise ValueError(f"{case['id']}: accepted")
    return case | numbers


def finite(case: dict[str, Any]) -> bool:
    """Whether every number is one."""
    if "refused" in case:
        return True
    rows = case.get("grad_logp", case.get("value"))
    numbers = [x for row in rows for x in (row if isinstance(row, list) else [row])]
    return all(map(math.isfinite, numbers)) and math.isfinite(case.get("loss", 0.0))


def method(path: Path, name: str) -> Any:
    """One method of a class that needs Ray, cut out of its file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    found.args.args[1].annotation = None
    names: dict[str, Any] = {"torch": torch}
    exec(compile(ast.Module([found], type_ignores=[]), str(path), "exec"), names)
    return names[name]


if __name__ == "__main__":
    SOURCES = Path(sys.argv[1]).resolve()
    logging.disable(logging.WARNING)
    stand_in_for(ABSENT)
    sys.path.insert(0, str(SOURCES))
    import slime.backends.megatron_utils.cp_utils as PARALLEL
    import slime.backends.megatron_utils.loss as LOSS
    import slime.utils.arguments as ARGUMENTS
    import slime.utils.distributed_utils as DISTRIBUTED

    alone = SimpleNamespace(
        get_context_parallel_world_size=lambda: 1,
        get_context_parallel_rank=lambda: 0,
        get_context_parallel_group=lambda: None,
        get_data_parallel_world_size=lambda **_: 1,
        get_data_parallel_group=lambda **_: None,
        is_pipeline_last_stage=lambda: True,
    )
    LOSS.mpu = PARALLEL.mpu = sys.modules["megatron.core"].mpu = alone
    DISTRIBUTED.dist = SimpleNamespace(all_reduce=lambda *_, **__: None, ProcessGroup=Any)
    POST_PROCESS = method(SOURCES / "slime" / "ray" / "rollout.py", "_post_process_rewards")
    both = itertools.chain(corrections(), mismatches())
    wanted = itertools.chain(losses(), penalties(), both, advantage_cases(), refusals())
    done = [*map(recorded, wanted)]
    about = {"trainer": COMMIT, "torch": torch.__version__, "by": "tests/data/record/record_slime.py"}
    print(writing.write("slime", [each for each in done if finite(each)], about), len(done))
    print("left out:", [each["id"] for each in done if not finite(each)])
