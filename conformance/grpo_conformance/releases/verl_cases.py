"""Configurations of verl: name -> what to call and with which keys.

The name begins with the function (`agg_loss`, a policy loss, `kl_penalty`, an advantage estimator) or with the
worker: `update` is the FSDP actor's update, which 0.8.0 removed, `engine` is the loss of the engine, which
0.7.0 added, and `step` is the one that a launch file gets by default.
"""

from dataclasses import dataclass, field
from typing import Any

MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
POLICY_LOSSES = ("vanilla", "gspo", "gpg", "clip_cov", "kl_cov", "geo_mean", "sapo", "cispo")
KL_ESTIMATORS = ("kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3", "low_var_kl+", "k3+", "k1+")
ADVANTAGES = (
    "grpo",
    "grpo_vectorized",
    "rloo",
    "rloo_vectorized",
    "reinforce_plus_plus_baseline",
    "opo",
    "gpg",
    "reinforce_plus_plus",
    "grpo_passk",
)


@dataclass(frozen=True)
class Case:
    """One configuration.

    Args:
      layer: "agg_loss", "policy_loss", "kl_penalty", "advantage", "update", "engine" or "step".
      name: the policy loss, the KL estimator or the advantage estimator.
      keys: keys of the actor that differ from `ACTOR_KEYS`.
      mask: "" for complete rows, "empty" for two rows without a token, "holes" for tokens of a tool.
      tables: variant of the scripted log-probabilities.
    """

    layer: str
    name: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    mask: str = ""
    tables: str = ""


# All that the releases ask of an actor's configuration. One batch of 12 rows is two mini-batches of two
# micro-batches of 3 rows. With a single mini-batch, 0.6.0 to 0.7.1 replace the old log-probabilities.
ACTOR_KEYS: dict[str, Any] = {
    "clip_ratio": 0.2,
    "clip_ratio_low": 0.2,
    "clip_ratio_high": 0.2,
    "clip_ratio_c": 3.0,
    "entropy_coeff": 0.0,
    "use_kl_loss": False,
    "kl_loss_coef": 0.05,
    "kl_loss_type": "low_var_kl",
    "loss_agg_mode": "token-mean",
    "ppo_epochs": 1,
    "ppo_mini_batch_size": 6,
    "ppo_micro_batch_size_per_gpu": 3,
    "ppo_micro_batch_size": None,
    "policy_loss": {"loss_mode": "vanilla"},
    "loss_scale_factor": None,
    "tis_imp_ratio_cap": -1,
    "tau_pos": 1.0,
    "tau_neg": 1.05,
    "gamma": 1.0,
    "grad_clip": 1.0,
    "shuffle": False,
    "use_dynamic_bsz": False,
    "use_remove_padding": False,
    "use_fused_kernels": False,
    "use_torch_compile": False,
    "use_rollout_log_probs": False,
    "calculate_entropy": False,
    "entropy_from_logits_with_chunking": False,
    "entropy_checkpointing": False,
    "freeze_vision_tower": False,
    "ulysses_sequence_parallel_size": 1,
    "rollout_n": 4,
    "strategy": "fsdp",
    "fsdp_config": {"dtype": "float32"},
    "global_batch_info": {},
}


def make_cases() -> dict[str, Case]:
    """Return all cases."""
    cases: dict[str, Case] = {}
    for mask in ("", "empty", "holes"):
        label = f"_{mask}" if mask else ""
        for mode in MODES:
            cases[f"agg_loss {mode}{label}"] = Case("agg_loss", keys={"loss_agg_mode": mode}, mask=mask)
            for loss in POLICY_LOSSES:
                cases[f"{loss} {mode}{label}"] = policy_loss(loss, mode, mask=mask)
        for kind in KL_ESTIMATORS:
            cases[f"kl_penalty {kind}{label}"] = Case("kl_penalty", kind, mask=mask)
    for tables in ("extreme", "overflow"):
        for loss in POLICY_LOSSES:
            cases[f"{loss} token-mean_{tables}"] = policy_loss(loss, "token-mean", tables=tables)
        for kind in KL_ESTIMATORS:
            cases[f"kl_penalty {kind}_{tables}"] = Case("kl_penalty", kind, tables=tables)
    for loss in POLICY_LOSSES:
        cases[f"{loss} token-mean_weights"] = policy_loss(loss, "token-mean", rollout_weights=True)
    for name in ADVANTAGES:
        for std in (True, False):
            keys = {"norm_adv_by_std_in_grpo": std}
            cases[f"adv {name} std={std}"] = Case("advantage", name, keys)
        cases[f"adv {name}_holes"] = Case("advantage", name, {"norm_adv_by_std_in_grpo": True}, mask="holes")
    variants: dict[str, dict[str, Any]] = {
        "": {},
        "_kl": {"use_kl_loss": True},
        "_one": {"ppo_micro_batch_size_per_gpu": 6},
        "_single": {"ppo_mini_batch_size": 12},
        "_empty": {},
        "_holes": {},
        "_extreme": {},
        "_entropy": {"entropy_coeff": 0.01},
        "_gspo": {"policy_loss": {"loss_mode": "gspo"}},
        "_epochs": {"ppo_epochs": 2},
        "_high": {"clip_ratio_high": 0.28},
        "_dual": {"clip_ratio_c": 1.2},
        "_scale": {"loss_scale_factor": 16},
    }
    for mode in MODES:
        for label, keys in variants.items():
            mask = label[1:] if label in ("_empty", "_holes") else ""
            tables = "extreme" if label == "_extreme" else ""
            for layer in ("update", "engine", "step"):
                cases[f"{layer} {mode}{label}"] = Case(
                    layer, "", {"loss_agg_mode": mode, **keys}, mask, tables
                )
    for layer in ("update", "engine", "step"):
        for kind in ("kl", "mse", "k3+"):
            cases[f"{layer} token-mean_kl_{kind}"] = Case(
                layer, "", {"use_kl_loss": True, "kl_loss_type": kind}
            )
    return cases


def policy_loss(
    loss: str, mode: str, mask: str = "", tables: str = "", rollout_weights: bool = False
) -> Case:
    """Return the case of one policy loss, with the values of its own keys."""
    own = {
        "loss_mode": loss,
        "clip_cov_ratio": 0.0002,
        "clip_cov_lb": 1.0,
        "clip_cov_ub": 5.0,
        "kl_cov_ratio": 0.0002,
        "ppo_kl_coef": 0.1,
    }
    keys = {"loss_agg_mode": mode, "policy_loss": own}
    return Case(
        "policy_loss", loss, {**keys, "rollout_weights": True} if rollout_weights else keys, mask, tables
    )


CASES = make_cases()


def described(name: str) -> dict[str, Any]:
    """Describe a case for the stored file.

    Args:
      name: name of the case.

    Returns:
      "call" and "name", what was called; "keys" of the actor, all of them; "own", those that the case is about; "on", the variant of the batches;
      "steps" of the optimizer on one batch, and "micro_batches" of one step.
    """
    case = CASES[name]
    keys = {**ACTOR_KEYS, **case.keys}
    worker = case.layer in ("update", "engine", "step")
    rows = 12
    return {
        "call": case.layer,
        "name": case.name,
        "keys": keys,
        "own": list(case.keys),
        "on": case.tables or case.mask or "plain",
        "steps": keys["ppo_epochs"] * rows // keys["ppo_mini_batch_size"] if worker else 1,
        "micro_batches": keys["ppo_mini_batch_size"] // keys["ppo_micro_batch_size_per_gpu"] if worker else 1,
    }
