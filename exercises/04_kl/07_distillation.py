"""A teacher for every token

Medium, 2 points. GRADING.md says how answers are graded.

The student, the language model in training, has written some completions. A reward says whether a
completion as a whole is good, and all tokens of the completion share its advantage. A teacher, a
better model, can say more: it reads the completion and gives each token a probability. A token that
the teacher finds more likely than the student does was a better choice than the student knew. This
is on-policy distillation. The mean of log π - log π_teacher over the student's own tokens is the KL
from the student to the teacher, so these advantages make the student more like its teacher.

## Your task

Write `distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0)`.

Write `distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0)`.
The advantage of token t of completion i is

    dᵢₜ = log π_teacher - log π      limited to the range from -limit to limit
    Âᵢₜ = Aᵢ + coef dᵢₜ

Where `mask` is 0 there is no token: the advantage is 0, and the log-probabilities there never
matter, be they numbers, NaN or infinity.

* `advantages`: the advantage of each completion from its reward; (N,); −10 to 10.
* `log_probs`: log π of each sampled token under the student, in nats; (N, T); −1000 to 0.
* `teacher_log_probs`: log π of the same tokens under the teacher; (N, T); −1000 to 0.
* `mask`: 1 on tokens, 0 on padding; (N, T); 0 or 1.
* `coef`: weight of the teacher; number; 0 to 10.
* `limit`: limit of the log-ratio, in nats; number; 0.01 to 1000.

* `log_probs` and `teacher_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* N and T are at least 1.

(N, T) advantages, one per token.

* The limit holds for the log-ratio dᵢₜ alone. It is applied before dᵢₜ is multiplied by coef, and
  Âᵢₜ itself has no limit.
* With coef = 0, every token has the advantage of its completion. A completion without tokens gets 0
  everywhere.

## Examples

    >>> distilled_advantages([1, -0.5], [[-1, -2, -3], [-0.5, -4, -1]], [[-1.5, -0.5, -3], [-0.5, -1, -2]], [[1, 1, 1], [1, 1, 0]])
    [[0.5, 2.5, 1], [-0.5, 2.5, 0]]

The log-ratios of the first completion are -1.5 + 1 = -0.5, -0.5 + 2 = 1.5 and 0, each added to 1.
Those of the second are 0 and -1 + 4 = 3, added to -0.5. Its last token is padding.

    >>> distilled_advantages([0.0, 6.0], [[-9.0, -1.0], [-1.0, -1.0]], [[-1.0, -9.0], [-1.5, -1.0]], [[1, 1], [1, 1]], 2.0, 3.0)
    [[6, -6], [5, 6]]

The log-ratios 8 and -8 become 3 and -3, and twice these are 6 and -6. In the second completion they
are -0.5 and 0: 6 - 1 = 5, and 6, which is above 3, because the limit is that of the log-ratio.

## When it is solved

slime, miles, ms-swift, ROLL and Tinker's cookbook add the teacher in this way, with a coefficient
of 1. Most of them have no limit; rLLM's example uses 5. NeMo-RL and RLinf leave out Aᵢ, so that the
teacher is the only signal. In `policy_loss` this is the recipe `opd_rl`, and without Aᵢ it is
`opd`.

## See also

* Source: slime `apply_opd_kl_to_advantages`; MiMo-V2-Flash, eq. 8 (arXiv:2601.02780).
* `grpo_ref.advantages.with_teacher` is the same function in this package. Look at it when you are
  done.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/distillation
"""

import numpy as np


def distilled_advantages(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    """Add to each token's advantage how much more likely the teacher finds the token than the student."""
    raise NotImplementedError("kl/distillation")
