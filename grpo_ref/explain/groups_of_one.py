"""Groups of one completion, in trainers that divide by PyTorch's standard deviation."""

from grpo_ref.arrays import Array, array_namespace


def without_a_sibling(rewards: Array) -> Array:
    """Return NaN for each reward, as PyTorch's standard deviation of one number is NaN.

    Args:
      rewards: (P, 1), one completion per prompt.

    Returns:
      (P, 1) of NaN.

    understand-r1-zero `compute_monte_carlo_advantages` with critic_type "grpo"; torchtune `generate_trajectory`.
    """
    xp = array_namespace(rewards)
    return xp.full_like(rewards, xp.nan)
