"""Read the log of a training run, with its configuration, and report what happened.

    print(grpo_ref.diagnose("trainer_state.json", "train.py"))

| module | job |
|---|---|
| folders | find the files with metrics in the folder of a run |
| formats | read the records of a file, whatever trainer wrote it |
| lines | read the records of a text line by line |
| log | look up the quantity of each metric, and join the records of a step |
| own_runs | read the run folders of `grpo-ref train`, with the facts of their configuration |
| configuration | take the facts of a run from its launch file |
| facts | find the facts that the log itself shows, and compare them with the configuration |
| relations | state what must hold between the numbers, and test it row by row |
| patterns | find collapse, truncation, instability and others in the curves |
| expected | explain numbers that look alarming and are right |
| results | keep the results of these steps |
| statements | rank the statements, and put them into words |
| advice | look up the keys to change, and the price |
| course_of_run | describe the start and the end of the main curves |
| text | write the report |
| comparison | find the differences of two runs |
| two_runs | compare the logs of two runs |
| figure | draw the curves with the statements |
| page | write the report with the curves as HTML |
| diagnosis | put the steps together |
| live | report on a run in progress |
"""

import sys
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Callable(ModuleType):
    """A package that can be called, so that `grpo_ref.diagnose("run.log")` works beside `grpo_ref.diagnose.relations`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call `grpo_ref.diagnose.diagnosis.diagnose`."""
        from grpo_ref.diagnose.diagnosis import diagnose  # most of this package, only when it is used

        return diagnose(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
