"""Model answer: a teacher for every token."""

import numpy as np


def distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    """Add to each token's advantage how much more likely the teacher finds the token than the student."""
    # solution
    present = np.asarray(mask) > 0
    student = np.where(present, np.asarray(log_probs, dtype=float), 0.0)
    teacher = np.where(present, np.asarray(teacher_log_probs, dtype=float), 0.0)
    log_ratio = np.clip(teacher - student, -limit, limit)
    per_token = np.asarray(advantages, dtype=float)[:, None] + coef * log_ratio
    return np.where(present, per_token, 0.0)
    # end
