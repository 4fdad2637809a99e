"""Two estimates from one token  (easy, 1 point)

## Background

The KL sums over the whole vocabulary; a trainer has one sampled token. Its log-ratio to the
reference, k1, is right on average but swings to both signs; half its square, k2, never swings below
zero, and is biased.

## Problem

Write `k1_and_k2(log_probs, ref_log_probs)`, which returns two arrays:

    k1 = v,    k2 = v² / 2,    v = log πθ - log πref

## Input

- log_probs, ref_log_probs: log-probabilities of the sampled tokens, of the same shape, in nats.

## Output

A tuple (k1, k2) of two arrays of the same shape, in nats.

## Examples

    k1_and_k2([-0.693147], [-1.38629])
    -> ([0.693147], [0.240227])

v = log 2

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Schulman 2020, Approximating KL divergence; verl `kl_penalty`, Open Instruct `estimate_kl`.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/estimators
"""

import numpy as np


def k1_and_k2(log_probs, ref_log_probs):
    """The log-ratio to the reference, and half its square."""
    raise NotImplementedError("kl/estimators")
