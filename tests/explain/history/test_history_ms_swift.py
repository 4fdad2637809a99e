"""ms-swift: each border between releases, with values from the released sources."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import sprung
from grpo_ref.explain.understanding import understood

MS_SWIFT = DIALECTS["ms_swift"]
OVER_ALL = ("dapo", "cispo", "fipo")
TWICE = "gradient_accumulation_steps divides this loss a second time"


def traps_of(release, config):
    dialect = MS_SWIFT.at(release)
    return {trap.name for trap in sprung(dialect.traps, dialect.settings(config), dialect.given(config))}


# grpo_trainer.py: 4.6.0 multiplies by the micro-batches in _undo_gradient_accumulation_scaling
@pytest.mark.parametrize("loss_type", OVER_ALL)
def test_the_second_division_by_the_micro_batches_ends_with_4_6_0(loss_type):
    config = {"loss_type": loss_type, "gradient_accumulation_steps": 8}
    aggregates = {each: str(MS_SWIFT.at(each).recipe(**config).aggregate) for each in ("4.5.3", "4.6.0")}
    assert aggregates == {"4.5.3": "divided_again(steps=8)", "4.6.0": "token_mean"}
    assert TWICE in traps_of("4.5.3", config)
    assert TWICE not in traps_of("4.6.0", config)


def test_the_second_division_begins_with_the_losses_that_have_it():
    config = {"loss_type": "dapo", "gradient_accumulation_steps": 2}
    assert str(MS_SWIFT.at("3.11.0").recipe(**config).aggregate) == "divided_again(steps=2)"
    assert TWICE in traps_of("3.11.0", config)


@pytest.mark.parametrize("release", ["4.5.3", "4.6.0"])
def test_a_batch_that_is_cut_into_steps_is_still_divided_by_the_tokens_of_all(release):
    """grpo_trainer.py, num_items_in_batch: the tokens of the generation batch, in both releases."""
    config = {"loss_type": "dapo", "steps_per_generation": 4}
    assert "steps_per_generation divides this loss" in traps_of(release, config)


def test_the_commit_of_august_2026_is_known_and_divides_twice():
    config = {"loss_type": "dapo", "gradient_accumulation_steps": 8}
    assert str(MS_SWIFT.at("3602360a5").recipe(**config).aggregate) == "divided_again(steps=8)"


# ms-swift 4.6.0, swift/megatron/arguments
MEGATRON = (
    "lr", "min_lr", "global_batch_size", "tensor_model_parallel_size", "pipeline_model_parallel_size",
    "expert_model_parallel_size", "context_parallel_size", "recompute_granularity", "train_iters",
    "sequence_parallel", "attention_backend", "lr_warmup_fraction",
)  # fmt: skip


def test_flags_of_megatron_swift_are_known():
    found = understood(MS_SWIFT, dict.fromkeys(MEGATRON, 1))
    assert (found.strangers, set(found.without_effect)) == ({}, set(MEGATRON))


def test_a_flag_of_a_plugin_is_unknown_and_not_a_typo():
    keys = {"soft_min_length": 512, "loss_type": "grpo"}
    with pytest.raises(ValueError, match="did you mean 'soft_max_length'"):
        understood(MS_SWIFT, keys)
    found = understood(MS_SWIFT, keys | {"external_plugins": "plugin.py"})
    assert list(found.strangers) == ["soft_min_length"]
