"""AReaL: the calls and metrics of its recorded cases."""

from math import log
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref.explain.dialects import areal
from grpo_ref.parity.measured import Measured
from grpo_ref.parity.metrics.areal import METRICS

PLAIN = {"actor.kl_ctl": 0.0, "gconfig.n_samples": 4}


# ratio of a token, its advantage -> share of clipped tokens and of those at the dual clip, at 0.2 and 2
CLIPPED_TOKENS = {
    "a good token, too likely": (1.5, 1.0, 1.0, 0.0),
    "a bad token, too likely": (1.5, -1.0, 0.0, 0.0),
    "a bad token, far too likely": (3.0, -1.0, 0.0, 1.0),
    "a bad token, too rare": (0.5, -1.0, 1.0, 0.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "clip", "dual"), CLIPPED_TOKENS.values(), ids=CLIPPED_TOKENS)
def test_a_clipped_token_is_counted(ratio, advantage, clip, dual):
    dialect = areal.DIALECT
    config = PLAIN | {"c_clip": 2.0}
    ones = np.ones((1, 1, 1))
    record = SimpleNamespace(
        log_probs=log(ratio) - ones, old_log_probs=-ones, mask=ones, advantages=advantage * ones[..., 0]
    )
    measured = Measured(dialect.settings(config), dialect.recipe(**config), record, {})
    assert METRICS["clip_ratio"](measured) == clip
    assert METRICS["dual_clip_ratio"](measured) == dual
