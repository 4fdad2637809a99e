import numpy as np

from grpo_ref.lab.framework.tasks.drawn_bandits import drawn_kind


def test_kinds_lie_within_their_bounds_and_payoffs_between_0_and_1():
    generator = np.random.default_rng(0)
    kinds = [drawn_kind(generator, most_arms=5) for _ in range(64)]
    assert {kind.arms for kind in kinds} == {2, 3, 4, 5}
    assert all(0.1 <= kind.evenness <= 1.0 and 0.1 <= kind.sharpness <= 3.0 for kind in kinds)
    means, logits = kinds[0].draw(generator, contexts=7)
    assert means.shape == logits.shape == (7, kinds[0].arms)
    assert means.min() >= 0.0
    assert means.max() <= 1.0
