"""Advantages: how much better was each completion than the others of its group?

| module      | what it yields                                                                     |
|-------------|------------------------------------------------------------------------------------|
| `group`     | (..., P, G), from the rewards of the completion's own group                        |
| `batch`     | (..., P, G), with a mean or a scale taken from the whole batch                     |
| `criteria`  | from several criteria, (..., P, G, K), each normalized before they are summed      |
| `per_token` | (..., P, G, T), whitened over the tokens, discounted, or from the rewards of steps |
| `moments`   | means and standard deviations, which the others share                             |

Divisor, epsilon and groups of one are named arguments, because public trainers disagree about all three. A
group with equal rewards gets 0, and never 0/0. There are two exceptions:
rounding may leave `length_weighted` some 1e-17 of the reward, and `whitened` takes the whole batch's mean off
as well.
"""

from grpo_ref.advantages.batch import batch_normalized, batch_scaled, gpg
from grpo_ref.advantages.criteria import normalized_then_summed, normalized_then_whitened
from grpo_ref.advantages.group import (
    best_of_group,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    normal_scores,
    ranked,
    raw_rewards,
)
from grpo_ref.advantages.per_token import discounted, normalized_twice, step_suffix_sums, whitened
