"""Back through the norm

Medium, 2 points. GRADING.md says how answers are graded.

A network multiplies rows of numbers with weights, again and again. If every layer made them a
little larger, after twenty layers they would be huge. So before each layer every row is divided by
its size, the root of the mean of its squares (RMS), and each place of the row is then multiplied
with a number that is learned, the gain. On the way back the division matters: when one number of a
row grows, all others of the row become smaller. And what only makes a row longer changes nothing,
so that no slope points along the row.

## Your task

Write `norm_slope(x, gain, slope)`.

Write `norm_slope(x, gain, slope)`. The norm takes each row x of D numbers to a row y:

    r = (mean of x² + 1e-6)^(-1/2),    n = x r,    y = g n

The mean runs over the D numbers of the row, so that r is one number for each row; g is the gain,
one number for each place, and n and y are rows. Given the slope ∂L/∂y of a loss L, return the
slopes ∂L/∂x and ∂L/∂g. That r depends on every number of the row must not be forgotten: ∂r/∂x[j] =
-r³ x[j]/D. All rows share one gain, so its slope is a sum over all rows. 1e-6 keeps a row of zeros
from a division by 0.

| argument | meaning                               | shape               | values        |
| -------- | ------------------------------------- | ------------------- | ------------- |
| `x`      | rows of D numbers                     | (N, D) or (B, T, D) | −1000 to 1000 |
| `gain`   | g, one number for each place of a row | (D,)                | −10 to 10     |
| `slope`  | ∂L/∂y, of the shape of x              | (N, D) or (B, T, D) | −1000 to 1000 |

* `x` and `slope` have the same shape.
* N, B, T and D are at least 1.

A tuple of two arrays: ∂L/∂x, of the shape of x, and ∂L/∂g, of shape (D,).

* In a row of zeros r is 1000 and n is 0.

## Examples

    >>> norm_slope([[1.0, 7.0]], [1.0, 1.0], [[1.0, 0.0]])
    ([[0.196, -0.028]], [0.2, 0])

The mean of 1 and 49 is 25, so r is a hair below 1/5. If r were a constant, ∂L/∂x would be 0.2 and
0. But ∂r/∂x = -r³ x/2 is -0.004 and -0.028, and r multiplies x[0] = 1, the only number with a
slope: so it is 0.2 - 0.004 = 0.196, and -0.028. The slope of the gain is n times ∂L/∂y, so 0.2 and
0.

## When it is solved

Llama, Qwen and most models of today use this norm, RMSNorm; the older LayerNorm takes the mean of
the row off first. The rule on rows that only get longer holds up to the 1e-6.

## See also

* Source: Zhang & Sennrich 2019, eq. 4 (arXiv:1910.07467).
* `grpo_ref.learning.policies.layers.rms_norm_back` is the same function in this package. Look at it
  when you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/norm_slope
"""

import numpy as np


def norm_slope(x, gain, slope):
    """The way back through RMSNorm, to its rows and its gain."""
    raise NotImplementedError("network/norm_slope")
