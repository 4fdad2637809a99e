"""`grpo_ref.diagnose.compare`: compare the logs of two runs."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from grpo_ref.diagnose.comparison import Runs, in_two_lines, sections
from grpo_ref.diagnose.diagnosis import diagnose
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.text import written

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(Runs):
    """The comparison of two runs, A and B. Print it, or read the diagnoses `first` and `second`."""

    def __str__(self) -> str:
        return written(in_two_lines(self), list(sections(self)))

    __repr__ = __str__

    def plot(self) -> "Figure":
        """Draw the curves of both runs on the same axes."""
        from grpo_ref.diagnose.figure import figure_of_two  # matplotlib, which the text does not need

        return figure_of_two(self)

    def _repr_html_(self) -> str:
        """Return the comparison with its figure, which a notebook shows."""
        from grpo_ref.diagnose.page import body  # matplotlib, which the text does not need

        return body(self)


def compare(
    first: Results | str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, Any]],
    second: Results | str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, Any]],
) -> Comparison:
    """Compare the logs of two runs.

    Args:
      first, second: a diagnosis, or a log as for `diagnose`. A diagnosis with its configuration allows more
        statements.

    Raises:
      ValueError: if a log cannot be read.

    >>> run = [{"step": step, "reward": 0.5, "reward_std": 0.2} for step in (1, 2)]
    >>> print(compare(run, run))  # doctest: +ELLIPSIS
    A: TRL log..., 2 rows, steps 1 to 2, no configuration
    B: TRL log..., 2 rows, steps 1 to 2, no configuration
    ...
    """
    both = [each if isinstance(each, Results) else diagnose(each) for each in (first, second)]
    return Comparison(*both)
