"""Read the text of a shell script into its commands."""

from grpo_ref.explain.launch.shell.interpreter import Interpreter
from grpo_ref.explain.launch.shell.parser import parse
from grpo_ref.explain.launch.shell.script import CannotRead, Script
from grpo_ref.explain.launch.trees import Beside, nowhere

CHARACTERS = 1_000_000


def read_shell(script: str, beside: Beside = nowhere) -> Script:
    r"""Return the commands that a shell script would run, with their words as far as they are known.

    Nothing is run, no other file is opened and no environment variable is read. Words that depend on these
    have holes. If a condition is unknown, both branches are read.

    Args:
      script: text of the script, or a launch line.
      beside: returns the text of a script that this one runs or includes.

    Raises:
      CannotRead: if the script is too long, is too deep, takes too many steps, or has an unclosed quote or
        bracket.

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
    tree = parse(text, is_partial=True)
    interpreter = Interpreter(beside)
    interpreter.script(tree)
    state = interpreter.state
    return Script(state.commands, state.files, sorted({*tree.notes, *state.notes}), state.python)
