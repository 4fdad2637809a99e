"""A group of one completion, as trainers compute it that divide by the std of PyTorch."""

from grpo_ref.arrays import Array, array_namespace


def without_a_sibling(rewards: Array) -> Array:
    """What comes of the std of one number, which PyTorch takes to be NaN.

    Args:
      rewards: (P, 1), one completion per prompt.

    Returns:
      (P, 1) of NaN.

    understand-r1-zero `compute_monte_carlo_advantages` with critic_type "grpo"; torchtune `generate_trajectory`.
    """
    xp = array_namespace(rewards)
    return xp.full_like(rewards, xp.nan)
