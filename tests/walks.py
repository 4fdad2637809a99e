"""A walk of the documentation, followed word by word: files are made and changed, commands are run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def block(name):
    """The pattern of a block of code."""
    return rf"\s*```(?:python|toml|csv)\n(?P<{name}>.*?)\n +```"


STEP = re.compile(
    rf"[Cc]reate\s+`(?P<new>[^`]+)`:{block('text')}"
    rf"|at the end of `(?P<longer>[^`]+)`,\s+add:{block('more')}"
    rf"|[Ii]n\s+`(?P<file>[^`]+)`,\s+(?P<side>above|below)\s+`(?P<line>[^`]+)`,\s+add:{block('lines')}"
    r"|[Ii]n\s+`(?P<changed>[^`]+)`,\s+replace\s+`(?P<old>[^`]+)`\s+by\s+`(?P<by>[^`]+)`"
    r"|^    \$ (?P<command>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)


def unindented(code):
    """A block of a list, whose own indentation is three spaces."""
    return "\n".join(line.removeprefix("   ") for line in code.split("\n")) + "\n"


def edit(path, old, new):
    """Replace one place of a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def follow(step, root, run):
    """Do what one step of a walk says; the path of the file that it touches, or None for a command."""
    if step["command"]:
        run(step["command"], root)
        return None
    path = root / (step["new"] or step["longer"] or step["file"] or step["changed"])
    if step["new"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        assert not path.exists(), path
        path.write_text(unindented(step["text"]), encoding="utf-8")
    elif step["longer"]:
        path.write_text(path.read_text(encoding="utf-8") + "\n" + unindented(step["more"]), encoding="utf-8")
    elif step["file"]:
        line, added = step["line"] + "\n", unindented(step["lines"])
        edit(path, line, added + line if step["side"] == "above" else line + added)
    else:
        edit(path, step["old"], step["by"])
    return path


def run(command, root, path):
    """Run a command of a walk in its folder, with the packages in the folders of a path; what it prints."""
    program, *arguments = shlex.split(command)
    programs = {
        "cp": ["cp"],
        "python": [sys.executable],
        "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        "grpo-ref": [sys.executable, str(Path(sys.executable).with_name("grpo-ref"))],
    }
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "NO_COLOR": "1"}
    whole = [*programs[program], *arguments]
    done = subprocess.run(whole, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.stdout
