"""The page that diagnoses, in a real browser: drop a log, see the report."""

import json

from in_page import MINUTE, SCHEMES, WIDTHS, faults

import grpo_ref
from grpo_ref.diagnose.text import heading, sections
from grpo_ref.web.diagnose import example

DROP = """files => {
  const all = new DataTransfer();
  for (const [name, text] of files) all.items.add(new File([text], name));
  document.querySelector("main").dispatchEvent(
    new DragEvent("drop", { dataTransfer: all, bubbles: true, cancelable: true }));
}"""
IDLE = "!document.getElementById('run').disabled"
READ = (
    "Read. Differences from the launch file: 0; broken relations: 1; patterns: 1; right, though alarming: 2."
)


def status(page):
    """Wait until the page has read, and return its status."""
    page.wait_for_function(IDLE, timeout=3 * MINUTE)
    return page.inner_text("#status")


def words(text):
    return text.replace("`", "").split()


def test_a_dropped_log_gives_the_report_of_the_library_and_nothing_is_sent(visit, tmp_path):
    page = visit("diagnose.html")
    sent = []
    page.on("request", lambda asked: sent.append(asked.url))
    made = example()
    page.evaluate(DROP, [["train.py", made["launch"]], ["run.jsonl", made["log"]]])
    assert status(page) == READ
    assert page.input_value("#logs").endswith("run.jsonl")
    assert page.input_value("#launch").endswith("train.py")
    log, launch = tmp_path / "run.jsonl", tmp_path / "train.py"
    log.write_text(made["log"], encoding="utf-8")
    launch.write_text(made["launch"], encoding="utf-8")
    expected = grpo_ref.diagnose(log, launch)
    assert page.inner_text("#report > p") == heading(expected)
    shown = page.locator("#report > section")
    for at, section in enumerate(sections(expected)):
        text = words(shown.nth(at).inner_text())
        assert " ".join(text).lower().startswith(section.heading.lower())
        for entry in section.entries:
            for line in (entry.title, *entry.lines):
                assert " ".join(words(line)) in " ".join(text)
    marks = page.locator("#report .mark").all_inner_texts()
    assert marks == ["! exact", "~ pattern", "= right", "= right"]
    assert sent == []


def test_the_example_leads_to_the_symptoms(visit):
    page = visit("diagnose.html")
    page.focus("#example")
    page.keyboard.press("Enter")
    assert status(page) == READ
    targets = page.locator("#report a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert len(targets) == 3
    for target in targets:
        path, _, anchor = target.partition("#")
        assert path == "../howto/symptoms.html"  # the course is written as a part of a site
        page.goto(page.url.rpartition("/")[0] + f"/symptoms.html#{anchor}")
        assert page.locator(f"[id='{anchor}']").is_visible()
    for width in WIDTHS:
        for scheme in SCHEMES:
            assert faults(page, width, scheme) == [], (width, scheme)


def test_a_pasted_table_is_read_and_mistakes_are_told(visit):
    page = visit("diagnose.html")
    page.click("#run")
    assert status(page) == "There is no log yet: drop a file, choose one, or paste its text."
    page.fill("#text", "step,reward,reward_std,rewards/f/mean\n1,0.5,0.1,0.5\n2,0.25,0.1,0.25\n")
    page.press("#text", "Control+Enter")
    assert status(page).startswith("Read. Differences from the launch file: 0; broken relations: 0")
    assert "2 rows, steps 1 to 2" in page.inner_text("#report > p")
    page.evaluate(DROP, [["late.log", "It is late.\n"]])
    assert status(page) == "This log cannot be read; see the message below."
    assert page.inner_text("#report") == "late.log: no metric of a known trainer is in this log"
    assert page.input_value("#text") == ""
    page.evaluate(DROP, [["broken.ipynb", '{"cells": [']])
    status(page)
    assert page.inner_text("#report").startswith("broken.ipynb: it is not valid JSON")
    page.evaluate(DROP, [["deep.json", "[" * 200_000]])
    assert status(page) == "This log cannot be read; see the message below."
    assert "grpo-ref diagnose in a terminal may be able to read it" in page.inner_text("#report")


def test_a_large_log_is_read_and_a_larger_one_refused(visit):
    page = visit("diagnose.html")
    row = {
        "reward": 0.5,
        "reward_std": 0.1,
        "rewards/f/mean": 0.5,
        "grad_norm": 0.123456,
        "entropy": 0.654321,
    }
    lines = "".join(json.dumps({"step": step, **row}) + "\n" for step in range(1, 100_001))
    page.evaluate(DROP, [["run.jsonl", lines]])
    assert status(page).startswith("Read.")
    assert "rows, steps " in page.inner_text("#report > p")
    page.evaluate(f"({DROP})([['run.jsonl', new Uint8Array(65e6)]])")
    assert status(page) == "This log cannot be read; see the message below."
    assert "65 MB, and this page reads at most 64 MB" in page.inner_text("#report")


def test_reading_can_be_stopped(visit):
    page = visit("diagnose.html")
    line = json.dumps({"step": 1, "reward": 0.5, "reward_std": 0.1})
    page.evaluate(DROP, [["state.json", f"[{','.join([line] * 300_000)}]"]])
    page.click("#stop")
    assert status(page) == "Stopped."
    page.evaluate(DROP, [["run.jsonl", line]])
    assert status(page).startswith("Read.")
