"""One step of GRPO

Hard, 5 points. GRADING.md says how answers are graded.

The network that has learned to speak is rewarded now. It has continued one prompt G times, and each
continuation, a completion, has got a reward. From there on everything is known: the group says what
was better than expected, the ratio how far the policy has moved since it wrote this, the clip how
far is far enough, and the slope goes back through the softmax and the network to its weights. This
is the whole of GRPO from rewards to weights, in about fifteen lines; what trainers add is size.

## Your task

Write `grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate,
clip=0.2)`.

Write `grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate,
clip=0.2)`: one step of gradient ascent on

    J = Σ m min(ρ A, clip(ρ, 1 - ε, 1 + ε) A) / Σ m
    A[i] = (r[i] - mean(r)) / (std(r) + 1e-4)
    ρ[i, t] = exp(log π(tokens[i, t] | tokens[i, t - 1]) - old_log_probs[i, t])

The network is that of `network/imitation_step`: with E for `embeddings` and W for `weight`, after a
token x

    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)

where E[x] is row x of E, (E[x] W)[d] = Σ_c E[x, c] W[c, d] and z[a] = Σ_d E[a, d] h[d]. Both sums
of J run over all completions i and all places t ≥ 1: nothing comes before a first token. The mean
and the standard deviation run over the G rewards; std divides by G, not by G - 1. A holds for all
tokens of its completion. Every token of the batch counts the same, however long its completion is.
A and the old log-probabilities are constants.

A token is held by the clip if A > 0 and ρ > 1 + ε, or if A < 0 and ρ < 1 - ε. It still counts in Σ
m, but it pushes no more: the slope of its min(...) is 0. Every other token has ∂ min(...)/∂ log π =
ρ A. Return E + learning_rate · ∂J/∂E, W + learning_rate · ∂J/∂W, and the share of the tokens that
are held, Σ m [held] / Σ m.

* `embeddings`: E, a row for each token; (V, D); −1000 to 1000.
* `weight`: W; (D, D); −10 to 10.
* `tokens`: the tokens of each text; (G, L); integers, 0 to V - 1.
* `mask`: m, 1 on the tokens that were written, 0 on prompt and padding; (G, L); 0 or 1.
* `rewards`: r, one for each completion; (G,); integers, -5 to 5.
* `old_log_probs`: log πold of each token, when it was written; (G, L); −10 to 0.
* `learning_rate`: length of the step; number; 0.01 to 100.
* `clip`: ε, how far the ratio may go; number; 0.05 to 0.9.

* `mask`: zeros may be anywhere, and a row may be all zeros.
* D is at least 1.
* G, L and V are at least 2.

A tuple: the new E, of shape (V, D), the new W, of shape (D, D), and the share of the tokens that
the clip holds.

* Nothing comes before the first token, t = 0: its entries of the mask and of old_log_probs do not
  matter, and neither do the old log-probabilities where the mask is 0.
* If no token counts, or all rewards are equal (a dead group: every A is 0), E and W stay as they
  are, and the share is 0.
* Logits may lie thousands apart: a softmax that does not take off the largest one first overflows.

## Examples

    >>> grpo_step([[0.549306], [2.74653]], [[1]], [[0, 0], [0, 1]], [[0, 1], [0, 1]], [1, 0], [[0.0, -1.3862943611198906], [0.0, -0.2876820724517809]], 1.0)
    ([[-0.0245383], [2.49658]], [[0.547485]], 0.0)

The rows are a = log 3 / 2 and 5 a, and W is 1. Both completions have one token after token 0, where
h = 1/2 and π is 1/4 and 3/4, just as when they were written: ρ = 1. Mean and std of the rewards are
1/2, so A is ±u with u = 0.5 / 0.5001. Each token has the weight 1/2, so the slope at the logits is
u/2 (3/4, -3/4) - u/2 (-1/4, 1/4) = u/2 (1, -1). At the exit the rows get u/4 and -u/4. At the
entrance the slope of h is u/2 (a - 5 a) = -2 a u, and that of E[0] W is -2 a u (1 - 1/4) =
-0.823794: times W it goes to E[0], times E[0] = a to W. So E[0] becomes 0.549306 + 0.249950 -
0.823794 = -0.024538, E[1] 2.746531 - 0.249950 = 2.496581, and W 1 - 0.452515 = 0.547485.

    >>> grpo_step([[0.549306], [2.74653]], [[1]], [[0, 0], [0, 1]], [[0, 1], [0, 1]], [0, 1], [[-1.0, -0.6931471805599453], [-1.0, -0.2876820724517809]], 2.0)
    ([[0.836228], [2.87151]], [[1.22626]], 0.5)

The first completion is bad, and ρ = 1/4 / 1/2 = 1/2 has fallen below 0.8: it is held, but still
counts as one of two tokens. The second one has ρ = 1 and A = u. The slope at the logits is u/2
(-1/4, 1/4); at the exit that is -u/16 and u/16, at the entrance u/8 (5 a - a) = a u/2, times 3/4.
The step is twice that.

## When it is solved

The mean over the tokens of the batch is verl's and TRL's default; the paper of GRPO takes it over
each completion first, and the paper of DAPO over each group first, as in chapter 5. With several
prompts, each has its own mean and std, and all tokens share one Σ m. In the first step on a batch
every ρ is 1, and nothing is held.

## See also

* Source: Shao et al. 2024, GRPO, sec. 4.1 (arXiv:2402.03300); verl `token-mean`, for the mean.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/grpo_step
"""

import numpy as np


def grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    """E and W after one step up the clipped objective, and the share of the tokens that are held."""
    raise NotImplementedError("network/grpo_step")
