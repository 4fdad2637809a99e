"""The roster: which columns it may have, and whose work is whose."""

import pytest

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
        ("id,name\n,x\n", "line 2: expected a cell for each column"),
        ("id\nanna,too,many\n", "line 2: expected a cell for each column"),
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


# what work was handed in under, what else the download calls it -> whose it is
MATCHES = {
    "the name": ("Arp Anna", (), {"Arp Anna": "Arp Anna"}),
    "in other letters": ("arp anna", (), {"Arp Anna": "arp anna"}),
    "an address": ("anna@example.org", (), {"Arp Anna": "anna@example.org"}),
    "a number at the end": ("annaarp_4711", (), {"Arp Anna": "annaarp_4711"}),
    "another name": ("submission_1", ("ben@example.org",), {"Berg Ben": "submission_1"}),
    "what stands in two rows": ("smith_12", (), {}),
    "two students": ("work", ("4711", "4712"), {}),
}


@pytest.mark.parametrize(("name", "aliases", "found"), MATCHES.values(), ids=MATCHES)
def test_whose_work_it_is(name, aliases, found):
    assert matched(ROSTER, {name: aliases}) == found


def test_a_name_comes_before_other_cells():
    assert matched(ROSTER, {"4711": (), "Arp Anna": ()}) == {"Arp Anna": "Arp Anna"}
