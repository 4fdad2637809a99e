"""Cases of verl 1dda039b9: `python tests/data/record/record_verl.py CHECKOUT`, with PyTorch 2.13 on the CPU.

verl's own modules are imported from the checkout; packages that it imports and a loss does not need (ray,
hydra, ...) are replaced by empty ones. A loss is what its actor computes: the rollout correction of the
trainer (`compute_rollout_correction_and_add_to_batch`; in bypass mode nothing, but that the sampler's
log-probabilities are the old ones), then `ppo_loss` with the counts that its engine passes on. In the default
trainer (V1) the tokens of the batch are counted before the rejection of tokens, in the legacy one
(`trainer.use_v1=False`) after it; both divide completions by the size of the batch.
"""

import dataclasses
import importlib.abc
import importlib.machinery
import re
import sys
import types
from types import SimpleNamespace

import numpy as np
import writing

ABSENT = """ray hydra codetiming torchdata peft orjson transfer_queue cachetools PIL vllm tensorboard wandb
latex2sympy2_extended math_verify pylatexenc qwen_vl_utils mathruler uvicorn
fastapi starlette aiohttp zmq""".split()
"""What verl imports and none of these functions uses."""


class Anything(type):
    """A class of which every attribute is such a class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        own = {"__init__": lambda self, *args, **others: None, "__call__": lambda self, made: made}
        return Anything(name, (), own)


class Empty(types.ModuleType):
    """A module that holds every name."""

    __path__ = ()

    def __getattr__(self, name):
        return getattr(Anything("module", (), {}), name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are absent."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Finder())
sys.path.insert(0, sys.argv[1])

import torch  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.config import AlgoConfig  # noqa: E402
from verl.trainer.config.algorithm import KLControlConfig, RolloutCorrectionConfig  # noqa: E402
from verl.trainer.ppo import core_algos  # noqa: E402
from verl.trainer.ppo.ray_trainer import apply_kl_penalty, compute_advantage  # noqa: E402
from verl.trainer.ppo.rollout_corr_helper import (  # noqa: E402
    apply_bypass_mode,
    compute_rollout_correction_and_add_to_batch,
)
from verl.utils import tensordict_utils  # noqa: E402
from verl.utils.metric import reduce_metrics  # noqa: E402
from verl.utils.py_functional import rename_dict  # noqa: E402
from verl.workers.config import FSDPActorConfig, PolicyLossConfig  # noqa: E402
from verl.workers.reward_manager.dapo import DAPORewardManager  # noqa: E402
from verl.workers.utils.losses import ppo_loss  # noqa: E402

GROUP = 4
CASES = []


def tensor(name, dtype="float64"):
    return torch.tensor(writing.given(name), dtype=getattr(torch, dtype))


def fields_of(kind, config):
    """The keys of a configuration that a class of verl has."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {key: value for key, value in config.items() if key in names}


def correction_of(config):
    """As trainer/config/algorithm/rollout_correction.yaml has it; the class alone defaults to "sequence"."""
    return RolloutCorrectionConfig(**{"rollout_is": None} | fields_of(RolloutCorrectionConfig, config))


def actor_of(config):
    """As trainer/config/actor/dp_actor.yaml has it."""
    policy_loss = PolicyLossConfig(**fields_of(PolicyLossConfig, config), **within_policy_loss(config))
    needed = {"strategy": "fsdp", "rollout_n": GROUP, "ppo_micro_batch_size_per_gpu": 1}
    return FSDPActorConfig(**needed, **fields_of(FSDPActorConfig, config), policy_loss=policy_loss)


def within_policy_loss(config):
    """The correction inside policy_loss, which loss_mode=bypass_mode alone reads, as it is given."""
    begin = "policy_loss.rollout_correction."
    given = {key.removeprefix(begin): value for key, value in config.items() if key.startswith(begin)}
    return {"rollout_correction": given} if given else {}


def corrected(config, arrays):
    """What the trainer does before the actor is called, and what it logs of it.

    In bypass mode the legacy trainer writes its correction and loss_mode into the policy_loss of the driver,
    at every step. The actors have had theirs since `init_workers`, and never see it.

    Returns: the arrays of the batch, the metrics, and the number of tokens that the engine counts.
    """
    correction, is_v1 = correction_of(config), config.get("trainer.use_v1", True)
    names = {
        "mask": "response_mask",
        "old_log_probs": "old_log_probs",
        "rollout_log_probs": "rollout_log_probs",
    }
    batch = DataProto.from_dict({names[key]: value for key, value in arrays.items() if key in names})
    tokens, metrics = batch.batch["response_mask"].sum().item(), {}
    if correction.bypass_mode and not is_v1:
        of_driver = OmegaConf.create({})
        apply_bypass_mode(batch, rollout_corr_config=correction, policy_loss_config=of_driver)
    elif correction.bypass_mode:
        batch.batch["old_log_probs"] = batch.batch["rollout_log_probs"]
    elif "rollout_log_probs" in arrays:
        batch, metrics = compute_rollout_correction_and_add_to_batch(batch, correction)
        tokens = tokens if is_v1 else batch.batch["response_mask"].sum().item()
    return batch.batch, metrics, int(tokens)


def computed(config, arrays, seed=None):
    """loss, grad_logp and metrics of one batch, as the actor computes them on one device."""
    actor = actor_of(config)
    batch, logged, tokens = corrected(config, arrays)
    rows, length = arrays["mask"].shape
    data = {
        name: batch[name]
        for name in ("response_mask", "old_log_probs", "rollout_is_weights")
        if name in batch
    }
    advantages = arrays["advantages"]
    data["advantages"] = (
        advantages if advantages.ndim == 2 else advantages[:, None].expand(rows, length).clone()
    )
    if "ref_log_probs" in arrays:
        data["ref_log_prob"] = arrays["ref_log_probs"]
    data |= {"prompts": torch.zeros(rows, 1), "responses": torch.zeros(rows, length)}
    data["attention_mask"] = torch.ones(rows, 1 + length, dtype=torch.int64)
    data = TensorDict(data, batch_size=rows)
    tensordict_utils.assign_non_tensor(data, dp_size=1, batch_num_tokens=tokens, global_batch_size=rows)
    log_probs = arrays["log_probs"].clone().requires_grad_(True)
    output = {"log_probs": packed(log_probs)}
    if "entropies" in arrays:
        output["entropy"] = packed(arrays["entropies"])
    if seed is not None:
        torch.manual_seed(seed)
    loss, metrics = ppo_loss(actor, output, data)
    loss.backward()
    metrics = reduce_metrics({k: v if hasattr(v, "aggregate") else [v] for k, v in metrics.items()})
    metrics = {name: float(value) for name, value in rename_dict(metrics, "actor/").items()}
    return {"loss": loss.item(), "grad_logp": log_probs.grad.tolist(), "metrics": metrics | logged}


def packed(array):
    """A model's output without padding, which stands one token to the left of what it is about."""
    return torch.cat([array, torch.zeros_like(array[:, :1])], 1).reshape(-1)


def record(name, call, config, given, make, **others):
    """Add a case; what verl refuses is one too, and where its metrics divide by 0 it stops."""
    case = {"id": f"verl_grid {name}", "call": call, "config": config, "given": given, **others}
    try:
        case |= make()
    except REFUSALS as error:
        case["refused"] = in_order(f"{type(error).__name__}: {error}".split("\n")[0])[:200]
    CASES.append(case)


REFUSALS = (
    *(ValueError, AssertionError, NotImplementedError, TypeError, KeyError),
    *(ZeroDivisionError, RuntimeError),
)


def in_order(text):
    """Sets of names in an error, which Python prints in any order."""
    return re.sub(r"\{('[^{}]*)\}", lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)


USUAL = {"log_probs": "logp", "advantages": "advantages", "mask": "mask", "old_log_probs": "old_logp"}
SAMPLER = {"rollout_log_probs": "sampler_logp"}
REFERENCE = {"ref_log_probs": "ref_logp"}


def loss(name, config, dtype="float64", seed=None, possible=False, defaults=False, **given):
    given = USUAL | given
    arrays = {key: tensor(source, "float64" if key == "mask" else dtype) for key, source in given.items()}
    arrays["mask"] = arrays["mask"].long()
    others = {"seed": seed} if seed is not None else {}
    if possible:
        arrays["log_probs"] = arrays["log_probs"].clamp(max=-0.01)
        others["inputs"] = {"logp_possible": arrays["log_probs"].tolist()}
        given["log_probs"] = "logp_possible"
    others |= {"dtype": dtype, "rtol": 2e-5} if dtype == "float32" else {}
    call = "loss" if seed is None else "loss with torch's shuffle"
    record(name, call, config, given, lambda: computed(config, arrays, seed), **others)
    case = CASES[-1]
    set_aside(case, defaults)
    if not np.isfinite(case.get("grad_logp", 0.0)).all() and "nan" not in str(given):
        print("left out, its gradient is not finite:", CASES.pop()["id"])


def set_aside(case, defaults):
    """Metrics without meaning: deviations of rounding, and unless wanted weights by a class's default."""
    inside = defaults or any(key.startswith("policy_loss.") for key in case["config"])
    metrics = case.pop("metrics", {})
    odd = {
        name
        for name, value in metrics.items()
        if (name.endswith("_std") and 0.0 <= value < 1e-6)
        or (name.startswith("actor/rollout_corr/rollout_is") and not inside)
    }
    kept = {
        "metrics": {k: v for k, v in metrics.items() if k not in odd},
        "other_metrics": {k: metrics[k] for k in sorted(odd)},
    }
    case |= {key: value for key, value in kept.items() if value}


def weights(name, config, **given):
    """The weights of the sampler's mismatch alone, as the trainer hands them to the actor."""
    given = {"old_log_probs": "old_logp", "mask": "mask"} | SAMPLER | given
    arrays = {key: tensor(source) for key, source in given.items()}
    arrays["mask"] = arrays["mask"].long()

    def make():
        return {"value": corrected(config, arrays)[0]["rollout_is_weights"].tolist()}

    record(f"weights: {name}", "correction", config, given, make, axes=["completion", "token"])


def advantages(name, config, group_size=GROUP, mask="mask", rewards="rewards", dtype="float64", **others):
    """What `compute_advantage` gives; the reward stands at the last token of its completion.

    With use_kl_in_reward `apply_kl_penalty` is called before, which logs the penalty.
    """
    keys = config.get("gdpo_reward_keys")
    policies = {
        name: source
        for name, source in ({"old_log_probs": "old_logp"} | REFERENCE | others.pop("policies", {})).items()
        if config.get("use_kl_in_reward")
    }
    given = {"mask": mask} | (
        {"components": rewards, "weights": "reward_weights"} if keys else {"rewards": rewards}
    )
    given |= policies
    counted = torch.tensor(writing.given(mask), dtype=torch.int64)
    values = np.array(writing.given(rewards))
    if keys:
        values = values[:, : len(keys)]
        given["components"] = "rewards_chosen"
        given["weights"] = "weights_chosen"
        weights = config.get("gdpo_reward_weights") or [1.0] * len(keys)
        others["inputs"] = {"rewards_chosen": values.tolist(), "weights_chosen": weights}
    if group_size != GROUP:
        others.setdefault("inputs", {})["group_size"] = group_size

    def make():
        data = batch_of_rewards(values, counted, group_size, keys, dtype)
        algorithm = AlgoConfig(**fields_of(AlgoConfig, config))
        logged = {}
        if policies:
            data.batch["old_log_probs"] = tensor(policies["old_log_probs"], dtype)
            data.batch["ref_log_prob"] = tensor(policies["ref_log_probs"], dtype)
            logged = in_reward(data, algorithm, config)
        made = compute_advantage(
            data,
            adv_estimator=algorithm.adv_estimator,
            gamma=algorithm.gamma,
            lam=algorithm.lam,
            norm_adv_by_std_in_grpo=algorithm.norm_adv_by_std_in_grpo,
            config=algorithm,
        )
        return {"value": made.batch["advantages"].tolist()} | logged

    if "all_equal" in rewards:
        others |= {
            "rtol": 1e-3,
            "note": "nothing but rounding, some 1e-13, of which 1e-9 is taken for the scale",
        }
    if keys or dtype == "float32":
        others |= {"rtol": 1e-5, "dtype": "float32"}
    record(f"advantages: {name}", "advantages", config, given, make, axes=["completion", "token"], **others)


def in_reward(data, algorithm, config):
    """The penalty is taken off the rewards of the tokens; what is logged of it."""
    control = KLControlConfig(
        **fields_of(KLControlConfig, {key.split(".")[-1]: value for key, value in config.items()})
    )
    data.batch["token_level_scores"] = data.batch.pop("token_level_rewards")
    controller = core_algos.get_kl_controller(control)
    _, metrics = apply_kl_penalty(data, kl_ctrl=controller, kl_penalty=algorithm.kl_penalty)
    return {"metrics": metrics}


def batch_of_rewards(values, counted, group_size, keys, dtype):
    rows, length = counted.shape
    last = torch.where(counted.any(1), length - 1 - counted.flip(1).argmax(1), length - 1)
    rewards = torch.zeros(rows, length, dtype=getattr(torch, dtype))
    if not keys:
        rewards[torch.arange(rows), last] = torch.tensor(values, dtype=rewards.dtype)
    attention = (torch.arange(1 + length) <= 1 + last[:, None]).long()
    arrays = {"token_level_rewards": rewards, "response_mask": counted, "attention_mask": attention}
    arrays["prompts"] = torch.zeros(rows, 1)
    uids = {"uid": np.array([f"prompt {row // group_size}" for row in range(rows)], dtype=object)}
    named = {key: values[:, place] for place, key in enumerate(keys or [])}
    return DataProto.from_dict(arrays, non_tensors=uids | named)


def rewards(name, config, mask="mask", values="rewards"):
    """What the reward manager "dapo" makes of the rewards."""
    lengths = np.array(writing.given(mask)).sum(1)
    scores = writing.given(values)
    buffer = {
        key.split(".")[1]: value for key, value in config.items() if key.startswith("overlong_buffer_cfg.")
    }
    buffer = SimpleNamespace(**{"enable": False, "log": False, "penalty_factor": 1.0, "len": 0} | buffer)

    def make():
        manager = DAPORewardManager(
            SimpleNamespace(decode=lambda *args, **others: "", eos_token="end"),
            num_examine=0,
            compute_score=lambda ground_truth, **others: ground_truth,
            max_resp_len=config.get("reward_kwargs.max_resp_len"),
            overlong_buffer_cfg=buffer,
        )
        rows, length = len(scores), max(lengths)
        attention = torch.tensor([[1] + [1] * n + [0] * (length - n) for n in lengths])
        data = DataProto.from_dict(
            {
                "responses": torch.zeros(rows, length),
                "prompts": torch.zeros(rows, 1),
                "attention_mask": attention,
            },
            non_tensors={
                "reward_model": np.array([{"ground_truth": score} for score in scores], dtype=object),
                "data_source": np.array(["a"] * rows, dtype=object),
                "extra_info": np.array([{} for _ in scores], dtype=object),
            },
        )
        return {"value": manager(data).sum(-1).tolist()}

    given = {"rewards": values, "mask": mask}
    record(name, "rewards", config, given, make, axes=["completion"], rtol=1e-6)


def values(name, kind, **given):
    """The penalty of each token."""
    given = {"log_probs": "logp", "ref_log_probs": "ref_logp"} | given
    arrays = {key: tensor(source) for key, source in given.items()}

    def make():
        return {"value": core_algos.kl_penalty(arrays["log_probs"], arrays["ref_log_probs"], kind).tolist()}

    record(name, "penalty values", {"kl_loss_type": kind}, given, make)


def penalty(name, config, mask="mask"):
    """The penalty alone, averaged as `ppo_loss` averages it."""
    given = {"log_probs": "logp", "mask": mask} | REFERENCE
    arrays = {key: tensor(source) for key, source in given.items()}
    settings = actor_of(config)

    def make():
        log_probs = arrays["log_probs"].requires_grad_(True)
        each = core_algos.kl_penalty(log_probs, arrays["ref_log_probs"], settings.kl_loss_type)
        counts = {"batch_num_tokens": arrays["mask"].sum(), "global_batch_size": len(log_probs)}
        scale = settings.loss_scale_factor
        value = core_algos.agg_loss(
            each, arrays["mask"], settings.loss_agg_mode, loss_scale_factor=scale, **counts
        )
        value.backward()
        return {"loss": value.item(), "grad_logp": log_probs.grad.tolist()}

    record(f"penalty alone, {name}", "penalty", config, given, make)


MODES = {
    "vanilla": {"clip_ratio_high": 0.28},
    "gspo": {"clip_ratio_low": 0.05, "clip_ratio_high": 0.08},
    "sapo": {},
    "cispo": {"clip_ratio_high": 0.28},
    "gpg": {},
    "geo_mean": {"clip_ratio_low": 0.4, "clip_ratio_high": 0.4},
    "dro": {"dro_beta": 0.5},
    "dppo_tv": {"clip_ratio_low": 0.15, "clip_ratio_high": 0.1},
    "dppo_kl": {"clip_ratio_low": 0.05, "clip_ratio_high": 0.02},
    "clip_cov": {"clip_cov_ratio": 0.2, "clip_cov_lb": 0.0},
    "kl_cov": {"kl_cov_ratio": 0.2},
}
MODES = {mode: {"loss_mode": mode} | settings for mode, settings in MODES.items()}
MASKS = ("mask", "mask_holes", "mask_empty", "mask_first_empty", "mask_single")
AVERAGES = ("token-mean", "token-sum", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
KINDS = (
    "kl",
    "k1",
    "abs",
    "mse",
    "k2",
    "low_var_kl",
    "k3",
    "kl+",
    "k1+",
    "abs+",
    "mse+",
    "k2+",
    "low_var_kl+",
    "k3+",
)
REJECTIONS = {
    "token_k1": ("0.8_1.25", 1.5),
    "token_k2": (0.02, 0.1),
    "token_k3": (0.03, "0.1"),
    "seq_sum_k1": ("0.5_2.0", 3.0),
    "seq_sum_k2": (0.3, 0.05),
    "seq_sum_k3": (0.3, 0.05),
    "seq_mean_k1": ("0.95_1.1", 1.2),
    "seq_mean_k2": (0.03, 0.06),
    "seq_mean_k3": (0.03, 0.06),
    "seq_max_k2": (0.1, 0.2),
    "seq_max_k3": (0.1, 0.2),
}


def losses():
    for mode, config in MODES.items():
        seed = {"seed": 3} if mode == "clip_cov" else {}
        for mask in MASKS:
            loss(f"{mode} on {mask}", config, mask=mask, **seed)
        for policy in ("logp_at_bounds", "logp_limited", "logp_extreme"):
            possible = {"possible": True} if mode.startswith("dppo") else {}
            loss(f"{mode} at {policy}", config, log_probs=policy, **seed, **possible)
        loss(f"{mode}, one advantage per token", config, advantages="token_advantages", **seed)
        loss(f"{mode} in float32", config, dtype="float32", **seed)
        kl = {"use_kl_loss": True, "kl_loss_coef": 0.3}
        loss(f"{mode} with a KL penalty", config | kl, mask="mask_holes", **REFERENCE, **seed)
        other = {"loss_agg_mode": "seq-mean-token-sum", "kl_loss_type": "k2"}
        loss(
            f"{mode} with another average and k2", config | kl | other, mask="mask_empty", **REFERENCE, **seed
        )
        bonus = {"entropy_coeff": 0.05, "loss_agg_mode": "seq-mean-token-mean"}
        loss(f"{mode} with an entropy bonus", config | bonus, mask="mask_holes", entropies="entropy", **seed)


def averages():
    for average in AVERAGES:
        for mask in (*MASKS, "mask_none"):
            loss(f"{average} on {mask}", {"loss_agg_mode": average}, mask=mask)
        config = {"loss_agg_mode": average, "use_kl_loss": True, "kl_loss_coef": 0.2, "entropy_coeff": 0.01}
        loss(f"{average}, penalty and bonus", config, mask="mask_empty", entropies="entropy", **REFERENCE)
    norm = {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 20}
    loss("seq-mean-token-sum-norm over 20", norm, mask="mask_empty")
    for mode in ("gspo", "sapo", "geo_mean"):
        loss(f"{mode} on mask_none", MODES[mode], mask="mask_none")
        kl = MODES[mode] | {"use_kl_loss": True, "kl_loss_coef": 0.2}
        loss(f"{mode} with a KL penalty on mask_none", kl, mask="mask_none", **REFERENCE)


def clips():
    for low, high, c in (
        (0.1, 0.3, 3.0),
        (0.2, 0.28, 1.2),
        (0.2, 0.28, 10.0),
        (0.0, 0.0, 2.0),
        (1.0, 1.0, 3.0),
    ):
        config = {"clip_ratio_low": low, "clip_ratio_high": high, "clip_ratio_c": c}
        for policy in ("logp", "logp_limited"):
            loss(f"clip {low} {high} {c} at {policy}", config, log_probs=policy)
    loss("clip_ratio alone", {"clip_ratio": 0.1}, log_probs="logp_at_bounds")
    unset = {"clip_ratio_low": None, "clip_ratio_high": None}
    for mode in ("vanilla", "gspo", "cispo", "geo_mean", "dppo_tv", "dppo_kl"):
        loss(f"{mode}, clip_ratio for both", {"loss_mode": mode, "clip_ratio": 0.1} | unset)
    loss("cispo, low 10", {"loss_mode": "cispo", "clip_ratio_low": 10, "clip_ratio_high": 0.2})
    loss(
        "cispo, low 10 at logp_limited",
        {"loss_mode": "cispo", "clip_ratio_low": 10, "clip_ratio_high": 4.0},
        log_probs="logp_limited",
    )
    loss("vanilla, low 1", {"clip_ratio_low": 1, "clip_ratio_high": 1.0}, log_probs="logp_limited")
    loss("vanilla, low 2", {"clip_ratio_low": 2.0, "clip_ratio_high": 1.0}, log_probs="logp_limited")
    loss(
        "clip_cov, low and high 1",
        MODES["clip_cov"] | {"clip_ratio_low": 1.0, "clip_ratio_high": 1.0},
        seed=0,
    )
    for c in (20.0, 1.1):
        loss(
            f"dppo_tv capped at {c}",
            MODES["dppo_tv"] | {"clip_ratio_c": c},
            log_probs="logp_limited",
            possible=True,
        )
        loss(
            f"dppo_kl capped at {c}",
            MODES["dppo_kl"] | {"clip_ratio_c": c},
            log_probs="logp_limited",
            possible=True,
        )
    for positive, negative in ((2.0, 0.5), (0.3, 4.0)):
        loss(f"sapo {positive} {negative}", {"loss_mode": "sapo", "tau_pos": positive, "tau_neg": negative})
    for low, high in ((-0.5, 0.5), (1.0, 5.0), (0.2, 2.0)):
        config = {"loss_mode": "clip_cov", "clip_cov_ratio": 0.1, "clip_cov_lb": low, "clip_cov_ub": high}
        loss(f"clip_cov between {low} and {high}", config, seed=1, mask="mask_empty")
    for share, coef in ((0.05, 1.0), (0.5, 0.2), (0.0002, 0.1), (1.0, 0.1), (1.015, 0.1)):
        loss(f"kl_cov {share} {coef}", {"loss_mode": "kl_cov", "kl_cov_ratio": share, "ppo_kl_coef": coef})
    loss("dro at 2", {"loss_mode": "dro", "dro_beta": 2.0}, mask="mask_holes")
    loss("on-policy", {}, old_log_probs="logp")


def penalties():
    for kind in KINDS:
        for reference in ("ref_logp", "ref_logp_far"):
            values(f"{kind} of {reference}", kind, ref_log_probs=reference)
            config = {"use_kl_loss": True, "kl_loss_type": kind, "kl_loss_coef": 0.5}
            loss(f"penalty {kind} of {reference}", config, ref_log_probs=reference)
    for average in AVERAGES:
        penalty(average, {"use_kl_loss": True, "loss_agg_mode": average}, mask="mask_empty")
    norm = {"use_kl_loss": True, "loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 20}
    penalty("seq-mean-token-sum-norm over 20", norm, mask="mask_holes")
    config = {"use_kl_loss": True, "kl_loss_type": "k3", "kl_loss_coef": 0.5}
    loss("penalty k3 in float32", config, dtype="float32", **REFERENCE)
    loss("penalty in float32, far", config, dtype="float32", ref_log_probs="ref_logp_far")
    loss("penalty of negative weight", config | {"kl_loss_coef": -0.5}, mask="mask_holes", **REFERENCE)


def sampler_weights():
    for level in ("token", "sequence"):
        for threshold in (1.2, 2.0, "2.0", "0.8_1.2", "0.5_5.0"):
            config = {"rollout_is": level, "rollout_is_threshold": threshold}
            loss(f"{level} weights {threshold!r}", config, **SAMPLER)
            loss(f"{level} weights {threshold!r}, far", config, rollout_log_probs="sampler_logp_far")
        for threshold in (1.2, "0.8_1.2"):
            config = {"rollout_is": level, "rollout_is_threshold": threshold}
            for mask in ("mask", "mask_holes"):
                nan = {"rollout_log_probs": "sampler_logp_nan", "mask": mask}
                weights(f"{level} {threshold!r}, NaN, on {mask}", config, **nan)
            if threshold == "0.8_1.2":  # the other's gradient is NaN, and 0 where autograd stops at a clamp
                loss(f"{level} weights {threshold!r}, NaN", config, rollout_log_probs="sampler_logp_nan")
            weights(f"{level} {threshold!r}, mean 1", config | {"rollout_is_batch_normalize": True})
            batch = config | {"rollout_is_batch_normalize": True}
            for mask in ("mask", "mask_holes", "mask_empty"):
                loss(f"{level} weights {threshold!r} with mean 1 on {mask}", batch, mask=mask, **SAMPLER)
            loss(
                f"{level} weights {threshold!r}, the token of mask_single",
                config,
                mask="mask_single",
                **SAMPLER,
            )
        for mode in MODES:
            seed = {"seed": 5} if mode == "clip_cov" else {}
            config = MODES[mode] | {"rollout_is": level, "rollout_is_threshold": 1.3}
            loss(f"{mode} with {level} weights", config, mask="mask_holes", **SAMPLER, **seed)
        geo = MODES["geo_mean"] | {"rollout_is": level}
        loss(
            f"geo_mean with a window of {level} weights", geo | {"rollout_is_threshold": "0.8_1.2"}, **SAMPLER
        )
        loss(
            f"geo_mean with {level} weights of mean 1", geo | {"rollout_is_batch_normalize": True}, **SAMPLER
        )
        loss(f"{level} weights in float32", {"rollout_is": level}, dtype="float32", **SAMPLER)
    kl = {"rollout_is": "token", "use_kl_loss": True, "kl_loss_coef": 0.3}
    loss("weights and a penalty", kl, **SAMPLER, **REFERENCE)
    for threshold in (" 2.0 ", "1e-1_1e1", "inf", "8e-1_inf", "1_1.5"):
        config = {"rollout_is": "token", "rollout_is_threshold": threshold}
        loss(f"weights written {threshold!r}", config, **SAMPLER)
        weights(f"written {threshold!r}", config)
    off = {"rollout_is_batch_normalize": True}
    loss("mean 1 of no weights", off, **SAMPLER)
    none = {"rollout_is": "token", "rollout_is_threshold": "90.0_100.0", "rollout_is_batch_normalize": True}
    loss("a window that keeps nothing, with mean 1", none, **SAMPLER)


def rejections():
    for option, thresholds in REJECTIONS.items():
        for threshold, mask in zip(thresholds, ("mask_holes", "mask_empty"), strict=True):
            config = {"rollout_rs": option, "rollout_rs_threshold": threshold}
            loss(f"{option} {threshold!r} on {mask}", config, mask=mask, **SAMPLER)
        config = {"rollout_rs": option, "rollout_rs_threshold": thresholds[0]}
        loss(f"{option}, far", config, rollout_log_probs="sampler_logp_far")
        loss(f"{option}, NaN", config, rollout_log_probs="sampler_logp_nan")
    pair = {"rollout_rs": "token_k1,seq_mean_k3", "rollout_rs_threshold": "0.7_1.4,0.1"}
    loss("two rejections", pair, **SAMPLER)
    written = {"rollout_rs": "token_k1, seq_mean_k3", "rollout_rs_threshold": " 7e-1_14e-1 , 1e-1"}
    loss("two rejections, written with powers of 10", written, **SAMPLER)
    loss(
        "two rejections, doubled and spaced",
        pair | {"rollout_rs": "seq_max_k3, token_k2,token_k2 ", "rollout_rs_threshold": 0.2},
        **SAMPLER,
    )
    for mode in MODES:
        seed = {"seed": 5} if mode == "clip_cov" else {}
        config = MODES[mode] | pair | {"use_kl_loss": True, "kl_loss_coef": 0.3, "entropy_coeff": 0.01}
        loss(
            f"{mode} with two rejections, penalty and bonus",
            config,
            entropies="entropy",
            **SAMPLER,
            **REFERENCE,
            **seed,
        )
    for average in AVERAGES:
        for v1 in (True, False):
            config = pair | {"loss_agg_mode": average, "trainer.use_v1": v1, "rollout_is": "sequence"}
            config |= {"use_kl_loss": True, "kl_loss_coef": 0.3}
            loss(
                f"{average} with rejections and weights, V1 {v1}",
                config,
                mask="mask_holes",
                **SAMPLER,
                **REFERENCE,
            )
    norm = {"rollout_is": "token", "rollout_is_batch_normalize": True}
    loss("rejections and weights of mean 1", pair | norm, **SAMPLER)
    nothing = {"rollout_rs": "seq_max_k2", "rollout_rs_threshold": 1e-9}
    loss("everything rejected", nothing, **SAMPLER)
    loss("everything rejected in the legacy trainer", nothing | {"trainer.use_v1": False}, **SAMPLER)
    loss("rejection in float32", pair, dtype="float32", **SAMPLER)
    loss("nothing corrected, all measured", {}, **SAMPLER)
    loss("nothing corrected, all measured, far", {}, rollout_log_probs="sampler_logp_far")
    loss("nothing corrected, all measured, on mask_empty", {}, mask="mask_empty", **SAMPLER)
    far = {"dtype": "float32", "rollout_log_probs": "sampler_logp_far"}
    loss("nothing corrected, all measured, far in float32", {}, **far)


def bypasses():
    clip = {"clip_ratio_high": 0.28, "bypass_mode": True}
    loss("bypass", clip, **SAMPLER)
    for mode in ("gspo", "cispo", "kl_cov"):
        loss(f"bypass with {mode}", MODES[mode] | {"bypass_mode": True}, mask="mask_empty", **SAMPLER)
    ignored = {
        "rollout_is": "token",
        "loss_type": "reinforce",
        "rollout_rs": "token_k1",
        "rollout_rs_threshold": 1.1,
    }
    loss("bypass ignores the other keys", clip | ignored, **SAMPLER)
    legacy = clip | ignored | {"trainer.use_v1": False}
    loss("bypass in the legacy trainer ignores them too", legacy, **SAMPLER)
    gspo = MODES["gspo"] | {"bypass_mode": True, "trainer.use_v1": False}
    loss("bypass in the legacy trainer with gspo", gspo, **SAMPLER)
    old = clip | {"loss_mode": "bypass_mode"}
    loss("loss_mode bypass_mode", old, **SAMPLER)
    loss("loss_mode bypass_mode without bypass_mode", old | {"bypass_mode": False})
    loss("loss_mode bypass_mode, weights are not used", old | within(rollout_is="token"), **SAMPLER)
    for mask in ("mask", "mask_empty", "mask_none"):
        loss(
            f"loss_mode bypass_mode, its defaults measured on {mask}",
            old,
            mask=mask,
            defaults=True,
            **SAMPLER,
        )
    apart = {"log_probs": "logp_limited", "rollout_log_probs": "sampler_logp"}
    loss("loss_mode bypass_mode, its defaults measured, far", old, defaults=True, **apart)
    window = within(rollout_is="sequence", rollout_is_threshold="0.999_1.001")
    loss("loss_mode bypass_mode, a window that keeps nothing, measured", old | window, **SAMPLER)
    loss("loss_mode bypass_mode, weights per group", old | within(rollout_is="group"), **SAMPLER)
    loss(
        "loss_mode bypass_mode, weights per group without a threshold",
        old | within(rollout_is="group", rollout_is_threshold=None),
        **SAMPLER,
    )
    rejecting = within(rollout_rs="token_k1,seq_mean_k3", rollout_rs_threshold="0.7_1.4,0.1")
    for option in REJECTIONS:
        threshold = "0.5_2.0" if option.endswith("k1") else 0.3
        loss(
            f"loss_mode bypass_mode, {option}",
            old | within(rollout_rs=option, rollout_rs_threshold=threshold),
            mask="mask_empty",
            **SAMPLER,
        )
    for average in AVERAGES:
        kl = {"loss_agg_mode": average, "use_kl_loss": True, "kl_loss_coef": 0.3}
        given = {"mask": "mask_holes"} | SAMPLER | REFERENCE
        loss(f"loss_mode bypass_mode rejects, {average}", old | rejecting | kl, **given)
        reinforce = within(loss_type="reinforce", rollout_is="sequence")
        loss(f"loss_mode bypass_mode, reinforce, {average}", old | rejecting | kl | reinforce, **given)
    plain = old | within(loss_type="reinforce")
    loss("loss_mode bypass_mode, reinforce alone", plain, **SAMPLER)
    for level in ("token", "sequence"):
        for threshold in (1.2, "0.8_1.2"):
            config = plain | within(rollout_is=level, rollout_is_threshold=threshold)
            loss(f"loss_mode bypass_mode, reinforce, {level} {threshold!r}", config, **SAMPLER)
            mean = config | within(rollout_is_batch_normalize=True)
            loss(f"loss_mode bypass_mode, reinforce, {level} {threshold!r} with mean 1", mean, **SAMPLER)


def within(**settings):
    """Keys of the correction inside policy_loss."""
    return {f"policy_loss.rollout_correction.{key}": value for key, value in settings.items()}


ESTIMATORS = """grpo grpo_vectorized grpo_passk reinforce_plus_plus reinforce_plus_plus_baseline rloo
rloo_vectorized opo gpg gdpo""".split()


def estimators():
    for estimator in ESTIMATORS:
        config = {"adv_estimator": estimator}
        dtype = "float32" if estimator == "grpo_vectorized" else "float64"
        keys = (
            {"gdpo_reward_keys": ["a", "b"], "gdpo_reward_weights": [1.0, 0.5]} if estimator == "gdpo" else {}
        )
        if keys:
            config |= keys
            kinds = ("rewards_per_func",)
        else:
            kinds = ("rewards", "rewards_some_equal", "rewards_all_equal", "rewards_tied", "rewards_huge")
        for kind in kinds:
            advantages(f"{estimator} of {kind}", config, rewards=kind, dtype=dtype)
        for mask in ("mask_holes", "mask_empty", "mask_first_empty", "mask_single"):
            advantages(f"{estimator} on {mask}", config, mask=mask, rewards=kinds[0], dtype=dtype)
        without = config | {"norm_adv_by_std_in_grpo": False}
        advantages(f"{estimator} without the std", without, rewards=kinds[0], dtype=dtype)
        advantages(f"{estimator} in pairs", config, group_size=2, rewards=kinds[0], dtype=dtype)
        advantages(f"{estimator} of single completions", config, group_size=1, rewards=kinds[0], dtype=dtype)
    advantages(
        "gdpo of three, equal weights",
        {"adv_estimator": "gdpo", "gdpo_reward_keys": ["a", "b", "c"]},
        rewards="rewards_per_func",
    )
    advantages(
        "grpo of single completions, without the std",
        {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False},
        group_size=1,
    )
    for gamma in (0.9, 0.5, 0.0):
        for mask in ("mask", "mask_holes", "mask_empty"):
            config = {"adv_estimator": "reinforce_plus_plus", "gamma": gamma}
            advantages(f"reinforce_plus_plus, gamma {gamma} on {mask}", config, mask=mask)


def penalties_in_reward():
    on = {"use_kl_in_reward": True}
    for estimator in ESTIMATORS:
        dtype = "float32" if estimator == "grpo_vectorized" else "float64"
        config = {"adv_estimator": estimator, "kl_ctrl.kl_coef": 0.1} | on
        kind = "rewards"
        if estimator == "gdpo":
            config |= {"gdpo_reward_keys": ["a", "b"]}
            kind = "rewards_per_func"
        for mask in MASKS[:-1]:
            name = f"{estimator} of rewards less a penalty on {mask}"
            advantages(name, config, mask=mask, rewards=kind, dtype=dtype)
        name = f"{estimator} of rewards less a penalty, single completions"
        advantages(name, config, group_size=1, rewards=kind, dtype=dtype)
    for estimator in ("grpo", "reinforce_plus_plus"):
        config = {"adv_estimator": estimator, "kl_ctrl.kl_coef": 0.05} | on
        for kind in KINDS:
            name = f"{estimator} of rewards less {kind}"
            advantages(name, config | {"kl_penalty": kind}, mask="mask_holes")
        far = {"policies": {"ref_log_probs": "ref_logp_far"}}
        limited = config | {"kl_penalty": "low_var_kl"}
        advantages(f"{estimator} of rewards less a far penalty", limited, **far)
        advantages(f"{estimator} of rewards less a penalty in float32", config, dtype="float32")
        default = {"adv_estimator": estimator} | on
        advantages(f"{estimator} of rewards less a penalty of the default weight", default)
        advantages(f"{estimator} of rewards less no weight", config | {"kl_ctrl.kl_coef": 0.0})
        advantages(f"{estimator} of rewards and a penalty", config | {"kl_ctrl.kl_coef": -0.1})
        for kind in ("full", "k4"):
            advantages(f"{estimator} of rewards less {kind}", config | {"kl_penalty": kind})
        unknown = config | {"kl_ctrl.type": "cosine"}
        advantages(f"{estimator} of rewards less a penalty of an unknown type", unknown)
    for gamma in (0.9, 0.0):
        for mask in ("mask", "mask_holes", "mask_empty"):
            config = {"adv_estimator": "reinforce_plus_plus", "gamma": gamma, "kl_ctrl.kl_coef": 0.2} | on
            advantages(f"reinforce_plus_plus less a penalty, gamma {gamma} on {mask}", config, mask=mask)
    plain = {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False, "kl_ctrl.kl_coef": 0.2} | on
    advantages("grpo without the std of rewards less a penalty", plain)


def overlong():
    for length, most, factor in (
        (2, 7, 1.0),
        (4, 7, 0.5),
        (7, 7, 1.0),
        (3, 6, 1.0),
        (3, 5, 2.0),
        (1, 4, 1.0),
    ):
        config = {
            "reward_manager.name": "dapo",
            "overlong_buffer_cfg.enable": True,
            "overlong_buffer_cfg.len": length,
        }
        config |= {"reward_kwargs.max_resp_len": most, "overlong_buffer_cfg.penalty_factor": factor}
        rewards(f"overlong {length} of {most}, factor {factor}", config)
    rewards("overlong off", {"overlong_buffer_cfg.len": 2, "reward_kwargs.max_resp_len": 7})
    on = {
        "reward_manager.name": "dapo",
        "overlong_buffer_cfg.enable": True,
        "overlong_buffer_cfg.penalty_factor": 1.0,
    }
    rewards("overlong without a buffer", on | {"overlong_buffer_cfg.len": 0, "reward_kwargs.max_resp_len": 7})
    rewards(
        "overlong longer than the budget",
        on | {"overlong_buffer_cfg.len": 9, "reward_kwargs.max_resp_len": 7},
    )
    rewards("overlong without a budget", on | {"overlong_buffer_cfg.len": 2})


def refusals():
    wrong = {
        "an unknown mode": {"loss_mode": "ppo"},
        "an unknown average": {"loss_agg_mode": "token_mean"},
        "a dual clip of 1": {"clip_ratio_c": 1.0},
        "a dual clip below 1": {"clip_ratio_c": 0.5},
        "dro without beta": {"loss_mode": "dro"},
        "dro with beta 0": {"loss_mode": "dro", "dro_beta": 0.0},
        "dro with a negative beta": {"loss_mode": "dro", "dro_beta": -1.0},
        "clip_cov of nothing": {"loss_mode": "clip_cov", "clip_cov_ratio": 0.0},
        "kl_cov of nothing": {"loss_mode": "kl_cov", "kl_cov_ratio": 0.0},
        "kl_cov of less than nothing": {"loss_mode": "kl_cov", "kl_cov_ratio": -0.1},
        "kl_cov of twice as many": {"loss_mode": "kl_cov", "kl_cov_ratio": 2.0},
        "kl_cov of a few too many": {"loss_mode": "kl_cov", "kl_cov_ratio": 1.02},
    }
    for name, config in wrong.items():
        loss(name, config, **({"seed": 0} if config.get("loss_mode") == "clip_cov" else {}))
    for kind in ("full", "k4", "full+"):
        config = {"use_kl_loss": True, "kl_loss_type": kind}
        loss(f"penalty {kind}", config, **REFERENCE)
    for threshold in (0.0, -1.0, "0.0_3.0", "3.0_2.0", "-0.5_2.0", "", "high", "0.5_high", True, "1_2_3"):
        loss(
            f"weights up to {threshold!r}",
            {"rollout_is": "token", "rollout_is_threshold": threshold},
            **SAMPLER,
        )
    loss("weights per group", {"rollout_is": "group"}, **SAMPLER)
    for option, threshold in (
        ("token_k1", None),
        ("token_k4", 1.0),
        ("seq_max_k1", 1.0),
        ("geometric", 1.0),
        ("", 1.0),
        ("token_k2", "0.1_0.2"),
        ("token_k3", 0.0),
        ("token_k1", "2.0_0.5"),
        ("token_k1", "0.0_2.0"),
        ("token_k1", 0.5),
        ("token_k1", "wide"),
        ("token_k1,token_k2", "0.5_2.0,0.1,0.2"),
        ("token_k1,token_k2", "0.5_2.0"),
        ("token_k1", ""),
        (",", 1.0),
    ):
        loss(
            f"rejection {option!r} at {threshold!r}",
            {"rollout_rs": option, "rollout_rs_threshold": threshold},
            **SAMPLER,
        )
    loss("nothing to correct", {"rollout_is": "token"}, mask="mask_none", **SAMPLER)
    loss("loss_mode bypass_mode of an unknown type", {"loss_mode": "bypass_mode"} | within(loss_type="ppo"))
    advantages("an unknown estimator", {"adv_estimator": "ppo"})
    advantages("gdpo without keys", {"adv_estimator": "gdpo"})
    advantages("whitening one token", {"adv_estimator": "reinforce_plus_plus"}, mask="mask_single")
    advantages("whitening no token", {"adv_estimator": "reinforce_plus_plus_baseline"}, mask="mask_none")


if __name__ == "__main__":
    for part in (
        losses,
        averages,
        clips,
        penalties,
        sampler_weights,
        rejections,
        bypasses,
        estimators,
        penalties_in_reward,
        overlong,
        refusals,
    ):
        part()
    about = {"trainer": "verl 1dda039b9 (2026-08-22)", "torch": torch.__version__, "device": "CPU"}
    path = writing.write("verl", CASES, about)
    print(f"{len(CASES)} cases, {sum('refused' in case for case in CASES)} of them refused: {path.name}")
