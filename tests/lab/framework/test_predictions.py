"""What was predicted, as files: a changed prediction has another hash and another date."""

import json
from dataclasses import replace
from datetime import date

import pytest
from toy_experiment import TOY

from grpo_ref.lab.framework.predictions import fingerprint, recorded, write_predictions

FIRST, LATER = date(2026, 1, 2), date(2026, 3, 4)


def test_a_file_that_says_the_same_keeps_its_date(tmp_path):
    assert recorded(TOY, tmp_path)["written"] == ""
    assert write_predictions(TOY, tmp_path, FIRST)
    assert not write_predictions(TOY, tmp_path, LATER)
    assert recorded(TOY, tmp_path)["written"] == "2026-01-02"


@pytest.mark.parametrize(
    "change",
    [
        {"claim": "Less is more."},
        {"family": "Tasks are drawn."},
        {"predictions": (TOY.predictions[0], TOY.predictions[1]._replace(margin=0.4))},
        {"predictions": TOY.predictions[::-1]},
    ],
    ids=["claim", "family", "margin", "order"],
)
def test_another_prediction_has_another_hash_and_date(tmp_path, change):
    other = replace(TOY, **change)
    assert fingerprint(other) != fingerprint(TOY)
    write_predictions(TOY, tmp_path, FIRST)
    assert recorded(other, tmp_path)["written"] == ""
    assert write_predictions(other, tmp_path, LATER)
    assert recorded(other, tmp_path)["written"] == "2026-03-04"


def test_the_description_of_a_run_may_change():
    assert fingerprint(replace(TOY, run="Seen.", title="This?")) == fingerprint(TOY)


def test_another_citation_keeps_the_hash_and_the_date_of_the_file(tmp_path):
    cited = replace(TOY, source="A paper; the source of before.")
    write_predictions(TOY, tmp_path, FIRST)
    assert recorded(cited, tmp_path) == {
        "sha256": fingerprint(TOY),
        "written": "2026-01-02",
        "tag": "",
    }
    assert not write_predictions(cited, tmp_path, LATER)


@pytest.mark.parametrize(
    "change", [{"source": "A paper."}, {"predictions": []}], ids=["source", "predictions"]
)
def test_a_file_that_was_edited_does_not_count(tmp_path, change):
    write_predictions(TOY, tmp_path, FIRST)
    path = tmp_path / "toy" / "predictions.json"
    path.write_text(json.dumps({"table": json.loads(path.read_text())["table"] | change}))
    assert recorded(TOY, tmp_path)["written"] == ""


def test_table_and_network_share_the_file_of_their_claim(tmp_path):
    network = replace(TOY, name="toy_network", beside="toy", policy="network", claim="More is more again.")
    write_predictions(network, tmp_path, FIRST)
    write_predictions(TOY, tmp_path, LATER)
    found = json.loads((tmp_path / "toy" / "predictions.json").read_text())
    assert {policy: one["written"] for policy, one in found.items()} == {
        "table": "2026-03-04",
        "network": "2026-01-02",
    }
    assert list(found) == ["table", "network"]


def test_a_tag_is_written_beside_an_old_date_and_kept(tmp_path):
    write_predictions(TOY, tmp_path, FIRST)
    assert not write_predictions(TOY, tmp_path, LATER, tag="predictions-2")
    assert not write_predictions(TOY, tmp_path, LATER)
    kept = {"sha256": fingerprint(TOY), "written": "2026-01-02", "tag": "predictions-2"}
    assert recorded(TOY, tmp_path) == kept
