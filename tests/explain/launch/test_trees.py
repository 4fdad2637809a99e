"""Configuration files, with what they refer to."""

import json
import sys

import pytest
from answers import answer
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.explain.launch.trees import override_list, read_tree
from grpo_ref.explain.launch.values import Unknown


def test_groups_become_dotted_keys():
    assert read_tree("actor: {clip_ratio_low: 3e-4}\nn: 8").keys == {"actor.clip_ratio_low": 3e-4, "n": 8}
    assert read_tree("[actor]\nclip = 1e-3\n", "x.toml").keys == {"actor.clip": 1e-3}
    assert read_tree('{"a":\t{"b": 1}}', "x.json").keys == {"a.b": 1}


def test_references_are_followed_and_those_to_the_outside_are_unknown(monkeypatch):
    monkeypatch.setenv("CLIP", "0.9")
    keys = read_tree(
        "a: {b: 1, c: '${.b}', d: 'x${a.b}', l: ['${a.b}', 2]}\n"
        "e: ${nope}\nf: ${oc.env:CLIP}\ng: ${f}\nh: ${oc.select:zz,5}\ni: '${eval:1+1}'\nj: ???\n"
    ).keys
    assert (keys["a.c"], keys["a.d"], keys["a.l"], keys["h"]) == (1, "x1", [1, 2], 5)
    assert {name: keys[name].text for name in "efgij"} == {
        "e": "${nope}",
        "f": "${oc.env:CLIP}",
        "g": "${f}",
        "i": "${eval:1+1}",
        "j": "???",
    }
    assert all(isinstance(keys[name], Unknown) for name in "efgij")


def test_without_omegaconf_references_are_unknown(monkeypatch):
    monkeypatch.setitem(sys.modules, "omegaconf", None)
    keys = read_tree("a: 1\nb: ${a}").keys
    assert keys == {"a": 1, "b": Unknown("${a}", "references to other keys are not followed here")}


FILES = {
    "base.yaml": "loss: {clip: 0.2, kl: 0.1}\nn: 4",
    "algo/grpo.yaml": "n: 8",
    "up.yaml": "defaults: base\nn: 5",
}


def test_a_file_inherits_and_its_own_keys_win():
    assert read_tree("defaults: base.yaml\nloss: {clip: 0.3}", "", FILES.get).keys == {
        "loss.clip": 0.3,
        "loss.kl": 0.1,
        "n": 4,
    }
    assert read_tree("defaults: up.yaml", "", FILES.get).keys["n"] == 5
    below = read_tree("defaults: [_self_, {algo: grpo}]\nalgo: {n: 1}", "", FILES.get)
    assert below.keys == {"algo.n": 8}
    missing = read_tree("defaults: [gone, _self_]\nn: 1", "", FILES.get)
    assert missing.keys == {"n": 1}
    assert missing.notes == [
        "It inherits from gone, which is not beside it, so those keys are not known here."
    ]


PARENTS = {
    "extends": ("extends: base.yaml\nn: 5", {"loss.clip": 0.2, "loss.kl": 0.1, "n": 5}),
    "several": ("_base_: [base.yaml, up.yaml]\nloss: {kl: 0}", {"loss.clip": 0.2, "loss.kl": 0, "n": 5}),
    "a folder": ("inherits: sub/a.yaml", {"n": 3, "m": 1}),
    "a value that is none": ("base_config: {n: 1}", {"base_config.n": 1}),
}


@pytest.mark.parametrize(("text", "keys"), PARENTS.values(), ids=PARENTS)
def test_projects_name_what_they_inherit_from_in_many_ways(text, keys):
    files = FILES | {"sub/a.yaml": "extends: b.yaml\nm: 1", "sub/b.yaml": "n: 3\nm: 2"}
    assert read_tree(text, "", files.get).keys == keys


def test_a_file_of_hydras_groups_may_be_chosen_and_may_say_where_its_keys_go():
    files = {
        "algo/a.yaml": "n: 1",
        "algo/b.yaml": "n: 2",
        "exp/x.yaml": "# @package _global_\nalgo: {n: 3}",
        "exp/y.yaml": "# mine\n# @package algo.inner\nn: 4",
    }
    text = "defaults: [algo: a, _self_]\nm: 0"
    assert read_tree(text, "", files.get, chosen={"algo": "b"}).keys == {"algo.n": 2, "m": 0}
    for name, key in (("x", "algo.n"), ("y", "algo.inner.n")):
        assert key in read_tree(f"defaults: [{{exp: {name}}}]", "", files.get).keys


def test_a_file_of_the_trainer_itself_is_named_and_not_missed():
    tree = read_tree("defaults: [ppo_trainer, _self_]\nn: 1", own={"ppo_trainer"})
    assert tree.missing == []
    assert tree.notes == [
        "It inherits from ppo_trainer, which is not beside it and is taken to be the trainer's own file."
    ]


def test_files_that_inherit_from_each_other_end():
    assert read_tree("defaults: me.yaml\nn: 1", "", {"me.yaml": "defaults: me.yaml\nn: 2"}.get).keys["n"] == 1


def test_what_weights_and_biases_logged_is_unwrapped():
    text = "_wandb: {value: {cli: 1}}\nbeta: {desc: null, value: 0.04}\nactor: {value: {clip: 0.2}}"
    assert read_tree(text).keys == {"beta": 0.04, "actor.clip": 0.2}


DOUBLING = "".join(f"a{i}: '${{a{i + 1}}}${{a{i + 1}}}'\n" for i in range(30)) + "a30: xxxxxxxxxx"
BAD = {
    "a list": ("[1, 2]", "expected keys and values"),
    "text": ("just text", "expected keys and values"),
    "no end": ("a: [", "while parsing"),
    "a circle": ("a: ${b}\nb: ${a}", "refers to itself"),
    "doubling": (DOUBLING, "longer than 100,000 characters"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_said(text, message):
    with pytest.raises(ValueError, match=message):
        read_tree(text)


KEYS = st.text("ab.${}:?", max_size=6)
TREES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text("ab$.{}:oc,env?[]", max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, TREES, max_size=4))
def test_any_tree_gives_keys_or_an_error_in_words(tree):
    assert answer(read_tree, json.dumps(tree), "x.json")


@settings(max_examples=150, deadline=None)
@given(
    st.text("ab:- \n\t[]{}&*!|>'\"#%@`$?,0.e", max_size=60),
    st.sampled_from(["", "x.yaml", "x.toml", "x.json"]),
)
def test_any_text_gives_keys_or_an_error_in_words(text, name):
    assert answer(read_tree, text, name)


def test_a_package_mark_says_where_the_keys_of_a_file_go():
    files = {"envs.yaml": "n: 1", "algo/a.yaml": "n: 2", "algo/b.yaml": "# @package _group_.inner\nn: 3"}
    assert read_tree("defaults: ['envs@_here_']\nm: 0", "", files.get) == ({"n": 1, "m": 0}, [], set(), [])
    assert read_tree("defaults: ['envs@env']\nm: 0", "", files.get).keys == {"env.n": 1, "m": 0}
    assert read_tree("defaults: ['algo@_here_': a]", "", files.get).keys == {"n": 2}
    assert read_tree("defaults: ['algo@_global_.actor': a]", "", files.get).keys == {"actor.n": 2}
    assert read_tree("defaults: [algo: b]", "", files.get).keys == {"algo.inner.n": 3}


def test_a_file_beside_with_a_mark_is_looked_for_without_the_mark():
    missing = read_tree("defaults: ['../config/envs@_here_']\nm: 0")
    assert missing.missing == ["../config/envs.yaml"]


def test_a_list_of_overrides_is_not_a_list_of_values():
    assert override_list("- a.b=c\n- +n=8\n- ~critic") == ["a.b=c", "+n=8", "~critic"]
    assert override_list("[1, 2]") == override_list("- hello") == override_list("a: [") == []
