"""Hand recorded cases to SkyRL's functions.

The advantages are scaled for the average, each micro-batch has a policy loss, and the worker adds the penalty and the
bonus in proportion to the completions. This is done here in the same way.
"""

from typing import Any

import numpy as np
import torch

from grpo_conformance.functions.calling import Case, Outside, Trainer, with_gradient
from grpo_conformance.functions.signatures import call

ALGORITHM = "trainer.algorithm"


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a mini-batch and its gradient."""
    s, config = case.settings, case.group(ALGORITHM)
    if "rewards" in case or "ended" in case:
        raise Outside("completions that are masked before the loss")
    if config.use_tis:
        raise Outside("use_tis: the trainer translates it to off_policy_correction")
    policy, mask = case.policy(), case.tensor("mask")
    count, size = len(mask), s["trainer.micro_train_batch_size_per_gpu"]
    scaled = call(
        trainer["scale"],
        advantages=case.token_advantages() * mask,
        loss_mask=mask,
        loss_reduction=config.loss_reduction,
        micro_batch_size=size,
        max_seq_len=config.max_seq_len,
        prompt_boundaries=[(start, start + case.size) for start in range(0, count, case.size)],
    )
    old = case.tensor("old_log_probs") if "old_log_probs" in case else policy.detach()
    sampler = None
    if "rollout_log_probs" in case and s["generator.sampling_params.logprobs"] is not None:
        sampler = case.tensor("rollout_log_probs")
    total = torch.zeros((), dtype=policy.dtype)
    for rows in torch.arange(count).split(size):
        loss, _ = call(
            trainer[config.policy_loss_type],
            log_probs=policy[rows],
            old_log_probs=old[rows],
            advantages=scaled[rows],
            config=config,
            loss_mask=mask[rows],
            rollout_logprobs=None if sampler is None else sampler[rows],
        )
        total = total + loss
        if config.use_kl_loss:
            penalty = call(
                trainer["penalty"],
                log_probs=policy[rows],
                log_probs_base=case.tensor("ref_log_probs")[rows],
                loss_mask=mask[rows],
                kl_estimator_type=config.kl_estimator_type,
            )
            mean = call(trainer["average"], tensor=penalty, mask=mask[rows], dim=-1).mean()
            total = total + config.kl_loss_coef * mean * len(rows) / count
        if config.use_entropy_loss:
            bonus = call(trainer["average"], tensor=case.tensor("entropies")[rows], mask=mask[rows])
            total = total - config.entropy_loss_coef * bonus * len(rows) / count
    return with_gradient(total, policy)


def _advantages(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the advantages of each token, before they are scaled for the average."""
    config = case.group(ALGORITHM)
    if config.use_kl_in_reward or config.advantage_batch_normalize:
        raise Outside("a penalty in the rewards, or advantage_batch_normalize: methods of the trainer")
    rewards, mask = case.tensor("rewards"), case.tensor("mask")
    scores = torch.zeros_like(mask)
    for row, length in enumerate(mask.sum(-1).long().tolist()):
        scores[row, length - 1] = rewards[row]
    given: dict[str, Any] = {"token_level_rewards": scores, "response_mask": mask}
    if config.advantage_estimator == "reinforce++":
        given["gamma"] = config.gamma
    else:
        given["index"] = np.array([str(row // case.size) for row in range(len(mask))])
    if config.advantage_estimator == "grpo":
        given["grpo_norm_by_std"] = config.grpo_norm_by_std
    value, _ = call(trainer[f"advantages_{config.advantage_estimator}"], **given)
    return {"value": value.tolist()}


CALLS = {"loss": _loss, "advantages": _advantages}
"""Calls of the recorded cases that the functions compute."""
