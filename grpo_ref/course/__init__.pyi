"""The public names of the course, by module."""

from . import attack as attack
from .contents import CHAPTERS as CHAPTERS, EXERCISES as EXERCISES
from .grading.sampled_check import own_checks as own_checks
from .grading.grade import (
    grade as grade,
    grader_failed as grader_failed,
    not_started as not_started,
    unreadable as unreadable,
)
from .grading.kill_matrix import Matrix as Matrix, kill_matrix as kill_matrix, near_misses as near_misses
from .grading.problem import Problem as Problem
from .grading.report import Report as Report
from .rendering.statement import starter as starter, statement as statement
from .marking import mark as mark
from .exercises import PROBLEMS as PROBLEMS
from .right_answers import right_answers as right_answers
from .starters import build as build, fill as fill, is_untouched as is_untouched, reset as reset
from .workbook import Workbook as Workbook
