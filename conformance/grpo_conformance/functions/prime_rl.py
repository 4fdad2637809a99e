"""Hand recorded cases to prime-rl's `compute_loss`.

The number of tokens that it divides by is counted here, as `train` counts it: at least 1. Since it is that of the step,
the micro-batches need not be cut.
"""

from typing import Any

from grpo_conformance.functions.calling import Case, Trainer, with_gradient
from grpo_conformance.functions.signatures import call


def _loss(trainer: Trainer, case: Case) -> dict[str, Any]:
    """Return the loss of a step and its gradient."""
    config, policy, mask = case.group("loss"), case.policy(), case.tensor("mask").bool()
    old = case.tensor("old_log_probs") if "old_log_probs" in case else policy.detach()
    function = trainer["ipo" if config.type == "ipo" else "default"]
    loss, _ = call(
        trainer["loss"],
        trainer_logprobs=list(policy),
        inference_logprobs=list(old),
        ref_logprobs=None,
        advantages=list(case.token_advantages()),
        loss_mask=list(mask),
        rl_weights=None,
        ce_weights=None,
        ref_kl_weights=None,
        rl_loss_fn=lambda inputs: call(function, inputs=inputs, loss_config=config),
        rl_scale=max(int(mask.sum()), 1),
        ce_scale=1,
        ref_kl_scale=1,
    )
    return with_gradient(loss, policy)


CALLS = {"loss": _loss}
"""Calls of the recorded cases that the functions compute."""
