"""The words about installation are those of README.md, with the address that is set."""

import re

from website.installation import MARK, SETTING, installation, with_installation
from website.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_commands_are_those_of_the_readme():
    text = installation("")
    commands = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].splitlines()
    assert [line.split("#")[0].strip() for line in commands] == [
        "git clone ADDRESS grpo_ref && cd grpo_ref",
        "make setup",
        ". .venv/bin/activate",
        "make demo",
    ]
    assert all(f"    {line}\n" in README for line in commands)
    assert text.startswith("You need Python 3.11")
    assert "PLACEHOLDER" not in text


def test_the_address_can_be_set(monkeypatch):
    monkeypatch.setenv(SETTING, "https://example.org/grpo_ref.git")
    text = with_installation(f"a\n\n{MARK}\n\nb")
    assert "git clone https://example.org/grpo_ref.git grpo_ref && cd grpo_ref" in text
    assert "ADDRESS" not in text


def test_only_the_readme_says_how_to_install():
    """Other pages link to it. An extra is named as it can be installed: from the clone."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert [
        page
        for page in pages
        if re.search(r"pip install ['\"]?grpo[-_]ref|git clone ", page.read_text("utf-8"))
    ] == []
    for name in ("student", "instructor", "practitioner", "researcher"):
        assert "(../../README.md#install)" in (ROOT / f"docs/tutorials/{name}.md").read_text(encoding="utf-8")
