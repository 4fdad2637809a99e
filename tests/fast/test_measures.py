"""Metrics of the fast loop."""

import pytest

from grpo_ref import TASKS
from grpo_ref.fast.measures import fast_metrics
from grpo_ref.learning.curves import METRICS, OF_COMPLETIONS


@pytest.mark.parametrize("name", TASKS)
def test_its_metrics_are_among_those_of_the_plain_loop(name):
    task = TASKS[name]()
    assert set(fast_metrics(task)) == {*task.criteria, *OF_COMPLETIONS}
    assert set(OF_COMPLETIONS) <= set(METRICS)
