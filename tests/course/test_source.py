"""A source of exercises: its table of contents is checked when it is made, and says where its files are."""

from pathlib import Path

import pytest

from grpo_ref.course.contents import OURS
from grpo_ref.course.source import Exercise, Source


def source(*exercises, package="course"):
    return Source(package, Path("/checkout") / package.replace(".", "/"), {"growth": "Growth"}, exercises)


WRONG = {
    "no chapter": (Exercise("doubled", "easy", 1), r"\(growth\), got 'doubled'"),
    "another chapter": (Exercise("kl/doubled", "easy", 1), r"\(growth\), got 'kl/doubled'"),
    "no name of a function": (Exercise("growth/2nd", "easy", 1), "got 'growth/2nd'"),
    "an unknown difficulty": (Exercise("growth/doubled", "simple", 1), "got 'simple' and 1"),
    "half points": (Exercise("growth/doubled", "easy", 0.5), "got 'easy' and 0.5"),
    "no points": (Exercise("growth/doubled", "easy", 0), "got 'easy' and 0"),
}


@pytest.mark.parametrize(("exercise", "message"), WRONG.values(), ids=WRONG)
def test_a_line_that_says_something_else_is_refused(exercise, message):
    with pytest.raises(ValueError, match=message):
        source(exercise)


@pytest.mark.parametrize("package", ["course", "of.a.course"])
def test_the_checkout_is_around_the_package(package):
    assert source(package=package).checkout == Path("/checkout")
    assert source(package=package).checkout / source(package=package).path == source(package=package).folder


def test_ours_is_a_source_like_any_other():
    assert (OURS.checkout / OURS.path / "contents.py").is_file()
    assert OURS.ids[0] == "probabilities/log_softmax"
