"""The hand-written texts about claims: how they are read, filled, and refused."""

import pytest

from grpo_ref.lab.claim_text import ACTIONS, filled, parsed, read_text

TEXT = """---
answer: >-
  It does, by {row 1 mean}
  units.
do: use
advice: Use it.
outcomes:
  table: [holds, negligible]
---

## What it means for your configuration

* **Use it**: {row 2}.

## What this does not show

Much.
"""
FINDINGS = {
    "table": [
        {"mean": 1.0, "low": 0.5, "high": 1.5, "at_equal": {"0.1": [0.9, 0.8, 1.0]}},
        {"mean": 0.0, "low": -0.0123, "high": 0.0123, "at_equal": {}},
    ],
    "network": [{"mean": -2.0, "low": -2.0, "high": -2.0, "at_equal": {}}],
}


def test_a_text_is_read():
    text = parsed(TEXT)
    assert (text.do, text.advice, text.depends_on) == ("use", "Use it.", "")
    assert text.answer == "It does, by {row 1 mean} units."
    assert text.outcomes == {"table": ["holds", "negligible"]}
    assert list(text.sections) == ["What it means for your configuration", "What this does not show"]
    assert text.sections["What this does not show"] == "Much."


def test_a_folder_without_a_text_has_none(tmp_path):
    assert read_text(tmp_path) is None


# placeholder -> number of FINDINGS; decimals leave two digits of the half-width
PLACES = {
    "{row 1}": "+1.00 [+0.50, +1.50]",
    "{row 1 mean}": "+1.00",
    "{row 1 low}": "+0.50",
    "{row 1 high}": "+1.50",
    "{row 1 at 0.1}": "+0.90 [+0.80, +1.00]",
    "{table row 2}": "0 [−0.012, +0.012]",
    "{network row 1}": "−2",
    "{other}": "{other}",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_placeholder_becomes_its_number(place):
    assert filled(f"It is {place}.", FINDINGS) == f"It is {PLACES[place]}."


@pytest.mark.parametrize("place", ["{row 3}", "{row 0}", "{network row 2 mean}", "{row 1 at 0.3}"])
def test_a_placeholder_without_a_number_is_an_error(place):
    with pytest.raises(ValueError, match=r"rows|both arms were tried"):
        filled(place, FINDINGS)


# what is wrong -> the part of TEXT that is replaced, its replacement, and the message
WRONG = {
    "no front matter": ("---\nanswer", "answer", "front matter"),
    "no YAML": ("do: use", "do: [use", "not YAML"),
    "a missing key": ("advice: Use it.\n", "", "expected the keys"),
    "an unknown key": ("advice: Use it.", "advice: Use it.\nverdict: mine", "expected the keys"),
    "an unknown action": ("do: use", "do: maybe", f"expected one of {', '.join(ACTIONS)}, got 'maybe'"),
    "an unknown heading": ("## What this does not show", "## Remark", "Remark"),
    "text above the first heading": ("---\n\n## What it", "---\n\nHm.\n\n## What it", "only sections"),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_an_invalid_text_is_refused_with_its_path(tmp_path, old, new, message):
    assert old in TEXT
    (tmp_path / "text.md").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as error:
        read_text(tmp_path)
    assert str(tmp_path / "text.md") in str(error.value)
