"""Diagnose a run from its curves

Medium, 3 points. GRADING.md says how answers are graded.

Before you open the code of a broken training run, look at three of its curves: the *reward*, on
which the policy is trained; the *truth*, your actual goal, such as the rate of solved exercises,
which is only measured; and the *entropy*, which is high while the policy tries many choices and 0
when it always makes the same one. They show four common problems.

The picture is in 01_read_the_curve.svg.

## Your task

Write `diagnose(reward, truth, entropy)`.

Return one of five names. The start of a curve is the mean of its first ten numbers, and its end is
the mean of its last ten. A curve has risen if its end is more than 0.1 above its start. It has
fallen if its end is more than 0.1 below its start. The first condition that is true decides:

| name | condition |
|---|---|
| `"wrong sign"` | the reward has fallen |
| `"reward hacking"` | the reward has risen and the truth has fallen |
| `"learning"` | the reward has risen |
| `"collapse"` | the end of the entropy is below a tenth of its start |
| `"no signal"` | none of the above |

| argument  | meaning                                   | shape | values    |
| --------- | ----------------------------------------- | ----- | --------- |
| `reward`  | mean reward of each update                | (U,)  | −20 to 20 |
| `truth`   | your actual goal, measured in each update | (U,)  | −20 to 20 |
| `entropy` | of the policy, in nats                    | (U,)  | 0 to 40   |

* U is at least 20.

Return the name as a string, written as in the table. In the tests, no end differs from its start by
exactly 0.1, and no entropy ends at exactly a tenth of a positive start. The entropy may be 0 at the
start or throughout; 0 is not below 0.

## Examples

**The reward rises.** It goes from 0.3 to 0.7, and the truth does not fall.

    >>> diagnose(
    ...     [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3,
    ...      0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7],
    ...     [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
    ...      0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ...     [1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8,
    ...      1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    'learning'

The rise is 0.4. A truth that has risen, or not moved, makes no difference.

**The same reward, but the truth falls.** It goes from 0.6 to 0.3.

    >>> diagnose(
    ...     [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3,
    ...      0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7],
    ...     [0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6,
    ...      0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
    ...     [1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8,
    ...      1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    'reward hacking'

**The reward does not move.** Its mean is 0.5 at both ends, so the entropy decides.

    >>> diagnose(
    ...     [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
    ...      0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ...     [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2,
    ...      0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
    ...     [1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8,
    ...      0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    'collapse'

The entropy ends at 0.1, which is below 0.18, a tenth of its start. The truth is not used here.

## When it is solved

The causes of the four problems are: a wrong sign in the loss; a reward that does not measure the
goal (Gao et al. 2022, arXiv:2210.10760); a policy that becomes certain before it finds a good
choice; and groups with equal rewards, in which every advantage is 0. `grpo-ref diagnose LOG CONFIG`
reads the log of a trainer.

## See also

* Source: Yu et al. 2025, DAPO, sec. 3 and 4 (arXiv:2503.14476), on which curves to monitor.
* Does it help? `grpo-ref experiment run reward_hacking --quick` tests a claim about it.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/read_the_curve
"""

import numpy as np


def diagnose(reward, truth, entropy):
    """Return one of: learning, reward hacking, wrong sign, collapse, no signal."""
    raise NotImplementedError("clinic/read_the_curve")
