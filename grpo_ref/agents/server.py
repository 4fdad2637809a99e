"""The MCP server: each tool checks its arguments and runs one `grpo-ref` command in a bounded process."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from grpo_ref.agents.process import Failed, run
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.version import __version__

MOST_OUTPUT = 200_000
"""Largest number of characters of an answer."""
AT_ONCE = 2
"""Number of calls that run at the same time. Others wait."""
READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
INSTRUCTIONS = (
    "Tools for reinforcement learning of language models with GRPO and related algorithms. `explain` says"
    " what a trainer's configuration really optimizes, with warnings and an objective ID. `convert` gives the"
    " nearest configuration of another trainer. `audit` says which launch files of a folder were touched by a"
    " known behaviour that surprises. `diagnose` reads a training log. The tools only read files in one"
    " folder. To compare a loss function with a reference, run `grpo-ref check` in a shell: it runs the"
    " function, so there is no tool for it here."
)
SHORTENED = ("facts", "found_by", "notes", "without_effect")
"""Parts of the report of explain that an agent does not get."""

Config = Annotated[
    str,
    Field(
        description="A file below the root folder, or the text of one: a launch line, YAML, JSON, TOML, a"
        " Python script or a shell script. Empty for the trainer's defaults."
    ),
]
Changes = Annotated[
    tuple[str, ...],
    Field(description='Settings that change the configuration, each as "key=value".'),
]
Trainer = Annotated[str, Field(description=f"The trainer, if it cannot be detected: {', '.join(DIALECTS)}.")]


def server(root: Path, timeout: float = 30.0) -> MCPServer[Any]:
    """Return the server with its tools.

    Args:
      root: the folder whose files may be read.
      timeout: seconds after which a call is stopped.
    """
    root = root.resolve()
    places = threading.BoundedSemaphore(AT_ONCE)
    mcp: MCPServer[Any] = MCPServer(
        "grpo-ref", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )

    def answer(*arguments: str) -> tuple[str, str]:
        """Run a command, and return its output and its messages."""
        try:
            with places:
                finished = run(arguments, root, timeout)
        except Failed as error:
            raise ToolError(str(error)) from error
        if len(finished.output) > MOST_OUTPUT:
            raise ToolError(
                f"the answer has {len(finished.output)} characters, more than {MOST_OUTPUT}; give a smaller"
                " configuration or log"
            )
        return finished.output, finished.messages

    @mcp.tool(title="Explain a configuration", annotations=READ_ONLY)
    def explain(
        config: Config = "",
        changes: Changes = (),
        trainer: Trainer = "",
        version: str = "",
    ) -> dict[str, Any]:
        """Say in words and equations what a trainer's configuration optimizes, and warn of traps.

        Nothing is run. The answer has the objective in one sentence, warnings in the order of their effect on
        the gradient, the parts with their equations, everything that is unknown, and the objective ID: two
        configurations with one ID have the same objective.
        """
        options = [*_option("--trainer", trainer), *_option("--version", version)]
        output, _ = answer(
            "explain", "--format", "json", *options, "--", *_arguments(root, config, changes, trainer)
        )
        report = json.loads(output)
        return {name: part for name, part in report.items() if name not in SHORTENED}

    @mcp.tool(title="Convert a configuration", annotations=READ_ONLY)
    def convert(
        target: Annotated[str, Field(description=f"The other trainer: {', '.join(DIALECTS)}.")],
        config: Config = "",
        changes: Changes = (),
        trainer: Trainer = "",
        form: Literal["keys", "yaml", "line"] = "keys",
        max_length: Annotated[
            int | None,
            Field(ge=1, description="The generation budget in tokens, if unknown."),
        ] = None,
    ) -> dict[str, Any]:
        """Give the nearest configuration in another trainer's keys.

        `losses` names each part and key that cannot be expressed, with the effect on the gradient of a
        typical batch. If `losses` is empty, both configurations have the same objective.
        """
        options = ["--to", target, "--format", form, *_option("--from", trainer)]
        options += [] if max_length is None else ["--max-length", str(max_length)]
        output, messages = answer("convert", *options, "--", *_arguments(root, config, changes, trainer))
        return {"config": output.rstrip("\n"), "losses": messages.splitlines()}

    @mcp.tool(title="Audit launch files", annotations=READ_ONLY)
    def audit(
        folder: Annotated[str, Field(description="A folder or a file below the root folder.")] = ".",
        trainer: Trainer = "",
        releases: Annotated[
            tuple[str, ...],
            Field(description='Releases that were run, each as "TRAINER==RELEASE", such as "trl==0.22.1".'),
        ] = (),
    ) -> dict[str, Any]:
        """Say which launch files were touched by an entry of the errata, and under which condition.

        The errata list behaviours of trainers that differ from their documentation, from a paper or from the
        name of a key, with the releases that behave so. A touch is certain if the release and all values that
        decide are known; otherwise its condition is given. Nothing is run.
        """
        options = [
            *_option("--trainer", trainer),
            *(part for each in releases for part in ("--release", each)),
        ]
        output, _ = answer("audit", "--json", *options, "--", str(_below(root, folder)))
        audited: dict[str, Any] = json.loads(output)
        return audited

    @mcp.tool(title="Diagnose a training log", annotations=READ_ONLY)
    def diagnose(
        logs: Annotated[
            list[str],
            Field(min_length=1, description="Files or the folder of one run, below the root folder."),
        ],
        config: Annotated[
            str, Field(description="The launch file of the run, below the root folder, if there is one.")
        ] = "",
        trainer: str = "",
    ) -> dict[str, Any]:
        """Read the log of a run, and its launch file, and report what happened.

        The answer names relations between logged numbers that are broken, patterns in the curves that are
        likely problems, and numbers that look alarming and are right.
        """
        options = [*_option("--trainer", trainer)]
        options += _option("--config", str(_below(root, config)) if config else "")
        paths = [str(_below(root, log)) for log in logs]
        output, messages = answer("diagnose", "--format", "json", *options, "--", *paths)
        return {**json.loads(output), "messages": messages.splitlines()}

    return mcp


def _option(name: str, value: str) -> list[str]:
    return [name, value] if value else []


def _arguments(root: Path, config: str, changes: Sequence[str], trainer: str) -> list[str]:
    """Return the words that name a configuration on the command line.

    Raises:
      ToolError: if the configuration is neither a file nor a text, or a change is not a setting.
    """
    wrong = next((change for change in changes if "=" not in change), None)
    if wrong is not None:
        raise ToolError(f'changes: expected "key=value", got {wrong!r}')
    is_text = "=" in config or len(config.split()) > 1
    if not config.strip():
        if not trainer:
            raise ToolError("expected a configuration, or a trainer to explain its defaults")
        return [*changes] if changes else [trainer]
    if is_text and not _is_file(root, config):
        return [config, *changes]
    return [str(_below(root, config)), *changes]


def _is_file(root: Path, text: str) -> bool:
    """Return true if there is a file of this name. A text may be too long for a name."""
    try:
        return (root / text).is_file()
    except (OSError, ValueError):
        return False


def _below(root: Path, name: str) -> Path:
    """Return the path of a file or folder below the root.

    Raises:
      ToolError: if there is none, or if it is elsewhere.
    """
    try:
        path = (root / name).expanduser().resolve()
        exists = path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise ToolError(f"{name!r}: this is not a name of a file: {error}") from error
    if not path.is_relative_to(root):
        raise ToolError(f"{name}: only files below {root} are read")
    if not exists:
        raise ToolError(f"{name}: there is no such file below {root}")
    return path
