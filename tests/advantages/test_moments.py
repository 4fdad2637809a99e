"""What the advantages share: exact zeros, and settings out of range."""

import numpy as np
import pytest

from grpo_ref import group_normalized
from grpo_ref.advantages import batch_scaled, best_of_group, group_centered, leave_one_out


@pytest.mark.parametrize("kernel", [group_normalized, group_centered, batch_scaled, leave_one_out])
def test_equal_rewards_give_exact_zeros(kernel):
    """The mean of three 0.1 is 0.10000000000000002, which must not be blown up by a small eps."""
    assert (kernel(np.full((2, 3), 0.1)) == 0.0).all()


@pytest.mark.parametrize("kernel", [group_normalized, batch_scaled, best_of_group])
def test_settings_out_of_range_are_named(kernel):
    with pytest.raises(ValueError, match=r"ddof: expected 0 .* or 1 .*, got 2"):
        kernel(np.array([[1.0, 0.0]]), ddof=2)
    with pytest.raises(ValueError, match="eps: expected a number >= 0, got -1"):
        kernel(np.array([[1.0, 0.0]]), eps=-1)
