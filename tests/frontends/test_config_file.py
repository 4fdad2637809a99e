"""Configurations from files and from the command line."""

import pytest

from grpo_ref.frontends.config_file import read_config
from grpo_ref.frontends.config_options import without_unknown
from grpo_ref.trainers import trl


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "just text"])
def test_a_file_without_keys_is_refused(tmp_path, text):
    path = tmp_path / "strange.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"strange\.yaml: "):
        read_config([str(path)])


def test_a_key_on_the_command_line_changes_one_key_of_a_group(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("actor:\n  clip_ratio_low: 0.1\n  clip_ratio_high: 0.3\n")
    config = read_config([str(path), "actor.clip_ratio_high=0.4"])
    assert config == {"actor.clip_ratio_low": 0.1, "actor.clip_ratio_high": 0.4}


def test_values_are_read_as_meant():
    config = read_config(["a=3e-4", "b=None", "c=true", "d=[1e-2, 2]", "e=text", "f=0.5_5.0"])
    assert config == {"a": 3e-4, "b": None, "c": True, "d": [1e-2, 2], "e": "text", "f": "0.5_5.0"}


def test_a_key_that_hydra_adds_is_the_key():
    assert read_config(["+reward.a=1", "++b=2"]) == {"reward.a": 1, "b": 2}


def test_keys_that_a_dialect_does_not_have_are_left_out_and_named(capsys):
    assert without_unknown(trl.DIALECT, {"epsilonn": 0.1, "beta": 0.0}) == {"beta": 0.0}
    told = "skipped: trl has no key 'epsilonn' (did you mean 'epsilon'?)\n"
    assert capsys.readouterr().err == told
