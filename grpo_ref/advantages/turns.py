"""Advantages for the turns of an agent: which turn of an episode deserves the credit?

rewards (..., P, G), turn_rewards (..., P, G, K), turn_ids (..., P, G, T) -> (..., P, G, T)

An episode is a completion of several turns. `turn_ids` numbers the turns that the policy wrote from 0. It is
-1 on padding and on tokens that the environment or a tool wrote; these get the advantage 0. In arrays with
the axis K, entries of turns that an episode does not have are ignored.
"""

from grpo_ref.advantages.group import group_centered, group_normalized
from grpo_ref.advantages.turn_axis import (
    Scaling,
    check_gamma,
    check_turns,
    discounted_returns,
    normalized_among_equals,
    taken_turns,
    to_tokens,
)
from grpo_ref.arrays import MEMBERS, Array, array_namespace


def gigpo(
    rewards: Array,
    turn_rewards: Array,
    anchor_states: Array,
    turn_ids: Array,
    *,
    step_weight: float = 1.0,
    gamma: float = 0.95,
    scale: bool = True,
    ddof: int = 1,
    eps: float = 1e-6,
) -> Array:
    """Advantage of the episode plus advantage of the turn among turns that began in the same state: GiGPO.

        A^E_i  = (R_i - mean(R)) / std(R)                      over the G episodes of the prompt
        R_ik   = Σⱼ γ^(j - k) r_ij                             over the turns j = k, k + 1, ...
        A^S_ik = (R_ik - mean(R_s)) / std(R_s)                 R_s: the turns of the prompt with state s
        A_ik   = A^E_i + w A^S_ik

    A turn whose state occurs only once has A^S = 0. eps is added to each standard deviation.

    Args:
      rewards: (P, G) reward of each episode.
      turn_rewards: (P, G, K) reward that the environment gave after each turn.
      anchor_states: (P, G, K) integer that names the state in which the turn began: equal integers are equal
        states. They are compared within a prompt only.
      turn_ids: (P, G, T).
      step_weight: w; 1 in the paper and in verl-agent.
      gamma: discount per turn, 0 <= gamma <= 1; 0.95 in the paper and in verl-agent's scripts.
      scale: if false, both standard deviations are replaced by 1, the paper's other choice.
      ddof, eps: as in `group_normalized`; 1 and 1e-6 in verl-agent.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: if gamma is out of range, ddof is not 0 or 1, eps is negative, a shape does not fit or, with
        NumPy arrays, a turn id is too large.

    Feng et al. 2025, GiGPO, eq. 3 to 8 (arXiv:2505.10978). verl-agent and ROLL take the mean of the episodes
    over turns: `gigpo_over_turns`.

    >>> import numpy as np
    >>> turn_ids = np.array([[[0, -1, 1], [0, -1, 1], [0, -1, 1], [0, -1, 1]]])    # call, tool, answer
    >>> rewards = np.array([[1.0, 0.0, 0.0, 0.0]])
    >>> turn_rewards = np.stack([np.zeros((1, 4)), rewards], axis=-1)              # only answers are rewarded
    >>> states = np.array([[[0, 1], [0, 1], [0, 2], [0, 2]]])                      # the tool said two things
    >>> gigpo(rewards, turn_rewards, states, turn_ids, gamma=1.0, scale=False)
    array([[[ 1.5 ,  0.  ,  1.25],
            [-0.5 ,  0.  , -0.75],
            [-0.5 ,  0.  , -0.25],
            [-0.5 ,  0.  , -0.25]]])
    """
    check_turns(turn_ids, turn_rewards=turn_rewards, anchor_states=anchor_states)
    episodes = group_normalized(rewards, ddof=ddof, eps=eps) if scale else group_centered(rewards)
    returns = _returns(turn_rewards, turn_ids, gamma)
    steps = _among_turns(returns, anchor_states, turn_ids, Scaling(scale, ddof, eps))
    return to_tokens(episodes[..., None] + step_weight * steps, turn_ids)


def gigpo_over_turns(
    rewards: Array,
    turn_rewards: Array,
    anchor_states: Array,
    turn_ids: Array,
    *,
    episode_weight: float = 1.0,
    step_weight: float = 1.0,
    gamma: float = 0.95,
    scale: bool = True,
    ddof: int = 1,
    eps: float = 1e-6,
    keep_singletons: bool = False,
    across_prompts: bool = False,
) -> Array:
    """GiGPO as verl-agent and ROLL have it: an episode counts as often as it has turns.

        A^E_i = (R_i - m) / s,    m = Σⱼ K_j R_j / Σⱼ K_j,    s² = Σⱼ K_j (R_j - m)² / (Σⱼ K_j - ddof)
        A_ik  = v A^E_i + w A^S_ik

    K_j is the number of turns of episode j. Both trainers make a training sample of each turn and take mean
    and standard deviation over the samples. So long episodes, which are often failures, weigh more. A^S is
    defined as in `gigpo`.

    Args:
      rewards, turn_rewards, anchor_states, turn_ids, step_weight, gamma, scale, ddof, eps: as in `gigpo`.
      episode_weight: v; ROLL's episode_reward_weight, 1 by default.
      keep_singletons: if true, the only turn of a prompt keeps R / (1 + eps), as in verl-agent. If false, its
        A^E is 0, as in ROLL.
      across_prompts: if true, equal states of different prompts are compared too, as in ROLL, whose
        `build_state_group` names a group by the state alone.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: as `gigpo`.

    verl-agent `episode_norm_reward` (compute_mean_std_cross_steps=True) and `step_norm_reward`; ROLL
    `compute_response_level_rewards`.

    >>> import numpy as np
    >>> turn_ids = np.array([[[0, -1, -1], [0, 1, 2]]])       # one turn, and three
    >>> rewards, states = np.array([[1.0, 0.0]]), np.arange(6).reshape(1, 2, 3)
    >>> gigpo_over_turns(rewards, np.zeros((1, 2, 3)), states, turn_ids, scale=False)
    array([[[ 0.75,  0.  ,  0.  ],
            [-0.25, -0.25, -0.25]]])
    """
    check_turns(turn_ids, turn_rewards=turn_rewards, anchor_states=anchor_states)
    xp = array_namespace(rewards, turn_rewards)
    every_turn, one_group = rewards[..., None] + xp.zeros_like(turn_rewards), xp.zeros_like(turn_ids[..., :1])
    episodes = _among_turns(every_turn, one_group, turn_ids, Scaling(scale, ddof, eps, keep_singletons))
    returns = _returns(turn_rewards, turn_ids, gamma)
    steps = _among_turns(
        returns, anchor_states, turn_ids, Scaling(scale, ddof, eps), across_prompts=across_prompts
    )
    return to_tokens(episode_weight * episodes + step_weight * steps, turn_ids)


def mt_grpo(
    rewards: Array,
    turn_rewards: Array,
    turn_ids: Array,
    *,
    turn_weight: float = 1.0,
    outcome_weight: float = 1.0,
    ddof: int = 1,
    eps: float = 1e-4,
) -> Array:
    """Advantage of the turn's own reward plus advantage of the outcome: MT-GRPO.

        A_ik = u (r_ik - mean_k) / (std_k + eps) + λ (R_i - mean(R)) / (std(R) + eps)

    mean_k and std_k are those of the k-th turns of the group. A turn without a reward of its own, such as the
    final answer, has r_ik = 0 in every episode; then only the outcome counts.

    Args:
      rewards: (P, G) outcome of each episode.
      turn_rewards: (P, G, K) reward of each turn, for example 1 if the tool could be called.
      turn_ids: (P, G, T).
      turn_weight: u.
      outcome_weight: λ; 1 in the paper's runs.
      ddof, eps: as in `group_normalized`, for both.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: if ddof is not 0 or 1, eps is negative, a shape does not fit or, with NumPy arrays, a
        turn id is too large.

    Zeng et al. 2025, MT-GRPO (arXiv:2505.11821), for any number of turns as in Atropos'
    `tool_use_turnlevel_advantage_server`. The authors' code differs: `mt_grpo_first_turn`.

    >>> import numpy as np
    >>> turn_ids = np.array([[[0, -1, 1], [0, -1, 1]]])                # call, tool, answer
    >>> calls = np.array([[[1.0, 0.0], [0.0, 0.0]]])                   # only the first call was good
    >>> mt_grpo(np.array([[0.0, 1.0]]), calls, turn_ids, ddof=0, eps=0.0)
    array([[[ 0.,  0., -1.],
            [ 0.,  0.,  1.]]])
    """
    check_turns(turn_ids, turn_rewards=turn_rewards)
    xp = array_namespace(turn_rewards, turn_ids)
    taken = taken_turns(turn_ids, turn_rewards.shape[-1])
    # The k-th turns of a group are compared with one another, so the axis of the group goes last.
    by_turn = xp.matrix_transpose(xp.where(taken, turn_rewards, 0.0))
    one_group = xp.zeros(by_turn.shape, dtype=xp.int64)
    turns = normalized_among_equals(by_turn, one_group, xp.matrix_transpose(taken), Scaling(True, ddof, eps))
    outcome = group_normalized(rewards, ddof=ddof, eps=eps)
    return to_tokens(turn_weight * xp.matrix_transpose(turns) + outcome_weight * outcome[..., None], turn_ids)


def mt_grpo_first_turn(
    rewards: Array,
    turn_rewards: Array,
    turn_ids: Array,
    *,
    turn_weight: float = 1.0,
    ddof: int = 1,
    eps: float = 1e-4,
) -> Array:
    """MT-GRPO as the authors' code has it: only the turn before the tool's result has a reward of its own.

        A_i0 = Â(R)_i + u Â(r₀)_i,    A_ik = Â(R)_i for k > 0        if the episode has a second turn
        A_i0 = Â(r₀ + R)_i                                           if it has only one
        Â(x)_i = (x_i - mean(x)) / (std(x) + eps)                    over the G episodes of the prompt

    Unlike in `mt_grpo`, an episode without a second turn enters mean and std of the turn rewards, and its own
    advantage is that of the sum of both rewards.

    Args:
      rewards: (P, G) outcome of each episode.
      turn_rewards: (P, G, K); only those of the first turn are read.
      turn_ids: (P, G, T).
      turn_weight: u, `turn_advantage_coef` of the authors' code, 1 by default.
      ddof, eps: as in `group_normalized`; 1 and 1e-4 in the authors' code.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: as `mt_grpo`.

    `MTGRPOEnvTrainer._assign_advantages` of the authors' Multi-Turn-RL-Agent.
    """
    check_turns(turn_ids, turn_rewards=turn_rewards)
    xp = array_namespace(rewards, turn_rewards, turn_ids)
    first = turn_rewards[..., 0]
    outcome, turn, both = (
        group_normalized(values, ddof=ddof, eps=eps) for values in (rewards, first, first + rewards)
    )
    several = xp.any(turn_ids > 0, axis=-1)
    of_first = xp.where(several, outcome + turn_weight * turn, both)
    advantages = xp.where(turn_ids == 0, of_first[..., None], outcome[..., None])
    return xp.where(turn_ids >= 0, advantages, 0.0)


def turn_returns(
    turn_rewards: Array,
    turn_ids: Array,
    *,
    gamma: float = 0.95,
    scale: bool = True,
    ddof: int = 1,
    eps: float = 1e-6,
    across_prompts: bool = False,
) -> Array:
    """Discounted return of each turn, standardized over all turns of the prompt's episodes.

        R_ik = Σⱼ γ^(j - k) r_ij,    A_ik = (R_ik - mean) / (std + eps)

    With gamma = 0 a turn is judged by its own reward alone. Turns at different places of an episode share one
    mean, although the later ones have less of the return ahead of them.

    Args:
      turn_rewards: (P, G, K) reward that the environment gave after each turn.
      turn_ids: (P, G, T).
      gamma: discount per turn, 0 <= gamma <= 1; 0.95 in ROLL, 0 in RLinf.
      scale: if false, do not divide by the standard deviation.
      ddof, eps: as in `group_normalized`; 1 and 1e-6 in both trainers.
      across_prompts: if true, mean and std are those of all turns of the batch, as in ROLL with grouping
        batch.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: as `gigpo`.

    ROLL `compute_response_level_rewards`, adv_estimator step_reinforce with reward_normalization.grouping
    traj_group_id; RLinf `compute_grpo_dynamic_advantages`, advantage_mode "turn" (gamma = 0).
    """
    check_turns(turn_ids, turn_rewards=turn_rewards)
    xp = array_namespace(turn_ids)
    one_group = xp.zeros_like(turn_ids[..., :1])
    returns = _returns(turn_rewards, turn_ids, gamma)
    scores = _among_turns(
        returns, one_group, turn_ids, Scaling(scale, ddof, eps), across_prompts=across_prompts
    )
    return to_tokens(scores, turn_ids)


def discounted_over_turns(
    rewards: Array, turn_ids: Array, *, gamma: float = 1.0, ddof: int = 1, eps: float = 1e-6
) -> Array:
    """Standardized reward of the episode, discounted for each turn that followed.

        A_ik = γ^(K_i - 1 - k) (R_i - mean(R)) / (std(R) + eps),    K_i turns in episode i

    A short episode gives its early turns more credit than a long one.

    Args:
      rewards: (P, G) reward of each episode.
      turn_ids: (P, G, T).
      gamma: discount per turn, 0 <= gamma <= 1; 1 in ROLL by default.
      ddof, eps: as in `group_normalized`; 1 and 1e-6 in ROLL.

    Returns:
      (P, G, T), 0 where the turn id is -1.

    Raises:
      ValueError: if gamma is out of range, ddof is not 0 or 1, or eps is negative.

    ROLL `compute_agentic_reinforce_return`, adv_estimator agentic_reinforce with one reward at the end.
    """
    check_gamma(gamma)
    xp = array_namespace(rewards, turn_ids)
    scores = group_normalized(rewards, ddof=ddof, eps=eps)[..., None]
    turns_after = xp.astype(xp.max(turn_ids, axis=-1, keepdims=True) - turn_ids, scores.dtype)
    discounts = xp.astype(gamma**turns_after, scores.dtype)
    return xp.where(turn_ids >= 0, discounts * scores, 0.0)


def centered_by_id(rewards: Array, group_ids: Array, *, keep_singletons: bool = False) -> Array:
    """Reward minus the mean of the rewards with the same group id, for groups that are not rows.

        A_i = r_i - mean(r_j : id_j = id_i)

    Use group ids if the members of a group have different prompts or their number varies: the turns of an
    episode as samples of their own, or the roles of an environment. In prime-rl's hierarchical_grpo, the
    attempts on one proposed problem share an id, and so do the proposals for one task.

    Args:
      rewards: (P, G); all P G entries are compared by their ids, whatever their row.
      group_ids: (P, G) integers.
      keep_singletons: if true, a reward without another of its id stays as it is. If false, it becomes 0.

    Returns:
      (P, G). The advantages of each id sum to zero.

    prime-rl `HierarchicalGRPOAlgorithm.score_group`.

    >>> import numpy as np
    >>> rewards = np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 0.3]])        # 3 attempts, 2 attempts, a proposal
    >>> centered_by_id(rewards, np.array([[0, 0, 0, 1, 1, 2]])).round(3)
    array([[ 0.333,  0.333, -0.667,  0.   ,  0.   ,  0.   ]])
    """
    return _by_id(rewards, group_ids, Scaling(False, 0, 0.0, keep_singletons))


def normalized_by_id(
    rewards: Array, group_ids: Array, *, ddof: int = 1, eps: float = 1e-6, keep_singletons: bool = False
) -> Array:
    """Reward standardized among the rewards with the same group id: GRPO's advantage for uneven groups.

        A_i = (r_i - mean(r_j : id_j = id_i)) / (std(r_j : id_j = id_i) + eps)

    Args:
      rewards, group_ids: as in `centered_by_id`.
      ddof, eps: as in `group_normalized`.
      keep_singletons: if true, a reward without another of its id becomes r / (1 + eps), as in verl. If
        false, it becomes 0, as in ROLL.

    Returns:
      (P, G). The advantages of each id sum to zero; equal rewards with the same id give exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    verl `compute_grpo_outcome_advantage`, whose `index` is the group id; ROLL `agentic_reward_norm`.
    """
    return _by_id(rewards, group_ids, Scaling(True, ddof, eps, keep_singletons))


def _by_id(rewards: Array, group_ids: Array, scaling: Scaling) -> Array:
    xp = array_namespace(rewards, group_ids)
    if tuple(rewards.shape) != tuple(group_ids.shape):
        raise ValueError(
            f"group_ids: expected shape {tuple(rewards.shape)}, one for each reward,"
            f" got {tuple(group_ids.shape)}"
        )
    flat = (*rewards.shape[:-2], rewards.shape[-2] * rewards.shape[MEMBERS])
    values, ids = xp.reshape(rewards, flat), xp.reshape(group_ids, flat)
    everyone = xp.ones(flat, dtype=xp.bool)
    return xp.reshape(normalized_among_equals(values, ids, everyone, scaling), rewards.shape)


def _returns(turn_rewards: Array, turn_ids: Array, gamma: float) -> Array:
    """Return (P, G, K) the discounted return of each turn."""
    return discounted_returns(turn_rewards, taken_turns(turn_ids, turn_rewards.shape[-1]), gamma=gamma)


def _among_turns(
    values: Array, ids: Array, turn_ids: Array, scaling: Scaling, *, across_prompts: bool = False
) -> Array:
    """Compare one value per turn (P, G, K) with those of equal id, within each prompt or over the batch."""
    xp = array_namespace(values, ids, turn_ids)
    *runs, prompts, members, turns = values.shape
    flat = (*runs, prompts * members * turns) if across_prompts else (*runs, prompts, members * turns)
    taken = taken_turns(turn_ids, turns)
    ids = xp.broadcast_to(ids, values.shape)
    flat_values, flat_ids, flat_taken = (xp.reshape(array, flat) for array in (values, ids, taken))
    return xp.reshape(normalized_among_equals(flat_values, flat_ids, flat_taken, scaling), values.shape)
