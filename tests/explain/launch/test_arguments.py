"""Flags and overrides."""

from grpo_ref.explain.launch.arguments import DELETED, read_arguments
from grpo_ref.explain.launch.text import Hole, Text
from grpo_ref.explain.launch.values import Unknown


def read(line):
    return read_arguments([Text.of(word) for word in line.split()])


def test_every_way_to_give_a_key():
    found = read("--a 1 --b=2 --c d e --f -n 3 g.h=4 +i=5 ++j.k=6 --l-m -1 --x.y-z 1e-3")
    assert found.keys == {
        "a": 1,
        "b": 2,
        "c": ["d", "e"],
        "f": True,
        "n": 3,
        "g.h": 4,
        "i": 5,
        "j.k": 6,
        "l_m": -1,
        "x.y_z": 1e-3,
    }


def test_the_last_value_counts_and_that_is_told():
    found = read("a.b=1 a.b=2 --c 1 --c 1")
    assert found.keys == {"a.b": 2, "c": 1}
    assert found.notes == ["a.b is given twice, 1 and 2; the last one counts."]


def test_files_are_named_and_not_taken_for_keys():
    assert read("--config a.yaml --beta 1").files == ["a.yaml"]
    assert read("--config-path=conf --config-name=ppo").files == ["conf/ppo.yaml"]
    assert read("--config-name ppo.yaml").files == ["ppo.yaml"]


def test_words_that_are_neither_are_kept():
    found = read("train.yaml ~/a.b x=1")
    assert (found.rest, found.keys) == (["train.yaml", "~/a.b"], {"x": 1})


def test_what_hydra_takes_out_is_not_known():
    assert read("~a.b ~c=1").keys == {
        name: Unknown(text, DELETED) for name, text in (("a.b", "~a.b"), ("c", "~c=1"))
    }


def test_hydra_has_folders_and_short_flags():
    found = read("-cp conf -cn my --config-dir more algorithm=grpo")
    assert (found.files, found.folders) == (["more/my.yaml"], ["more", "conf"])


def test_a_file_may_go_before_the_flags():
    assert read("--custom-config-path a.yaml --beta 1").last == {"custom_config_path": "a.yaml"}


def test_a_hole_makes_a_value_unknown_and_nothing_else():
    words = [Text.of("clip="), Text.of("--n"), Text.of(Hole("$N", "is not set in this file")), Text.of("x=1")]
    words[0] = words[0] + Hole("$CLIP", "is not set in this file")
    assert read_arguments(words).keys == {
        "clip": Unknown("$CLIP", "$CLIP is not set in this file"),
        "n": Unknown("$N", "$N is not set in this file"),
        "x": 1,
    }


def test_what_may_be_any_words_is_no_second_value():
    extra = Text.of(Hole("$EXTRA", "is not set in this file", splits=True))
    found = read_arguments([Text.of("--clip"), Text.of("0.28"), extra, Text.of("--n"), extra])
    assert found.keys["clip"] == 0.28
    assert found.keys["n"] == Unknown("$EXTRA", "$EXTRA is not set in this file")
    assert found.rest == ["$EXTRA"]


def test_what_hydra_is_told_to_add_is_kept():
    assert read("+a.b=1 ++c=2 d=3").added == {"a.b", "c"}
