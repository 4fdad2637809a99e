"""prime-rl: the calls and metrics of its recorded cases."""

import numpy as np

from grpo_ref.explain.dialects.prime_rl.kernels import (
    length_penalized,
)
from grpo_ref.parity.calls.prime_rl import length_penalized_turns


def test_what_all_of_a_group_have_alike_cancels():
    rewards, lengths, alike = np.array([[1.0, 0.0]]), np.array([[8, 4]]), np.array([[3, 3]])
    np.testing.assert_allclose(
        length_penalized_turns(rewards, lengths, alike, alike), length_penalized(rewards, lengths), rtol=1e-12
    )
