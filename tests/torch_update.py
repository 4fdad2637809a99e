"""Two steps of SGD on one batch in PyTorch, by autograd: what the manual gradients of an update are held to.

The formulas are those of the papers: DeepSeekMath, eq. 3; DAPO, eq. 8, 11 and 13; GSPO, eq. 5; MiniMax-M1,
eq. 4.
"""

import torch
import torch_transformer

TEMPERATURE = 0.7


def grpo(new, old, ref, advantages, mask):
    ratio = torch.exp(new - old)
    gain = torch.minimum(ratio * advantages, ratio.clip(0.8, 1.2) * advantages)
    penalty = torch.exp(ref - new) - (ref - new) - 1.0
    return -(((gain - 0.04 * penalty) * mask).sum(-1) / mask.sum(-1)).mean()


def dapo(new, old, ref, advantages, mask):
    ratio = torch.exp(new - old)
    gain = torch.minimum(ratio * advantages, ratio.clip(0.8, 1.28) * advantages)
    return -(gain * mask).sum() / mask.sum()


def gspo(new, old, ref, advantages, mask):
    ratio = torch.exp(((new - old) * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True))
    return -torch.minimum(ratio * advantages, ratio.clip(1.0 - 3e-4, 1.0 + 4e-4) * advantages).mean()


def cispo(new, old, ref, advantages, mask):
    weight = torch.exp(new - old).clip(0.0, 5.0).detach()
    return -(weight * advantages * new * mask).sum() / mask.sum()


LOSSES = {"grpo": grpo, "dapo": dapo, "gspo": gspo, "cispo": cispo}


def two_steps(recipe, sizes, start, ref, batch, learning_rate):
    """Losses, and gradients by name, of two steps on a batch.

    Args:
      recipe: a key of `LOSSES`.
      sizes: the `Transformer`.
      start, ref: NumPy arrays by name, the weights of the policy and of the reference.
      batch: prompt_tokens (P, L), tokens and mask (P, G, T), rewards (P, G), as nested lists.
      learning_rate: of SGD.
    """
    tokens, mask, rewards = torch.tensor(batch["tokens"]), *_floats(batch["mask"], batch["rewards"])
    alive = torch.ones(len(rewards), dtype=bool)
    if recipe == "dapo":
        alive = rewards.amax(-1) != rewards.amin(-1)
        rewards = rewards + 0.5 * _overlong(mask.sum(-1), tokens.shape[-1])  # half, as rewards are 1 and 0
    centered = rewards - rewards.mean(-1, keepdim=True)
    advantages = (centered / (rewards.std(-1, keepdim=True) + 1e-4))[..., None]
    prompts = torch.tensor(batch["prompt_tokens"])[:, None].expand(-1, tokens.shape[1], -1)
    read = torch.cat([prompts, tokens], dim=-1)
    weights = torch_transformer.parameters(start)
    old = _log_probs(weights, read, tokens, sizes).detach()
    said = _log_probs(torch_transformer.parameters(ref), read, tokens, sizes).detach()
    steps = []
    for _ in range(2):
        new = _log_probs(weights, read, tokens, sizes)
        loss = LOSSES[recipe](*(x[alive] for x in (new, old, said, advantages, mask)))
        gradients = dict(zip(weights, torch.autograd.grad(loss, list(weights.values())), strict=True))
        steps.append((loss.item(), {name: gradient.numpy() for name, gradient in gradients.items()}))
        weights = {
            name: (tensor - learning_rate * gradients[name]).detach().requires_grad_()
            for name, tensor in weights.items()
        }
    return steps


def _floats(*lists):
    return (torch.tensor(values, dtype=torch.float64) for values in lists)


def _overlong(lengths, budget):
    """Nothing until a fifth of the budget is left, then down to -1 at its end."""
    buffer = 0.2 * budget
    return ((budget - buffer - lengths) / buffer).clip(-1.0, 0.0)


def _log_probs(weights, read, tokens, sizes):
    """(P, G, T) of each token after all before it."""
    length = tokens.shape[-1]
    logits = torch_transformer.logits_of(weights, read.flatten(0, 1)[:, :-1], sizes)[:, -length:]
    said = torch.log_softmax(logits / TEMPERATURE, dim=-1).view(*tokens.shape, -1)
    return said.gather(-1, tokens[..., None])[..., 0]
