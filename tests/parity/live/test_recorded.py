"""Every measured change between releases is the one that `explain` states, case by case."""

import numpy as np
import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.parity.live.cases import Absent, batch_of, case_of, numbers
from grpo_ref.parity.live.stored import recorded
from grpo_ref.parity.live.verdicts import LIVE, apart_from, is_undefined

DOCUMENTS = {trainer: recorded(trainer) for trainer in LIVE}
CASES = [(trainer, entry) for trainer, document in DOCUMENTS.items() for entry in document["cases"]]
# Errors that say nothing about the objective, and the release before GRPO.
WITHOUT_OBJECTIVE = {"verl": ("0.1",)}


def predicted(trainer, release, entry):
    dialect, batches = DIALECTS[trainer].at(release), DOCUMENTS[trainer]["batches"]
    with np.errstate(all="ignore"):
        return [
            LIVE[trainer].gradient(
                dialect, case_of(entry), batch_of(number, batches[f"{entry['on']} {number}"])
            )
            for number in range(5)
        ]


def computed(span):
    return [numbers(each["gradient"] or each["advantages"]) for each in span["batches"].values()]


@pytest.mark.parametrize(
    ("trainer", "entry"), CASES, ids=[f"{name} {entry['case']}" for name, entry in CASES]
)
def test_a_release_computes_what_explain_says(trainer, entry):
    for span in entry["spans"]:
        if span["status"] != "runs" or span["from"] in WITHOUT_OBJECTIVE.get(trainer, ()):
            continue
        undefined = is_undefined(DIALECTS[trainer].at(span["from"]), case_of(entry))
        apart = apart_from(computed(span), predicted(trainer, span["from"], entry), undefined)
        assert apart is None, span["from"]


@pytest.mark.parametrize("entry", DOCUMENTS["trl"]["cases"], ids=lambda entry: entry["case"])
def test_explain_knows_the_releases_that_lack_a_key(entry):
    for span in entry["spans"]:
        if span["status"] == "absent":
            with pytest.raises((Absent, ValueError)):
                predicted("trl", span["to"], entry)
