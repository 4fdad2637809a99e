"""Folders are removed, however deep they are and whatever is in them."""

import os

from deep import deep_folder

from grpo_ref.files import remove_folder


def test_a_folder_of_any_depth_is_removed(tmp_path):
    deep_folder(tmp_path / "in", 1500)
    remove_folder(tmp_path / "in")
    assert list(tmp_path.iterdir()) == []


def test_what_a_folder_holds_is_removed_and_what_links_lead_to_is_kept(tmp_path):
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    folder = tmp_path / "in"
    for name in ("a/b", "c/b"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").touch()
    (folder / "a" / "link").symlink_to(kept, target_is_directory=True)
    os.mkfifo(folder / "a" / "pipe")
    (folder / "a" / "b").chmod(0)
    remove_folder(folder)
    assert (kept / "inner").is_dir()
    assert not folder.exists()
