"""Loss and gradient from logits: ours against PyTorch eager, and against what np.exp alone allows.

Without PyTorch (extra `bench`) its column is left out, and that is said. Numbers are compared before timing.
"""

from dataclasses import replace

import numpy as np
from measure import heading, interleaved, spread

from grpo_ref import DAPO, policy_loss_from_logits, token_log_probs

SHAPES = {
    "2048 rows, V = 32000, float32": (16, 128, 32000, np.float32),
    "2048 rows, V = 32000, float64": (16, 128, 32000, np.float64),
    "4096 rows, V = 4096, float32": (32, 128, 4096, np.float32),
    "16384 rows, V = 64, float32": (64, 256, 64, np.float32),
}
RECIPE = replace(DAPO, kl_coef=0.04)


def eager(torch, logits, tokens, advantages, old, ref):
    """The same loss by PyTorch, differentiated."""
    logits, tokens = torch.tensor(logits), torch.tensor(tokens)[..., None]
    old, ref = (torch.tensor(array, dtype=logits.dtype) for array in (old, ref))
    advantages = torch.tensor(advantages, dtype=logits.dtype)[:, None]

    def run():
        leaf = logits.detach().requires_grad_()
        log_probs = torch.log_softmax(leaf, -1).gather(-1, tokens)[..., 0]
        ratio = torch.exp(log_probs - old)
        gain = torch.minimum(ratio * advantages, torch.clamp(ratio, 0.8, 1.28) * advantages)
        away = ref - log_probs
        loss = -(gain - 0.04 * (torch.exp(away) - away - 1)).mean()
        loss.backward()
        return float(loss.detach()), leaf.grad.numpy()

    return run


def main() -> None:
    """Time each shape and print a table."""
    try:
        import torch

        torch.set_num_threads(2)
        peer = f"PyTorch {torch.__version__} eager, 2 threads"
    except ImportError:
        torch, peer = None, "PyTorch is not installed: left out (pip install -e '.[bench]')"
    heading("loss and gradient from logits, seconds")
    print(f"  {peer}")
    for name, (rows, length, vocabulary, dtype) in SHAPES.items():
        rng = np.random.default_rng(0)
        logits = rng.normal(size=(rows, length, vocabulary)).astype(dtype)
        tokens, mask = rng.integers(0, vocabulary, (rows, length)), np.ones((rows, length))
        advantages, out = rng.normal(size=rows), np.empty_like(logits)
        at = token_log_probs(logits, tokens)
        old, ref = (at + 0.1 * rng.normal(size=at.shape) for _ in range(2))
        given = {"recipe": RECIPE, "old_log_probs": old, "ref_log_probs": ref}

        def ours(arrays=(logits, tokens, advantages, mask), settings=given, **more):
            return policy_loss_from_logits(*arrays, **settings, **more)

        actions = {
            "ours, out given": lambda run=ours, out=out: run(out=out),
            "ours, fresh": ours,
            "np.exp alone, 1 thread": lambda logits=logits, out=out: np.exp(logits, out=out),
        }
        if torch is not None:
            theirs = eager(torch, logits, tokens, advantages, old, ref)
            loss, gradient = theirs()
            result = ours()
            close = 1e-5 if dtype == np.float32 else 1e-12
            assert abs(loss - result.loss) < close * 10
            assert np.abs(gradient - result.gradient).max() < close * np.abs(gradient).max() * 10
            actions["PyTorch eager"] = theirs
        seconds = interleaved(actions, 7)
        print(f"  {name}")
        for action, values in seconds.items():
            ratio = np.median(values) / np.median(seconds["ours, out given"])
            print(f"    {action:24} {spread(values)}   {ratio:.2f} x ours")


if __name__ == "__main__":
    main()
