"""Right answers to kl/distillation in other styles."""

import math

import numpy as np


def token_by_token(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    student, teacher = np.asarray(log_probs, dtype=float), np.asarray(teacher_log_probs, dtype=float)
    out = np.zeros(student.shape)
    for i in range(student.shape[0]):
        for t in range(student.shape[1]):
            if np.asarray(mask)[i, t] > 0:
                d = float(teacher[i, t]) - float(student[i, t])
                d = max(-limit, min(limit, d))
                out[i, t] = float(advantages[i]) + coef * d
    return out


def with_minimum_and_maximum(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    there = np.asarray(mask).astype(bool)
    student = np.where(there, np.array(log_probs, dtype=float), 0.0)
    teacher = np.where(there, np.array(teacher_log_probs, dtype=float), 0.0)
    d = np.minimum(np.maximum(teacher - student, -limit), limit)
    rewarded = np.asarray(advantages, dtype=float).reshape(-1, 1)
    return there * (rewarded + coef * d)


def penalized_by_the_kl(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    there = np.asarray(mask) != 0
    reverse_kl = np.zeros(there.shape)
    reverse_kl[there] = (
        np.asarray(log_probs, dtype=float)[there] - np.asarray(teacher_log_probs, dtype=float)[there]
    )
    reverse_kl = reverse_kl.clip(-limit, limit)
    repeated = np.repeat(np.asarray(advantages, dtype=float)[:, None], there.shape[1], axis=1)
    return np.where(there, repeated - coef * reverse_kl, 0.0)


def only_where_there_are_tokens(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    rows, places = np.nonzero(np.asarray(mask))
    d = (
        np.asarray(teacher_log_probs, dtype=float)[rows, places]
        - np.asarray(log_probs, dtype=float)[rows, places]
    )
    out = np.zeros(np.shape(mask), dtype=float)
    out[rows, places] = np.asarray(advantages, dtype=float)[rows] + coef * np.clip(d, -limit, limit)
    return out


def with_masked_arrays(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    hidden = ~(np.asarray(mask) > 0.5)
    student = np.ma.masked_array(np.asarray(log_probs, dtype=float), hidden)
    teacher = np.ma.masked_array(np.asarray(teacher_log_probs, dtype=float), hidden)
    d = np.ma.clip(teacher - student, -limit, limit)
    return (np.asarray(advantages, dtype=float)[:, np.newaxis] + coef * d).filled(0.0)


def row_by_row(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    rows = []
    for advantage, student, teacher, present in zip(
        advantages, log_probs, teacher_log_probs, mask, strict=True
    ):
        row = [
            float(advantage) + coef * math.copysign(min(abs(float(q) - float(p)), limit), float(q) - float(p))
            if m
            else 0.0
            for p, q, m in zip(student, teacher, present, strict=True)
        ]
        rows.append(row)
    return np.array(rows)


def with_select(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    there = np.asarray(mask) == 1
    d = np.where(there, np.asarray(teacher_log_probs, float), 0.0) - np.where(
        there, np.asarray(log_probs, float), 0.0
    )
    limited = np.select([d > limit, d < -limit], [limit, -limit], d)
    out = np.multiply(coef, limited)
    out += np.asarray(advantages, float)[:, None]
    out[~there] = 0.0
    return out
