"""`pytest exercises` grades the exercises in this folder."""

from grpo_ref.course.pytest_plugin import (
    pytest_addoption,
    pytest_collect_file,
    pytest_report_header,
    pytest_report_teststatus,
    pytest_terminal_summary,
)
