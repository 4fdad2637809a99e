"""The pages of source: only what a page links to."""

import pytest

pytest.importorskip("pydata_sphinx_theme")
from website import kept, source_view


def test_what_pages_link_to_is_read_from_them(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "api/loss.html").write_text('<a href="../source/grpo_ref/loss.py.html#L-7">x</a>')
    (tmp_path / "index.html").write_text('<a href="source/docs/index.html">x</a><a href="sources.html">y</a>')
    assert source_view.linked_places(tmp_path) == {"grpo_ref/loss.py", "docs/index"}


def test_only_linked_files_and_the_folders_above_them_have_a_page(tmp_path):
    (tmp_path / "a.html").write_text('<a href="source/grpo_ref/explain/report.py.html">x</a>')
    names = [name for name, _, _ in source_view._pages(tmp_path)]
    assert names == [
        "source/grpo_ref/explain/report.py",
        "source/grpo_ref/index",
        "source/grpo_ref/explain/index",
    ]


def test_a_cached_result_depends_on_code_keys_and_recorded_numbers_but_not_on_the_course():
    files = {path.relative_to(kept.ROOT).as_posix() for path in kept._of_package()}
    assert {"grpo_ref/loss.py", "grpo_ref/parity/replay.py"} <= files
    assert any(path.endswith(".toml") and "explain/dialects" in path for path in files)
    assert not [path for path in files if path.startswith(("grpo_ref/course", "grpo_ref/web"))]


def test_a_cached_result_depends_on_what_its_module_imports():
    files = {path.name for path in kept._of_website(("trainer_pages",))}
    assert {"trainer_pages.py", "key_table.py", "key_effects.py"} <= files
    assert not {"build.py", "links.py"} & files
