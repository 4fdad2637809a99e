"""The grader's reports as text."""

from dataclasses import replace

import click
from little_exercise import RIGHT, judge

from grpo_ref.course.rendering.report_text import failure_text, report_text


def test_a_warning_stands_with_the_test_that_it_came_in(tmp_path):
    text = RIGHT.replace(
        'raise ValueError("rows must have two axes")', "\n        np.array([1.0]) / 0\n        return 0"
    )
    report = judge(tmp_path, text)
    assert [len(result.warnings) for result in report.results] == [0, 0, 1, 0]
    assert "divide by zero" in failure_text(report.results[2], report)


def test_all_failures_are_shown_in_full_if_asked_for(tmp_path):
    report = judge(tmp_path, "def mean_row(rows): return 0")
    failed = sum(not result.passed for result in report.results)
    assert failed > 1
    assert report_text(report).count("called   ") == 1
    assert report_text(report, every=True).count("called   ") == failed


def test_failed_tests_come_first(tmp_path):
    text = RIGHT.replace('raise ValueError("rows must have two axes")', "return 0")
    report = judge(tmp_path, text)
    assert [result.passed for result in report.results][:3] == [True, True, False]
    lines = click.unstyle(report_text(report)).splitlines()
    assert lines[1] == f"  FAIL  {report.results[2].name}"
    verdicts = [line[2:6] for line in lines if line.startswith(("  PASS", "  FAIL"))]
    assert verdicts == sorted(verdicts)
    assert len(verdicts) == len(report.results)


TALKS = RIGHT.replace("return rows.mean(0)", "print('rows', rows.shape)\n    return rows.mean(0)")


def test_what_a_test_printed_stands_under_it_also_if_it_passed(tmp_path):
    report = judge(tmp_path, "print('loaded')" + TALKS)
    assert report.status == "passed"
    assert report.results[0].printed == "rows (2, 2)\n"
    assert report.results[2].printed == ""  # refused before it is printed
    assert report.printed.startswith("loaded\nrows (2, 2)\n")
    loading, *tests = click.unstyle(report_text(report)).splitlines()[1:]
    assert loading == "        printed  loaded"
    assert tests[:2] == ["  PASS  Two rows", "        printed  rows (2, 2)"]
    assert "Test passed: Two rows.\nPrinted: rows (2, 2)\n" in report_text(report, plain=True)


def test_of_a_long_output_the_beginning_is_shown(tmp_path):
    text = TALKS.replace("print('rows', rows.shape)", "print(*range(30), sep='\\n')")
    shown = report_text(judge(tmp_path, text))
    assert "\n                 19\n                 ... (10 more lines)\n" in shown


def test_what_a_file_printed_that_could_not_be_loaded_is_shown(tmp_path):
    assert "printed  so far" in report_text(judge(tmp_path, "print('so far')\n1 / 0"))


def test_a_known_mistake_is_named_below_a_test_that_returned_a_value(tmp_path):
    """It does not explain the error of the first test."""
    report = judge(tmp_path, "def mean_row(rows):\n    return rows.mean(1) if rows.shape[0] else 0")
    report = replace(report, diagnosis="This is the mean along each row.")
    lines = click.unstyle(report_text(report)).splitlines()
    assert report.results[0].raised
    likely = next(number for number, line in enumerate(lines) if "likely" in line)
    assert lines[likely - 1].strip().startswith("FAIL")
    named = lines[likely - 1].split("FAIL")[1].strip()
    assert not next(each for each in report.results if each.name == named).raised
