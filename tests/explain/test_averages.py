"""The weights of tokens in one optimizer step of a trainer."""

import numpy as np
import pytest

from grpo_ref import explain
from grpo_ref.explain import effective_weights
from grpo_ref.explain.dialects import DIALECTS

# Four completions of 1, 3, 2 and 4 tokens, in two groups.
LENGTHS = np.array([[1, 3], [2, 4]])
MASK = (np.arange(4) < LENGTHS[..., None]).astype(float)
UNEVEN = [[0, 1, 2], [3]]
BNPO, DAPO, DR_GRPO = "loss_type=bnpo", "loss_type=dapo", "loss_type=dr_grpo"
LEGACY = "trainer.use_legacy_worker_impl=enable"
DYNAMIC = "actor_rollout_ref.actor.use_dynamic_bsz=True"
PER_COMPLETION = "worker.actor.loss_avg_mode=seq"

# trainer, version, settings, micro-batches -> the weight of a token in each of the four completions
WEIGHTS = {
    # Micro-batches of 4 and of 6 tokens, each with half of the weight.
    "TRL bnpo": ("trl", "", (BNPO,), 2, [1 / 8, 1 / 8, 1 / 12, 1 / 12]),
    "TRL dapo": ("trl", "", (DAPO,), 2, [1 / 10] * 4),
    # 4 completions, and a constant length of 8.
    "TRL dr_grpo": ("trl", "", (DR_GRPO, "max_completion_length=8"), 2, [1 / 32] * 4),
    "verl counts the mini-batch": ("verl", "", (), 2, [1 / 10] * 4),
    "verl's legacy worker": ("verl", "0.7.0", (LEGACY,), 2, [1 / 8, 1 / 8, 1 / 12, 1 / 12]),
    "verl's legacy worker, micro-batches of 6 and of 4 tokens": (
        "verl",
        "0.7.0",
        (LEGACY,),
        UNEVEN,
        [1 / 12, 1 / 12, 1 / 12, 1 / 8],
    ),
    # The shares of the completions are 3/4 and 1/4: 3/4 / 6 and 1/4 / 4.
    "verl's legacy worker with a dynamic batch size": (
        "verl",
        "0.7.0",
        (LEGACY, DYNAMIC),
        UNEVEN,
        [1 / 8, 1 / 8, 1 / 8, 1 / 16],
    ),
    "the engine ignores the dynamic batch size": ("verl", "", (DYNAMIC,), UNEVEN, [1 / 10] * 4),
    # The shares of the tokens are 4/10 and 6/10, with two completions each: 4/10 / (2 · 1), 4/10 / (2 · 3).
    "EasyR1 per completion": ("easy_r1", "", (PER_COMPLETION,), 2, [2 / 10, 2 / 30, 3 / 20, 3 / 40]),
    "EasyR1 per completion before July 2025": (
        "easy_r1",
        "2025.6",
        (PER_COMPLETION,),
        2,
        [1 / 4, 1 / 12, 1 / 8, 1 / 16],
    ),
    # Means over 4 and over 6 tokens, which are added.
    "Trinity adds the micro-batches": ("trinity", "", (), 2, [1 / 4, 1 / 4, 1 / 6, 1 / 6]),
    "Tinker has no average": ("tinker", "", (), 2, [1.0] * 4),
    # Groups of 4 and of 6 tokens, each with half of the weight.
    "SkyRL per prompt": (
        "skyrl",
        "",
        ("trainer.algorithm.loss_reduction=prompt_mean",),
        4,
        [1 / 8, 1 / 8, 1 / 12, 1 / 12],
    ),
}


@pytest.mark.parametrize(
    ("trainer", "version", "settings", "parts", "expected"), WEIGHTS.values(), ids=WEIGHTS
)
def test_the_weights_are_those_worked_by_hand(trainer, version, settings, parts, expected):
    report = explain(*settings, trainer=trainer, version=version)
    weights = effective_weights(report, MASK, micro_batches=parts)
    np.testing.assert_allclose(weights, np.reshape(expected, (2, 2, 1)) * MASK, rtol=1e-7)


UNKNOWN = {
    "other steps count": ("trl", "", (DAPO, "steps_per_generation=4", "gradient_accumulation_steps=2")),
    "other steps count in ms-swift": (
        "ms_swift",
        "",
        (DAPO, "steps_per_generation=4"),
    ),
    "truncated completions count": ("trl", "1.8.0", (DAPO, "mask_truncated_completions=True")),
    "padding counts": ("trl", "1.9.2", ("loss_type=luspo",)),
    "chunks count": ("unsloth", "2026-08", ("loss_type=grpo", "unsloth_num_chunks=4")),
    "the call decides": ("liger", "", (DAPO,)),
}


@pytest.mark.parametrize(("trainer", "version", "settings"), UNKNOWN.values(), ids=UNKNOWN)
def test_weights_that_depend_on_more_than_the_step_are_refused(trainer, version, settings):
    report = explain(*settings, trainer=trainer, version=version)
    with pytest.raises(ValueError, match="the mask and the micro-batches of a step do not determine"):
        effective_weights(report, MASK)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_release_has_a_known_way_to_average(name):
    dialect = DIALECTS[name]
    for release in (dialect, *dialect.others):
        averages = release.objective.averages(release.settings({}))
        assert averages.over in ("step", "micro-batch", "other")
        assert averages.across in ("mean", "completions", "tokens", "sum")
