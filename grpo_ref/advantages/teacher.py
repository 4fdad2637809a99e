"""On-policy distillation: the log-ratio of a teacher to the student as an advantage for each token.

advantages (..., P, G, T) and log-probabilities (..., P, G, T) -> (..., P, G, T)
"""

import math

from grpo_ref.arrays import TOKENS, Array, array_namespace, at_least, clamp, where_mask

STUDENTS = ("old", "rollout", "current")
"""The log-probabilities of the student that a teacher can be compared with."""


def with_teacher(
    advantages: Array,
    log_probs: Array,
    old_log_probs: Array,
    rollout_log_probs: Array,
    teacher_log_probs: Array,
    mask: Array,
    *,
    coef: float = 1.0,
    reward_coef: float = 1.0,
    student: str = "old",
    discount: float = 0.0,
    max_log_ratio: float = math.inf,
) -> Array:
    """Add to each token's advantage how much more likely the teacher finds the token than the student.

        dₜ = log π_teacher(t) - log π_student(t)
        Âₜ = reward_coef Aₜ + coef Σᵢ discount^(i - t) dᵢ,    i = t, t + 1, ...

    Every log-probability is a constant here: no gradient flows through the advantages. With discount = 0,
    only dₜ itself counts. Then, on the policy's own tokens, the expected policy gradient of the second term
    is -coef ∂KL(π_student ‖ π_teacher) at each position, given the tokens before it: the reverse KL. With
    discount = 1, and the same weight for every token, it is that of the KL of whole completions.

    Args:
      advantages: (P, G, T) from the rewards.
      log_probs, old_log_probs, rollout_log_probs: (P, G, T) log-probabilities of the student, in nats.
      teacher_log_probs: (P, G, T) log-probabilities of the same tokens under the teacher, in nats.
      mask: (P, G, T) 1 on completion tokens.
      coef: weight of the teacher; 1 in slime (`opd_kl_coef`), ROLL, ms-swift (`teacher_kl_coef`) and Tinker's
        cookbook (`kl_penalty_coef`).
      reward_coef: weight of the advantages from the rewards; 0 is distillation alone, as in NeMo-RL's "opd".
      student: which log-probabilities are the student's. "old" in NeMo-RL, slime and ms-swift; "rollout" in
        Tinker's cookbook, and in ROLL by default; "current" in prime-rl and AReaL.
      discount: weight of the tokens to come, 0 <= discount <= 1; 0 in Tinker's cookbook
        (`kl_discount_factor`).
      max_log_ratio: dₜ is limited to ± this, in nats; none by default, as in most trainers.

    Returns:
      (P, G, T), 0 on padding.

    Raises:
      ValueError: if student is not one of the three, or discount is out of range.

    MiMo-V2-Flash, multi-teacher on-policy distillation, eq. 8 (arXiv:2601.02780); Lu and Thinking Machines
    Lab 2025, On-policy distillation; slime `apply_opd_kl_to_advantages`.

    >>> import numpy as np
    >>> ones = np.ones(2)
    >>> old, teacher = np.log([0.5, 0.2]), np.log([0.25, 0.8])
    >>> with_teacher(ones, old, old, old, teacher, ones).round(3)   # 1 + log 1/2, 1 + log 4
    array([0.307, 2.386])
    """
    if student not in STUDENTS:
        raise ValueError(f"student: expected one of {', '.join(map(repr, STUDENTS))}, got {student!r}")
    if not 0.0 <= discount <= 1.0:
        raise ValueError(f"discount: expected 0 <= discount <= 1, got {discount}")
    chosen = {"old": old_log_probs, "rollout": rollout_log_probs, "current": log_probs}[student]
    log_ratio = where_mask(mask, clamp(teacher_log_probs - chosen, max_log_ratio))
    if discount > 0.0:
        log_ratio = _discounted_sums(log_ratio, discount)
    return where_mask(mask, reward_coef * advantages + coef * log_ratio)


def _discounted_sums(values: Array, discount: float) -> Array:
    """The sum over this token and the tokens to come, with the weights of their distance."""
    xp = array_namespace(values)
    places = xp.arange(values.shape[TOKENS], dtype=values.dtype)
    ahead = places[:, None] - places[None, :]
    weights = xp.where(ahead >= 0.0, discount ** at_least(ahead, 0.0), 0.0)
    return values @ weights
