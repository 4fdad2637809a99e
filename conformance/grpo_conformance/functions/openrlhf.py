"""Hand recorded cases to OpenRLHF's functions.

`ActorPPOTrainer.training_step` adds up three terms: the policy loss, the penalty, and the bonus. They are added up here
in the same way. All completions are one optimizer step.
"""

import inspect
from collections.abc import Mapping
from typing import Any

import torch

from grpo_conformance.functions.calling import Case, Trainer, with_gradient
from grpo_conformance.functions.signatures import call

SINCE_0_11_2 = {"tis": ("token", "clip"), "icepop": ("token", "mask"), "seq-mask-tis": ("seq", "mask")}
"""is_correction_type -> is_correction_level and is_correction_mode, which replace it in OpenRLHF 0.11.2."""


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a step and its gradient."""
    s, policy, mask = case.settings, case.policy(), case.tensor("mask").long()
    log_probs = policy * mask  # the trainer's model clears the padding
    clips = s["actor.eps_clip_low_high"] or [s["actor.eps_clip"]] * 2
    module = call(
        trainer["policy_loss"],
        clip_eps_low=clips[0],
        clip_eps_high=clips[1],
        dual_clip=s["actor.dual_clip"],
        policy_loss_type=s["actor.policy_loss_type"],
        **_correction(trainer, s),
    )
    old = case.tensor("old_log_probs") if "old_log_probs" in case else policy.detach()
    zeros = torch.zeros_like(old)
    sampler = case.tensor("rollout_log_probs") if "rollout_log_probs" in case else zeros
    loss = call(
        module.forward,
        log_probs=log_probs,
        old_log_probs=old * mask,
        advantages=case.token_advantages(),
        action_mask=mask,
        rollout_log_probs=torch.where(mask == 1, sampler, zeros),
    )[0]
    if s["algo.kl.use_loss"] and s["algo.kl.init_coef"] > 0:
        reference = case.tensor("ref_log_probs") * mask
        penalty = call(
            trainer["penalty"],
            log_probs=log_probs,
            log_probs_base=reference,
            kl_estimator=s["algo.kl.estimator"],
        )
        loss = loss + s["algo.kl.init_coef"] * call(trainer["average"], loss=penalty, loss_mask=mask)
    if s["actor.entropy_coef"]:
        bonus = call(trainer["average"], loss=case.tensor("entropies"), loss_mask=mask)
        loss = loss - s["actor.entropy_coef"] * bonus
    return with_gradient(loss, policy)


def _correction(trainer: Trainer, s: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the correction for the sampler, by the names of the version that runs."""
    is_on, kind = s["algo.advantage.is_correction_enable"], s["algo.advantage.is_correction_type"]
    threshold = s["algo.advantage.is_correction_threshold"]
    if "is_correction_level" in inspect.signature(trainer["policy_loss"]).parameters:
        level, mode = SINCE_0_11_2[kind] if is_on else ("off", "mask")
        return {
            "is_correction_level": level,
            "is_correction_mode": mode,
            "is_correction_threshold": threshold,
        }
    return {
        "enable_vllm_is_correction": is_on,
        "vllm_is_truncated_threshold": threshold if is_on else None,
        "vllm_is_correction_type": kind,
    }


CALLS = {"loss": _loss}
"""Calls of the recorded cases that the functions compute."""
