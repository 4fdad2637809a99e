"""A console session of the documentation: its commands are run, and what they print is compared.

A line that begins with `$ ` is a command, which goes on after a backslash; what follows is its output, in
which `...` stands for anything, also for nothing where more output follows. The last command ends with the
exit status that the text below the session tells, all others with 0.
"""

import re
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, Example, OutputChecker

from walks import shell

COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
STATUS = re.compile(r"exit\s+status\s+(?P<status>\d)")
GAP = re.compile(r"\.\.\.\s+")
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE


def follow_session(step, root, path):
    """Run the commands of a session in a folder, and compare what they print and how they end."""
    *first, last = COMMAND.finditer(step["session"])
    for told in first:
        compare(told, shell(told["command"], root, path), 0)
    status = STATUS.search(step["meaning"])
    compare(last, shell(last["command"], root, path), int(status["status"]) if status else 0)


def compare(told, done, status):
    """One command as it was told, and as it went."""
    command, got = told["command"], done.stdout
    expected = GAP.sub("...", told["output"])
    assert done.returncode == status, f"{command}\nends with {done.returncode}, not {status}:\n{got[-5000:]}"
    if not OutputChecker().check_output(expected, got, FLAGS):
        difference = OutputChecker().output_difference(Example(command, told["output"]), got, FLAGS)
        raise AssertionError(f"{command}\n{difference}")
