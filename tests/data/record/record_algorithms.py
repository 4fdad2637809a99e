"""Named algorithms at their published settings: `python record_algorithms.py TRAINER SOURCES`.

TRAINER is trl (1.16.0) or verl (0.9.1), and SOURCES the folder where it is installed. What runs is what
record_trl.py and record_verl.py run, on the small batches of algorithm_batches.py. Written to
conformance/grpo_conformance/recordings/algorithms/TRAINER.json.
"""

import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import algorithm_batches
import writing

FOLDER = algorithm_batches.FOLDER
BATCHES = algorithm_batches.inputs()
REF, SAMPLED, ENTROPIES = ("ref_log_probs",), ("rollout_log_probs",), ("entropies",)
SAMPLER = ("old_log_probs", "rollout_log_probs", "mask")
USUAL = ("log_probs", "old_log_probs", "advantages", "mask")


def sampling(mode: str, most: float, least: float | None = None) -> dict[str, Any]:
    return {
        "use_vllm": True,
        "vllm_importance_sampling_mode": mode,
        "vllm_importance_sampling_clip_max": most,
        "vllm_importance_sampling_clip_min": least,
    }


CLIP = {"epsilon": 0.2, "epsilon_high": 0.28}
PLAIN_KL = {"use_bias_correction_kl": False}
# algorithm -> TRL's configuration, and the arrays that it reads besides the usual ones
TRL = {
    "grpo": ({"loss_type": "grpo", "epsilon": 0.2, "beta": 0.04, **PLAIN_KL}, REF),
    "grpo without a penalty": ({"loss_type": "grpo", "epsilon": 0.2}, ()),
    "dapo": ({"loss_type": "dapo", **CLIP}, ()),
    "dr_grpo": ({"loss_type": "dr_grpo", "epsilon": 0.2, "max_completion_length": 8}, ()),
    "intellect_2": ({"loss_type": "grpo", "epsilon": 0.2, "delta": 4.0, "beta": 0.001, **PLAIN_KL}, REF),
    "gmpo": ({"trainer": "GMPOTrainer"}, ()),
    "gspo": (
        {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
        (),
    ),
    "luspo": (
        {
            "loss_type": "luspo",
            "importance_sampling_level": "sequence",
            "epsilon": 2e-3,
            "epsilon_high": 2.5e-3,
        },
        (),
    ),
    "cispo": ({"loss_type": "cispo", "epsilon_high": 5.0}, ()),
    "sapo": ({"loss_type": "sapo"}, ()),
    "vespo": ({"loss_type": "vespo"}, ()),
    "high_entropy": ({"loss_type": "dapo", **CLIP, "top_entropy_quantile": 0.2}, ENTROPIES),
    "tis": ({"loss_type": "dapo", **CLIP, **sampling("token_truncate", 2.0)}, SAMPLED),
    "decoupled_ppo": ({"loss_type": "dapo", **CLIP, **sampling("token_truncate", 5.0)}, SAMPLED),
    "mis": ({"loss_type": "dapo", **CLIP, **sampling("sequence_mask", 3.0)}, SAMPLED),
    "icepop": ({"loss_type": "dapo", **CLIP, **sampling("token_mask", 5.0, 0.5)}, SAMPLED),
}
BY_COMPLETION = {"loss_agg_mode": "seq-mean-token-mean"}
KL = {"use_kl_loss": True, "kl_loss_coef": 0.04, "kl_loss_type": "k3"}
# the same of verl
VERL = {
    "grpo": ({**BY_COMPLETION, "clip_ratio_c": 1e6, **KL}, REF),
    "ppo_dual_clip": ({}, ()),
    "gspo_token": (
        {"loss_mode": "gspo", **BY_COMPLETION, "clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4},
        (),
    ),
    "cispo": ({"loss_mode": "cispo", "clip_ratio_low": 1.0, "clip_ratio_high": 4.0}, ()),
    "sapo": ({"loss_mode": "sapo", **BY_COMPLETION}, ()),
    "reinforce": ({"loss_mode": "gpg", "loss_agg_mode": "seq-mean-token-sum"}, ()),
    "gpg": ({"loss_mode": "gpg"}, ()),
    "dro": ({"loss_mode": "dro", "dro_beta": 0.1}, ()),
    "kl_cov": ({"loss_mode": "kl_cov"}, ()),
    "dppo_tv": (
        {"loss_mode": "dppo_tv", "clip_ratio_low": 0.15, "clip_ratio_high": 0.15, "clip_ratio_c": 20.0},
        (),
    ),
    "dppo_kl": (
        {"loss_mode": "dppo_kl", "clip_ratio_low": 0.05, "clip_ratio_high": 0.05, "clip_ratio_c": 20.0},
        (),
    ),
    "tis": (
        {"rollout_is": "token", "rollout_is_threshold": 2.0, "clip_ratio_high": 0.28, "clip_ratio_c": 1e6},
        SAMPLED,
    ),
}


# name -> TRL's configuration of the weights for the sampler's mismatch
TRL_WEIGHTS = {
    "token_truncate": sampling("token_truncate", 2.0),
    "token_mask": sampling("token_mask", 5.0, 0.5),
    "sequence_truncate": sampling("sequence_truncate", 2.0),
    "sequence_mask": sampling("sequence_mask", 3.0),
}
AVERAGES = ("token-mean", "token-sum", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
PENALTIES = ("k1", "abs", "k2", "k3", "k1+", "k3+")


def given(batch: str, more: tuple[str, ...]) -> dict[str, str]:
    return {name: algorithm_batches.key(batch, name) for name in (*USUAL, *more)}


def names_of_batches() -> list[str]:
    return [name for name in algorithm_batches.batches()]


def of_trl(source: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Record TRL's cases."""
    sys.path.insert(0, source)
    import record_trl
    import torch
    import trl

    if trl.__version__ != record_trl.VERSION:
        sys.exit(f"this records TRL {record_trl.VERSION}, not {trl.__version__}")
    cases = []
    for name, (config, more) in TRL.items():
        for batch in names_of_batches():
            size = algorithm_batches.GROUPS.get(batch, 2)
            arrays = given(batch, more)
            rows = len(BATCHES[arrays["mask"]])
            config = {**config, "num_generations": size}
            case = {"id": f"trl algorithm {name}: {batch}", "call": "loss", "config": config, "given": arrays}
            own = {source: BATCHES[source] for source in arrays.values()}
            usual, record_trl.configured.__defaults__ = record_trl.configured.__defaults__, (rows,)
            numbers = record_trl.record_loss({**case, "inputs": own})
            record_trl.configured.__defaults__ = usual
            numbers.pop("metrics", None)
            cases.append({**case, **sized(size), **numbers})
    for name, config in TRL_WEIGHTS.items():
        for batch in names_of_batches():
            size = algorithm_batches.GROUPS.get(batch, 2)
            config = {**config, "num_generations": size}
            arrays = {each: algorithm_batches.key(batch, each) for each in SAMPLER}
            tensors = record_trl.tensors(arrays, "float64", {each: BATCHES[each] for each in arrays.values()})
            usual, record_trl.configured.__defaults__ = (
                record_trl.configured.__defaults__,
                (len(tensors["mask"]),),
            )
            ratio = record_trl.sampled(record_trl.trainer(config), tensors).expand(tensors["mask"].shape)
            record_trl.configured.__defaults__ = usual
            case = {
                "id": f"trl weights {name}: {batch}",
                "call": "correction",
                "config": config,
                "given": arrays,
            }
            cases.append({**case, **sized(size), "axes": ["completion", "token"], "value": ratio.tolist()})
    version = torch.__version__.split("+")[0]
    return cases, {"trainer": f"TRL {trl.__version__} (PyPI)", "torch": f"{version}, CPU"}


def of_verl(source: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Record verl's cases."""
    sys.argv = ["record_verl.py", source]
    import record_verl
    import torch

    cases = []
    for name, (config, more) in VERL.items():
        for batch in names_of_batches():
            size = algorithm_batches.GROUPS.get(batch, 2)
            arrays = given(batch, more)
            tensors = {
                key: torch.tensor(BATCHES[source], dtype=torch.long if key == "mask" else torch.float64)
                for key, source in arrays.items()
            }
            case = {
                "id": f"verl algorithm {name}: {batch}",
                "call": "loss",
                "config": config,
                "given": arrays,
            }
            try:
                numbers = record_verl.computed(config, tensors)
            except record_verl.REFUSALS as error:
                print(f"refused: {case['id']}: {error}")
                continue
            numbers.pop("metrics", None)
            cases.append({**case, **sized(size), **numbers})
    for batch in names_of_batches():
        size = algorithm_batches.GROUPS.get(batch, 2)
        cases += [{**case, **sized(size)} for case in (*averages(batch), *penalties(batch))]
    about = {"trainer": "verl 0.9.1 (PyPI)", "torch": f"{torch.__version__.split('+')[0]}, CPU"}
    return cases, about


def averages(batch: str) -> Iterator[dict[str, Any]]:
    """Yield verl's averages of an array over the tokens, and their gradients with respect to the array."""
    import record_verl
    import torch

    arrays = {
        "values": algorithm_batches.key(batch, "log_probs"),
        "mask": algorithm_batches.key(batch, "mask"),
    }
    mask = torch.tensor(BATCHES[arrays["mask"]])
    for mode in AVERAGES:
        values = torch.tensor(BATCHES[arrays["values"]], dtype=torch.float64, requires_grad=True)
        counts = {"batch_num_tokens": mask.sum(), "global_batch_size": len(mask)}
        average = record_verl.core_algos.agg_loss(values, mask, mode, loss_scale_factor=None, **counts)
        average.backward()
        case = {"id": f"verl average {mode}: {batch}", "call": "average", "config": {"loss_agg_mode": mode}}
        yield {**case, "given": arrays, "loss": average.item(), "grad_logp": values.grad.tolist()}


def penalties(batch: str) -> Iterator[dict[str, Any]]:
    """Yield verl's penalties: the value of each token, and the gradient of the sum over the tokens."""
    import record_verl
    import torch

    arrays = {name: algorithm_batches.key(batch, name) for name in ("log_probs", "ref_log_probs", "mask")}
    mask = torch.tensor(BATCHES[arrays["mask"]])
    for kind in PENALTIES:
        policy = torch.tensor(BATCHES[arrays["log_probs"]], dtype=torch.float64, requires_grad=True)
        reference = torch.tensor(BATCHES[arrays["ref_log_probs"]], dtype=torch.float64)
        each = record_verl.core_algos.kl_penalty(policy, reference, kind)
        total = record_verl.core_algos.agg_loss(each, mask, "token-sum")
        total.backward()
        case = {"id": f"verl penalty {kind}: {batch}", "given": arrays}
        config = {"use_kl_loss": True, "kl_loss_type": kind}
        values = {"call": "penalty values", "config": config, "axes": ["completion", "token"]}
        yield {**case, **values, "value": each.tolist()}
        summed = {"call": "penalty", "config": {**config, "loss_agg_mode": "token-sum"}}
        yield {
            **case,
            "id": f"{case['id']}, summed",
            **summed,
            "loss": total.item(),
            "grad_logp": policy.grad.tolist(),
        }


def sized(size: int) -> dict[str, Any]:
    return {} if size == BATCHES["group_size"] else {"inputs": {"group_size": size}}


NO_TOKEN = "no token"
"""A batch on which values per token say nothing, as padding is not compared."""


def is_finite(case: dict[str, Any]) -> bool:
    gradient = case.get("grad_logp", [])
    return math.isfinite(case.get("loss", 0.0)) and all(math.isfinite(x) for row in gradient for x in row)


def main() -> None:
    trainer, source = sys.argv[1:3]
    cases, about = {"trl": of_trl, "verl": of_verl}[trainer](source)
    finite = [case for case in cases if is_finite(case) and not (NO_TOKEN in case["id"] and "value" in case)]
    lines = ",\n".join(json.dumps(writing.rounded({"trainer": trainer, **case})) for case in finite)
    head = json.dumps(
        {"recorded": {**about, "by": "tests/data/record/record_algorithms.py"}, "inputs": "inputs.json"}
    )
    path = FOLDER / f"{trainer}.json"
    path.write_text(f'{head[:-1]}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"wrote {len(finite)} cases to {path.name}; {len(cases) - len(finite)} were not finite")


if __name__ == "__main__":
    main()
