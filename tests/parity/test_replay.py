"""Replay: losses, gradients and tensors equal what trainers computed, rebuilt from their own keys.

conformance/RECORDINGS.md says how they were recorded.
"""

import json
import re
from collections import Counter

import numpy as np
import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.parity.calls import CALLS_OF_TRAINER
from grpo_ref.parity.calls.common import CALLS
from grpo_ref.parity.metrics import METRICS_OF_TRAINER
from grpo_ref.parity.replay import (
    NUMBERS,
    RECORDINGS,
    compare,
    read,
    rebuild,
    record_of,
    shipped,
    verdict,
    verdicts,
)

FILES = {path: read(path) for path in shipped()}
CASES = {case["id"]: (case, inputs) for inputs, cases in FILES.values() for case in cases}
GROUP = 40


def groups(names):
    """The names in groups of one trainer, as parameters of a test: each by itself takes far longer."""
    by_trainer = {}
    for name in names:
        by_trainer.setdefault(CASES[name][0]["trainer"], []).append(name)
    return {
        f"{trainer} {begin}": found[begin : begin + GROUP]
        for trainer, found in by_trainer.items()
        for begin in range(0, len(found), GROUP)
    }


def in_groups(names):
    """Parametrize a test with `names`, a group of the cases."""
    found = groups(names)
    return pytest.mark.parametrize("names", found.values(), ids=found)


def test_every_case_is_in_a_file_of_its_trainer_under_a_name_of_its_own():
    assert len(CASES) == sum(len(cases) for _, cases in FILES.values())
    for path, (_, cases) in FILES.items():
        assert {case["trainer"] for case in cases} == {path.stem}


def test_every_recording_is_shipped_and_every_trainer_has_one():
    files = {path for path in RECORDINGS.rglob("*.json") if path.name != "inputs.json"}
    assert set(shipped()) == files
    not_recorded = {"unsloth", "miles"} | ({"tinker", "trinity", "liger"} & set(DIALECTS))
    assert {path.stem for path in files} == set(DIALECTS) - not_recorded


@pytest.mark.parametrize("table", [CALLS_OF_TRAINER, METRICS_OF_TRAINER], ids=("calls", "metrics"))
def test_every_table_has_trainers_as_keys(table):
    assert set(table) <= set(DIALECTS)


def changed(numbers):
    """The numbers, each another one by a thousandth of the largest; 0 in place of numbers that are none."""
    values = np.array(numbers, dtype=float)
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros_like(values).tolist()
    return (values + 1e-3 * max(1.0, np.max(np.abs(values), initial=0.0, where=finite))).tolist()


READS_PADDING = "loss before PR #6654"
"""The call of a released bug. All padding holds random values, so code that reads it gives itself away."""


@in_groups([name for name, (case, _) in CASES.items() if "refused" not in case])
def test_every_case_is_reproduced_without_its_numbers_and_every_changed_number_is_noticed(names):
    """One rebuilt case serves all comparisons: it was rebuilt from a case that has no recorded number."""
    for name in names:
        case, inputs = CASES[name]
        metrics = case.get("metrics", {})
        blank = {key: value for key, value in case.items() if key not in NUMBERS}
        with np.errstate(all="ignore"):
            ours = rebuild(blank | {"metrics": dict.fromkeys(metrics)}, inputs)
            found = compare(case, inputs, ours)
            assert found.passed, found
            for key in set(NUMBERS) & set(case):
                assert not compare({**case, key: changed(case[key])}, inputs, ours).passed, (name, key)
            for metric in ours.get("logged", {}):
                other = {**metrics, metric: changed(metrics[metric])}
                assert not compare({**case, "metrics": other}, inputs, ours).passed, (name, metric)
        if "grad_logp" in case and case["call"] != READS_PADDING:
            assert not ours["grad_logp"][padding_of(case, inputs)].any(), name


def padding_of(case, inputs):
    """Truth values, True on padding."""
    return record_of(case, {**inputs, **case.get("inputs", {})}).mask == 0


def test_padding_is_read_by_the_released_bug():
    gradients = [
        rebuild(case, inputs)["grad_logp"][padding_of(case, inputs)]
        for case, inputs in CASES.values()
        if case["call"] == READS_PADDING
    ]
    assert any(gradient.any() for gradient in gradients)


@in_groups([name for name, (case, _) in CASES.items() if "refused" in case])
def test_what_a_trainer_refused_is_refused(names):
    found = [verdict(*CASES[name]) for name in names]
    assert [each for each in found if not each.passed] == []


REFUSED_FOR_DATA = {
    "verl_grid nothing to correct",
    "verl_grid loss_mode bypass_mode, its defaults measured on mask_none",
}
"""What a trainer refuses whatever the configuration is."""


@in_groups([name for name, (case, _) in CASES.items() if "refused" in case and name not in REFUSED_FOR_DATA])
def test_what_is_refused_would_be_noticed_if_it_were_not(names):
    """The same cases with a configuration that every trainer takes, its defaults."""
    for name in names:
        case, inputs = CASES[name]
        assert not verdict({**case, "config": {}}, inputs).passed, name


# what was logged for a mean of terms 1 and -1 -> whether that may be 0, summed up in float32
ROUNDED = {0.0: True, 1e-7: True, -2e-7: True, 3e-7: False, -1e-6: False, 1e-3: False}


@pytest.mark.parametrize(("logged", "agrees"), ROUNDED.items())
def test_what_float32_rounds_off_is_a_small_share_of_the_terms(logged, agrees):
    arrays = {"log_probs": [[-1.0], [-1.0]], "mask": [[1], [1]], "advantages": [1.0, -1.0]}
    case = {
        "id": "terms that cancel",
        "trainer": "open_instruct",
        "call": "loss",
        "config": {"use_rho_correction": False, "beta": 0.0},
        "given": {name: name for name in arrays},
        "metrics": {"loss/policy_avg": logged},
        "loss": 0.0,
        "grad_logp": [[-0.5], [0.5]],
    }
    assert verdict(case, {**arrays, "group_size": 2}).passed == agrees


@pytest.mark.parametrize("trainer", METRICS_OF_TRAINER)
def test_every_metric_is_compared_somewhere(trainer):
    cases = [case for case, _ in CASES.values() if case["trainer"] == trainer]
    assert set(METRICS_OF_TRAINER[trainer]) <= {name for case in cases for name in case.get("metrics", {})}


# ---- files of one's own ------------------------------------------------------------------------------

LOG_HALF = float(np.log(0.5))
INPUTS = {
    "group_size": 2,
    "ours": [[LOG_HALF, LOG_HALF], [LOG_HALF, 0.0]],
    "alive": [[1, 1], [1, 0]],
    "better": [1.0, -2.0],
    "rewards": [1.0, 0.0],
}
LOSS = {
    "id": "mine",
    "trainer": "trl",
    "call": "loss",
    "config": {"loss_type": "grpo"},
    "given": {"log_probs": "ours", "advantages": "better", "mask": "alive"},
    "loss": 0.5,
    "grad_logp": [[-0.25, -0.25], [1.0, 0.0]],
}
"""Every ratio is 1: the loss is -(1 - 2)/2, and the gradient is -A over the length and over 2 completions."""
CENTERED = {
    "id": "ours",
    "trainer": "rlinf",
    "call": "advantages",
    "config": {"normalize_advantages": False},
    "given": {"rewards": "rewards", "mask": "alive"},
    "axes": ["token", "completion"],
    "value": [[0.5**0.5, -(0.5**0.5)], [0.5**0.5, 0.0]],
    "rtol": 1e-5,
}
"""Of 1 and 0 the mean is 1/2 and the sample std √1/2, to which 1e-6 is added."""


def write(folder, content, name="cases.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_file_of_ones_own_is_checked(tmp_path):
    path = write(tmp_path, {"inputs": INPUTS, "cases": [LOSS, CENTERED]})
    assert [found.passed for found in verdicts(path)] == [True, True]


def test_float32_is_told_by_the_type_of_the_gradient():
    assert rebuild(LOSS, INPUTS)["grad_logp"].dtype == np.float64
    assert rebuild({**LOSS, "dtype": "float32"}, INPUTS)["grad_logp"].dtype == np.float32
    found = verdict({**LOSS, "dtype": "float16"}, INPUTS)
    assert found.problem == "dtype: expected one of 'float64', 'float32', got 'float16'"


def test_what_a_trainer_leaves_on_padding_is_not_compared():
    weights = {
        **LOSS,
        "call": "correction",
        "config": {"use_vllm": True, "vllm_importance_sampling_mode": "token_truncate"},
        "given": {"old_log_probs": "ours", "rollout_log_probs": "half", "mask": "alive"},
        "axes": ["completion", "token"],
        "value": [[1.0, 1.0], [1.0, 7.0]],
    }
    del weights["loss"], weights["grad_logp"]
    inputs = INPUTS | {"half": [[LOG_HALF, LOG_HALF], [LOG_HALF, LOG_HALF]]}
    assert verdict(weights, inputs).passed
    assert not verdict({**weights, "value": [[1.0, 1.0], [7.0, 1.0]]}, inputs).passed


REFUSED = {
    "id": "mine",
    "trainer": "trl",
    "call": "loss",
    "config": {"num_generations": 1},
    "given": LOSS["given"],
    "refused": "GRPO requires at least 2 generations per prompt",
}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"num_generations": 1}, ""),
        ({"num_generations": 2}, "accepted here; the trainer says: GRPO requires"),
        ({"num_generation": 1}, "no key 'num_generation' (did you mean 'num_generations'?)"),
    ],
)
def test_what_a_trainer_refuses_has_to_be_refused(config, problem):
    found = verdict({**REFUSED, "config": config}, INPUTS)
    assert (found.passed, found.problem.startswith(problem)) == (not problem, True)


def test_a_key_that_the_trainer_does_not_know_either_is_refused_by_both():
    error = "TypeError: GRPOConfig.__init__() got an unexpected keyword argument 'num_generation'"
    assert verdict({**REFUSED, "config": {"num_generation": 2}, "refused": error}, INPUTS).passed


@pytest.mark.parametrize(
    ("recorded", "agrees"), [("inf", True), ("-inf", False), ("nan", False), (2.0, False)]
)
def test_what_is_not_finite_has_to_meet_its_like(recorded, agrees):
    """The first token of the bad completion is e^710 times as likely as before: ratio and loss overflow."""
    before = [[LOG_HALF, LOG_HALF], [LOG_HALF - 710.0, 0.0]]
    case = {**LOSS, "given": LOSS["given"] | {"old_log_probs": "before"}, "inputs": {"before": before}}
    with np.errstate(all="ignore"):
        gradient = rebuild(case, INPUTS)["grad_logp"].astype(str).tolist()
    assert verdict({**case, "loss": recorded, "grad_logp": gradient}, INPUTS).passed == agrees


def test_inputs_may_stand_in_another_file_or_in_the_case(tmp_path):
    write(tmp_path, INPUTS | {"better": [1.0, 1.0]}, "shared.json")
    own = LOSS | {"inputs": {"better": INPUTS["better"]}}
    path = write(tmp_path, {"inputs": "shared.json", "cases": [own, LOSS]})
    assert [found.passed for found in verdicts(path)] == [True, False]


def test_the_tolerance_is_the_cases_own():
    near = LOSS | {"loss": 0.5 * (1 + 1e-5)}
    assert not verdict(near, INPUTS).passed
    assert verdict(near | {"rtol": 1e-4}, INPUTS).passed


def test_nothing_is_expected_of_a_number_that_is_none():
    """0/0 in a completion without tokens: the recorded loss is text, and a null means the same."""
    empty = {
        "trainer": "rlinf",
        "config": {"loss_agg_func": "seq-mean-token-mean"},
        "inputs": {"alive": [[1, 1], [0, 0]]},
        "loss": "nan",
        "grad_logp": [[-0.25, -0.25], [0.0, 0.0]],
    }
    assert verdict(LOSS | empty, INPUTS).passed
    assert verdict(LOSS | empty | {"loss": None}, INPUTS).passed
    assert not verdict(LOSS | empty | {"loss": 0.0}, INPUTS).passed


# trainer, config -> k2 of 1/2 nat, and of none: 1/8 and 0
K2 = {
    "rlinf": {"kl_penalty_type": "k2", "kl_beta": 0.1},
    "openrlhf": {"algo.kl.estimator": "k2"},
    "open_instruct": {"kl_estimator": 1},
    "verl": {"actor_rollout_ref.actor.kl_loss_type": "mse"},
}
PAIR = {"ours": [[-1.0, -2.0]], "theirs": [[-1.5, -2.0]], "group_size": 1}
PENALTIES = {
    "id": "x",
    "call": "penalty values",
    "given": {"log_probs": "ours", "ref_log_probs": "theirs"},
    "value": [[0.125, 0.0]],
    "axes": ["completion", "token"],
}


@pytest.mark.parametrize(("trainer", "config"), K2.items(), ids=K2)
def test_the_penalty_of_each_token_needs_no_mask(trainer, config):
    found = verdict(PENALTIES | {"trainer": trainer, "config": config}, PAIR)
    assert found.passed, found.problem


def test_without_old_log_probabilities_every_ratio_is_1():
    """Estimator 3 of Open Instruct is the log-ratio to the reference times the importance ratio: 1/2 · 1."""
    case = PENALTIES | {"trainer": "open_instruct", "config": {"kl_estimator": 3}, "value": [[0.5, 0.0]]}
    assert verdict(case, PAIR).passed
    every = {"call": "penalties of all estimators", "config": {}}
    values = rebuild({name: case[name] for name in case if name != "axes"} | every, PAIR)["value"]
    np.testing.assert_allclose(values[[0, 1, 3], 0, 0, 0], [0.5, 0.125, 0.5], rtol=1e-12)


STRANGE = {
    "no JSON": ("{", "expected a JSON file"),
    "no object": ("[]", "expected a JSON object with 'inputs' and 'cases'"),
    "no cases": ({"inputs": INPUTS}, "expected a JSON object with 'inputs' and 'cases'"),
    "no group size": ({"inputs": {}, "cases": []}, "a whole number as 'group_size'"),
    "inputs nowhere": ({"inputs": "nowhere.json", "cases": []}, "nowhere.json: expected a JSON file"),
    "cases that are no list": ({"inputs": INPUTS, "cases": {}}, "expected 'cases' to be a list, got dict"),
    "a case that is none": ({"inputs": INPUTS, "cases": [3]}, "case 0: expected an object, got int"),
    "a case without a call": (
        {"inputs": INPUTS, "cases": [LOSS, {name: LOSS[name] for name in LOSS if name != "call"}]},
        "case 1: it has no call",
    ),
}


@pytest.mark.parametrize(("content", "message"), STRANGE.values(), ids=STRANGE)
def test_a_strange_file_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        list(verdicts(write(tmp_path, content)))


WRONG = {
    "an unknown trainer": ({"trainer": "nobody"}, "trainer: expected one of 'trl', 'unsloth', 'verl'"),
    "an unknown call": ({"call": "losses"}, "call: expected one of 'average', 'loss', 'penalty'"),
    "another trainer's call": ({"trainer": "verl", "call": "loss before PR #6024"}, "call: expected one of"),
    "an unknown key": ({"config": {"epsilonn": 0.1}}, "trl has no key 'epsilonn'"),
    "an unknown array": (
        {"given": LOSS["given"] | {"mask": "mask"}},
        "given mask: expected one of 'group_size', 'ours', 'alive'",
    ),
    "groups that do not fit": (
        {"inputs": {"group_size": 3}},
        "ours: 2 completions cannot be divided into groups of 3",
    ),
    "too few numbers": ({"grad_logp": [[0.0]]}, "grad_logp: 4 numbers, not 1"),
    "no numbers": ({"loss": 0.5, "value": 1.0}, "this call gives grad_logp, loss; look at 'value'"),
    "an array that is missing": ({"given": {"mask": "alive"}}, "log_probs"),
    "a metric of what is not given": (
        {"metrics": {"reward": 0.5}},
        "metric 'reward': it needs 'rewards', which this case does not have",
    ),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_a_case_that_cannot_be_rebuilt_fails_and_says_why(changes, message):
    found = verdict(LOSS | changes, INPUTS)
    assert not found.passed
    assert message in found.problem


def test_every_call_is_recorded_of_some_trainer():
    recorded = Counter(case["call"] for case, _ in CASES.values())
    assert set(recorded) == set(CALLS).union(*CALLS_OF_TRAINER.values())
