"""Whether every flag of slime is known here: `python tests/data/record/keys_slime.py SOURCES`.

Reads the flags of `slime/utils/arguments.py`, and all flags that its scripts and examples give to `train.py`,
those of Megatron and SGLang too, and the keys of `mis.yaml`; names each one that the dialect does not know.
"""

import ast
import re
import sys
from pathlib import Path

import yaml

from grpo_ref.explain.dialects import DIALECTS

OF_OTHERS = """chunked_prefill_size disable_usage_stats host mem_fraction_static model_path node_ip_address
port runtime_env_json tp""".split()
"""What the scripts give to ray and to servers of their own."""

MIS = "examples/train_infer_mismatch_helper/mis.yaml"
"""What the function for the mismatch reads beside the flags."""


def of_parser(path: Path) -> set[str]:
    """The first names that `add_argument` and `reset_arg` are given."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in (
            "add_argument",
            "reset_arg",
        ):
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            found |= {name.removeprefix("--") for name in names}
    return found


def of_scripts(sources: Path) -> set[str]:
    """What stands first on a line, those that are commented out too."""
    files = [file for folder in ("scripts", "examples") for file in (sources / folder).rglob("*.sh")]
    return {
        name
        for file in files
        for name in re.findall(
            r"^ *#? ?--([a-z0-9][a-z0-9-]*)", file.read_text(encoding="utf-8"), re.MULTILINE
        )
    }


if __name__ == "__main__":
    root = Path(sys.argv[1])
    flags = of_parser(root / "slime" / "utils" / "arguments.py") | of_scripts(root)
    keys = {flag.replace("-", "_") for flag in flags} - set(OF_OTHERS)
    keys |= set(yaml.safe_load((root / MIS).read_text(encoding="utf-8")))
    missing = sorted(key for key in keys if DIALECTS["slime"].key(key) is None)
    print("\n".join(missing) or f"all {len(keys)} flags are known")
    sys.exit(bool(missing))
