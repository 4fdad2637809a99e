"""How long until something happens? Fresh interpreters, against a bare one."""

import subprocess
import sys
from pathlib import Path

from measure import heading, interleaved, spread

COMMANDS = {
    "bare python": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import grpo_ref": [sys.executable, "-c", "import grpo_ref"],
    "grpo-ref --help": [str(Path(sys.executable).with_name("grpo-ref")), "--help"],
}


def main() -> None:
    """Time each command in turn and print a table."""
    heading("start-up, seconds")
    if not Path(COMMANDS["grpo-ref --help"][0]).exists():
        print("  grpo-ref is not installed beside this Python: left out")
        del COMMANDS["grpo-ref --help"]
    actions = {
        name: lambda command=command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name, command in COMMANDS.items()
    }
    for name, seconds in interleaved(actions, 15).items():
        print(f"  {name:16} {spread(seconds)}")


if __name__ == "__main__":
    main()
