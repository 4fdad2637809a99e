"""Follow the steps of a page: create and change files, and run commands."""

import os
import re
import subprocess
import sys
from pathlib import Path


def block(name):
    """Return the pattern of a block of code whose fences are indented like the code."""
    margin = f"{name}_margin"
    return rf"\s*\n(?P<{margin}> *)```(?:python|toml|csv|yaml|json)\n(?P<{name}>.*?)\n(?P={margin})```"


STEP = re.compile(
    rf"[Cc]reate\s+`(?P<new>[^`]+)`:{block('text')}"
    rf"|at the end of `(?P<longer>[^`]+)`,\s+add:{block('more')}"
    rf"|[Ii]n\s+`(?P<file>[^`]+)`,\s+(?P<side>above|below)\s+`(?P<line>[^`]+)`,\s+add:{block('lines')}"
    rf"|[Ii]n\s+`(?P<mended>[^`]+)`,\s+replace\s+the\s+line\s+`(?P<whole>[^`]+)`\s+by:{block('instead')}"
    r"|[Ii]n\s+`(?P<changed>[^`]+)`,\s+replace\s+`(?P<old>[^`]+)`\s+by\s+`(?P<by>[^`]+)`"
    r"|^    \$ (?P<command>[^\n]+)$"
    r"|^```console\n(?P<session>.*?)^```(?=(?P<meaning>.*?)(?:^```|^#|\Z))",
    re.DOTALL | re.MULTILINE,
)


def code(step, name):
    """Return the lines of a block, without its indentation."""
    return "".join(f"{line.removeprefix(step[f'{name}_margin'])}\n" for line in step[name].split("\n"))


def edit(path, old, new):
    """Replace the first occurrence of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def whole_line(path, text):
    """Return the only line of a file that consists of this text, with its indentation."""
    (line,) = re.findall(rf"^ *{re.escape(text)}\n", path.read_text(encoding="utf-8"), re.MULTILINE)
    return line


def follow(step, root, run):
    """Do what a step says. Return the path of the file that it touches, or None for a command."""
    if step["command"]:
        run(step["command"], root)
        return None
    path = root / (step["new"] or step["longer"] or step["file"] or step["mended"] or step["changed"])
    if step["new"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        assert not path.exists(), path
        path.write_text(code(step, "text"), encoding="utf-8")
    elif step["longer"]:
        path.write_text(path.read_text(encoding="utf-8") + "\n" + code(step, "more"), encoding="utf-8")
    elif step["file"]:
        line, added = step["line"] + "\n", code(step, "lines")
        edit(path, line, added + line if step["side"] == "above" else line + added)
    elif step["mended"]:
        edit(path, whole_line(path, step["whole"]), code(step, "instead"))
    else:
        edit(path, step["old"], step["by"])
    return path


def run(command, root, path):
    """Run a command, assert that it succeeds, and return what it prints."""
    done = shell(command, root, path)
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}"
    return done.stdout


def shell(command, root, path):
    """Run a command in a folder without a terminal; `path` lists the folders to import packages from."""
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    settings = {
        "PATH": programs,
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONUNBUFFERED": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "NO_COLOR": "1",
    }
    return subprocess.run(
        command,
        shell=True,
        cwd=root,
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
