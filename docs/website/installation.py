"""Take the words about installation on the start page from README.md, with the address of the repository."""

import os
import re
from textwrap import dedent

from website.tree import ROOT

SETTING = "REPOSITORY_URL"
"""Environment variable with the address that `git clone` gets. Without it, the address of README.md stays."""
MARK = "<!-- install -->"
"""The comment on the start page that is replaced."""
SECTION = re.compile(r"^## Install\n(.*?)^!\[", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
COMMANDS = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def with_installation(text: str) -> str:
    """Return the text of the start page with README.md's words about installation."""
    return text.replace(MARK, installation(os.environ.get(SETTING, "")))


def installation(address: str) -> str:
    """Return README.md's words about installation.

    Args:
      address: the address of the repository, or "" for the one in README.md.
    """
    (section,) = SECTION.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    text = COMMENT.sub("", section).strip() + "\n"
    text = COMMANDS.sub(lambda lines: f"```text\n{dedent(lines[0])}```\n", text)
    return re.sub(r"(?<=git clone )\S+", lambda shown: address or shown[0], text).strip()
