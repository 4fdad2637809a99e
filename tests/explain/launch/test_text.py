import pytest

from grpo_ref.explain.launch.text import UNSET, Hole, Text, joined

MODEL = Hole("$MODEL", UNSET)
TEXTS = {
    "nothing": (Text(), "", True),
    "strings become one": (Text.of("a", "b", "", "c"), "abc", True),
    "a hole stays": (Text.of("models/", MODEL), "models/$MODEL", False),
    "a text in a text": (Text.of(Text.of("a", MODEL), Text.of("b")), "a$MODELb", False),
}


@pytest.mark.parametrize(("text", "shown", "known"), TEXTS.values(), ids=TEXTS)
def test_text(text, shown, known):
    assert (str(text), text.known) == (shown, known)


def test_equal_texts_have_equal_parts():
    assert Text.of("a", "b") == Text.of("ab") == Text.of("a") + "b"
    assert Text.of("a", MODEL).parts == ("a", MODEL)


def test_joined_puts_separators_between():
    assert str(joined([Text.of("a"), Text(), Text.of(MODEL)], "-")) == "a--$MODEL"
    assert joined([]) == Text()


def test_a_hole_with_alternatives_shows_its_name():
    assert str(Text.of(Hole("$LR", "depends on a condition in line 2", ("1e-6", "2e-6")))) == "$LR"


def test_splitting_changes_only_holes():
    assert Text.of("a").splitting(True) == Text.of("a")
    assert Text.of("a", MODEL).splitting(True).splitting(False) == Text.of("a", MODEL)
