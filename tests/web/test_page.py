"""The course in a real browser: what a student does there, and what their code may not do."""

import json
import shutil
import threading

import pytest
from in_page import LOADED, MINUTE, SCHEMES, WIDTHS, faults

from grpo_ref.course.attack.handwritten import collected
from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.wasm import Wasm
from grpo_ref.course.starters import starter_of
from grpo_ref.web import serve

READY = "!document.getElementById('run').disabled"
QUOTES = '"""'
KEPT = "caches.match('chapter-training.json').then(Boolean)"
"""The browser has the statements of the last chapter, which are loaded after everything else."""


@pytest.fixture(scope="session")
def exercises(course):
    """The exercises as the page has them, by id."""
    chapters = json.loads((course / "course.json").read_text())
    shown = [json.loads((course / f"chapter-{chapter['id']}.json").read_text()) for chapter in chapters]
    listed = {each["id"]: each for chapter in chapters for each in chapter["exercises"]}
    return {name: each | listed[name] for part in shown for name, each in part.items()}


def answer(page, exercise, text):
    """Type an answer, run the tests, and return what is said and the tests that failed."""
    page.evaluate("name => { location.hash = name }", exercise)
    page.wait_for_function("name => location.hash === '#' + name", arg=exercise)
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(READY, timeout=2 * MINUTE)
    failed = page.locator("#results details.failed summary").all_inner_texts()
    return page.inner_text("#status"), failed


def test_every_model_answer_passes_and_no_starter_does(page, exercises):
    for name in EXERCISES:
        said, failed = answer(page, name, exercises[name]["answer"])
        assert said.startswith("Passed"), (name, said, failed)
        said, failed = answer(page, name, exercises[name]["begun"])
        assert not said.startswith("Passed"), (name, said)


SOME = 2
"""How many wrong answers of each exercise are tried in the page, unless all are asked for."""


def test_wrong_answers_have_the_verdict_that_they_have_elsewhere(page, tmp_path, every_answer):
    for name in EXERCISES:
        for wrong in collected(name)[: None if every_answer else SOME]:
            said, failed = answer(page, name, wrong.text)
            is_right = said.startswith("Passed")
            assert is_right == (not failed), (name, wrong.sentence, said)
            assert is_right == passes_elsewhere(name, wrong.text, tmp_path), (name, wrong.sentence)


def passes_elsewhere(name, text, folder):
    """The verdict on an answer in the sandbox of a class."""
    path = folder / "answer.py"
    path.write_text(text)
    with Sandbox(path, make_room=Wasm) as sandbox:
        return grade(PROBLEMS[name], sandbox, explain=False).status == "passed"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_accessible_and_as_wide_as_the_screen(page, scheme, width):
    page.set_viewport_size({"width": width, "height": 800})
    answer(page, "kl/k3", "def k3(a, b):\n    print(a)\n    return 0.0\n")
    page.click("#hint")
    assert faults(page, width, scheme) == []


HARMFUL = {
    "an endless loop": "def k3(a, b):\n    while True: pass",
    "memory": "def k3(a, b):\n    return [bytearray(2**28) for _ in range(64)]",
    "recursion": "def k3(a, b):\n    return k3(b, a)",
    "an end": "import os\ndef k3(a, b):\n    os._exit(0)",
    "a flood": "def k3(a, b):\n    while True: print('x' * 10**6)",
    "a forged reply": "import os\ndef k3(a, b):\n    os.write(1, b'\\n{\"ok\": true}\\n')\n    os._exit(0)",
    "looking for the judge": "import grpo_ref\nfrom grpo_ref import k3",
    "the door": "import _host\ndef k3(a, b):\n    return _host.call(b'{}')",
}


def test_harm_costs_the_answer_and_the_page_goes_on(page, exercises):
    for about, text in HARMFUL.items():
        said, _ = answer(page, "kl/k3", text)
        assert said.startswith("Not yet"), (about, said)
        said, failed = answer(page, "kl/k3", exercises["kl/k3"]["answer"])
        assert said.startswith("Passed"), (about, said, failed)


def test_a_run_can_be_stopped(page, exercises):
    page.evaluate("location.hash = 'kl/k3'")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def k3(a, b):\n    while True: pass")
    page.click("#run")
    page.click("#stop")
    page.wait_for_function(READY, timeout=MINUTE)
    assert page.inner_text("#status") == "Stopped."
    assert answer(page, "kl/k3", exercises["kl/k3"]["answer"])[0].startswith("Passed")


def test_work_is_kept_and_a_second_visit_needs_no_network(page, address, exercises):
    text = exercises["kl/k3"]["answer"]
    answer(page, "kl/k3", text)
    run_file(page, DRAWING)
    page.wait_for_function(READY, timeout=2 * MINUTE)
    answer(page, "kl/k3", text)
    page.wait_for_function(KEPT, timeout=MINUTE)
    address[1].shutdown()
    address[1].server_close()
    page.reload()
    page.wait_for_function(LOADED, timeout=MINUTE)
    assert page.locator("nav a[aria-current] .reached").inner_text() == "passed"
    assert "def k3" in page.inner_text(".cm-content")
    assert answer(page, "kl/k3", text)[0].startswith("Passed")
    run_file(page, DRAWING)
    page.wait_for_function(READY, timeout=2 * MINUTE)
    assert page.locator("#results img").count() == 1


def test_what_was_never_loaded_needs_the_network(browser, address):
    page = browser.new_context().new_page()  # its console names what cannot be loaded
    page.goto(address[0])
    page.wait_for_function(LOADED, timeout=3 * MINUTE)
    page.wait_for_function(KEPT, timeout=MINUTE)
    address[1].shutdown()
    address[1].server_close()
    run_file(page, DRAWING)
    page.wait_for_function(READY, timeout=MINUTE)
    assert page.inner_text("#status") == (
        "This text needs SciPy or matplotlib, which is loaded from the network once, and the network failed."
    )
    run_file(page, "import sqlite3")
    page.wait_for_function(READY, timeout=MINUTE)
    assert "is loaded from the network once, and the network failed" in page.inner_text("#results")
    page.evaluate("location.hash = 'training/update'")  # its chapter was kept
    page.wait_for_function("document.getElementById('statement').textContent.length > 100")
    page.context.close()


UNFORESEEN = 'import importlib\nimportlib.import_module("sci" + "py.special").softplus(0.0)\n'
"""The text does not name SciPy, so only the worker notices that it needs it."""


@pytest.mark.parametrize("begin", ["import scipy.special\n", UNFORESEEN, "import sqlite3\n"])
def test_the_rest_of_python_is_loaded_when_it_is_needed(page, exercises, begin):
    said, failed = answer(page, "kl/k3", begin + exercises["kl/k3"]["answer"])
    assert said.startswith("Passed"), (said, failed)


def test_a_module_that_does_not_exist_is_named(page):
    _, failed = answer(page, "kl/k3", "import tkinter_of_nobody\n")
    assert failed
    assert "No module named 'tkinter_of_nobody'" in page.inner_text("#results")


def test_a_host_without_the_headers_will_do(browser, course, monkeypatch, exercises):
    monkeypatch.setattr(serve, "HEADERS", {})
    server = serve.server(course, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_context().new_page()
    page.goto(f"http://{serve.HOST}:{server.server_port}/")
    page.wait_for_function(LOADED, timeout=3 * MINUTE)
    assert answer(page, "kl/k3", exercises["kl/k3"]["answer"])[0].startswith("Passed")
    page.context.close()
    server.shutdown()
    server.server_close()


def test_a_verdict_is_kept_for_its_exercise_and_damage_is_survived(page, exercises):
    """Another exercise may be looked at meanwhile; what is kept may be spoiled by something else."""
    page.evaluate("location.hash = 'kl/k3'")
    page.wait_for_function("document.title.startsWith('The k3 estimate of the KL')")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(exercises["kl/k3"]["answer"])
    page.click("#run")
    page.evaluate("location.hash = 'kl/k3_slope'")
    page.wait_for_function(READY, timeout=MINUTE)
    assert page.inner_text("#status") == "The k3 estimate of the KL: passed."
    assert page.locator("nav a[href='#kl/k3'] .reached").inner_text() == "passed"
    page.evaluate("localStorage.setItem('grpo-ref/1/kl/k3', '{')")
    page.reload()
    page.wait_for_function(LOADED, timeout=MINUTE)
    assert page.locator("nav a[href='#kl/k3'] .reached").inner_text() == "2"


def test_hints_come_one_at_a_time_and_the_answer_after_a_question(page, exercises):
    page.evaluate("location.hash = 'kl/k3'")
    for count in (1, 2, 3):
        assert page.inner_text("#hint") == f"Hint {count} of 3"
        page.click("#hint")
        assert page.locator("#hints li").count() == count
    assert page.inner_text("#hint") == "No more hints"
    assert page.is_disabled("#hint")
    page.reload()
    page.wait_for_function(LOADED, timeout=MINUTE)
    assert page.locator("#hints li").count() == 3
    page.click("#answer")
    assert "def k3" in page.inner_text("#solution")
    page.click("#reset")
    assert "NotImplementedError" in page.inner_text(".cm-content")
    assert "# solution" not in page.inner_text("#solution")
    assert page.inner_text("#hint") == "Hint 1 of 3"


def test_a_solved_exercise_leads_to_the_next_one_that_is_not(page, exercises):
    ids = list(exercises)
    solved, after = ids[ids.index("kl/k3") + 1 : ids.index("kl/k3") + 3]
    answer(page, solved, exercises[solved]["answer"])
    answer(page, "kl/k3", "def k3(a, b):\n    return 0.0\n")
    assert page.locator("#next a").count() == 0
    answer(page, "kl/k3", exercises["kl/k3"]["answer"])
    page.click("#next a")
    page.wait_for_function("name => location.hash === '#' + name", arg=after)
    page.wait_for_function("document.getElementById('status').textContent === ''")
    assert page.inner_text("#title") == exercises[after]["title"]
    assert page.evaluate("document.activeElement.id") == "title"


def test_failed_tests_come_first_and_an_untouched_starter_is_not_begun(page):
    name = "probabilities/entropy"
    assert answer(page, name, "def entropy(p):\n    return 0.0\n")[0].startswith("Not yet")
    rows = page.locator("#results details").evaluate_all("rows => rows.map((row) => row.className)")
    assert set(rows) == {"failed", "passed"}
    assert rows == sorted(rows)  # "failed" is before "passed"
    assert page.inner_text("#about") == "easy, 1 point"
    page.click("#reset")
    page.click("#run")
    page.wait_for_function(READY, timeout=MINUTE)
    assert page.inner_text("#status") == "Not started: write your answer first."
    assert page.locator(f"nav a[href='#{name}'] .reached").inner_text() == "1"


INSIDE = """
(inner) => {
  const [list, link] = [document.querySelector("nav.exercises"), document.querySelector(inner)];
  const [outer, each] = [list.getBoundingClientRect(), link.getBoundingClientRect()];
  return each.top >= outer.top - 1 && each.bottom <= outer.bottom + 1;
}
"""
"""Function that returns true if a link is visible in the list of exercises."""


def test_on_a_phone_the_verdict_and_the_current_exercise_come_into_view(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(reduced_motion="reduce")
    answer(page, "training/update", "def update(*values):\n    return 0.0\n")
    assert page.evaluate(INSIDE, ".exercises a[aria-current]")
    box = page.locator("#status").bounding_box()
    assert 0 <= box["y"] <= 800 - box["height"]
    assert page.locator("#results details").first.bounding_box()["y"] < 800
    page.evaluate("location.hash = 'probabilities/entropy'")
    page.wait_for_selector(".exercises a[aria-current][href='#probabilities/entropy']")
    assert page.evaluate(INSIDE, ".exercises a[aria-current]")


def test_a_reset_keeps_a_copy_that_can_be_restored(page, exercises):
    answer(page, "kl/k3", exercises["kl/k3"]["answer"])
    assert page.is_hidden("#restore")
    page.click("#reset")
    assert "NotImplementedError" in page.inner_text(".cm-content")
    assert page.locator("nav a[href='#kl/k3'] .reached").inner_text() == "2"
    page.reload()
    page.wait_for_function(LOADED, timeout=MINUTE)
    page.click(".cm-content")
    page.keyboard.insert_text("# a second try\n")
    page.click("#restore")
    assert "np.expm1(-v)" in page.inner_text(".cm-content")
    assert "a second try" not in page.inner_text(".cm-content")
    assert page.locator("nav a[href='#kl/k3'] .reached").inner_text() == "passed"
    page.click("#restore")  # the two texts were exchanged
    assert "a second try" in page.inner_text(".cm-content")


def test_the_course_links_to_the_site(page):
    page.evaluate("location.hash = 'kl/k3'")
    page.wait_for_function("document.title.startsWith('The k3 estimate of the KL')")
    page.wait_for_selector("#statement a")  # the chapter is loaded after the list of exercises
    assert targets(page, "#statement a") == ["../derivation/08.html"]
    assert targets(page, "header a")[0] == "../index.html"
    assert targets(page, ".exercises h2 a") == ["../chapters/04_kl.html"]


def targets(page, selector):
    """The addresses of links as they are written."""
    return page.locator(selector).evaluate_all("all => all.map(each => each.getAttribute('href'))")


def test_the_first_tab_stop_leads_to_the_editor(page):
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the editor"
    before = page.url
    page.keyboard.press("Enter")
    assert "cm-content" in page.evaluate("document.activeElement.className")
    assert page.url == before


def test_formulas_are_typeset_and_a_traceback_leads_to_its_line(page):
    answer(page, "kl/k3", "import numpy as np\n\n\ndef k3(a, b):\n    return a.nothing\n")
    assert page.locator("#statement math").count() > 0
    page.locator("#results button.line").first.click()
    assert page.locator(".cm-activeLine").inner_text().strip() == "return a.nothing"


DRAWING = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
print("drawn")
1 / 0
"""


def test_the_file_can_be_run_as_a_program_that_prints_and_draws(page):
    run_file(page, DRAWING)
    page.wait_for_function(READY, timeout=2 * MINUTE)
    assert page.inner_text("#status") == "The program ended with an error."
    assert page.locator("#results pre").first.inner_text() == "drawn\n"
    assert page.locator("#results img").evaluate("image => image.naturalWidth") > 100
    page.locator("#results button.line").last.click()
    assert page.locator(".cm-activeLine").inner_text() == "1 / 0"
    run_file(page, "while True: pass")
    page.click("#stop")
    page.wait_for_function(READY, timeout=MINUTE)
    assert page.inner_text("#status") == "Stopped."


def run_file(page, text):
    """Type a text and begin to run it as a program."""
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.click("#program")


def test_work_goes_out_as_the_files_that_pytest_grades_and_comes_back(page, exercises, tmp_path):
    text = exercises["kl/k3"]["answer"]
    answer(page, "kl/k3", text)
    with page.expect_download() as saved:
        page.click("#export")
    saved.value.save_as(tmp_path / "exercises.zip")
    shutil.unpack_archive(tmp_path / "exercises.zip", tmp_path)
    path = tmp_path / "exercises" / exercises["kl/k3"]["file"]
    assert path.read_text() == f"{starter_of('kl/k3').split(QUOTES)[1].join([QUOTES] * 2)}\n\n{text}"
    with Sandbox(path) as sandbox:
        assert grade(PROBLEMS["kl/k3"], sandbox).status == "passed"
    page.click("#reset")
    (tmp_path / "notes.py").write_text("# of no exercise\n")
    page.set_input_files("#import", [tmp_path / "exercises.zip", tmp_path / "notes.py"])
    page.wait_for_function("document.getElementById('moved').textContent.startsWith('Opened: 1')")
    assert page.inner_text("#moved") == "Opened: 1 exercise. Not an exercise: 1 file."
    assert "np.expm1(-v)" in page.inner_text(".cm-content")
    page.wait_for_function(
        "document.getElementById('status').textContent.startsWith('Graded')", timeout=MINUTE
    )
    page.wait_for_function(READY)
    assert page.inner_text("#status") == "Graded: 1 opened exercise, 1 solved."
    assert page.locator("nav a[href='#kl/k3'] .reached").inner_text() == "passed"
    page.set_input_files("#import", [tmp_path / "notes.py", tmp_path / "notes.py"])
    page.wait_for_function("document.getElementById('moved').textContent.includes('Opened: 0')")
    (tmp_path / "spoiled.zip").write_text("no zip")
    page.set_input_files("#import", [tmp_path / "spoiled.zip"])
    page.wait_for_function("document.getElementById('moved').textContent.includes('cannot be read')")


def test_a_language_in_the_address_is_remembered(page):
    here = page.url.partition("#")[0]
    page.goto(f"{here}?language=zh#ratios/sapo")
    page.wait_for_function("document.getElementById('title').textContent === 'SAPO 的软门控'")
    assert page.get_attribute("html", "lang") == "zh-CN"
    for english in ("header", "nav.exercises", "#work"):
        assert page.get_attribute(english, "lang") == "en"
    page.goto(f"{here}#ratios/sapo")
    page.wait_for_function("document.getElementById('title').textContent === 'SAPO 的软门控'")


def test_the_reader_chooses_the_language_and_the_page_remembers_it(page):
    page.evaluate("location.hash = 'ratios/sapo'")
    page.wait_for_function("document.title.startsWith('SAPO')")
    assert page.inner_text("#title") == PROBLEMS["ratios/sapo"].title
    page.select_option("#language", "zh")
    page.wait_for_function("document.getElementById('title').textContent === 'SAPO 的软门控'")
    assert page.get_attribute("#statement", "lang") == "zh-CN"
    assert page.inner_text("#about") == "中等，2 分"
    page.click("#hint")
    assert page.inner_text("#hints").startswith("记 p = σ(τ (r - 1))")
    page.reload()
    page.wait_for_function("document.getElementById('title').textContent === 'SAPO 的软门控'")
    page.wait_for_function(LOADED, timeout=3 * MINUTE)
    page.evaluate("location.hash = 'network/grpo_step'")
    page.wait_for_function("document.getElementById('statement').lang === 'en'")
    assert page.get_attribute("html", "lang") == "en"
    assert page.inner_text("#title") == PROBLEMS["network/grpo_step"].title
