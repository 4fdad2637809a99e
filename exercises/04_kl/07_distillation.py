"""Advantages from a reward and a teacher

Medium, 2 points. GRADING.md says how answers are graded.

The student, the language model in training, has written some completions. A reward judges each
completion as a whole, so all tokens of a completion share one advantage. A teacher, a better model,
can say more: it reads the completion and gives each token a probability. If the teacher finds a
token more likely than the student does, the token was a better choice than the student knew.

This is *on-policy distillation*. On average over the student's own tokens, log π - log π_teacher is
the KL from the student to the teacher. These advantages therefore make the student more like its
teacher.

## Your task

Write `distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0)`.

Return the advantage of token t of completion i:

    dᵢₜ = clip(log π_teacher - log π, -limit, limit)
    Âᵢₜ = Aᵢ + coef dᵢₜ

π is the probability of the token under the student, and π_teacher is its probability under the
teacher. The inputs are the logarithms of both. Aᵢ is the advantage of completion i, and d is the
log-ratio, limited to the range from -`limit` to `limit`. The limit applies to d alone, before d is
multiplied by `coef`; Â has no limit.

Where `mask` is 0 there is no token, and the advantage is 0.

| argument            | meaning                                  | shape  | values       |
| ------------------- | ---------------------------------------- | ------ | ------------ |
| `advantages`        | A, the advantage of each completion      | (N,)   | −10 to 10    |
| `log_probs`         | log π of each token, in nats             | (N, T) | −1000 to 0   |
| `teacher_log_probs` | log π_teacher of the same tokens         | (N, T) | −1000 to 0   |
| `mask`              | 1 on tokens, 0 on padding                | (N, T) | 0 or 1       |
| `coef`              | weight of the log-ratio                  | number | 0 to 10      |
| `limit`             | bound on the absolute log-ratio, in nats | number | 0.01 to 1000 |

* `log_probs` and `teacher_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* N and T are at least 1.

Return an array of shape (N, T).

## Examples

**Two completions, with the defaults.** The last token of the second completion is padding.

    >>> distilled_advantages([1.0, -0.5],
    ...                      [[-1.0, -2.0, -3.0], [-0.5, -9.0, -1.0]],
    ...                      [[-1.5, -0.5, -3.0], [-0.5, -1.0, -2.0]],
    ...                      [[1, 1, 1], [1, 1, 0]])
    [[0.5, 2.5, 1], [-0.5, 4.5, 0]]

The log-ratios of the first completion are -1.5 + 1 = -0.5, -0.5 + 2 = 1.5 and 0. The advantage 1 is
added to each. The second completion has the log-ratios 0 and -1 + 9 = 8. The 8 becomes 5, the
default limit, and -0.5 + 5 = 4.5.

**First the limit, then the weight.** Here `coef` is 2 and `limit` is 3.

    >>> distilled_advantages([0.0, 6.0],
    ...                      [[-9.0, -1.0], [-1.0, -1.0]],
    ...                      [[-1.0, -9.0], [-1.5, -1.0]],
    ...                      [[1, 1], [1, 1]], coef=2.0, limit=3.0)
    [[6, -6], [5, 6]]

First completion: the log-ratios 8 and -8 become 3 and -3, and twice these values are 6 and -6.
Second completion: the log-ratios are -0.5 and 0, so the advantages are 6 - 1 = 5 and 6. The 6 is
above the limit, which does not apply to it.

## When it is solved

slime, miles, ms-swift, ROLL and Tinker's cookbook add the teacher in this way, with a coefficient
of 1. Most of them have no limit; rLLM's example uses 5. NeMo-RL and RLinf omit Aᵢ, so the teacher
is the only signal: this is the recipe `opd`.

## See also

* Source: slime `apply_opd_kl_to_advantages`; MiMo-V2-Flash, eq. 8 (arXiv:2601.02780).
* `grpo_ref.advantages.with_teacher` computes the same in this package. Look at it when you are
  done.
* `grpo-ref recipes opd_rl` shows the whole algorithm.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/distillation
"""

import numpy as np


def distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    """Return the advantage of each token: that of its completion, plus the limited log-ratio of teacher and
    student.
    """
    raise NotImplementedError("kl/distillation")
