"""The public names of the classroom, by module."""

from .alike import Alike as Alike, alike_pairs as alike_pairs, comparable as comparable
from .course_file import (
    COLUMNS as COLUMNS,
    CourseFile as CourseFile,
    read_course as read_course,
    without_file as without_file,
)
from .entries import Unreadable as Unreadable
from .handed_in import (
    Delivery as Delivery,
    HandedIn as HandedIn,
    Pile as Pile,
    pile_of as pile_of,
    piles as piles,
)
from .item_analysis import (
    CheckItem as CheckItem,
    ExerciseItem as ExerciseItem,
    Scores as Scores,
    check_items as check_items,
    exercise_items as exercise_items,
    misconceptions as misconceptions,
    scores as scores,
    timed_out as timed_out,
)
from .marks import Marks as Marks, marks_of as marks_of
from .overrides import Override as Override, read_overrides as read_overrides
from .own_process import Ended as Ended, in_own_process as in_own_process
from .parallel_grading import grade_class as grade_class, prepare as prepare
from .student import Graded as Graded, grade_student as grade_student, key_of as key_of
