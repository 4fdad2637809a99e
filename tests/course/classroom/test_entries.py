"""Folders and archives are read, never unpacked; what is hostile in them is named and harms nothing."""

import stat
import zipfile

import pytest
from deep import deep_folder

from grpo_ref.course.classroom.entries import LARGEST, MOST, Unreadable, entries, readable
from grpo_ref.files import remove_folder


def zipped(path, members):
    """A zip file with these members: name -> content."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def names(found):
    """The paths of the files among the entries, as text."""
    return [str(entry.path) for entry in found if entry.read or entry.problem]


def trouble(found, name):
    """Why an entry cannot be read."""
    (entry,) = [entry for entry in found if str(entry.path) == name]
    if entry.problem:
        return entry.problem
    with pytest.raises(Unreadable) as error:
        entry.read()
    return str(error.value)


def test_a_folder_and_an_archive_of_it_hold_the_same(tmp_path):
    members = {"anna/k3.py": b"a", "ben/deep/work.ipynb": b"{}", "ben/notes.txt": b"no"}
    for name, content in members.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(content)
    (tmp_path / "in" / "carol").mkdir()
    archive = zipped(tmp_path / "in.zip", {**members, "carol/": b""})
    for place in (tmp_path / "in", archive):
        found = entries(place)
        assert names(found) == ["anna/k3.py", "ben/deep/work.ipynb", "ben/notes.txt"]
        assert [entry.read() for entry in found if entry.read] == [b"a", b"{}", b"no"]
        assert {entry.path.parts[0] for entry in found} == {"anna", "ben", "carol"}


def test_what_other_programs_leave_behind_is_ignored(tmp_path):
    archive = zipped(
        tmp_path / "in.zip",
        {
            "__MACOSX/anna/._k3.py": b"",
            "anna/.k3.py.swp": b"",
            "anna/__pycache__/k3.py": b"",
            "anna/k3.py": b"x",
        },
    )
    assert names(entries(archive)) == ["anna/k3.py"]


@pytest.mark.parametrize("name", ["../../k3.py", "/etc/k3.py", "C:\\work\\k3.py", "a/../../k3.py"])
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    found = entries(zipped(tmp_path / "in.zip", {name: b"x"}))
    assert len(found) == 1
    assert ".." not in found[0].path.parts
    assert not found[0].path.is_absolute()
    assert trouble(found, str(found[0].path)) == "has a path that leads out of the archive"
    assert not (tmp_path.parent / "k3.py").exists()


def test_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "k3.py").symlink_to(secret)
    (tmp_path / "in" / "all").symlink_to(tmp_path, target_is_directory=True)
    assert trouble(entries(tmp_path / "in"), "k3.py") == "is a link"
    assert trouble(entries(tmp_path / "in"), "all") == "is a link"
    assert names(entries(tmp_path / "in")) == ["all", "k3.py"]
    link = zipfile.ZipInfo("k3.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert trouble(entries(tmp_path / "in.zip"), "k3.py") == "is a link"


def test_what_is_too_large_is_not_read(tmp_path):
    (tmp_path / "in").mkdir()
    with (tmp_path / "in" / "k3.py").open("wb") as file:
        file.truncate(200 * 1024**2)
    assert trouble(entries(tmp_path / "in"), "k3.py") == "is larger than 1 MiB"
    bomb = zipped(tmp_path / "in.zip", {"k3.py": bytes(50 * 1024**2)})
    assert bomb.stat().st_size < LARGEST
    assert trouble(entries(bomb), "k3.py") == "is larger than 1 MiB"


def test_an_archive_may_lie_about_its_sizes(tmp_path):
    """A megabyte and a half that says it is ten bytes long: what is unpacked is counted, not what is said."""
    path = zipped(tmp_path / "in.zip", {"k3.py": bytes(3 * LARGEST // 2)})
    size = (3 * LARGEST // 2).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    assert trouble(entries(path), "k3.py").startswith(("is larger than", "cannot be unpacked"))


def test_a_folder_that_is_deeper_than_python_recurses_is_walked(tmp_path):
    deep_folder(tmp_path / "in", 1100)
    assert len(entries(tmp_path / "in")) == MOST + 1
    remove_folder(tmp_path / "in")


def test_of_a_folder_with_many_files_a_few_more_than_are_read_are_listed(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "ben").mkdir()
    for number in range(MOST + 5):
        (tmp_path / "anna" / f"{number}.txt").touch()
    found = entries(tmp_path)
    assert len([entry for entry in found if entry.path.parts[0] == "anna"]) == MOST + 1
    assert len(found) == MOST + 2


def test_a_folder_with_a_colon_stays_inside(tmp_path):
    found = entries(zipped(tmp_path / "in.zip", {"Group 1: Ben/k3.py": b"x"}))
    assert [entry.read() for entry in found] == [b"x"]


def test_a_name_that_is_too_long_keeps_its_student(tmp_path):
    found = entries(zipped(tmp_path / "in.zip", {f"anna/{'-1' * 5000}.py": b"x"}))
    assert [(entry.path.parts[0], entry.problem) for entry in found] == [
        ("anna", "has a name that is too long")
    ]


def test_what_would_take_any_amount_of_memory_is_not_unpacked(tmp_path):
    """An archive with LZMA says itself how large the window is, up to 4 GB."""
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("k3.py", b"x")
    assert "is compressed with LZMA" in trouble(entries(tmp_path / "in.zip"), "k3.py")


def test_characters_that_steer_a_terminal_are_shown():
    names = ["a\x1b[2Jb", "a\\x1b[2Jb", "a\u202eb", "a\nb", "a\udc9bb", "a\ud800b"]
    shown = [readable(name) for name in names]
    assert all(name.isprintable() for name in shown)
    assert len(set(shown)) == len(names)


def test_broken_members_cost_themselves(tmp_path):
    path = zipped(tmp_path / "in.zip", {"anna/k3.py": b"right" * 100, "ben/k3.py": b"other" * 100})
    content = bytearray(path.read_bytes())
    place = content.index(b"anna/k3.py") + len("anna/k3.py")
    content[place : place + 8] = b"\xff" * 8
    path.write_bytes(content)
    found = entries(path)
    assert "cannot be unpacked" in trouble(found, "anna/k3.py")
    assert found[1].read() == b"other" * 100


def test_what_is_neither_is_refused(tmp_path):
    (tmp_path / "in.zip").write_bytes(b"nothing")
    for place in (tmp_path / "missing", tmp_path / "in.zip"):
        with pytest.raises(Unreadable):
            entries(place)


def test_a_locked_member_is_told(tmp_path):
    """The flag stands at byte 6 of a member's own header, and at byte 8 of its entry in the list."""
    zipped(tmp_path / "in.zip", {"a/k3.py": b"1"})
    content = bytearray((tmp_path / "in.zip").read_bytes())
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    (tmp_path / "in.zip").write_bytes(content)
    assert trouble(entries(tmp_path / "in.zip"), "a/k3.py") == "is protected by a password"
