"""Hash the files of the recorded version."""

import ast
from dataclasses import replace

from watch.sources import Snapshot
from watch.tracked import TrackedFile, Trainer
from watch.trees import definitions, hash_of_text, hash_of_tree


def filled(trainer: Trainer, snapshot: Snapshot) -> Trainer:
    """Return the trainer with the hashes of a snapshot of its recorded version.

    Raises:
      ValueError: if a named function is not in its file.
    """
    return replace(trainer, files=tuple(_hashed(file, snapshot) for file in trainer.files))


def _hashed(file: TrackedFile, snapshot: Snapshot) -> TrackedFile:
    text = snapshot.read(file.path)
    if text is None:
        reason = f"{snapshot.version} has no such file"
        return replace(file, sha256="", tree="", functions=dict.fromkeys(file.functions, ""), missing=reason)
    content = hash_of_text(text)
    if not file.path.endswith(".py"):
        return replace(file, sha256=content, tree="", missing="")
    named = definitions(text)
    if absent := [name for name in file.functions if name not in named]:
        raise ValueError(
            f"{file.path} at {snapshot.version}: expected {absent[0]}, received a file without it"
        )
    functions = {name: hash_of_tree(named[name]) for name in file.functions}
    return replace(file, sha256=content, tree=hash_of_tree(ast.parse(text)), functions=functions, missing="")
