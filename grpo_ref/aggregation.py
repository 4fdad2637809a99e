"""Aggregation: how much does each token count?

Averaging is linear, so an aggregation is an array of weights W, and the loss is -sum(W * value). GRPO, DAPO
and Dr. GRPO differ, among other parts, in W.

Padding (mask 0) has weight 0. If a completion has no token with mask 1, because it is empty or a filter
rejected it, it has no weight. In the formulas with n, the loss of a batch is divided by n, the number of
completions. `count_empty` says whether n includes a completion without tokens. Axes before the last three are
independent runs. Each run is normalized by itself. m is the mask, and [condition] is 1 if the condition is
true and 0 otherwise.
"""

from grpo_ref.arrays import BATCH, GROUP, PROMPTS, TOKENS, Array, array_namespace, as_floating, at_least


def token_sum(mask: Array) -> Array:
    """Every token has weight 1.

        W = m

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights.

    verl `loss_agg_mode="token-sum"`.
    """
    return as_floating(mask)


def token_mean(mask: Array, *, eps: float = 0.0) -> Array:
    """Return the same weight for every token of the batch.

        W = m / (Σ m + eps),    the sum over all tokens of the batch

    Long completions, and prompts with long completions, count more. This is verl's and TRL's form of DAPO's
    loss. The paper divides by the tokens of each group instead (`group_token_mean`).

    Args:
      mask: (P, G, T) 1 on completion tokens.
      eps: added to the number of tokens; 1e-8 in OpenRLHF.

    Returns:
      (P, G, T) weights that sum to 1, or to 0 if no token is left.

    verl "token-mean"; TRL "bnpo", and "dapo" if each generation batch is trained in one optimizer step.
    """
    mask = as_floating(mask)
    return mask / (at_least(array_namespace(mask).sum(mask, axis=BATCH, keepdims=True), 1.0) + eps)


def group_token_mean(mask: Array, *, count_empty: bool = True) -> Array:
    """Mean over the tokens of each group, then over the groups: DAPO's loss as the paper prints it.

        W = m / (Σ m · P),    the sum over the tokens of the group, P the groups

    Every prompt has the same weight. Within a group, every token has the same weight, so a long completion
    counts more. In `token_mean` a prompt with long completions counts more as well. Two groups with answers
    of 10 and of 1000 tokens have the weights 1/2 and 1/2 here, and 10/1010 = 0.0099 and 0.9901 there.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      count_empty: if true, P includes groups without tokens. If false, it does not.

    Returns:
      (P, G, T) weights that sum to 1 where every group has a token.

    Yu et al. 2025, DAPO, eq. 8 and 12 (arXiv:2503.14476), where the divisor is the number of tokens of one
    group and the mean over the prompts is outside; SkyRL "prompt_mean".
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    tokens = xp.sum(mask, axis=(GROUP, TOKENS), keepdims=True)
    counted = xp.ones_like(tokens) if count_empty else xp.astype(tokens > 0.0, mask.dtype)
    groups = xp.sum(counted, axis=PROMPTS, keepdims=True)
    return mask / (at_least(tokens, 1.0) * at_least(groups, 1.0))


def kept_token_mean(mask: Array, correction: Array) -> Array:
    """Every token that the corrections keep has the same weight; the other tokens are not in the denominator.

        W = m [c ≠ 0] / Σ m [c ≠ 0],    the sum over all tokens of the batch

    Args:
      mask: (P, G, T) 1 on completion tokens.
      correction: (P, G, T) c, the product of the corrections.

    Returns:
      (P, G, T) weights that sum to 1, or to 0 if no token is left.

    RLinf `compute_decoupled_ppo_actor_loss`.
    """
    xp = array_namespace(mask, correction)
    return token_mean(as_floating(mask) * xp.astype(correction != 0.0, correction.dtype))


def token_sum_over(mask: Array, *, tokens: float) -> Array:
    """Divide by a fixed number of tokens, whatever the number of tokens in this batch.

        W = m / tokens

    Args:
      mask: (P, G, T) 1 on completion tokens.
      tokens: the divisor, > 0.

    Returns:
      (P, G, T) weights.

    Raises:
      ValueError: if tokens is not positive.

    Open Instruct's `loss_denominator` given as a number; TRL's "dapo" where one generation batch is trained
    in several steps.
    """
    if not tokens > 0.0:
        raise ValueError(f"tokens: expected a number > 0, got {tokens}")
    return as_floating(mask) / tokens


def sequence_mean_token_mean(mask: Array, *, count_empty: bool = True, eps: float = 0.0) -> Array:
    """Every completion has the same weight, so a token of a long completion has less: GRPO.

        W = m / ((|o| + eps) n),    |o| the tokens of the completion, n the completions

    Args:
      mask: (P, G, T) 1 on completion tokens.
      count_empty: if true, n includes completions without tokens (TRL). If false, it does not (verl,
        OpenRLHF).
      eps: added to the lengths; 1e-8 in verl and OpenRLHF.

    Returns:
      (P, G, T) weights that sum to 1 where no completion is empty.

    DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL "grpo"; verl "seq-mean-token-mean".
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    return mask / ((at_least(lengths, 1.0) + eps) * _completion_count(mask, count_empty))


def sequence_mean_token_sum(mask: Array, *, count_empty: bool = True) -> Array:
    """Sum over the tokens of a completion, mean over the completions, as in REINFORCE.

        W = m / n

    Args:
      mask: (P, G, T) 1 on completion tokens.
      count_empty: as in `sequence_mean_token_mean`.

    Returns:
      (P, G, T) weights that sum to the mean length.

    verl "seq-mean-token-sum".
    """
    mask = as_floating(mask)
    return mask / _completion_count(mask, count_empty)


def fixed_length(mask: Array, max_length: int, *, count_empty: bool = True) -> Array:
    """Divide by a constant instead of the length: no token's weight depends on its completion's length.

        W = m / (n L),    L the generation budget

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: L, the configured budget in tokens, not the longest completion of this batch.
      count_empty: as in `sequence_mean_token_mean`.

    Returns:
      (P, G, T) weights that sum to at most 1.

    Raises:
      ValueError: if max_length < 1.

    Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL "dr_grpo"; verl "seq-mean-token-sum-norm".
    """
    if max_length < 1:
        raise ValueError(f"max_length: expected at least 1 token, got {max_length}")
    return sequence_mean_token_sum(mask, count_empty=count_empty) / max_length


def _completion_count(mask: Array, count_empty: bool) -> Array:
    """Return the number of completions, at least 1; of shape (..., 1, 1, 1) if it differs between runs."""
    if count_empty:
        return max(mask.shape[PROMPTS] * mask.shape[GROUP], 1)
    xp = array_namespace(mask)
    counted = xp.max(mask, axis=TOKENS, keepdims=True)
    return at_least(xp.sum(counted, axis=BATCH, keepdims=True), 1.0)
