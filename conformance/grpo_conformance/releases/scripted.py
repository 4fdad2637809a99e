"""Scripted completions, rewards and log-probabilities, and a tiny model that returns exactly these numbers.

Everything of a trainer runs as released, except `model.generate` and the forward of the model's
backbone. The hidden size is the size of the vocabulary and the output head is the identity, so the
hidden states are the logits. A release that reads logits, hidden states in chunks or a fused head gets
the same log-probabilities. The first token of a completion names its row of the tables.
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

GENERATIONS, GROUPS, LENGTH = 4, 3, 8
ROWS = GENERATIONS * GROUPS
BATCHES = 5
# The vocabulary: three special tokens, a token for each prompt, one for each row, and the rest.
PAD, EOS, UNKNOWN, FIRST_PROMPT, FIRST_ROW, FIRST_WORD, VOCABULARY = 0, 1, 2, 3, 9, 21, 32
TINY_MODEL = Path("tiny_model")


class Tables(NamedTuple):
    """One batch: what each completion is, its rewards, and its log-probabilities under four models.

    Args:
      ids: (rows, length) tokens; a completion ends with EOS unless it is truncated.
      lengths: (rows,) tokens of each completion, with EOS.
      holes: (rows, length) tokens that no model generated, such as the answer of a tool.
      rewards: (rows, 2) rewards of two functions.
      policy, old, reference, sampler: (rows, length) log-probabilities in nats.
    """

    ids: torch.Tensor
    lengths: torch.Tensor
    holes: torch.Tensor
    rewards: torch.Tensor
    policy: torch.Tensor
    old: torch.Tensor
    reference: torch.Tensor
    sampler: torch.Tensor


def make_tables(seed: int, variant: str = "") -> Tables:
    """Draw one batch.

    Batch 2 has a group with equal rewards, in batch 3 a whole group is truncated, and in batch 4 every row is.

    Args:
      seed: number of the batch.
      variant: "" for ratios near 1. "extreme", "far" and "overflow" for some ratios of e^±20, e^±60 and e^±100;
        the last are infinite or 0 in float32. "nan" for a sampler that could not score some tokens.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    lengths = torch.randint(2, LENGTH + 1, (ROWS,), generator=generator)
    truncated = {3: [4, 5, 6, 7], 4: list(range(ROWS))}.get(seed, [0, 7])
    lengths[truncated] = LENGTH
    rewards = torch.stack([(uniform(ROWS) > 0.5).float(), uniform(ROWS).round(decimals=2)], 1)
    if seed == 2:
        rewards[:GENERATIONS] = 0.5
    shape = (ROWS, LENGTH)
    old = -(uniform(*shape) * 2.0 + 0.05)
    policy = old + 0.35 * normal(*shape)
    reference = old + 0.5 * normal(*shape)
    sampler = old + 0.3 * normal(*shape)
    ids = torch.randint(FIRST_WORD, VOCABULARY, shape, generator=generator)
    ids[:, 0] = FIRST_ROW + torch.arange(ROWS)
    for row in set(range(ROWS)) - set(truncated):
        ids[row, lengths[row] - 1] = EOS
        ids[row, lengths[row] :] = PAD
    # The row's name and the last token stay the policy's own.
    position = torch.arange(LENGTH)
    holes = (uniform(*shape) < 0.3) & (position > 0) & (position < lengths[:, None] - 1)

    far = {"extreme": 20.0, "far": 60.0, "overflow": 100.0}.get(variant)
    if far is not None:
        kind = torch.randint(0, 8, shape, generator=generator)
        policy = torch.where(kind == 0, old - far, policy)
        old = torch.where(kind == 1, policy - far, old)
        sampler = torch.where(kind == 2, old - far, torch.where(kind == 3, old + far, sampler))
    if variant == "nan":
        sampler = torch.where(uniform(*shape) < 0.2, torch.nan, sampler)
    highest = -0.01  # a probability below 1, so that the other tokens have one
    return Tables(
        ids,
        lengths,
        holes,
        rewards,
        policy.clamp(max=highest),
        old,
        reference.clamp(max=highest),
        sampler.clamp(max=highest),
    )


def make_tiny_model(folder: Path = TINY_MODEL) -> None:
    """Write the model and its tokenizer into a folder."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = ["<pad>", "<eos>", "<unk>"]
    vocabulary += [f"p{i}" for i in range(FIRST_ROW - FIRST_PROMPT)] + [f"r{i}" for i in range(ROWS)]
    vocabulary += [f"w{i}" for i in range(VOCABULARY - len(vocabulary))]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left", **special).save_pretrained(
        folder
    )
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=VOCABULARY,
            intermediate_size=8,
            num_hidden_layers=1,
            num_attention_heads=4,
            num_key_value_heads=4,
            pad_token_id=PAD,
            eos_token_id=EOS,
            bos_token_id=None,
            tie_word_embeddings=False,
        )
    )
    model.lm_head.weight.data.copy_(torch.eye(VOCABULARY))
    model.generation_config.pad_token_id, model.generation_config.eos_token_id = PAD, EOS
    model.save_pretrained(folder)


def logits_for(log_probs: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Return logits whose log-softmax at `ids` is `log_probs`; all other tokens share the rest.

    The logits are normalized, so the derivative of the log-softmax at `ids` by `log_probs` is 1.
    """
    rest = torch.log1p(-log_probs.exp()) - math.log(VOCABULARY - 1)
    logits = rest.unsqueeze(-1).expand(*log_probs.shape, VOCABULARY)
    chosen = torch.nn.functional.one_hot(ids, VOCABULARY).bool()
    return torch.where(chosen, log_probs.unsqueeze(-1), logits)


def script_forward(model: Any, log_probs: Callable[[], torch.Tensor]) -> None:
    """Replace the forward of a model's backbone.

    Args:
      model: the tiny model.
      log_probs: returns the (rows, length) table that is valid at the time of the call.
    """
    from transformers.modeling_outputs import BaseModelOutputWithPast

    def forward(input_ids: torch.Tensor, **_: Any) -> BaseModelOutputWithPast:
        batch, width = input_ids.shape
        is_row_name = (input_ids >= FIRST_ROW) & (input_ids < FIRST_WORD)
        starts = is_row_name.int().argmax(1)
        start = int(starts[0])
        assert (starts == start).all(), "completions begin in the same column"
        rows = input_ids[:, start] - FIRST_ROW
        logits = logits_for(log_probs()[rows][:, : width - start], input_ids[:, start:])
        # The logits of a token stand one column earlier.
        before, after = torch.zeros(batch, start - 1, VOCABULARY), torch.zeros(batch, 1, VOCABULARY)
        return BaseModelOutputWithPast(last_hidden_state=torch.cat([before, logits, after], 1))

    model.model.forward = forward


def scripted_generate(tables: Callable[[], Tables]) -> Callable[..., torch.Tensor]:
    """Return a `generate` that gives each prompt the completions of its group, in order."""

    def generate(input_ids: torch.Tensor, generation_config: Any = None, **others: Any) -> torch.Tensor:
        prompts = ((input_ids[:, -1] - FIRST_PROMPT) % GROUPS).tolist()
        # A release either repeats the prompts itself or asks for several completions of each.
        repeated = len(prompts) > len(set(prompts))
        each = 1 if repeated else generation_config.num_return_sequences or 1
        now, rows = tables(), []
        seen = [0] * GROUPS
        for prompt in prompts:
            for _ in range(each):
                rows.append(prompt * GENERATIONS + seen[prompt] % GENERATIONS)
                seen[prompt] += 1
        width = int(now.lengths[rows].max())
        return torch.cat([input_ids.repeat_interleave(each, 0), now.ids[rows][:, :width]], 1)

    return generate


def mask_of(tables: Tables, kind: str) -> torch.Tensor:
    """Return the (rows, length) mask: 1 on the tokens of completions; "empty" and "holes" take some of them out."""
    mask = (torch.arange(LENGTH) < tables.lengths[:, None]).float()
    if kind == "empty":
        mask[[2, 9]] = 0.0
    if kind == "holes":
        mask *= (~tables.holes).float()
    return mask


def centered(tables: Tables) -> torch.Tensor:
    """Return (rows, length) advantages: the first reward without its mean."""
    rewards = tables.rewards[:, :1]
    return (rewards - rewards.mean()).expand(-1, LENGTH).contiguous()


def is_scored(unscored: Any, row: int, function: int) -> bool:
    """Return true if a reward function has an answer for a completion.

    Args:
      unscored: true if the first function answers None for a third of the rows, and both for row 5; "group" if
        both answer None for the first group.
      row: number of the completion.
      function: number of the reward function.
    """
    if unscored == "group":
        return row >= GENERATIONS
    return not unscored or (row != 5 and not (row % 3 == 0 and function == 0))


TABLES = ("extreme", "far", "overflow", "nan")
MASKS = ("holes", "empty")
REWARDS = {"two_rewards": False, "unscored": True, "unscored_group": "group"}


def batches(reward: int) -> dict[str, dict[str, Any]]:
    """Return the arrays of every variant of every batch: "plain 0", "extreme 0", "holes 0", "two_rewards 0", ...

    Args:
      reward: number of the reward function whose rewards a variant with one reward has.

    Returns:
      A dictionary for each: rewards (B,) or (B, 2) with None where a function did not answer, mask and log-probabilities
      (B, T), ended (B,) false for a truncated completion, lengths (B,), group_size, and the advantages (B,) that a
      loss is given if a case calls it without computing them.
    """
    arrays = {}
    for variant in ("plain", *TABLES, *MASKS, *REWARDS):
        for seed in range(BATCHES):
            tables = make_tables(seed, variant if variant in TABLES else "")
            rewards: Any = tables.rewards[:, reward].tolist()
            if variant in REWARDS:
                rewards = [
                    [value if is_scored(REWARDS[variant], row, k) else None for k, value in enumerate(both)]
                    for row, both in enumerate(tables.rewards.tolist())
                ]
            last = tables.ids[torch.arange(ROWS), tables.lengths - 1]
            arrays[f"{variant} {seed}"] = {
                "group_size": GENERATIONS,
                "rewards": rewards,
                "lengths": tables.lengths.tolist(),
                "ended": (last == EOS).tolist(),
                "advantages": centered(tables)[:, 0].tolist(),
                "mask": mask_of(tables, variant).int().tolist(),
                "log_probs": tables.policy.tolist(),
                "old_log_probs": tables.old.tolist(),
                "ref_log_probs": tables.reference.tolist(),
                "rollout_log_probs": tables.sampler.tolist(),
            }
    return arrays


if __name__ == "__main__":
    json.dump(batches(int(sys.argv[1])), sys.stdout)
