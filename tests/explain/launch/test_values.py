"""Values of keys: words of a command line and YAML."""

import pytest

from grpo_ref.explain.launch.values import parsed, read_yaml

WORDS = {
    "3e-4": 3e-4,
    "010": 10,
    "1_000": 1000,
    "-1": -1,
    "None": None,
    "null": None,
    "True": True,
    "false": False,
    "off": "off",
    "none": "none",
    "1:30": "1:30",
    "0.5_5.0": "0.5_5.0",
    "[0.2, 4e-4]": [0.2, 4e-4],
    "{a: 1}": {"a": 1},
    "'math'": "math",
    "[a": "[a",
    "*a": "*a",
    "": "",
    "inf": float("inf"),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_read_as_hydra_and_argparse_do(word):
    assert parsed(word) == WORDS[word]


def test_yaml_has_the_numbers_of_its_version_1_2():
    assert read_yaml("a: 1e-6\nb: 3E4\nc: 0.5_5.0\nd: 1e-6x") == {
        "a": 1e-6,
        "b": 3e4,
        "c": "0.5_5.0",
        "d": "1e-6x",
    }


BAD = {
    "a circle": ("&a [*a]", "in itself"),
    "a bomb": (
        "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
        + "".join(
            f"{after}: &{after} [{', '.join([f'*{before}'] * 10)}]\n"
            for before, after in zip("abcde", "bcdef", strict=True)
        ),
        "more than 100,000 values",
    ),
    "depth": ("[" * 5000, "nested too deeply"),
    "a tag": ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_grows_without_end_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_yaml(text)
