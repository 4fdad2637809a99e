"""What is wrong with this run?  (medium, 3 points)

## Background

Before you open the code, look at the curves. Four illnesses show in three of them: what the policy
is paid, what you really wanted (measured on the side, never trained on), and how undecided it is.

## Problem

Write `diagnose(reward, truth, entropy)`, which names what it sees:

    "learning"          both the reward and the truth have risen
    "reward hacking"    the reward has risen while the truth has fallen
    "wrong sign"        the reward has fallen
    "collapse"          the policy has made up its mind (entropy near 0) and the reward is hardly better
    "no signal"         nothing has moved, and the policy is as undecided as at the start

## Input

- reward, truth: (60,) one number per update, about 0 to 1.2, with noise of 0.02.
- entropy: (60,) nats.

## Output

One of the five names.

## Constraints

- The curves come from real runs with six arms.
- Risen and fallen mean by more than 0.1 from the mean of the first ten updates to that of the last
  ten.
- The reward is asked first: if it has risen and the truth has not fallen, the run is learning. Only
  if it has done neither does the entropy decide, near 0 meaning below a tenth of its start.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

open-r1 #239 and TRL #3857 are reports of runs that nobody could read.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/read_the_curve
"""

import numpy as np


def diagnose(reward, truth, entropy):
    """One of: learning, reward hacking, wrong sign, collapse, no signal."""
    raise NotImplementedError("clinic/read_the_curve")
