"""A pytest plugin: the fixture `conformance`, and the option `--conformance MODULE:FUNCTION=NAME`.

pytest loads this module wherever grpo-conformance is installed, so it imports nothing but pytest.

    def test_loss(conformance):
        conformance(my_loss, "dapo")

    pytest --conformance my_module:my_loss=dapo
"""

from collections.abc import Callable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("grpo-conformance").addoption(
        "--conformance",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION=NAME",
        help="test that a function computes what the GRPO trainers compute, for example my_module:my_loss=dapo;"
        " settings follow after commas: my_module:my_loss=dapo,clip_high=0.28. May be given several times.",
    )


@pytest.fixture
def conformance() -> Callable[..., None]:
    """Return the function `grpo_conformance.assert_conforms`."""
    from grpo_conformance.conforming import assert_conforms

    return assert_conforms


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add one test for each value of the option."""
    for text in config.getoption("--conformance"):
        items.append(ConformanceItem.from_parent(session, name=text))


class ConformanceItem(pytest.Item):
    """The test of one function. Its name is the value of the option."""

    def runtest(self) -> None:
        """Compare the function with the vectors."""
        from grpo_conformance.command import function_of, parsed
        from grpo_conformance.conforming import assert_conforms

        place, _, what = self.name.partition("=")
        name, settings = parsed(what)
        assert_conforms(function_of(place), name, **settings)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Show the message alone."""
        return f"{type(excinfo.value).__name__}: {excinfo.value}"

    def reportinfo(self) -> tuple[str, None, str]:
        """Return the line of the summary."""
        return "--conformance", None, f"[{self.name}]"  # pytest replaces the dots of a name outside brackets
