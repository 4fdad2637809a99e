"""Hand recorded cases to Open Instruct's functions.

`PolicyTrainerRayProcess.step` clears the padding, corrects for the sampler, computes the loss of each token, and
averages. The number of tokens that it divides by is that of all completions, so the micro-batches need not be cut.
"""

from types import SimpleNamespace
from typing import Any

import torch

from grpo_conformance.functions.calling import Case, Outside, Trainer, with_gradient
from grpo_conformance.functions.signatures import call


def _cleared(trainer: Trainer, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities with the trainer's number on padding and in place of NaN."""
    filled: torch.Tensor = call(trainer["clear_padding"], vllm_logprobs=values, response_mask=mask)
    return filled


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a step and its gradient."""
    s, policy, mask = case.settings, case.policy(), case.tensor("mask").bool()
    config, advantages = (
        SimpleNamespace(**{k: v for k, v in s.items() if "." not in k}),
        case.token_advantages(),
    )
    if s["num_mini_batches"] > 1 and s["loss_denominator"] != "token":
        raise Outside("a number in place of the tokens, with mini-batches")
    log_probs = _cleared(trainer, policy, mask)
    sampler = case.tensor("rollout_log_probs") if "rollout_log_probs" in case else policy.detach()
    sampler = _cleared(trainer, sampler, mask)
    if s["use_vllm_logprobs"]:
        old = sampler
    else:
        old = case.tensor("old_log_probs") if "old_log_probs" in case else policy.detach()
        old = _cleared(trainer, old, mask)
    correction = call(
        trainer["correction"],
        old_logprob=old,
        vllm_logprobs=sampler,
        response_mask=mask,
        advantages=advantages,
        config=config,
    )
    reference = case.tensor("ref_log_probs") if "ref_log_probs" in case else log_probs.detach()
    losses, _, penalty = call(
        trainer["policy_loss"],
        new_logprobs=log_probs,
        ratio=torch.exp(log_probs - old),
        advantages=advantages,
        ref_logprobs=_cleared(trainer, reference, mask) if s["load_ref_policy"] else None,
        config=config,
        rho_weights=correction.weights,
    )
    count = mask.sum() if s["loss_denominator"] == "token" else float(s["loss_denominator"])
    values = losses + s["beta"] * penalty
    loss = call(trainer["average"], values=values, mask=mask, axis=None, denominator=count)
    return with_gradient(loss, policy)


def _correction(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the weights for the sampler's mismatch."""
    mask = case.tensor("mask").bool()
    config = SimpleNamespace(**{k: v for k, v in case.settings.items() if "." not in k})
    if "advantages" in case:
        advantages = case.token_advantages()
    else:
        advantages = torch.zeros_like(case.tensor("old_log_probs"))
    correction = call(
        trainer["correction"],
        old_logprob=_cleared(trainer, case.tensor("old_log_probs"), mask),
        vllm_logprobs=_cleared(trainer, case.tensor("rollout_log_probs"), mask),
        response_mask=mask,
        advantages=advantages,
        config=config,
    )
    return {"value": correction.weights.tolist()}


CALLS = {"loss": _loss, "loss against the sampler": _loss, "correction": _correction}
"""Calls of the recorded cases that the functions compute."""
