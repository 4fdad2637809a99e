"""The columns of nbgrader, against a copy of the heading that its exporter writes."""

import csv
import io
from datetime import UTC, datetime

from grpo_ref.course.classroom import CourseFile
from grpo_ref.course.classroom.course_file import Assignment
from grpo_ref.course.classroom.nbgrader import nbgrader

HEADING = (
    "assignment,duedate,timestamp,student_id,last_name,first_name,email,"
    "raw_score,late_submission_penalty,score,max_score"
)
COURSE = CourseFile(
    (Assignment("week-1", ("kl/k3",), datetime(2027, 3, 1, 22, 59, tzinfo=UTC)), Assignment("week-2", ()))
)
PART = {"name": "week-1", "points": 1.5, "of": 3.0, "weight": 3.0, "days_late": 1, "lost": 0.5}


def test_a_row_for_every_assignment_of_every_student():
    records = [
        {
            "student": "anna",
            "submitted": "2027-03-02T12:00:00+01:00",
            "assignments": [PART, {**PART, "name": "week-2", "lost": 0.0}],
        },
        {"student": "ben", "submitted": None, "assignments": [{**PART, "points": 0.0, "lost": 0.0}]},
    ]
    about = {"anna": {"First Name": "Anna", "last_name": "=cmd", "Email": "a@example.org"}}
    text = nbgrader(records, COURSE, about)
    assert text.splitlines()[0] == HEADING
    first, second, third = csv.DictReader(io.StringIO(text))
    assert (first["duedate"], first["timestamp"]) == ("2027-03-01 22:59:00", "2027-03-02 11:00:00")
    assert (first["first_name"], first["last_name"], first["email"]) == ("Anna", "'=cmd", "a@example.org")
    assert [first[name] for name in list(first)[-4:]] == ["2.0", "0.5", "1.5", "3.0"]
    assert (second["assignment"], second["duedate"]) == ("week-2", "")
    assert (third["student_id"], third["timestamp"], third["score"]) == ("ben", "", "0.0")
