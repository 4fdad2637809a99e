"""Store the results of an attack, so that a stopped attack can continue."""

import hashlib
import json
from pathlib import Path
from typing import Any


class Store:
    """Results by key, in a file to which lines of JSON are appended, one per result.

    Attributes:
      path: the file; an incomplete last line is ignored.
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
        """Return the result, or None if there is none yet."""
        return self.results.get(key)

    def put(self, key: str, result: Any) -> None:
        """Store a result, and write it at once."""
        self.results[key] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._cut_off() + json.dumps([key, result]) + "\n")

    def _cut_off(self) -> bool:
        """Return whether the file ends in the middle of a line."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"


def fingerprint(*texts: str) -> str:
    """Return a short key for texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]
