"""Hand recorded cases to slime's `loss_function`, which computes the whole loss of a step.

Megatron's state is replaced by that of one process. The function that turns logits into log-probabilities is replaced
by one that returns those of the case.
"""

from types import SimpleNamespace
from typing import Any

import torch

from grpo_conformance.functions.calling import Case, Trainer, with_gradient
from grpo_conformance.functions.signatures import SignatureChanged, call

ALONE = SimpleNamespace(
    get_context_parallel_world_size=lambda: 1,
    get_context_parallel_rank=lambda: 0,
    get_context_parallel_group=lambda: None,
    get_data_parallel_world_size=lambda **_: 1,
    get_data_parallel_group=lambda **_: None,
    is_pipeline_last_stage=lambda: True,
)
"""Megatron's parallel state in one process."""
LOG_PROBS = "get_log_probs_and_entropy"
"""The function that is replaced."""


class Arguments(SimpleNamespace):
    """slime's arguments. One that the recorded configuration does not have is None."""

    def __getattr__(self, name: str) -> Any:
        """Return None for an argument that is not set."""
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def _responses(array: torch.Tensor, lengths: list[int]) -> list[torch.Tensor]:
    """Return the rows of an array up to the length of each response."""
    return [row[:length] for row, length in zip(array, lengths, strict=True)]


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a step and its gradient."""
    args = Arguments(**{name: value for name, value in case.settings.items() if "." not in name})
    args.loss_type, args.rollout_top_p = "policy_loss", 1.0
    if args.eps_clip_high is None:
        args.eps_clip_high = args.eps_clip
    policy, mask = case.policy(), case.tensor("mask")
    places = torch.arange(1, mask.shape[1] + 1)
    lengths = torch.clamp((mask * places).max(-1).values, min=1).long().tolist()
    old = case.tensor("old_log_probs") if "old_log_probs" in case else policy.detach()
    arrays = {"advantages": case.token_advantages(), "log_probs": old, "loss_masks": mask}
    if args.use_rollout_logprobs:
        arrays["rollout_log_probs"] = old
    elif "rollout_log_probs" in case:
        arrays["rollout_log_probs"] = case.tensor("rollout_log_probs")
    if "ref_log_probs" in case:
        arrays["ref_log_probs"] = case.tensor("ref_log_probs")
    batch: dict[str, Any] = {name: _responses(array, lengths) for name, array in arrays.items()}
    batch |= {
        "response_lengths": lengths,
        "total_lengths": lengths,
        "rollout_mask_sums": [row.sum() for row in mask],
        "unconcat_tokens": None,
    }
    entropy = case.tensor("entropies") if "entropies" in case else torch.zeros_like(mask)
    forward = {"log_probs": _responses(policy, lengths), "entropy": _responses(entropy, lengths)}
    module = trainer.module("loss")
    if not hasattr(module, LOG_PROBS):
        raise SignatureChanged(f"{module.__name__} has no {LOG_PROBS}")
    setattr(module, LOG_PROBS, lambda *_, **__: (None, forward))
    module.mpu = trainer.module("average").mpu = ALONE
    total, count, _ = call(
        trainer["loss"],
        args=args,
        batch=batch,
        num_microbatches=1,
        step_global_batch_size=len(mask),
        logits=torch.zeros(1),
    )
    return with_gradient(total / count, policy)


CALLS = {"loss": _loss}
"""Calls of the recorded cases that the functions compute."""
