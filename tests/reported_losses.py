"""Wrong losses after reports about public trainers and courses, and right losses in other styles.

Each wrong loss computes what the report describes, in its own words, not with the kernels of the library.
"""

import warnings

import numpy as np

from grpo_ref.explain.dialects import verl


def masked(x, mask):
    return np.where(mask > 0, x, 0.0)


def standardized(rewards, size, ddof=1, eps=1e-4):
    groups = rewards.reshape(-1, size)
    centered = groups - groups.mean(1, keepdims=True)
    return (centered / (groups.std(1, ddof=ddof, keepdims=True) + eps)).reshape(-1, 1)


def gain(logps, old_logps, a, mask, low=0.2, high=0.2):
    ratio = np.exp(masked(logps - old_logps, mask))
    return np.minimum(ratio * a, np.clip(ratio, 1 - low, 1 + high) * a)


def kl(logps, ref_logps, mask):
    v = masked(ref_logps - logps, mask)
    return np.exp(v) - v - 1


def of_sequences(x, mask):
    return (masked(x, mask).sum(1) / np.maximum(mask.sum(1), 1)).mean()


def of_tokens(x, mask):
    return masked(x, mask).sum() / max(mask.sum(), 1)


def grpo(logps, old_logps, ref_logps, a, mask, average=of_sequences):
    return -average(gain(logps, old_logps, a, mask) - 0.04 * kl(logps, ref_logps, mask), mask)


# ---- wrong ---------------------------------------------------------------------------------------


def padding_in_the_numerator(log_probs, old_log_probs, advantages, mask):
    ratio, a = np.exp(log_probs - old_log_probs), advantages[:, None]
    return -np.minimum(ratio * a, np.clip(ratio, 0.8, 1.28) * a).sum() / max(mask.sum(), 1)


def prompts_repeated_in_turn(logps, old_logps, ref_logps, rewards, mask, num_generations):
    groups = rewards.reshape(num_generations, -1)
    a = (groups - groups.mean(0)) / (groups.std(0, ddof=1) + 1e-4)
    return grpo(logps, old_logps, ref_logps, a.reshape(-1, 1), mask)


def one_row_of_all_rewards(logps, old_logps, ref_logps, rewards, mask):
    return grpo(logps, old_logps, ref_logps, standardized(rewards, len(rewards)), mask)


def normalized_in_actor_and_learner(logps, old_logps, ref_logps, rewards, mask, num_generations):
    a = standardized(rewards, num_generations)
    return grpo(logps, old_logps, ref_logps, (a - a.mean()) / (a.std() + 1e-8), mask)


def negated_twice(logps, old_logps, advantages, mask):
    return -of_tokens(-gain(logps, old_logps, advantages[:, None], mask, high=0.28), mask)


def mean_over_all_tokens(logps, old_logps, ref_logps, advantages, mask):
    return grpo(logps, old_logps, ref_logps, advantages[:, None], mask, of_tokens)


def sequence_losses_summed(logps, old_logps, advantages, mask):
    return -masked(gain(logps, old_logps, advantages[:, None], mask), mask).sum() / 32


def summand_of_the_exact_kl(logps, old_logps, ref_logps, advantages, mask):
    distance = np.exp(masked(logps, mask)) * masked(logps - ref_logps, mask)
    return -of_sequences(gain(logps, old_logps, advantages[:, None], mask) - 0.04 * distance, mask)


def one_ratio_for_the_completion(logps, old_logps, ref_logps, advantages, mask):
    here = mask.sum(1) > 0
    ratio = np.exp(masked(logps - old_logps, mask).sum(1))
    gains = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages)
    penalty = kl(logps, ref_logps, mask).sum(1) / np.maximum(mask.sum(1), 1)
    return -np.where(here, gains - 0.04 * penalty, 0.0).sum() / max(here.sum(), 1)


def penalty_rewarded(logps, old_logps, ref_logps, advantages, mask):
    gains = gain(logps, old_logps, advantages[:, None], mask)
    return -of_sequences(gains + 0.04 * kl(logps, ref_logps, mask), mask)


def squared_distance(logps, old_logps, ref_logps, advantages, mask):
    gains = gain(logps, old_logps, advantages[:, None], mask)
    return -of_sequences(gains - 0.04 * masked(logps - ref_logps, mask) ** 2, mask)


def mask_upside_down(logps, old_logps, advantages, mask):
    return -of_tokens(gain(logps, old_logps, advantages[:, None], 1 - mask, high=0.28), 1 - mask)


def as_long_as_the_longest(logps, old_logps, ref_logps, advantages, mask):
    x = gain(logps, old_logps, advantages[:, None], mask) - 0.04 * kl(logps, ref_logps, mask)
    return -(masked(x, mask).sum(1) / max(mask.sum(1).max(), 1)).mean()


def temperature_on_one_side(logps, old_logps, ref_logps, advantages, mask):
    return grpo(logps / 0.9, old_logps, ref_logps, advantages[:, None], mask)


def rows_of_two_completions(logps, old_logps, advantages, mask):
    x = masked(gain(logps, old_logps, advantages[:, None], mask, high=0.28), mask)
    rows = [slice(i, i + 2) for i in range(0, len(x), 2)]
    return -np.mean([x[row].sum() / max(mask[row].sum(), 1) for row in rows])


def no_minimum_and_a_narrow_clip(logps, old_logps, advantages, mask):
    ratio = np.exp(masked(logps - old_logps, mask))
    return -of_tokens(np.clip(ratio, 0.8, 1.2) * advantages[:, None], mask)


def transposed_and_no_minimum(logps, old_logps, ref_logps, rewards, mask, num_generations):
    with warnings.catch_warnings(action="ignore"):  # a transposed group may be a group of one
        a = standardized(rewards, len(rewards) // num_generations)
    ratio = np.exp(masked(logps - old_logps, mask))
    x = np.clip(ratio, 0.8, 1.2) * a - 0.04 * kl(logps, ref_logps, mask)
    return -of_sequences(x, mask)


def population_std_and_tokens(logps, old_logps, ref_logps, rewards, mask, num_generations):
    a = standardized(rewards, num_generations, ddof=0)
    return grpo(logps, old_logps, ref_logps, a, mask, of_tokens)


def not_floored_and_k1(logps, old_logps, ref_logps, advantages, mask):
    x = gain(logps, old_logps, advantages[:, None], mask) - 0.04 * masked(logps - ref_logps, mask)
    return -(masked(x, mask).sum(1) / mask.sum(1)).mean()


def another_dual_clip_and_sequences(log_prob, old_log_prob, advantages, response_mask):
    a, ratio = advantages, np.exp(masked(log_prob - old_log_prob, response_mask))
    once = np.maximum(-a * ratio, -a * np.clip(ratio, 0.8, 1.2))
    return of_sequences(np.where(a < 0, np.minimum(once, -2.0 * a), once), response_mask)


DR = {"max_length": 32}
WRONG = {
    "ROLL #444": (padding_in_the_numerator, "dapo", {}, ["padding counts"]),
    "prime-rl #600": (prompts_repeated_in_turn, "grpo", {}, ["transposed"]),
    "slime #1655": (one_row_of_all_rewards, "grpo", {}, ["mean of the batch", "ddof=1, of the batch"]),
    "GEM #113": (normalized_in_actor_and_learner, "grpo", {}, ["normalized twice"]),
    "flash-linear-attention #1073": (negated_twice, "dapo", {}, ["multiplied by -1"]),
    "EasyR1 #212": (mean_over_all_tokens, "grpo", {}, ["every token counts the same"]),
    "verl #3741": (sequence_losses_summed, "dr_grpo", DR, ["completions are summed"]),
    "DML-OpenProblem #576": (summand_of_the_exact_kl, "grpo", {}, ["k1 times the probability"]),
    "reasoning-from-scratch #243": (
        *(one_ratio_for_the_completion, "grpo", {}),
        ["product over the completion", "empty completions are not counted"],
    ),
    "ToolRL #52": (penalty_rewarded, "grpo", {}, ["the KL penalty has the wrong sign"]),
    "grail #42": (squared_distance, "grpo", {}, ["squared log-ratio"]),
    "RAGEN #71": (mask_upside_down, "dapo", {}, ["the mask is inverted"]),
    "MemGen #33": (as_long_as_the_longest, "grpo", {}, ["longest"]),
    "TRL #3029": (temperature_on_one_side, "grpo", {}, ["policy's", "temperature 0.9"]),
    "Tunix #1662": (rows_of_two_completions, "dapo", {}, ["micro-batch of 2"]),
    "two mistakes in the clip": (no_minimum_and_a_narrow_clip, "dapo", {}, ["minimum", "1 + 0.2"]),
    "groups and clip": (transposed_and_no_minimum, "grpo", {}, ["transposed", "minimum"]),
    "std and average": (population_std_and_tokens, "grpo", {}, ["ddof=0", "every token counts"]),
    "unsloth-zoo #1286, and k1": (
        not_floored_and_k1,
        "grpo",
        {},
        ["the denominator has no floor", "the penalty is k1"],
    ),
    "dual clip and average": (
        *(another_dual_clip_and_sequences, verl.recipe(), {}),
        ["max_ratio is 2", "own length"],
    ),
}
"""Report -> loss, recipe, options, and texts of the diagnosis."""


# ---- right ---------------------------------------------------------------------------------------


def in_loops(logps, old_logps, advantages, mask):
    total = count = 0.0
    for i, t in zip(*np.nonzero(mask), strict=True):
        ratio, a = np.exp(logps[i, t] - old_logps[i, t]), advantages[i]
        total += min(ratio * a, max(min(ratio, 1.28), 0.8) * a)
        count += 1
    return -total / count if count else 0.0


def flat(logps, old_logps, advantages, mask):
    here = mask.astype(bool)
    a = np.repeat(advantages[:, None], mask.shape[1], 1)[here]
    ratio = np.exp((logps - old_logps)[here])
    return np.maximum(-a * ratio, -a * np.clip(ratio, 0.8, 1.28)).sum() / max(here.sum(), 1)


def packed(logps, old_logps, advantages, mask, sequence_ids):
    return -(gain(logps, old_logps, advantages, mask, high=0.28) * mask).sum() / max(mask.sum(), 1)


def with_einsum(logps, old_logps, ref_logps, advantages, mask):
    ratio = np.exp(masked(logps - old_logps, mask))
    v = masked(ref_logps - logps, mask)
    weights = mask / (mask.sum(1, keepdims=True) + 1e-8) / len(mask)
    free, bound = (np.einsum("nt,n->nt", r, advantages) for r in (ratio, np.clip(ratio, 0.8, 1.2)))
    return np.einsum("nt,nt->", weights, 0.04 * (np.expm1(v) - v) - np.minimum(free, bound))


def from_rewards(logps, old_logps, ref_logps, rewards, mask, num_generations):
    a, total = standardized(rewards, num_generations)[:, 0], 0.0
    for i, here in enumerate(mask > 0):
        if here.any():
            ratio, v = np.exp((logps - old_logps)[i][here]), (ref_logps - logps)[i][here]
            free = np.minimum(ratio * a[i], ratio.clip(0.8, 1.2) * a[i])
            total += np.mean(free - 0.04 * (np.exp(v) - v - 1))
    return -total / len(mask)


def one_number_per_completion(logps, old_logps, advantages, mask):
    lengths = np.maximum(mask.sum(1), 1)
    ratio = np.exp(masked(logps - old_logps, mask).sum(1) / lengths)
    gains = np.minimum(ratio * advantages, np.clip(ratio, 1 - 3e-4, 1 + 4e-4) * advantages)
    return -np.where(mask.any(1), gains, 0.0).mean()


def constant_divisor(logps, old_logps, rewards, mask, num_generations):
    groups = rewards.reshape(-1, num_generations)
    a = (groups - groups.mean(1)[:, None]).reshape(-1, 1)
    return -(masked(gain(logps, old_logps, a, mask), mask).sum(1) / 40).mean()


def without_itself(logps, rewards, mask, num_generations):
    groups = rewards.reshape(-1, num_generations)
    baseline = (groups.sum(1, keepdims=True) - groups) / (num_generations - 1)
    return -(masked(logps, mask).sum(1) * (groups - baseline).ravel()).mean()


def weighted_log_probs(logps, old_logps, advantages, mask):
    weight = np.minimum(np.exp(masked(logps - old_logps, mask)), 5.0)
    return -of_tokens(weight * advantages[:, None] * masked(logps, mask), mask)


def times_the_mask(per_token_logps, inputs):
    a, mask = inputs["advantages"][:, None], inputs["completion_mask"]
    ratio = np.exp(per_token_logps - inputs["old_per_token_logps"])
    return -(np.minimum(ratio * a, ratio.clip(0.8, 1.28) * a) * mask).sum() / mask.sum().clip(min=1)


RIGHT = {
    "loops": (in_loops, "dapo", {}),
    "flat": (flat, "dapo", {}),
    "packed": (packed, "dapo", {"packed": True}),
    "einsum, with an eps": (with_einsum, "grpo", {}),
    "from rewards": (from_rewards, "grpo", {}),
    "one ratio per completion": (one_number_per_completion, "gspo", {}),
    "a constant divisor": (constant_divisor, "dr_grpo", {"max_length": 40}),
    "leave one out": (without_itself, "rloo", {}),
    "CISPO": (weighted_log_probs, "cispo", {}),
    "the mask as a factor": (times_the_mask, "dapo", {"nan_in_padding": False}),
}
"""Style -> loss, recipe, options."""
