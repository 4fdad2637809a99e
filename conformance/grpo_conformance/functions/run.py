"""Run a trainer's functions on cases: python -m grpo_conformance.functions.run REQUEST OUT

REQUEST is a JSON file with the trainer and the cases: id, call, settings, dtype, group_size, and arrays. OUT becomes a
JSON file with the packages that were replaced and, for each case, its numbers or the reason why there are none:
"changed" if a signature is another one, "outside" if the functions do not compute all of it, or "error".
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from grpo_conformance.functions import trainers
from grpo_conformance.functions.absent import load
from grpo_conformance.functions.calling import Case, Outside, Trainer
from grpo_conformance.functions.signatures import SignatureChanged


def result(computes: Any, trainer: Trainer, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a case, or the reason why there are none."""
    if asked["call"] not in computes.CALLS:
        return {"outside": f"the call {asked['call']!r}"}
    try:
        numbers: dict[str, Any] = computes.CALLS[asked["call"]](trainer, Case(asked))
    except SignatureChanged as reason:
        return {"changed": str(reason)}
    except Outside as reason:
        return {"outside": str(reason)}
    except Exception as error:  # whatever the trainer's code raises is a result
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return numbers


def main(request: Path, out: Path) -> None:
    """Run all cases of a request."""
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    asked = json.loads(request.read_text(encoding="utf-8"))
    about = trainers()[asked["trainer"]]
    computes = importlib.import_module(f"grpo_conformance.functions.{asked['trainer']}")
    modules = sorted({place.partition(":")[0] for place in about["functions"].values()})
    replaced = load(about["package"], modules, about.get("without", ()))
    trainer = Trainer(about["functions"])
    results = {each["id"]: result(computes, trainer, each) for each in asked["cases"]}
    out.write_text(json.dumps({"replaced": replaced, "cases": results}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
