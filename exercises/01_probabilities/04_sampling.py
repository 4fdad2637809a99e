"""From a uniform number to a token  (medium, 2 points)

## Background

A policy is sampled by inverting its distribution function. With the random numbers given from
outside, sampling is an ordinary function: the same numbers give the same tokens, and a bug can be
repeated.

## Problem

Write `sample_tokens(probs, uniforms)`: for each row the first token whose cumulative probability is
larger than the uniform number:

    token = min { a : p₀ + ... + pₐ > u }

## Input

- probs: (N, V), each row sums to 1, up to rounding.
- uniforms: (N,) numbers u in [0, 1).

## Output

(N,) tokens, whole numbers from 0 to V - 1.

## Examples

    sample_tokens([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], [0.1, 0.6, 0.9])
    -> [0, 1, 2]

the sums are 0.5, 0.75 and 1

## Constraints

- A token of probability 0 is never drawn.
- Rounding may leave the last sum a little below 1; a number beyond it means token V - 1.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

inverse transform sampling; Devroye 1986, Non-uniform random variate generation, ch. 3.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/sampling
"""

import numpy as np


def sample_tokens(probs, uniforms):
    """The first token whose cumulative probability is larger than the uniform number."""
    raise NotImplementedError("probabilities/sampling")
