"""What an attack has found so far, so that a stopped one goes on where it was."""

import hashlib
import json
from pathlib import Path
from typing import Any


class Store:
    """Key -> result, one line of JSON each, in a file to which lines are added.

    Attributes:
      path: the file; a last line that was cut off is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            try:
                key, result = json.loads(line)
            except ValueError:
                continue
            self.results[key] = result

    def get(self, key: str) -> Any:
        """The result, or None if there is none yet."""
        return self.results.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keep a result at once."""
        self.results[key] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._cut_off() + json.dumps([key, result]) + "\n")

    def _cut_off(self) -> bool:
        """Whether the file ends in the middle of a line."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"


def fingerprint(*texts: str) -> str:
    """A short key for texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]
