"""Who handed in what: every layout that courses use, and every way to name a file."""

import io
import json
import os
import tempfile
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.course.classroom.entries import Unreadable
from grpo_ref.course.classroom.handed_in import Delivery, _exercise_of, piles
from grpo_ref.course.classroom.notebook import code_of
from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import file_of, model_answer

K3 = model_answer("kl/k3").encode()
DIFFERENT = "was handed in with different texts and is not graded"


def handed_in(folder, files):
    """Student -> (answers, notes) of a folder with these files: name -> content."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    read = [pile.fetch().read() for pile in piles(folder)]
    return {each.student: (dict(each.answers), list(each.notes)) for each in read}


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("anna/k3.py", "anna"),
        ("anna/04_kl/03_k3.py", "anna"),
        ("anna/K3 (2).py", "anna"),
        ("anna/week 1/k3-1.py", "anna"),
        ("k3_anna.py", "anna"),
        ("03_k3_anna.py", "anna"),
        ("k3_van_der_berg.py", "van_der_berg"),
        ("smithanna_4711_99_k3.py", "smithanna_4711"),
        ("smithanna_LATE_4711_99_03_k3-1.py", "smithanna_4711"),
        ("Anna Smith_4711_assignsubmission_file/k3.py", "Anna Smith_4711"),
        ("Bob_11_assignsubmission_file_22_assignsubmission_file/k3.py", "Bob_11_assignsubmission_file_22"),
        ("submission_123456/k3.py", "submission_123456"),
    ],
)
def test_every_layout_names_student_and_exercise(tmp_path, name, student):
    assert handed_in(tmp_path, {name: K3}) == {student: ({"kl/k3": K3}, [])}


def test_the_longest_name_of_an_exercise_counts(tmp_path):
    found = handed_in(tmp_path, {"k3_slope_anna.py": b"x"})
    assert found == {"anna": ({"kl/k3_slope": b"x"}, [])}


def test_a_folder_as_init_writes_it_is_all_of_the_course(tmp_path):
    found = handed_in(tmp_path, {f"anna/{file_of(name)}": name.encode() for name in EXERCISES})
    assert found == {"anna": ({name: name.encode() for name in EXERCISES}, [])}


def test_one_folder_around_all_in_an_archive_is_nobody(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for student in ("anna", "ben"):
            archive.writestr(f"export/{student}/k3.py", K3)
    assert [pile.student for pile in piles(tmp_path / "in.zip")] == ["anna", "ben"]


def test_a_zip_file_in_the_download_of_canvas_is_the_students(tmp_path):
    with zipfile.ZipFile(tmp_path / "smithjo_4711_99_my-exercises.zip", "w") as archive:
        archive.writestr("my-exercises/04_kl/03_k3.py", K3)
    found = handed_in(tmp_path, {"smithjo_LATE_4711_98_log_softmax.py": b"x"})
    assert found == {"smithjo_4711": ({"kl/k3": K3, "probabilities/log_softmax": b"x"}, [])}


def test_the_folder_of_one_student_is_nobodys(tmp_path):
    assert list(handed_in(tmp_path, {"04_kl/03_k3.py": K3})) == ["unnamed"]


def test_a_chapter_or_the_rest_of_an_exercises_name_is_no_riddle(tmp_path):
    found = handed_in(tmp_path, {"kl/k3.py": K3, "k3_slope.py": b"x"})
    assert found == {"kl": ({"kl/k3": K3}, []), "unnamed": ({"kl/k3_slope": b"x"}, [])}


def test_who_handed_in_nothing_is_there(tmp_path):
    (tmp_path / "in" / "ben").mkdir(parents=True)
    assert handed_in(tmp_path / "in", {"anna/k3.py": K3})["ben"] == ({}, [])
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("ben/", b"")
        archive.writestr("anna/k3.py", K3)
    assert [pile.student for pile in piles(tmp_path / "in.zip")] == ["anna", "ben"]


def test_functions_are_found_by_name_in_other_files(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# k3"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import numpy as np\n", "SMALL = 1e-8\n"]},
        {
            "cell_type": "code",
            "source": "def k3(log_probs, ref_log_probs):\n    return np.abs(SMALL)\nprint(k3(1, 2))",
        },
    ]
    notebook = json.dumps({"cells": cells}).encode()
    found = handed_in(tmp_path, {"anna/homework.ipynb": notebook, "ben/homework.py": K3})
    text = found["anna"][0]["kl/k3"].decode()
    assert all(part in text for part in ("import numpy as np", "SMALL = 1e-08", "def k3("))
    assert not any(part in text for part in ("print", "%"))
    assert found["ben"] == ({"kl/k3": K3}, [])


@pytest.mark.parametrize(
    ("files", "note"),
    [
        (
            {"anna/k3.py": b"a", "anna/old/k3.py": b"b"},
            DIFFERENT,
        ),
        ({"anna/K3.py": b"a", "anna/k3.py": b"b"}, DIFFERENT),
        (
            {"anna/work.py": b"def k3("},
            "is not named after an exercise, and is not valid Python, line 1",
        ),
        ({"anna/work.py": b"\xff\xfe\x00"}, "is not named after an exercise, and is not valid Python"),
        ({"anna/work.py": b"x = 1"}, "does not answer any exercise"),
        ({"anna/work.zip": b"PK\5\6" + bytes(18)}, "work.zip is empty"),
        ({"anna/work.ipynb": b"[]"}, "is not a readable notebook"),
    ],
)
def test_what_cannot_be_used_is_noted(tmp_path, files, note):
    ((answers, notes),) = handed_in(tmp_path, files).values()
    assert answers == {}
    assert len(notes) == 1
    assert note in notes[0]


def test_many_notes_are_counted(tmp_path):
    _, notes = handed_in(tmp_path, {f"smith/notes{number}.py": b"x = 1" for number in range(25)})["smith"]
    assert len(notes) == 21
    assert notes[-1] == "and 5 more notes"


def test_the_same_text_twice_is_one_answer(tmp_path):
    assert handed_in(tmp_path, {"anna/k3.py": K3, "anna/k3-1.py": K3}) == {"anna": ({"kl/k3": K3}, [])}


def test_a_file_of_this_machine_is_no_submission(tmp_path):
    with pytest.raises(Unreadable):
        piles(Path(__file__))
    with pytest.raises(Unreadable, match="expected folders of students"):
        piles(tmp_path)


GRADESCOPE = b"""
submission_1:
  :submitters:
  - :name: Anna A
    :sid: '100'
    :email: a@example.org
  - :name: Ben B
    :email: b@example.org
  :created_at: 2027-03-01 20:53:30.123456000 Z
submission_2: nonsense
"""


def test_gradescopes_list_says_who_handed_in_and_when(tmp_path):
    """The work of a group is everybody's; a submission that the list does not tell of keeps its number."""
    files = {"submission_1/k3.py": K3, "submission_2/k3.py": K3, "submission_metadata.yml": GRADESCOPE}
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(f"assignment_9_export/{name}", content)
    anna, ben, other = piles(tmp_path / "in.zip")
    assert (anna.student, ben.student, other.student) == ("Anna A_100", "Ben B_b@example.org", "submission_2")
    assert (anna.aliases, anna.numbers) == (("Anna A",), ("100", "a@example.org"))
    assert anna.submitted == datetime(2027, 3, 1, 20, 53, 30, 123456, tzinfo=UTC)
    assert anna.fetch().read().answers == ben.fetch().read().answers == {"kl/k3": K3}
    assert other.submitted is None


def test_a_chosen_number_does_not_pass_for_an_address(tmp_path):
    eve = GRADESCOPE.replace(b"'100'", b"'b@example.org'").replace(b"Anna A", b"Eve")
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("export/submission_1/k3.py", K3)
        archive.writestr("export/submission_metadata.yml", eve)
    assert {pile.numbers for pile in piles(tmp_path / "in.zip")} == {("a@example.org",), ("b@example.org",)}


def test_a_list_in_a_students_folder_is_no_list(tmp_path):
    """It would give her ben's points, or stop the grading of all."""
    stolen = GRADESCOPE.replace(b"submission_1", b"ben").replace(b"Anna A", b"mallory")
    for text in (stolen, b"nonsense", b"&a [*a]", b"a: !!timestamp foo"):
        with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
            for name, content in {"ben/k3.py": K3, "mallory/submission_metadata.yml": text}.items():
                archive.writestr(name, content)
        ben, mallory = piles(tmp_path / "in.zip")
        assert ben.fetch().read().answers == {"kl/k3": K3}
        read = mallory.fetch().read()
        assert (ben.student, mallory.student, read.answers) == ("ben", "mallory", {})
        assert read.notes == (
            "not read, because it is not a .py, .ipynb or .zip file: submission_metadata.yml",
        )


def test_a_single_submission_of_gradescopes_is_a_groups(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("assignment_9_export/submission_1/k3.py", K3)
        archive.writestr("assignment_9_export/submission_metadata.yml", GRADESCOPE)
    assert [pile.student for pile in piles(tmp_path / "in.zip")] == ["Anna A_100", "Ben B_b@example.org"]


def test_names_in_gradescopes_list_are_never_expanded_or_broken(tmp_path):
    """Ten levels of ten aliases each are 10^10 names as text; half a character cannot be written."""
    laughs = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10) if n else 'ha'}]\n" for n in range(10))
    people = 'a:\n  :submitters:\n  - :name: *x9\n    :sid: 1\n  - :name: "\\uD800x"\n'
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "submission_metadata.yml").write_text(laughs + people)
    assert [pile.student for pile in piles(tmp_path / "in")] == ["1", "\\ud800x"]


def test_who_takes_the_name_and_number_of_another_is_somebody_else(tmp_path):
    """Otherwise Anna's work would be handed in with different texts, and not be graded."""
    mallory = GRADESCOPE.replace(b"submission_1", b"submission_3").replace(b"a@example", b"m@example")
    for name, content in {"submission_1/k3.py": K3, "submission_3/k3.py": b"x"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content)
    (tmp_path / "submission_metadata.yml").write_bytes(GRADESCOPE + mallory)
    answers = {pile.student: pile.fetch().read().answers for pile in piles(tmp_path)}
    assert answers["Anna A_100_a@example.org"] == {"kl/k3": K3}
    assert answers["Anna A_100_m@example.org"] == {"kl/k3": b"x"}


@pytest.mark.parametrize(
    ("name", "student", "note"),
    [
        ("smithjo_4711_99_essay.pdf", "smithjo_4711", "essay.pdf"),
        ("mallory.tar.gz", "mallory", "mallory.tar.gz"),
        ("k3_anna.txt", "anna", "k3.txt"),
        ("carol/essay.pdf", "carol", "essay.pdf"),
        ("carol/notes.txt", "carol", "notes.txt"),
    ],
)
def test_work_of_other_kinds_is_noted(tmp_path, name, student, note):
    text = f"not read, because it is not a .py, .ipynb or .zip file: {note}"
    assert handed_in(tmp_path, {name: b"x"}) == {student: ({}, [text])}


def test_other_files_beside_answers_are_no_news(tmp_path):
    files = {"anna/k3.py": K3, "anna/README.md": b"x", "README.md": b"x"}
    assert handed_in(tmp_path, files) == {"anna": ({"kl/k3": K3}, [])}


def test_a_linked_folder_is_a_row_with_a_note(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "anna").symlink_to(tmp_path, target_is_directory=True)
    (pile,) = piles(tmp_path / "in")
    assert (pile.student, pile.fetch().notes) == ("anna", ("anna is a link",))


def inner(members):
    """The bytes of an archive with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_an_archive_in_an_archive_is_looked_into_once(tmp_path):
    work = inner({"k3.py": K3, "more.zip": b"PK"})
    ((answers, notes),) = handed_in(tmp_path, {"anna/work.zip": work, "anna/bad.zip": b"no zip"}).values()
    assert answers == {"kl/k3": K3}
    assert notes[0].startswith("bad.zip is not a readable zip file")
    assert notes[1:] == ["work/more.zip is a zip file in a zip file, which is not opened"]


def test_everybody_behind_a_student_with_many_files_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.course.classroom.handed_in.MOST", 5)
    files = {f"mallory/{number}.txt": b"" for number in range(9)}
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for name, content in {**files, "mallory/w.zip": b"", "zoe/k3.py": K3}.items():
            archive.writestr(name, content)
    mallory, zoe = piles(tmp_path / "in.zip")
    assert mallory.fetch().notes[-1] == "more than 5 files were handed in; only 5 are read"
    assert zoe.fetch().read().answers == {"kl/k3": K3}
    many = inner({f"{number}.py": K3 for number in range(9)})
    (pile,) = [pile for pile in piles(zipped_student(tmp_path, many)) if pile.student == "mallory"]
    assert "w.zip has more than 5 files; only 5 are read" in pile.fetch().read().notes


def zipped_student(tmp_path, content):
    """A folder in which mallory handed in a zip file."""
    (tmp_path / "class" / "mallory").mkdir(parents=True)
    (tmp_path / "class" / "mallory" / "w.zip").write_bytes(content)
    return tmp_path / "class"


def test_all_files_of_a_student_together_have_a_limit(tmp_path, monkeypatch):
    """Inside archives too: 40 bytes of one file fit into 100, with those of two more they do not."""
    monkeypatch.setattr("grpo_ref.course.classroom.handed_in.LARGEST_TOTAL", 100)
    text = b"#" * 40
    files = {f"anna/{name}.py": text for name in ("k1", "k2", "k3")}
    ((_, notes),) = handed_in(tmp_path / "plain", files).values()
    assert "k3.py is beyond 0 MiB, the limit for all files" in notes
    delivery = Delivery("anna", [(PurePosixPath("w.zip"), inner({f"{n}.py": text for n in "abc"}))])
    assert "w/c.py is beyond 0 MiB, the limit for all files" in delivery.read().notes


def test_many_branches_cost_their_own_file(tmp_path):
    text = b"x = 0\nif x == 1: pass\n" + b"elif x == 0: pass\n" * 2000 + K3
    found = handed_in(tmp_path, {"mallory/homework.py": text, "ben/k3.py": K3})
    assert found["ben"] == ({"kl/k3": K3}, [])
    assert found["mallory"][1] == ["homework.py is not named after an exercise, and is nested too deeply"]


SLOW = {
    "spaces": lambda size: " " * size + "$",
    "empty lines": lambda size: "$" + "\n" * size,
    "a chain of names": lambda size: "".join(f"x{n + 1}=x{n}\n" for n in reversed(range(size // 20))),
    "one long name": lambda size: "a" * size + "=$",
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_a_long_cell_takes_time_in_proportion_to_its_length(text):
    """Expressions that backtrack took 10 s for 20,000 characters, and 40 s for twice as many."""
    source = text(40_000) + "\ndef k3(a, b): return x1"
    begun = time.process_time()
    code_of(json.dumps({"cells": [{"cell_type": "code", "source": source}]}).encode(), ["k3"])
    assert time.process_time() - begun < 2.0


@pytest.mark.parametrize("suffix", ["-1", " (1)", " copy"])
def test_a_long_row_of_copies_is_a_name_like_others(suffix):
    begun = time.process_time()
    assert _exercise_of(PurePosixPath("k3" + suffix * 8000 + "x.py")) == ""
    assert _exercise_of(PurePosixPath("k3" + suffix * 2000 + ".py")) == "kl/k3"
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    "text", [b"\xff", b"[1", b"[]", b"a: !!timestamp foo", b"a: [b", b"!!python/object:os.system {}", b"*a"]
)
def test_a_broken_list_of_gradescopes_is_told(tmp_path, text):
    (tmp_path / "in" / "submission_1").mkdir(parents=True)
    (tmp_path / "in" / "submission_metadata.yml").write_bytes(text)
    with pytest.raises(Unreadable, match="is not as Gradescope writes it"):
        piles(tmp_path / "in")


# what stands in a cell -> whether the function in another cell is still found
CELLS = (
    "f(1)?",
    "a.b??",
    "x = !ls",
    "y = %pwd",
    "%%bash\nrm -rf /",
    "%%html\n<b>hi</b>",
    "if 1:\n    %pwd\n    !ls",
)


@pytest.mark.parametrize("cell", CELLS)
def test_what_is_no_python_in_a_notebook_harms_nothing(tmp_path, cell):
    sources = [cell, K3.decode()]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    ((answers, notes),) = handed_in(
        tmp_path, {"anna/work.ipynb": json.dumps({"cells": cells}).encode()}
    ).values()
    assert b"def k3(" in answers["kl/k3"]
    assert notes == []


def test_half_a_character_in_a_notebook_is_its_students(tmp_path):
    cells = [{"cell_type": "code", "source": "def k3(a, b):\n    return '\ud800'"}]
    found = handed_in(tmp_path, {"anna/work.ipynb": json.dumps({"cells": cells}).encode(), "ben/k3.py": K3})
    assert list(found) == ["anna", "ben"]
    assert "kl/k3" in found["anna"][0]


def test_names_that_are_no_text_are_told_as_such(tmp_path):
    folder = os.fsencode(tmp_path / "in") + b"/bj\xf6rn"
    os.makedirs(folder)
    for name in (b"k3.py", b"caf\xe9.ipynb"):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(K3 if name == b"k3.py" else b"{}")
    (pile,) = piles(tmp_path / "in")
    read = pile.fetch().read()
    assert (pile.student, list(read.answers)) == ("bj\\xf6rn", ["kl/k3"])
    assert read.notes == ("caf\\xe9.ipynb is not a readable notebook",)


def test_what_is_no_plain_file_is_noted(tmp_path):
    (tmp_path / "in" / "bob").mkdir(parents=True)
    os.mkfifo(tmp_path / "in" / "bob" / "k3.py")
    assert piles(tmp_path / "in")[0].fetch().read().notes == ("k3.py is not a plain file",)


@pytest.mark.parametrize("name", ["..", "../..", "/"])
def test_an_entry_that_is_only_a_way_out_is_passed_over(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("anna/k3.py", K3)
        archive.writestr(name, K3)
    assert [pile.student for pile in piles(tmp_path / "in.zip")] == ["anna"]


def an_archive():
    """The bytes of a good one: two files, a notebook and an archive within."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("k3.py", K3 * 3)
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("anna/k3.py", K3 * 3)
        archive.writestr("ben/work.ipynb", b'{"cells": []}')
        archive.writestr("carol/all.zip", inner.getvalue())
    return outer.getvalue()


ARCHIVE = an_archive()


@given(st.lists(st.tuples(st.integers(0, len(ARCHIVE) - 1), st.integers(0, 255)), max_size=8), st.data())
@settings(max_examples=400, deadline=None)
def test_a_damaged_archive_ends_in_notes(damage, data):
    """Bytes are changed and the end is cut off: it is refused as a whole, or every student is read."""
    content = bytearray(ARCHIVE)
    for place, byte in damage:
        content[place] = byte
    kept = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.zip"
        path.write_bytes(content[:kept])
        try:
            found = piles(path)
        except Unreadable:
            return
        for pile in found:
            read = pile.fetch().read()
            assert set(read.answers) <= set(EXERCISES)
            assert all(isinstance(note, str) for note in read.notes)


@given(
    st.binary(max_size=80) | st.text(max_size=80).map(str.encode), st.sampled_from(["work.py", "work.ipynb"])
)
@settings(max_examples=300, deadline=None)
def test_any_content_of_a_file_is_read_or_noted(content, name):
    with tempfile.TemporaryDirectory() as folder:
        ((answers, notes),) = handed_in(Path(folder), {f"anna/{name}": content}).values()
    assert len(notes) == 1 or answers
