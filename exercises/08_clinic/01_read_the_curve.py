"""What is wrong with this run?

Medium, 3 points. GRADING.md says how answers are graded.

Before you open the code, look at the curves. A run of reinforcement learning is usually watched by
three of them: the reward, which is what the policy is paid; the truth, which is what you really
wanted (a rate of solved exercises, say), measured on the side and never trained on; and the
entropy, which says how undecided the policy is, from log V for V equally likely choices down to 0
when it always does the same. Four illnesses show in these three curves, and each of them has
another remedy.

## Your task

Write `diagnose(reward, truth, entropy)`.

Write `diagnose(reward, truth, entropy)`, which returns one of five names. The start of a curve is
the mean of its first ten numbers, its end the mean of its last ten. A curve has risen if its end is
more than 0.1 above its start, and fallen if it is more than 0.1 below. Ask in this order; the first
that holds counts:

    "wrong sign"        the reward has fallen
    "reward hacking"    the reward has risen and the truth has fallen
    "learning"          the reward has risen
    "collapse"          the end of the entropy is below a tenth of its start
    "no signal"         none of these

| argument  | meaning                              | shape | values                              |
| --------- | ------------------------------------ | ----- | ----------------------------------- |
| `reward`  | what the policy was paid, shape (U,) |       | one number per update               |
| `truth`   | what you really wanted, shape (U,)   |       | one number per update               |
| `entropy` | in nats, shape (U,)                  |       | one number per update, not negative |

* U is at least 20.

One of the five names, written as above.

* All three curves have the same length U.
* A truth that has risen, or not moved, makes no difference: a rising reward is then learning.
* No difference between start and end is exactly 0.1, and no entropy ends at exactly a tenth of its
  start, as one of zeros throughout does.

## Examples

    >>> diagnose([0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    'learning'

The reward goes from 0.3 to 0.7, which is more than 0.1; the truth has not fallen.

    >>> diagnose([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], [1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    'collapse'

The reward has not moved, so the entropy decides: it ends at 0.1, and a tenth of its start is 0.18.
Where the truth went is not asked.

## When it is solved

The four illnesses: a sign turned over in the loss; a reward that does not measure what was wanted
(Gao et al. 2022, arXiv:2210.10760); a policy that makes up its mind before it has found anything;
and groups in which all rewards are equal, so that every advantage is 0. docs/howto/symptoms.md has
them under the names of trainers' metrics, and `grpo-ref diagnose LOG CONFIG` reads the log of a
trainer.

## See also

* Source: Yu et al. 2025, DAPO, sec. 3 and 4 (arXiv:2503.14476), on which curves to watch.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/read_the_curve
"""

import numpy as np


def diagnose(reward, truth, entropy):
    """One of: learning, reward hacking, wrong sign, collapse, no signal."""
    raise NotImplementedError("clinic/read_the_curve")
