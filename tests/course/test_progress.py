"""The progress file: merged in any order, and set aside when it is damaged."""

from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.progress import Progress
from grpo_ref.course.statement_file import LANGUAGES

NAMES = st.sampled_from(list(PROBLEMS))


@st.composite
def progresses(draw):
    progress = Progress()
    for name in draw(st.lists(NAMES)):
        progress.reached(name, draw(st.integers(0, 20)) / 4)
        progress.hinted(name, draw(st.integers(0, 3)))
        progress.wrote(name, draw(st.binary(max_size=3)))
    progress.language = draw(st.sampled_from(LANGUAGES))
    return progress


def text_of(*texts):
    progress = Progress()
    for text in texts:
        assert progress.read(text) == []
    return str(progress)


@given(progresses(), progresses())
def test_progress_files_merge_in_any_order_and_more_than_once(ours, theirs):
    a, b = str(ours), str(theirs)
    assert text_of(a) == a
    assert text_of(a, b) == text_of(b, a) == text_of(a + b) == text_of(a, b, a)
