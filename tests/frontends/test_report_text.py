"""The grader's reports as text."""

from little_exercise import RIGHT, judge

from grpo_ref.frontends.report_text import failure_text, report_text


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
