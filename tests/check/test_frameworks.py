"""Loss functions of other libraries are differentiated by them."""

import pytest
from losses import with_gradient

from grpo_ref import DAPO
from grpo_ref.check import compare


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_autograd_is_used_where_there_is_one(framework):
    library = pytest.importorskip(framework)

    def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        xp = library if framework == "torch" else library.numpy
        ratio = xp.exp(xp.where(mask > 0, log_probs - old_log_probs, xp.zeros_like(mask)))
        gain = xp.minimum(ratio * advantages[:, None], xp.clip(ratio, 0.8, 1.28) * advantages[:, None])
        return -xp.where(mask > 0, gain, xp.zeros_like(mask)).sum() / mask.sum()

    found = compare(loss, DAPO, framework=framework, batches=30)
    assert found.agrees, str(found)
    assert found.gradients


def test_an_unknown_framework_is_named():
    with pytest.raises(ValueError, match="framework: expected one of numpy, torch, jax, got 'theano'"):
        compare(with_gradient, DAPO, framework="theano")
