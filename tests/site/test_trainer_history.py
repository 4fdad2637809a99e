"""The pages that list what changed when in a trainer."""

import pytest
from website.trainer_history import has_history, history_page

from grpo_ref.explain.dialects import DIALECTS

RELEASED = [name for name, dialect in DIALECTS.items() if has_history(dialect)]


def test_a_measured_change_is_told_with_its_size_and_source():
    # releases 1.9.0 and 1.9.1 of TRL: the gradient is three times as large with steps_per_generation = 3
    page = history_page(DIALECTS["trl"])
    [row] = [line for line in page.splitlines() if line.startswith("| 1.9.1 |")]
    assert "divide by the tokens of one optimizer step" in row
    assert "67 % (× 3)" in row
    assert "https://github.com/huggingface/trl/pull/6024" in row


def test_the_newest_change_comes_first_and_the_described_commit_before_all_releases():
    rows = [line for line in history_page(DIALECTS["slime"]).splitlines() if line.startswith("| ")][1:]
    assert rows[0].startswith(
        "| 624b824a (2026-08-21) | The key `eps_clip_c` is passed to the loss: no → yes."
    )
    assert rows[-1].startswith("| 2025-08 |")


def test_the_described_commit_is_placed_among_the_releases():
    # verl 0.9.0 is of 2026-08-14 and 0.9.1 of 2026-09-20, by its package
    assert "1dda039b (2026-08-22), which comes after 0.9.0 and before 0.9.1." in history_page(
        DIALECTS["verl"]
    )
    assert "which comes after 2026-07, the newest version in this list." in history_page(DIALECTS["slime"])
    assert "describes the commit" not in history_page(DIALECTS["trl"])


def test_a_changed_default_and_a_new_key_are_told():
    page = history_page(DIALECTS["skyrl"])
    assert "`cispo_eps_clip_low`" in page  # from 0.0 to 1.0 in July 2026, SkyRL pull request 1928
    assert "The default of `cispo_eps_clip_low` changes from `0.0` to `1.0`." in page
    assert "The KL loss has a gradient; before, it was computed under torch.no_grad: no → yes." in page


@pytest.mark.parametrize("name", RELEASED)
def test_no_row_is_empty_or_has_a_name_of_code_for_a_behaviour(name):
    page = history_page(DIALECTS[name])
    behaviours = DIALECTS[name].keys.behaviours
    told = [key for key in behaviours if f"`{key}`, which is not a key yet" in page]
    assert "→ |" not in page
    assert told == [] or name in ("trl", "verl")  # their behaviours are told by what was measured
