"""Stored results: the key changes with everything that matters, and no result is lost."""

from dataclasses import replace

import numpy as np
import pytest
from toy_experiment import shifted

from grpo_ref import DR_GRPO, GRPO
from grpo_ref.lab.framework.cache import Cache, Job, described
from grpo_ref.lab.framework.experiment import arm
from grpo_ref.lab.framework.training import summarized

JOB = Job("toy", "low", arm(shifted, by=0.0), 8, 0)


def test_key_changes_with_everything_that_matters():
    others = [
        JOB._replace(arm=arm(shifted, by=0.5)),
        JOB._replace(seeds=9),
        JOB._replace(seed=1),
        JOB._replace(arm=arm(summarized, by=0.0)),
    ]
    assert len({one.key for one in [JOB, *others]}) == 5
    assert JOB._replace(label="another", experiment="name").key == JOB.key


def test_key_changes_with_the_code(monkeypatch):
    before = JOB.key
    monkeypatch.setattr("grpo_ref.lab.framework.cache.code_hash", lambda module: "other code")
    assert JOB.key != before


def test_recipes_differ_in_their_text():
    texts = {described(recipe) for recipe in (GRPO, DR_GRPO, replace(GRPO, kl_coef=0.05))}
    assert len(texts) == 3
    assert described(GRPO) == described(replace(GRPO))
    assert "0x" not in described(GRPO)


@pytest.mark.parametrize("value", [lambda: 0, object(), np.ones(2)])
def test_settings_without_a_text_are_refused(value):
    with pytest.raises(TypeError, match="a setting must be a plain value, a recipe or a named function"):
        described({"recipe": value})


def test_what_is_put_is_got_unless_it_is_damaged(tmp_path):
    cache = Cache(tmp_path)
    assert cache.get(JOB) is None
    cache.put(JOB, {"level": np.arange(3.0)})
    assert cache.get(JOB)["level"].tolist() == [0.0, 1.0, 2.0]
    (stored,) = tmp_path.rglob("*.npz")
    stored.write_bytes(stored.read_bytes()[:40])
    assert cache.get(JOB) is None
