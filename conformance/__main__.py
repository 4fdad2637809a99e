"""Run `python -m conformance COMMAND`."""

import click

from conformance import parity


@click.group()
def main() -> None:
    """Compare grpo_ref with numbers that were recorded by running trainers."""


main.add_command(parity.command)

if __name__ == "__main__":
    main(prog_name="python -m conformance")
