"""What somebody launched, read without running it: a script, a file or a pasted line gives keys and values.

| module         | reads                                                              |
|----------------|--------------------------------------------------------------------|
| `shell.py`     | shell scripts: which commands they run, with which words           |
| `python.py`    | Python scripts and notebooks: the constants in `GRPOConfig(...)`   |
| `trees.py`     | YAML, JSON and TOML, with what refers to other keys and files      |
| `logs.py`      | logs of a run: the command and the configuration that it printed   |
| `arguments.py` | the words behind a program's name: flags and overrides             |
| `detection.py` | whose keys these are                                               |
| `relays.py`    | programs that hand their keys on to a trainer, such as axolotl     |
| `reading.py`   | all of them together, `read_launch`                                |

Nothing is run or imported, and no environment is read: a value that only a run could tell is `Unknown`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
