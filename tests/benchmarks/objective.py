"""What do the checks of `grpo_objective` cost? Against the bare formula, for one group of eight.

Target: at most twice the time.
"""

import numpy as np
from measure import heading, interleaved, spread

from grpo_ref import grpo_objective

GROUP_SIZE, CALLS, TARGET = 8, 2000, 2.0


def bare(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    """The formula as one would write it first, without a check."""
    surrogate = np.minimum(rhos * A, np.clip(rhos, 1.0 - epsilon, 1.0 + epsilon) * A).mean()
    policy = rhos * pi_theta_old
    policy = policy / policy.sum()
    reference = pi_theta_ref / pi_theta_ref.sum()
    return float(surrogate - beta * np.sum(policy * np.log(policy / reference + 1e-10)))


def main() -> None:
    """Check that both agree, time them and print."""
    rng = np.random.default_rng(0)
    group = (
        np.exp(0.1 * rng.normal(size=GROUP_SIZE)),
        rng.normal(size=GROUP_SIZE),
        rng.dirichlet(np.ones(GROUP_SIZE)),
        rng.dirichlet(np.ones(GROUP_SIZE)),
    )
    np.testing.assert_allclose(grpo_objective(*group), bare(*group), rtol=1e-12)

    def repeated(function):
        return lambda: [function(*group) for _ in range(CALLS)]

    seconds = interleaved({"checked": repeated(grpo_objective), "bare": repeated(bare)}, 15)
    ratios = [ours / plain for ours, plain in zip(seconds["checked"], seconds["bare"], strict=True)]
    heading(f"grpo_objective for G = {GROUP_SIZE}, microseconds a call")
    for name, values in seconds.items():
        print(f"  {name:16} {spread([1e6 * value / CALLS for value in values], 1)}")
    verdict = "met" if np.median(ratios) <= TARGET else "NOT met"
    print(f"  checked / bare, at most {TARGET:.0f}   {spread(ratios, 2)}   {verdict}")


if __name__ == "__main__":
    main()
