"""Traps: arguments of Liger's loss with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

SOURCE = "Liger-Kernel chunked_loss/grpo_loss.py, ppo_loss_fn"
TRAPS = (
    Trap(
        'epsilon_high is the cap itself with loss_type="cispo"',
        lambda s, given: s.loss_type == "cispo" and s.epsilon_high < 1.0,
        "The weight of a token is at most epsilon_high, not 1 + epsilon_high. With the default 0.2 nearly every token has"
        " the weight 0.2. Typical values are about 5.",
        SOURCE,
        {"loss_type": "cispo"},
        {"loss_type": "cispo", "epsilon_high": 5.0},
    ),
    Trap(
        "epsilon_low and epsilon_high are too large for importance_sampling_level=sequence",
        lambda s, given: (
            s.importance_sampling_level == "sequence"
            and s.loss_type in ("dapo", "grpo", "bnpo")
            and s.epsilon_low >= 0.01
        ),
        "The ratio of a sequence is a geometric mean, which hardly changes. The default, 0.2, never clips it. GSPO's"
        " paper uses 0.0003 and 0.0004.",
        f"{SOURCE}; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "sequence", "epsilon_low": 3e-4, "epsilon_high": 4e-4},
    ),
    Trap(
        "epsilon_low has no effect with this loss_type",
        lambda s, given: s.loss_type in ("cispo", "sapo", "vespo") and "epsilon_low" in given,
        "cispo has only an upper bound; sapo and vespo have no clip.",
        SOURCE,
        {"loss_type": "sapo", "epsilon_low": 0.1},
        {"loss_type": "grpo", "epsilon_low": 0.1},
    ),
    Trap(
        "delta has no effect with this loss_type",
        lambda s, given: s.loss_type in ("cispo", "sapo", "vespo") and s.delta is not None,
        "Only the clipped losses read delta.",
        SOURCE,
        {"loss_type": "sapo", "delta": 4.0},
        {"loss_type": "grpo", "delta": 4.0},
    ),
)
"""The traps, in the order in which they are reported."""
