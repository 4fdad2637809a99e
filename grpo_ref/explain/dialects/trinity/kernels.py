"""A kernel of Trinity-RFT: the policy gradient of OPMD."""

from grpo_ref.arrays import Array
from grpo_ref.surrogates import reinforce
from grpo_ref.types import Term


def opmd(log_probs: Array, advantages: Array, *, tau: float = 1.0) -> Term:
    """Compute the policy gradient, divided by 1 + tau.

        sₜ = A log πθ(t) / (1 + tau)

    Args:
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      tau: weight of the regularization towards the policy that is updated, > -1.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Trinity-RFT `OPMDPolicyLossFn`.
    """
    return reinforce(log_probs, advantages / (1.0 + tau))
