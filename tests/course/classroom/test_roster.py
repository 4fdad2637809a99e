"""The roster: which columns it may have, and whose work is whose."""

import pytest

from grpo_ref.course.classroom import Pile
from grpo_ref.course.classroom.roster import matched, read_roster

ROSTER = {
    "Arp Anna": {"email": "anna@example.org", "id": "4711", "section": "12"},
    "Berg Ben": {"email": "ben@example.org", "id": "4712", "section": "12"},
}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_seen_in_the_heading(tmp_path, separator):
    path = tmp_path / "roster.csv"
    path.write_text(f"\ufeffname{separator}email\n\nanna{separator}a@example.org\n")
    assert read_roster(path) == {"anna": {"email": "a@example.org"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,points\nanna,3\n", "line 1: the column 'points' is a column of the marks"),
        ("name,kl/k3\nanna,3\n", "line 1: the column 'kl/k3' is a column of the marks"),
        ("name,sec,sec\nanna,1,2\n", "line 1: the column 'sec' occurs twice"),
        ("id\nanna\nanna\n", "line 3: anna occurs twice"),
        ("id\nanna\nAnna\n", "line 3: Anna occurs twice"),
        ("id,name\n,x\n", "line 2: expected a cell for each column"),
        ("id\nanna,too,many\n", "line 2: expected a cell for each column"),
        ("id,submitted\na,0001-01-01T00:00:00+10:00\n", "line 2: submitted: expected a time with its offset"),
        ("name,sec\n", "expected a heading and a row for each student"),
        ("", "expected a heading and a row for each student"),
        ('name,sec\n\n"anna","a\nb"\nanna,c\n', "line 5: anna occurs twice"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "roster.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_roster(path)


# name of the work, other names, numbers of the platform -> whose it is
MATCHES = {
    "the name": ("Arp Anna", (), (), {"Arp Anna": "Arp Anna"}),
    "in other letters": ("arp anna", (), (), {"Arp Anna": "arp anna"}),
    "an address": ("anna@example.org", (), (), {"Arp Anna": "anna@example.org"}),
    "a number of the platform": ("annaarp_4711", (), ("4711",), {"Arp Anna": "annaarp_4711"}),
    "a number in a chosen name": ("evil_4712", (), (), {}),
    "an address of the platform": (
        "submission_1",
        ("x",),
        ("ben@example.org",),
        {"Berg Ben": "submission_1"},
    ),
    "another name": ("submission_1", ("Berg Ben",), (), {"Berg Ben": "submission_1"}),
    "a number before a chosen name": ("Berg Ben", (), ("4711",), {"Arp Anna": "Berg Ben"}),
    "what stands in two rows": ("smith", (), ("12",), {}),
    "two students": ("work", (), ("4711", "4712"), {}),
}


@pytest.mark.parametrize(("name", "aliases", "numbers", "found"), MATCHES.values(), ids=MATCHES)
def test_whose_work_it_is(name, aliases, numbers, found):
    assert matched(ROSTER, [Pile(name, (), aliases, numbers)]) == found


def test_a_name_comes_before_other_cells():
    assert matched(ROSTER, [Pile("4711", ()), Pile("Arp Anna", ())]) == {"Arp Anna": "Arp Anna"}


def test_where_numbers_are_known_a_name_takes_nobodys_row():
    """Mallory calls herself Berg Ben, with an address that the roster does not have."""
    piles = [
        Pile("Berg Ben_m@x.org", (), ("Berg Ben",), ("m@x.org",)),
        Pile("Anna_anna@example.org", (), ("Anna",), ("anna@example.org",)),
    ]
    assert matched(ROSTER, piles) == {"Arp Anna": "Anna_anna@example.org"}


def test_a_row_that_two_want_is_nobodys():
    assert matched(ROSTER, [Pile("ARP ANNA", ()), Pile("arp anna", ())]) == {}
