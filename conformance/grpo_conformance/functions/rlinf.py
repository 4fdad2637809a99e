"""Hand recorded cases to RLinf's functions.

The actors add up the policy loss of a micro-batch, the penalty and the bonus. They are added up here in the same way.
The FSDP actor exchanges the arguments of the penalty, and so does this module.
"""

from typing import Any

import torch

from grpo_conformance.functions.calling import Case, Outside, Trainer, with_gradient
from grpo_conformance.functions.signatures import call


def _cleared(case: Case, name: str, mask: torch.Tensor) -> torch.Tensor:
    """Return an array that is 0 on padding."""
    return case.tensor(name).masked_fill(~mask, 0.0)


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a micro-batch and its gradient."""
    s, mask, policy = case.settings, case.tensor("mask").bool(), case.policy()
    if s["early_stop_imp_ratio"] is not None:
        raise Outside("early_stop_imp_ratio: the actor leaves the micro-batch out")
    log_probs = policy.masked_fill(~mask, 0.0)
    old = _cleared(case, "old_log_probs", mask)
    common = {
        "logprobs": log_probs,
        "clip_ratio_c": s["clip_ratio_c"],
        "loss_mask": mask,
        "advantages": case.token_advantages() * mask,
    }
    for side in ("low", "high"):
        width = s[f"clip_ratio_{side}"]
        common[f"clip_ratio_{side}"] = s["ratio_clip_eps"] if width is None else width
    if s["loss_type"] == "decoupled_actor_critic":
        loss, _ = call(
            trainer["decoupled_loss"],
            old_logprobs=_cleared(case, "rollout_log_probs", mask),
            proximal_logprobs=old,
            behave_weight_threshold=s["behave_weight_threshold"],
            **common,
        )
        return with_gradient(loss, policy)
    average = call(trainer["averages"], loss_agg=s["loss_agg_func"])
    if s["importance_sampling_fix"]:
        ratio = (old - _cleared(case, "rollout_log_probs", mask)).exp()
        common["advantages"] = common["advantages"] * torch.clamp(ratio, max=s["importance_sampling_clip"])
    loss, _ = call(
        trainer["policy_loss"],
        old_logprobs=old,
        loss_agg_func=average,
        clip_log_ratio_min=s["clip_log_ratio_min"],
        clip_log_ratio_max=s["clip_log_ratio_max"],
        fast_path_zero_loss_mask=True,
        **common,
    )
    if s["calculate_entropy"] and s["entropy_bonus"] > 0:
        loss = loss - s["entropy_bonus"] * average(case.tensor("entropies"), mask)
    if s["kl_beta"] > 0 and "ref_log_probs" in case:
        reference = _cleared(case, "ref_log_probs", mask)
        loss = loss + s["kl_beta"] * average(_penalty(trainer, case, log_probs, reference), mask)
    if s["use_valid_token_scale"] and s["actor.training_backend"] == "megatron":
        loss = loss * (mask.sum() / mask.sum())  # this micro-batch's share of the tokens; NaN without a token
    return with_gradient(loss, policy)


def _penalty(trainer: Trainer, case: Case, log_probs: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Return the penalty of each token, as the actor of the case calls it."""
    s, pair = case.settings, (log_probs, reference)
    first, second = pair[::-1] if s["actor.training_backend"] == "fsdp" else pair
    value: torch.Tensor = call(
        trainer["penalty"], logprob=first, ref_logprob=second, kl_penalty=s["kl_penalty_type"]
    )
    return value


def _penalty_values(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the penalty of each token."""
    pair = case.tensor("log_probs"), case.tensor("ref_log_probs")
    return {"value": _penalty(trainer, case, *pair).tolist()}


def _advantages(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the advantages of each token, before they are normalized once more."""
    s, mask = case.settings, case.tensor("mask").bool()
    kind, is_cleared = s["adv_type"], s["actor.training_backend"] == "megatron"
    if s["normalize_advantages"]:
        raise Outside("normalize_advantages: needs a GPU")
    log_probs = {
        name: _cleared(case, source, mask) if is_cleared else case.tensor(source)
        for name, source in (("logprob", "old_log_probs"), ("ref_logprob", "ref_log_probs"))
        if source in case
    }
    prepared = call(
        trainer["prepare"],
        also={"adv_type": kind, "group_size": s["group_size"]},
        rewards=case.tensor("rewards"),
        loss_mask=mask,
        **log_probs,
    )
    given = {"rewards": prepared["rewards"], "loss_mask": prepared["loss_mask"]}
    if kind == "gae":
        given["dones"] = prepared["dones"]
        if is_cleared:  # the FSDP actor leaves the default
            given["normalize_advantages"] = False
    if kind in ("grpo", "reinpp"):
        given["group_size"] = s["group_size"]
    if kind == "reinpp":
        given |= {name: prepared[name] for name in log_probs}
        given |= {"kl_beta": s["reinpp_kl_beta"], "kl_penalty_type": s["kl_penalty_type"]}
        given["use_reinpp_baseline"] = s["use_reinpp_baseline"]
    value, _ = call(trainer[kind], **given)
    return {"value": value.T.tolist()}


CALLS = {"loss": _loss, "penalty values": _penalty_values, "advantages": _advantages}
"""Calls of the recorded cases that the functions compute."""
