"""The backward pass of RMSNorm

Medium, 2 points. GRADING.md says how answers are graded.

A network multiplies rows of numbers by weights, layer after layer. If each layer made the rows a
little larger, they would be huge after twenty layers. RMSNorm prevents this: it divides each row by
the root of the mean of its squares (RMS). Then it multiplies each column by a learned number, the
gain.

The division matters in the backward pass. If one number of a row grows, all other numbers of the
output row shrink.

## Your task

Write `norm_slope(x, gain, slope)`.

The norm maps each row x of D numbers to a row y:

    c = (mean of x² + 1e-6)^(-1/2),    n = c x,    y = γ n

The mean runs over the D numbers of the row, so c is one number per row. γ is `gain`, one number per
column, and γ n is the product number by number. 1e-6 prevents a division by 0: in a row of zeros, c
is 1000 and n is 0.

`slope` is ∂L/∂y, the gradient of a loss L with respect to the output. Return the gradients ∂L/∂x
and ∂L/∂γ. Remember that c depends on every number of its row:

    ∂c/∂x[j] = -c³ x[j]/D

All rows share one gain, so ∂L/∂γ is a sum over all rows.

| argument | meaning                           | shape               | values        |
| -------- | --------------------------------- | ------------------- | ------------- |
| `x`      | rows of D numbers                 | (N, D) or (B, T, D) | −1000 to 1000 |
| `gain`   | γ, one learned number per column  | (D,)                | −10 to 10     |
| `slope`  | ∂L/∂y, the gradient of the output | (N, D) or (B, T, D) | −1000 to 1000 |

* `x` and `slope` have the same shape.
* N, B and T are at least 1.
* D is at least 2.

Return a tuple of two arrays: ∂L/∂x, of the shape of `x`, and ∂L/∂γ, of shape (D,).

## Examples

**One row.** Only the first output has a gradient, 1.

    >>> norm_slope([[1.0, 7.0]], [1.0, 1.0], [[1.0, 0.0]])
    ([[0.196, -0.028]], [0.2, 0])

The mean of 1 and 49 is 25, so c is 1/5, up to 1e-6. If c were constant, ∂L/∂x would be 0.2 and 0.
But ∂c/∂x = -c³ x/2 is -0.004 and -0.028, and the output y[0] = c · 1 changes with c. The sum is 0.2
- 0.004 = 0.196, and -0.028. The gain gets n · ∂L/∂y = (0.2 · 1, 1.4 · 0).

**A gain, and two rows.**

    >>> norm_slope([[1.0, 7.0], [7.0, 1.0]], [2.0, 10.0], [[1.0, 0.0], [1.0, 1.0]])
    ([[0.392, -0.056], [-0.272, 1.904]], [1.6, 0.2])

c is 1/5 in both rows. First row: the gain of 2 doubles the first example. Second row: if c were
constant, ∂L/∂x would be 1/5 · (2, 10) = (0.4, 2). But L depends on c as 2 · 7 + 10 · 1 = 24 times
c. ∂c/∂x is (-0.028, -0.004), so ∂L/∂x is (0.4 - 24 · 0.028, 2 - 24 · 0.004). The gain gets (0.2, 0)
from the first row and (1.4, 0.2) from the second.

## When it is solved

Llama, Qwen and most current language models use RMSNorm. The older LayerNorm first subtracts the
mean of the row. Apart from the 1e-6, the output does not depend on the length of the row, so ∂L/∂x
is perpendicular to x.

Next: `network/cross_entropy`, the loss at the end of the network.

## See also

* Source: Zhang & Sennrich 2019, eq. 4 (arXiv:1910.07467).
* `grpo_ref.learning.policies.layers.rms_norm_back` computes the same in this package. Look at it
  when you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/norm_slope
"""

import numpy as np


def norm_slope(x, gain, slope):
    """The gradients of the rows and of the gain, from the gradient of the output."""
    raise NotImplementedError("network/norm_slope")
