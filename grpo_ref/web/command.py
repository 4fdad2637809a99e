"""`grpo-ref web`: the whole course in a browser, without a server behind it."""

import webbrowser
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

Made = TypeVar("Made")


@click.group("web", invoke_without_command=True, epilog="Example:  grpo-ref web --port 8765")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; by default a free one."
)
@click.option("--open/--no-open", "opens", default=True, help="Open the course in the browser.")
@click.pass_context
def command(context: click.Context, port: int, opens: bool) -> None:
    """Serve the course to a browser on this machine, until Ctrl-C.

    The page itself grades the answers, with the same judge as all other commands. Nothing leaves the page,
    and the browser stores what you type. Beside the course, there are a playground that trains two recipes
    side by side, a page with the surrogates of all recipes, `explain` for a configuration that you paste, and
    `diagnose` for a log that you drop.
    """
    if context.invoked_subcommand is not None:
        return
    from grpo_ref.web.build import kept

    _serve(_made(partial(kept, _waiting)), port, opens)


@command.command("build", epilog="Example:  grpo-ref web build public")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def build(folder: Path) -> None:
    """Write the course into FOLDER. Any static web server can serve the folder, at any address."""
    from grpo_ref.web.build import write

    with _waiting():
        _made(partial(write, folder))
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    click.echo(f"{folder}: {len(list(folder.iterdir()))} files, {size:.0f} MB")


def _waiting() -> AbstractContextManager[None]:
    from grpo_ref.render.progress import waiting

    return waiting("writing the course (the first time, compiling Python takes some minutes)")


def _made(make: Callable[[], Made]) -> Made:
    """Call a function that writes the course, and turn its errors into those of a command."""
    try:
        return make()
    except (RuntimeError, OSError) as error:  # nothing is built, or Python for WebAssembly is not there
        raise click.ClickException(str(error)) from error


def _serve(folder: Path, port: int, opens: bool) -> None:
    from grpo_ref.web import serve

    try:
        server = serve.server(folder, port)
    except OSError as error:
        raise click.ClickException(f"port {port} cannot be used: {error.strerror}") from error
    address = f"http://{serve.HOST}:{server.server_port}/"
    click.echo(f"the course is at {address} (stop it with Ctrl-C)")
    if opens:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        click.echo("stopped")
    finally:
        server.server_close()
