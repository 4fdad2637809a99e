"""Advantages: how much better was each completion than the others of its group?

| module      | result                                                                             |
|-------------|------------------------------------------------------------------------------------|
| `group`     | (..., P, G), from the rewards of the completion's own group                        |
| `batch`     | (..., P, G), with a mean or a scale taken from the whole batch                     |
| `criteria`  | from several criteria, (..., P, G, C), each normalized before they are summed      |
| `per_token` | (..., P, G, T), whitened over the tokens, discounted, or from the rewards of steps |
| `turns`     | (..., P, G, T), one per turn of an agent; or (..., P, G), of groups by their ids    |
| `teacher`   | (..., P, G, T), with the share of a teacher (on-policy distillation)               |
| `moments`   | means and standard deviations, which the others share                             |
| `turn_axis` | returns and means over turns, which `turns` and trainers share                     |

The divisor of the standard deviation (`ddof`), the epsilon (`eps`) and the advantage of a group of one
(`keep_singletons`) are arguments, because public trainers disagree about all three.

The functions of `group`, and `batch_scaled` and `gpg`, give 0 to a group with equal rewards. `group` has two
exceptions: `raw_rewards` has no baseline, and `length_weighted` can leave a rounding error of about 1e-16
times the reward. Functions that subtract the mean of the whole batch, or no mean at all, do not give 0. No
function returns 0/0.
"""

from grpo_ref.advantages.batch import batch_normalized, batch_scaled, gpg
from grpo_ref.advantages.criteria import normalized_then_summed, normalized_then_whitened
from grpo_ref.advantages.group import (
    best_of_group,
    greedy_baseline,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    mean_scaled,
    normal_scores,
    ranked,
    raw_rewards,
)
from grpo_ref.advantages.per_token import (
    discounted,
    normalized_twice,
    optimal_token_baseline,
    step_suffix_sums,
    whitened,
)
from grpo_ref.advantages.teacher import with_teacher
from grpo_ref.advantages.turns import (
    centered_by_id,
    discounted_over_turns,
    gigpo,
    gigpo_over_turns,
    mt_grpo,
    mt_grpo_first_turn,
    normalized_by_id,
    turn_returns,
)
