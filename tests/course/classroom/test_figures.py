from grpo_ref.course.classroom.figures import outcomes_figure, scores_figure


def test_scores_figure_counts_the_students_in_each_range():
    (axis,) = scores_figure([0.0, 1.5, 4.0, 4.0], 4).axes
    assert [bar.get_height() for bar in axis.patches] == [1, 1, 0, 2]
    assert axis.get_lines()[0].get_xdata()[0] == 2.75
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("points (of 4)", "students (number)")
    assert sum(bar.get_height() for bar in scores_figure([], 86).axes[0].patches) == 0


def test_outcomes_figure_stacks_them():
    figure = outcomes_figure({"kl/k3": {"solved": 3, "none": 1}, "kl/exact_kl": {"solved": 0, "none": 4}})
    (axis,) = figure.axes
    assert [bar.get_width() for bar in axis.patches] == [3, 0, 1, 4]
    assert [bar.get_x() for bar in axis.patches] == [0, 0, 3, 0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["kl/k3", "kl/exact_kl"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["solved", "none"]
