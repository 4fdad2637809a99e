"""docs/parity_live.md: it has the runs of docs/parity_live_runs.toml, and the recorded releases."""

import json

import parity_live

PAGE = parity_live.PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_runs_of_the_file():
    assert PAGE.endswith(f"\n\n{parity_live.live_section()}")


def test_the_page_has_a_row_for_each_recorded_release():
    table = PAGE.split("## Run live")[0].splitlines()
    titles = [
        line.split(" | ")[0].removeprefix("| ") for line in table if line.startswith(("| TRL", "| verl"))
    ]
    shown = {name: releases.split() for name, releases in parity_live.SHOWN.items()}
    assert titles == [f"{parity_live.TITLES[name]} {each}" for name in shown for each in shown[name]]


def test_a_row_of_the_page_is_computed_again():
    """The release with the fewest cases; the others take minutes."""
    assert parity_live.row("trl", "0.15.2") in PAGE.splitlines()


def test_a_run_replaces_an_earlier_run_of_the_same_version(tmp_path, monkeypatch):
    monkeypatch.setattr(parity_live, "RUNS", tmp_path / "runs.toml")
    parity_live.RUNS.write_text("# head\n")
    for release, statuses in (
        ("0.11.0", ["differs"]),
        ("0.9.9", ["agrees"]),
        ("0.11.0", ["agrees", "stops"]),
    ):
        written = {
            "trainer": "openrlhf",
            "release": release,
            "cases": [{"status": each} for each in statuses],
        }
        (tmp_path / "run.json").write_text(json.dumps(written))
        parity_live.add(tmp_path / "run.json", "3c3be623")
    every = [(each["release"], each["cases"]) for each in parity_live.runs()]
    assert every == [("0.9.9", {"agrees": 1}), ("0.11.0", {"agrees": 1, "stops": 1})]
    assert parity_live.RUNS.read_text().startswith("# head\n[[run]]\n")
