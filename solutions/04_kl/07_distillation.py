"""Model answer: advantages from a reward and a teacher."""

import numpy as np


def distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    """Return the advantage of each token: that of its completion, plus the limited log-ratio of teacher and
    student.
    """
    present = np.asarray(mask) > 0
    # Padding may hold NaN or infinity, so it is replaced before the subtraction.
    student = np.where(present, np.asarray(log_probs, dtype=float), 0.0)
    teacher = np.where(present, np.asarray(teacher_log_probs, dtype=float), 0.0)
    log_ratio = np.clip(teacher - student, -limit, limit)
    per_token = np.asarray(advantages, dtype=float)[:, None] + coef * log_ratio
    return np.where(present, per_token, 0.0)
