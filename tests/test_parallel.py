"""Work in several processes: nothing is lost when one of them is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_ref.parallel import each_done

MODULE = '''
import os, signal, sys
from pathlib import Path
from grpo_ref.parallel import each_done

def square(number):
    """Kills its process the first time that it is asked for 3; always for 13."""
    mark = Path(os.environ["MARK"])
    if number == 13 or (number == 3 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number

if __name__ == "__main__":
    from killed import square
    print(sorted(each_done(square, iter(map(int, sys.argv[1:])), workers=2)))
'''


def run(tmp_path, *numbers):
    """The squares of the numbers, from a program of its own: the tests' own processes stay whole."""
    (tmp_path / "killed.py").write_text(MODULE)
    environment = {**os.environ, "MARK": str(tmp_path / "mark"), "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    command = [sys.executable, "-W", "ignore", "killed.py", *map(str, numbers)]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


def test_what_a_killed_process_was_at_is_done_again(tmp_path):
    done = run(tmp_path, *range(12))
    assert done.stdout.strip() == str([number * number for number in range(12)]), done.stderr


def test_what_kills_every_process_ends_it(tmp_path):
    done = run(tmp_path, 13)
    assert done.returncode == 1
    assert "OSError: the processes that do the work are killed again and again" in done.stderr


def test_without_processes_an_error_is_the_works_own():
    assert sorted(each_done(abs, [-1, 2], workers=1)) == [1, 2]
    with pytest.raises(TypeError):
        list(each_done(abs, ["a"], workers=1))
