"""The watch on the trainers, on small trainers of our own in a temporary folder."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import watch.__main__ as command
from watch import rerun as again
from watch import sources
from watch.compare import DIFF_LINES, Kind, compare
from watch.record import filled
from watch.rerun import differences, rerun
from watch.sources import Commit, Folder, recorded_in
from watch.tracked import TRACKED, TrackedFile, Trainer, dump, read
from watch.trees import definitions, hash_of_tree

from grpo_ref.explain.dialects import DIALECTS

ROOT = Path(__file__).parents[2]
SOURCE = '''"""A loss."""

WIDTH = 4


def clip(ratio, epsilon=0.2):
    """Limit the ratio."""
    return min(ratio, 1.0 + epsilon)  # from above


class Loss:
    """A loss."""

    def value(self, ratio, advantage):
        return -clip(ratio) * advantage
'''
FILE = TrackedFile("pkg/loss.py", "loss", "", {"clip": "", "Loss.value": ""})
TRAINER = Trainer("trl", "owner/name", "trl", release="1.0", package="pkg-name", files=(FILE,))


def folder(path, files, version="a folder"):
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return Folder(path, version)


@pytest.fixture
def recorded(tmp_path):
    """A trainer with the hashes of SOURCE, and the snapshot that they are of."""
    snapshot = folder(tmp_path / "recorded", {"pkg/loss.py": SOURCE})
    return filled(TRAINER, snapshot), snapshot


CHANGED = {
    "unchanged": (lambda text: text, Kind.UNCHANGED, {}),
    "a comment": (lambda text: text.replace("# from above", "# the upper bound"), Kind.TEXT, {}),
    "a docstring": (lambda text: text.replace("Limit the ratio.", "Bound the ratio."), Kind.TEXT, {}),
    "a constant in a function": (
        lambda text: text.replace("1.0 + epsilon", "1.5 + epsilon"),
        Kind.CHANGED,
        {"clip": Kind.CHANGED},
    ),
    "a default": (
        lambda text: text.replace("epsilon=0.2", "epsilon=0.3"),
        Kind.CHANGED,
        {"clip": Kind.CHANGED},
    ),
    "a constant beside the functions": (lambda text: text.replace("= 4", "= 5"), Kind.ELSEWHERE, {}),
    "a function is removed": (
        lambda text: text[: text.index("class Loss")],
        Kind.CHANGED,
        {"Loss.value": Kind.GONE},
    ),
    "a class is renamed": (
        lambda text: text.replace("class Loss", "class Objective"),
        Kind.MOVED,
        {"Loss.value": Kind.MOVED},
    ),
    "no longer Python that can be parsed": (lambda text: text + "\nnot (", Kind.UNKNOWN, {}),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_change_of_code_is_told_apart_from_a_change_of_text(name, recorded, tmp_path):
    trainer, before = recorded
    change, kind, functions = CHANGED[name]
    new = folder(tmp_path / "new", {"pkg/loss.py": change(SOURCE)})
    [result] = compare(trainer, new, before)
    assert result.kind is kind
    assert {each.name: each.kind for each in result.functions} == functions


def test_the_changed_lines_are_shown_and_no_others(recorded, tmp_path):
    trainer, before = recorded
    text = SOURCE.replace("1.0 + eps", "1.5 + eps").replace("Limit the", "Bound the")
    new = folder(tmp_path / "new", {"pkg/loss.py": text})
    [function] = compare(trainer, new, before)[0].functions
    assert [line for line in function.lines if not line.startswith("@@")] == [
        "-    return min(ratio, 1.0 + epsilon)",
        "+    return min(ratio, 1.5 + epsilon)",
    ]
    assert {"ratio", "epsilon"} <= function.identifiers
    assert compare(trainer, new)[0].functions[0].lines == ()


def test_a_long_difference_is_cut(recorded, tmp_path):
    trainer, before = recorded
    many = "".join(f"    x{place} = {place}\n" for place in range(40))
    new = folder(tmp_path / "new", {"pkg/loss.py": SOURCE.replace("    return min", many + "    return min")})
    [function] = compare(trainer, new, before)[0].functions
    assert len(function.lines) == DIFF_LINES + 1
    assert re.fullmatch(r"… \d+ more lines", function.lines[-1])


def test_a_function_is_followed_to_another_file(recorded, tmp_path):
    trainer, before = recorded
    cut = SOURCE.index("class Loss")
    files = {"pkg/loss.py": SOURCE[:cut], "pkg/objective.py": SOURCE[cut:]}
    [result] = compare(trainer, folder(tmp_path / "new", files), before)
    [function] = result.functions
    assert (result.kind, function.kind, function.place) == (Kind.MOVED, Kind.MOVED, "pkg/objective.py")


def test_a_file_is_followed_to_another_folder(recorded, tmp_path):
    trainer, _ = recorded
    [moved] = compare(trainer, folder(tmp_path / "same", {"pkg/losses/loss.py": SOURCE}))
    assert (moved.kind, moved.place, moved.counts) == (Kind.MOVED, "pkg/losses/loss.py", False)
    changed = SOURCE.replace("1.0 +", "1.5 +")
    [moved] = compare(trainer, folder(tmp_path / "other", {"pkg/losses/loss.py": changed}))
    assert (moved.kind, moved.place) == (Kind.CHANGED, "pkg/losses/loss.py")
    [gone] = compare(trainer, folder(tmp_path / "gone", {"pkg/other.py": SOURCE}))
    assert gone.kind is Kind.GONE


def test_a_data_file_is_compared_by_its_content(tmp_path):
    before = folder(tmp_path / "before", {"a.yaml": "clip: 0.2\n"})
    trainer = filled(replace(TRAINER, files=(TrackedFile("a.yaml", "settings", "", {}),)), before)
    [result] = compare(trainer, folder(tmp_path / "after", {"a.yaml": "clip: 0.3\n"}), before)
    assert result.functions[0].lines[1:] == ("-clip: 0.2", "+clip: 0.3")


def test_a_tree_is_the_same_for_another_layout_and_help_text():
    one = definitions('class C:\n    x: int = field(metadata={"help": "a"})\n    p.add("--x", help="a")\n')
    two = definitions(
        'class C:\n    x: int = field(\n  metadata={"help": "b"})\n    p.add("--x", help="b")\n'
    )
    other = definitions('class C:\n    x: int = field(metadata={"unit": "a"})\n    p.add("--x", help="a")\n')
    assert hash_of_tree(one["C"]) == hash_of_tree(two["C"]) != hash_of_tree(other["C"])


# ---- Git and wheels -----------------------------------------------------------------------------


def commit(path, files):
    folder(path, files)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    if not (path / ".git").exists():
        subprocess.run(["git", "init", "-q", path], check=True)
    subprocess.run(["git", "-C", path, "add", "."], check=True)
    subprocess.run(["git", "-C", path, *identity, "commit", "-qm", "change"], check=True)
    done = subprocess.run(
        ["git", "-C", path, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def wheel(path, release, files):
    path.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path / f"pkg_name-{release}-py3-none-any.whl", "w") as file:
        for name, text in files.items():
            file.writestr(name, text)


@pytest.fixture
def repository(tmp_path):
    """A folder of snapshots with one repository, and a file with its hashes at the first commit."""
    first = commit(tmp_path / "snapshots" / "trl", {"pkg/loss.py": SOURCE})
    trainer = replace(TRAINER, commit=first, package="", release="")
    tracked = tmp_path / "tracked.toml"
    tracked.write_text(dump([filled(trainer, Commit(tmp_path / "snapshots" / "trl", first))]))
    return tmp_path / "snapshots", tracked


def run(capsys, *arguments):
    status = command.main([str(each) for each in arguments])
    return status, capsys.readouterr()


def test_the_status_says_whether_something_changed(repository, capsys):
    snapshots, tracked = repository
    options = ["--from", snapshots, "--tracked", tracked, "--no-rerun"]
    status, shown = run(capsys, "check", *options)
    assert status == 0
    assert "0 trainers of 1 changed" in shown.out
    commit(snapshots / "trl", {"pkg/loss.py": SOURCE.replace("1.0 + eps", "1.5 + eps")})
    status, shown = run(capsys, "check", *options)
    assert status == 1
    assert "  +    return min(ratio, 1.5 + epsilon)" in shown.out
    assert "- keys in the changed functions: `epsilon`" in shown.out


def test_a_commit_can_be_unpacked_and_knows_the_recorded_one(repository, tmp_path):
    snapshots, tracked = repository
    [trainer] = read(tracked)
    commit(snapshots / "trl", {"pkg/loss.py": "x = 1\n"})
    newest = Commit(snapshots / "trl", "HEAD")
    before = recorded_in(newest, trainer)
    assert before.read("pkg/loss.py") == SOURCE
    (tmp_path / "all").mkdir()
    assert (newest.unpack(tmp_path / "all") / "pkg" / "loss.py").read_text() == "x = 1\n"
    assert recorded_in(newest, replace(trainer, commit="0" * 40)) is None


def test_a_new_release_is_reported(tmp_path, capsys):
    wheel(tmp_path / "w", "1.0", {"pkg/loss.py": SOURCE})
    (tmp_path / "tracked.toml").write_text(
        dump([replace(TRAINER, files=(replace(FILE, missing="not yet"),))]), encoding="utf-8"
    )
    options = ["--from", tmp_path / "w", "--tracked", tmp_path / "tracked.toml"]
    assert run(capsys, "record", *options)[0] == 0
    assert run(capsys, "check", *options)[0] == 0
    wheel(tmp_path / "w", "1.1", {"pkg/loss.py": SOURCE})
    status, shown = run(capsys, "check", *options)
    assert status == 1
    assert "New release on the index: 1.1. The newest known one was 1.0." in shown.out


def test_a_wheel_for_one_platform_is_read(tmp_path):
    wheel(tmp_path / "w", "1.0", {"pkg_name-1.0.data/purelib/pkg/loss.py": SOURCE})
    [snapshot] = sources.local(TRAINER, tmp_path / "w", tmp_path / "work")
    assert snapshot.read("pkg/loss.py") == SOURCE


def test_without_a_network_nothing_is_lost(repository, tmp_path, capsys, monkeypatch):
    _, tracked = repository
    monkeypatch.setattr(sources, "HOST", (tmp_path / "nowhere").as_uri())
    issue = tmp_path / "issue.md"
    issue.write_text("the issue of last week")
    before = tracked.read_text()
    status, shown = run(capsys, "check", "--tracked", tracked, "--output", issue)
    assert status == 2
    assert "Nothing could be fetched. No file was written." in shown.err
    assert issue.read_text() == "the issue of last week"
    assert run(capsys, "record", "--tracked", tracked)[0] == 2
    assert read(tracked) == read_text(before, tmp_path)


def read_text(text, tmp_path):
    (tmp_path / "copy.toml").write_text(text)
    return read(tmp_path / "copy.toml")


def test_one_trainer_that_cannot_be_fetched_does_not_hide_the_others(repository, capsys):
    snapshots, tracked = repository
    [trainer] = read(tracked)
    tracked.write_text(dump([trainer, replace(trainer, name="verl", dialect="verl")]))
    options = ["--from", snapshots, "--tracked", tracked]
    status, shown = run(capsys, "check", *options)
    assert status == 2
    assert "## Not fetched" in shown.out
    assert "verl: expected verl or a wheel of it" in shown.out


def test_a_release_that_is_older_than_the_recorded_commit_is_no_comparison(repository, tmp_path, capsys):
    _, tracked = repository
    [trainer] = read(tracked)
    tracked.write_text(dump([replace(trainer, package="pkg-name", release="1.0")]))
    wheel(tmp_path / "w", "1.0", {"pkg/loss.py": SOURCE})
    status, shown = run(capsys, "check", "--from", tmp_path / "w", "--tracked", tracked)
    assert status == 2
    assert "has only release 1.0" in shown.err


# ---- recorded cases -----------------------------------------------------------------------------


def test_the_largest_difference_is_relative_to_the_largest_number():
    before = {"a": {"loss": 2.0, "grad_logp": [[1.0, 4.0]]}, "b": {"refused": "no"}, "c": {"value": ["nan"]}}
    after = {"a": {"loss": 2.0, "grad_logp": [[1.0, 5.0]]}, "b": {"loss": 1.0}}
    found = differences(before, after)
    assert found.cases == 2
    assert found.apart == (("b", float("inf")), ("a", 0.25))
    assert found.missing == ("c",)
    assert differences(before, before).largest == 0.0


RECORDER = """
import sys
from pathlib import Path
import writing
scope = {}
exec((Path(sys.argv[1]) / "pkg" / "loss.py").read_text(), scope)
writing.write("trl", [{"id": "one", "loss": scope["Loss"]().value(9.0, 1.0)}], {})
"""


def test_the_recorder_runs_with_the_new_sources(tmp_path, monkeypatch):
    shutil.copy(ROOT / "tests" / "data" / "record" / "writing.py", tmp_path)
    (tmp_path / "recorder.py").write_text(RECORDER)
    (tmp_path / "inputs.json").write_text("{}")
    (tmp_path / "trl.json").write_text(json.dumps({"cases": [{"id": "one", "loss": -1.2}]}))
    monkeypatch.setattr(again, "RECORDINGS", tmp_path)
    trainer = replace(TRAINER, recorder=str(tmp_path / "recorder.py"))
    same = folder(tmp_path / "same", {"pkg/loss.py": SOURCE})
    assert rerun(trainer, same, sys.executable).largest < 1e-12
    other = folder(tmp_path / "other", {"pkg/loss.py": SOURCE.replace("1.0 + eps", "1.6 + eps")})
    # The loss is -(1.6 + 0.2) in place of -(1.0 + 0.2).
    assert rerun(trainer, other, sys.executable).apart == (("one", pytest.approx(0.5)),)
    broken = folder(tmp_path / "broken", {"pkg/loss.py": "import no_such_package\n"})
    assert "no_such_package" in rerun(trainer, broken, sys.executable).problem
    assert rerun(replace(trainer, recorder=""), same, sys.executable).problem


# ---- tracked.toml -------------------------------------------------------------------------------


def test_every_dialect_is_tracked_and_every_hash_is_one_or_has_a_reason():
    trainers = read()
    assert {each.dialect for each in trainers} == set(DIALECTS)
    for trainer in trainers:
        assert not trainer.recorder or (ROOT / trainer.recorder).is_file()
        assert re.fullmatch(r"[0-9a-f]{40}|", trainer.commit)
        for file in trainer.files:
            hashes = [
                file.sha256,
                *file.functions.values(),
                *([file.tree] if file.path.endswith(".py") else []),
            ]
            assert file.missing or all(re.fullmatch(r"[0-9a-f]{64}", each) for each in hashes), file.path


def test_every_recorder_belongs_to_a_tracked_trainer():
    names = (f"tests/data/record/record_{name}.py" for name in DIALECTS)
    recorders = {name for name in names if (ROOT / name).is_file()}
    assert {each.recorder for each in read() if each.recorder} == recorders


def test_the_file_is_as_it_is_written():
    assert dump(read()) == TRACKED.read_text(encoding="utf-8")


WRONG = {
    "an unknown key": ('[a]\nrepository = "x"\ncommit = "c"\nfiles = []\nbranch = "main"', "branch"),
    "no files": ('[a]\nrepository = "x"\ncommit = "c"', "'files'"),
    "no version": ('[a]\nrepository = "x"\nfiles = []', "a commit or a release"),
    "an empty hash without a reason": (
        '[a]\nrepository = "x"\ncommit = "c"\n[[a.files]]\npath = "p"\npart = "loss"\nsha256 = ""',
        "the reason in missing",
    ),
    "an unknown part": (
        '[a]\nrepository = "x"\ncommit = "c"\n[[a.files]]\npath = "p"\npart = "all"\nsha256 = "1"',
        "'all'",
    ),
    "a number for text": ('[a]\nrepository = 1\ncommit = "c"\nfiles = []', "received 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_by_its_place(name, tmp_path):
    text, message = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(text, tmp_path)


def test_an_unknown_trainer_is_refused(capsys):
    status, shown = run(capsys, "check", "no-such-trainer", "--from", ".")
    assert status == 2
    assert "received no-such-trainer" in shown.err
