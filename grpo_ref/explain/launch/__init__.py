"""Read what somebody launches, without running it: scripts, files and pasted lines become keys with values.

| module         | reads                                                                        |
|----------------|------------------------------------------------------------------------------|
| `shell/`       | shell scripts: the commands that they run, with their words                  |
| `python.py`    | Python scripts and notebooks: the constants in `GRPOConfig(...)`             |
| `trees.py`     | YAML, JSON and TOML, with references to other keys and files                 |
| `logs.py`      | logs of a run: the command and the configuration that the run printed        |
| `arguments.py` | command-line arguments: flags and overrides                                  |
| `detection.py` | the trainer that a command or a set of keys belongs to                       |
| `wrappers.py`  | programs that pass their keys on to a trainer, such as axolotl               |
| `reading.py`   | any of these: `launches` for a text, `launch_of` for a command line          |

Nothing is run or imported, and no environment variable is read. A value that only a run could show is
`Unknown`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
