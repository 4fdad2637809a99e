"""A small exercise to attack: masked halves, whose author checked too little."""

import numpy as np
import pytest

from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.problem import Case, Problem

MODEL = """
import numpy as np

def shares(values, mask, by=2.0):
    values = np.asarray(values, dtype=float)
    if by <= 0:
        raise ValueError("by must be positive")
    return np.where(np.asarray(mask) > 0, values, 0.0) / by
"""
LOOP = """
import numpy as np

def shares(values, mask, by=2.0):
    if by <= 0:
        raise ValueError("by must be positive")
    return [v / by if m else 0.0 for v, m in zip(np.asarray(values).tolist(), np.asarray(mask).tolist())]
"""
DOMAIN = Domain(
    {
        "values": Real("T", (-100, 100), padding="mask"),
        "mask": Mask("T"),
        "by": Scalar(2.0, (0.5, 8), refused=(0, -1)),
    },
    sizes={"T": (1, 4)},
    large={"T": 30},
)


@pytest.fixture
def styles():
    return {"the model answer": MODEL, "a loop": LOOP}


@pytest.fixture
def problem():
    namespace = {}
    exec(MODEL, namespace)
    return Problem(
        id="toys/shares",
        title="Shares",
        function="shares",
        reference=namespace["shares"],
        checks=(Case("Two halves", ([1.0, 3.0], [1, 1]), np.array([0.5, 1.5]), why="by 2"),),
        mutants=(),
        hints=(),
        source="",
        domain=DOMAIN,
    )
