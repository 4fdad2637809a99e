"""`grpo-ref mcp`: serve explain, convert, audit and diagnose to an agent."""

import importlib.util
from pathlib import Path

import click


@click.command("mcp", epilog="Example:  grpo-ref mcp --root ~/experiments")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    help="The folder whose files may be read. The default is the current folder.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1.0),
    default=30.0,
    show_default=True,
    help="Seconds after which a call is stopped.",
)
def command(root: Path, timeout: float) -> None:
    r"""Serve explain, convert, audit and diagnose to an agent, over the Model Context Protocol (MCP).

    An agent starts this command itself, and talks to it over standard input and output. Register it in the
    agent's configuration, for example as

    \b
      {"mcpServers": {"grpo-ref": {"command": "grpo-ref", "args": ["mcp", "--root", "/my/project"]}}}

    The tools read files in the folder --root and no others. They write nothing, run none of your code and use
    no network. Configurations up to 2 MB and logs up to 100 MB are read.

    There is no tool for `grpo-ref check`, because it runs the loss function that it checks.
    """
    if importlib.util.find_spec("mcp") is None:
        raise click.ClickException("the MCP SDK is not installed: pip install 'grpo-ref[mcp]'")
    from grpo_ref.agents.server import server  # which imports the SDK

    server(root, timeout).run("stdio")
