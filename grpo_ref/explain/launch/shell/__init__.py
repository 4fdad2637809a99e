"""Read the commands of a shell script without running it."""

from grpo_ref.explain.launch.shell.reading import read_shell as read_shell
from grpo_ref.explain.launch.shell.script import CannotRead as CannotRead
from grpo_ref.explain.launch.shell.script import Command as Command
from grpo_ref.explain.launch.shell.script import Note as Note
from grpo_ref.explain.launch.shell.script import Script as Script
