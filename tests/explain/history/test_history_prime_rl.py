"""prime-rl: keys of its earlier losses, by src/prime_rl/trainer/rl/config.py at the end of each month."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.understanding import understood

PRIME_RL = DIALECTS["prime_rl"]
# key -> the first month of its loss
OF_EARLIER_LOSSES = {
    "loss.clip_ratio": "June 2025",
    "loss.mask_ratio_high": "October 2025",
    "loss.token_mask_high": "December 2025",
    "loss.ipo_mask_low": "March 2026",
}


@pytest.mark.parametrize(("key", "month"), OF_EARLIER_LOSSES.items(), ids=OF_EARLIER_LOSSES)
def test_a_key_of_an_earlier_loss_leaves_the_surrogate_unknown(key, month):
    found = understood(PRIME_RL, {f"trainer.{key}": 0.5, "group_size": 8}, forked=True)
    (unsure,) = found.unsure
    assert ("surrogate" in unsure.parts, month in unsure.value.why) == (True, True)
    with pytest.raises(ValueError, match="cannot be expressed here"):
        PRIME_RL.recipe(**{key: 0.5})
