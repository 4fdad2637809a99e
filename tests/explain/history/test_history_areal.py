"""AReaL: keys that only earlier releases have, by areal/api/cli_args.py at their tags."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.understanding import understood

AREAL = DIALECTS["areal"]


# bcff2163a (2025-09-23) replaces the truth values by the blocks reward_norm and adv_norm
@pytest.mark.parametrize("key", ["actor.group_reward_norm", "actor.group_adv_norm"])
def test_a_normalization_of_0_3_1_leaves_the_advantage_unknown(key):
    (unsure,) = understood(AREAL, {key: True, "actor.eps_clip": 0.2}, forked=True).unsure
    assert (unsure.key, "advantage" in unsure.parts) == (key, True)
    assert understood(AREAL, {key: False, "actor.eps_clip": 0.2}, forked=True).unsure == []
