"""From the text of a script to its commands."""

from grpo_ref.explain.launch.shell.outline import Outline
from grpo_ref.explain.launch.shell.script import CannotRead, Script
from grpo_ref.explain.launch.shell.walk import Shell
from grpo_ref.explain.launch.trees import Beside, nowhere

CHARACTERS = 1_000_000


def read_shell(script: str, beside: Beside = nowhere) -> Script:
    r"""The commands that a shell script would run, with their words as far as they are known.

    Nothing is run, no other file is opened and no variable of the environment is read. What depends on them is
    a hole in a word. Where a condition is not known, both branches are read.

    Args:
      script: its text, or a launch line.
      beside: finds the scripts that it runs or includes.

    Raises:
      CannotRead: if it is too long, too deep or takes too many steps, or a quote or bracket is not closed.

    >>> script = read_shell("LR=${LR:-1e-6}\npython train.py \\\n  --lr $LR --model $MODEL")
    >>> [str(word) for word in script.commands[0].words]
    ['python', 'train.py', '--lr', '1e-6', '--model', '$MODEL']
    >>> script.notes[0].text
    'LR is taken as unset in ${LR:-1e-6}.'
    """
    if len(script) > CHARACTERS:
        raise CannotRead(1, f"begins a script of more than {CHARACTERS:,} characters")
    try:
        return _read(script.replace("\r\n", "\n"), beside)
    except RecursionError as error:
        raise CannotRead(1, "begins a script that is nested too deep") from error


def _read(text: str, beside: Beside) -> Script:
    outline = Outline.of(text)
    shell = Shell(outline)
    shell.beside = beside
    shell.whole()
    notes = sorted({*outline.lexer.notes, *shell.notes})
    return Script(shell.commands, shell.files, notes, shell.python)
