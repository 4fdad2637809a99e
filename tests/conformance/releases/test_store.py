"""The stored numbers have the documented form, and `store` keeps one entry for each span of releases."""

import json

import pytest
from grpo_conformance.releases.compare import HERE, read_releases, read_spans
from grpo_conformance.releases.store import RECORDED, agreed, loss_of, read, rounded, store, write

PROJECTS = ("trl", "verl")
ARRAYS = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs")


@pytest.fixture(params=PROJECTS, scope="module")
def project(request):
    return request.param


@pytest.fixture(scope="module")
def document(project):
    return read(project)


def is_matrix(value, rows, columns):
    return len(value) == rows and all(len(row) == columns for row in value)


def test_a_file_has_the_documented_fields(project, document):
    assert list(document) == ["schema", "project", "platform", "releases", "batches", "cases"]
    assert (document["schema"], document["project"]) == (1, project)
    assert {"python", "torch"} < document["platform"].keys()
    assert document["releases"] == read_releases(HERE / f"{project}_borders.toml")


def test_batches_have_arrays_of_one_shape(document):
    for name, batch in document["batches"].items():
        rows = len(batch["mask"])
        assert rows % batch["group_size"] == 0
        assert all(is_matrix(batch[each], rows, 8) for each in ("mask", *ARRAYS)), name
        assert {len(batch[each]) for each in ("rewards", "lengths", "ended")} == {rows}
        assert {value for row in batch["mask"] for value in row} <= {0, 1}


def test_a_span_holds_a_number_for_each_batch(document):
    for case in document["cases"]:
        for span in case["spans"]:
            if span["status"] != "runs":
                assert "batches" not in span
                continue
            assert list(span["batches"]) == [*"01234"], case["case"]
            for number, batch in span["batches"].items():
                arrays = document["batches"][f"{case['on']} {number}"]
                assert batch.keys() == {"advantages", "loss", "gradient"}
                if case.get("call") == "advantage":
                    assert is_matrix(batch["advantages"], 12, 8)
                else:
                    assert is_matrix(batch["gradient"], len(arrays["mask"]), 8)
                if case["micro_batches"] > 1:
                    assert batch["loss"] is None


def test_the_spans_are_those_of_the_table(project, document):
    table = {
        case: [(span.first, span.last, span.status) for span in spans]
        for case, spans in read_spans(HERE / f"{project}.csv").items()
    }
    stored = {
        case["case"]: [(span["from"], span["to"], span["status"]) for span in case["spans"]]
        for case in document["cases"]
    }
    assert stored == table


def test_files_stay_small(project):
    assert (RECORDED / f"{project}.json.gz").stat().st_size < 2_000_000


TABLE = "case,first,last,status,change\nplain,0.14.0,0.14.0,runs,\nplain,0.15.0,0.16.0,runs,50%\n"
BORDERS = 'releases = ["0.14.0", "0.15.0", "0.16.0"]\n'


def result(gradient, losses=(0.5,), advantages=(1.0,)):
    batch = {
        "gradient": [[gradient]],
        "losses": [*losses],
        "advantages": [*advantages],
        "on_policy": True,
    }
    return {"batches": [batch]}


def store_in(folder, **results):
    (folder / "trl.csv").write_text(TABLE)
    (folder / "trl_borders.toml").write_text(BORDERS)
    recorded = folder / "results"
    recorded.mkdir()
    for release, found in results.items():
        (recorded / f"{release}.json").write_text(json.dumps({"plain": found}))
    batches = {"plain 0": {"mask": [[1]]}, "holes 0": {"mask": [[0]]}}
    store("trl", recorded, batches, {"python": "3.11"}, folder, folder)
    return read("trl", folder)


def test_store_keeps_the_newest_release_of_each_span(tmp_path):
    found = {"0.14.0": result(1.0), "0.15.0": result(0.5), "0.16.0": result(0.50001, losses=(0.25, 0.25))}
    document = store_in(tmp_path, **found)
    (case,) = document["cases"]
    assert [span["from"] for span in case["spans"]] == ["0.14.0", "0.15.0"]
    assert case["spans"][0]["batches"] == {"0": {"advantages": [1.0], "loss": 0.5, "gradient": [[1.0]]}}
    # The two releases of the second span agree on the gradient and not on the loss.
    assert case["spans"][1]["batches"] == {"0": {"advantages": [1.0], "loss": None, "gradient": [[0.50001]]}}
    assert [case["on"], case["steps"], case["micro_batches"]] == ["plain", 1, 1]
    assert list(document["batches"]) == ["plain 0"]


def test_store_refuses_a_release_that_differs_from_its_span(tmp_path):
    found = {"0.14.0": result(1.0), "0.15.0": result(0.5), "0.16.0": result(0.7)}
    with pytest.raises(ValueError, match=r"plain: 0\.15\.0 differs from 0\.16\.0"):
        store_in(tmp_path, **found)


def test_store_refuses_a_span_that_was_not_run(tmp_path):
    with pytest.raises(ValueError, match=r"plain: no release from 0\.15\.0 to 0\.16\.0 was run"):
        store_in(tmp_path, **{"0.14.0": result(1.0)})


def test_store_refuses_another_status(tmp_path):
    found = {"0.14.0": {"error": "ValueError"}, "0.15.0": result(0.5)}
    with pytest.raises(ValueError, match=r"plain: 0\.14\.0 refused, but 0\.14\.0 to 0\.14\.0 runs"):
        store_in(tmp_path, **found)


def test_a_loss_of_several_micro_batches_or_of_unequal_steps_is_left_out():
    assert loss_of({"losses": [0.5, 0.5]}, 1) == 0.5
    assert loss_of({"losses": [0.5, 0.4]}, 1) is None
    assert loss_of({"losses": [0.5, 0.5]}, 2) is None
    assert loss_of({"losses": []}, 1) is None


def test_a_missing_value_is_not_compared():
    assert agreed([None, 2.0]) == 2.0
    assert agreed([1.0, 2.0]) is None
    assert agreed([None]) is None


def test_numbers_have_nine_digits_and_non_finite_ones_are_text():
    assert rounded([1 / 3, float("nan"), float("-inf"), 2, True]) == [0.333333333, "nan", "-inf", 2, True]


def test_the_same_document_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / f"{name}.json.gz", {"a": [1.0]})
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()
