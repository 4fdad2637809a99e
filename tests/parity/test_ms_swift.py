"""ms-swift: the calls and metrics of its recorded cases."""

from types import SimpleNamespace

import numpy as np

from grpo_ref.explain.dialects import ms_swift
from grpo_ref.parity.calls.ms_swift import advantages

MASK = np.array([[[1.0, 1.0], [1.0, 0.0]]])
"""Two completions of one prompt, of two tokens and of one."""


def test_a_reward_of_none_is_a_reward_of_0():
    record = SimpleNamespace(rewards=np.array([[2.0, np.nan]]), mask=MASK)
    config = {"scale_rewards": "none", "beta": 0.0}
    assert advantages(ms_swift.DIALECT, config, record)["value"].tolist() == [[1.0, -1.0]]


def test_with_gdpo_what_one_function_does_not_score_is_compared_by_the_others():
    """The first one has one score and adds nothing; the second gives ±1/√2, which whitening keeps."""
    components = np.array([[[5.0, 1.0], [np.nan, 0.0]]])
    record = SimpleNamespace(components=components, weights=np.ones(2), mask=MASK)
    found = advantages(ms_swift.DIALECT, {"scale_rewards": "gdpo", "beta": 0.0}, record)["value"]
    np.testing.assert_allclose(found, np.array([[1.0, -1.0]]) * np.sqrt(0.5), rtol=1e-7)
