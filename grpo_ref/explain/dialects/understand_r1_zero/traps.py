"""Traps: configurations of understand-r1-zero with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

TRAPS = (
    Trap(
        "beta: pg_loss is logged with the penalty",
        lambda s, given: s.beta > 0.0,
        "beta is 0.1 by default, so there is a penalty. It is added in place, so the logged pg_loss is"
        " the whole loss. The released scripts set beta to 0.",
        "oat 0.1.3.post1 ppo.py, learning_step",
        {"beta": 0.04},
        {"beta": 0.0},
    ),
    Trap(
        "non_stop_fixed_reward and non_stop_penalty are ignored",
        lambda s, given: bool({"non_stop_fixed_reward", "non_stop_penalty"} & given),
        "The actor of understand-r1-zero does not read non_stop_fixed_reward and non_stop_penalty."
        " Completions that do not end within the budget get the reward 0.",
        "understand-r1-zero train_zero_math.py, ZeroMathActor.step",
        {"non_stop_fixed_reward": -0.5},
        {"beta": 0.0},
    ),
    Trap(
        "cliprange is negative, so the clip excludes the ratio 1",
        lambda s, given: s.cliprange < 0.0 and not s.reinforce_update,
        "cliprange may be any number. Below 0 the bounds are swapped, and every ratio is clipped to 1 +"
        " cliprange: good tokens of fresh data have no gradient, and bad ones keep theirs.",
        "oat 0.1.3.post1 ppo.py, torch.clamp",
        {"cliprange": -0.1},
        {"cliprange": 0.0},
    ),
    Trap(
        "num_samples is 1: there is nothing to compare",
        lambda s, given: s.num_samples == 1,
        'With one completion per prompt there is nothing to compare. critic_type="grpo" divides by the'
        ' std of a single number, which is NaN in PyTorch, and so is the loss. With "drgrpo" all'
        " advantages are 0.",
        "understand-r1-zero train_zero_math.py, compute_monte_carlo_advantages",
        {"num_samples": 1},
        {"num_samples": 2},
    ),
    Trap(
        "kl_penalty_coef is negative",
        lambda s, given: s.kl_penalty_coef < 0.0,
        "A negative kl_penalty_coef is a bonus for moving away from the reference if beta is above 0."
        " Otherwise it does nothing, because no reference is loaded.",
        "oat 0.1.3.post1 rl.py and ppo.py",
        {"kl_penalty_coef": -0.1},
        {"kl_penalty_coef": 0.1},
    ),
    Trap(
        "beta is negative, so there is no penalty",
        lambda s, given: s.beta < 0.0,
        "Below 0, beta loads no reference and adds nothing to the loss.",
        "oat 0.1.3.post1 ppo.py, learning_step, and rl.py",
        {"beta": -0.04},
        {"beta": 0.04},
    ),
)
"""The traps, in the order in which they are reported."""
