"""The pages of the trainers: their traps by version, and the full paths of their keys."""

import pytest
from website.key_table import key_table
from website.trainer_pages import _badge, _traps, is_of_earlier

from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import sprung

OLD = [
    pytest.param(dialect, trap, id=f"{dialect.name}: {trap.name}")
    for dialect in DIALECTS.values()
    for trap in dialect.traps
    if is_of_earlier(dialect, trap)
]


def _falls(dialect, trap):
    found = sprung(dialect.traps, dialect.settings(trap.example), dialect.given(trap.example))
    return trap.name in {each.name for each in found}


@pytest.mark.parametrize(("dialect", "trap"), OLD)
def test_a_trap_of_earlier_versions_ends_with_its_release(dialect, trap):
    last = _badge(dialect, trap).split("`")[1].removeprefix("only up to ")
    assert _falls(dialect.at(last), trap)
    later = [each for each in dialect.others if numbered(each.release) > numbered(last)]
    assert not any(_falls(each, trap) for each in (*later, dialect))


def test_traps_of_earlier_versions_come_last_with_a_badge():
    today, earlier = _traps(DIALECTS["verl"]).split("## Traps of earlier versions")
    assert "only up to" not in today
    assert earlier.count("only up to") == earlier.count("\n### ") == 8
    # verl 0.3.0 reads the key again
    assert "### ppo_epochs is not read by the actor\n\n{bdg-secondary}`only up to 0.2.0.post2`" in earlier
    # 0.9.1 came after the described commit
    assert "token-mean by default\n\n{bdg-warning}`from 0.9.1 on`" in today


def test_a_key_is_shown_with_the_path_that_can_be_pasted():
    table = key_table(DIALECTS["verl"], "trainers/verl")
    assert '<span id="key-adv_estimator">`algorithm.adv_estimator`</span>' in table
    assert '<span id="key-clip_ratio_c">`actor_rollout_ref.actor.clip_ratio_c`</span>' in table
