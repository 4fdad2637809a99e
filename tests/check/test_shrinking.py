"""The smallest batch: it still fails, and its lines can be run."""

import sys

import numpy as np

from grpo_ref import DAPO, GRPO, RECIPES
from grpo_ref.check import compare
from grpo_ref.commands.user_code import imported

MODULE = """
import numpy as np


def loss(per_token_logps, old_per_token_logps, advantages, completion_mask):
    ratio = np.exp(np.where(completion_mask > 0, per_token_logps - old_per_token_logps, 0.0))
    a = advantages[:, None]
    gain = np.where(completion_mask > 0, np.maximum(ratio * a, np.clip(ratio, 0.8, 1.28) * a), 0.0)
    return -gain.sum() / completion_mask.sum(), {"kl": 0.0}


def gradient(logps, advantages, mask):
    weights = np.where(mask > 0, advantages[:, None], 0.0) / len(mask)
    return -np.where(mask > 0, weights * logps, 0.0).sum(), weights


def reads(inputs):
    return np.nan_to_num(inputs["per_token_logps"], nan=0.5).sum()
"""


def module(tmp_path, monkeypatch):
    (tmp_path / "of_mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "of_mine", raising=False)
    import of_mine

    return of_mine


def run(lines, capsys):
    exec(lines, {})
    return capsys.readouterr().out


def test_the_lines_run_and_show_what_they_say(tmp_path, monkeypatch, capsys):
    found = compare(module(tmp_path, monkeypatch).loss, DAPO, batches=24)
    assert "from of_mine import loss\n" in found.smallest
    assert "completion_mask = np.array([[1.0]])\n" in found.smallest
    _, _, got = found.smallest.splitlines()[-1].rpartition("got ")
    np.testing.assert_allclose(float(run(found.smallest, capsys)), float(got), rtol=1e-6)


def test_a_wrong_gradient_is_shown(tmp_path, monkeypatch, capsys):
    found = compare(module(tmp_path, monkeypatch).gradient, RECIPES["reinforce"], batches=24)
    assert run(found.smallest, capsys) == "[[1.]]\n"
    assert found.smallest.endswith("# expected [[-1.0]]\n# got      [[1.0]]")


def test_arguments_in_one_dict_and_nan_are_written(tmp_path, monkeypatch, capsys):
    found = compare(module(tmp_path, monkeypatch).reads, GRPO, batches=24)
    assert "inputs={'per_token_logps': per_token_logps, " in found.smallest
    run(found.smallest, capsys)


def test_rewards_stay_whole_groups():
    def loss(logps, old_logps, rewards, mask, num_generations):
        groups = rewards.reshape(-1, num_generations)
        centred = groups - groups.mean(-1, keepdims=True)
        a = (centred / (groups.std(-1, keepdims=True) + 1e-4)).reshape(-1, 1)
        ratio = np.exp(np.where(mask > 0, logps - old_logps, 0.0))
        gain = np.where(mask > 0, np.minimum(ratio * a, np.clip(ratio, 0.8, 1.28) * a), 0.0)
        return -gain.sum() / mask.sum()

    found = compare(loss, DAPO, batches=24)
    assert found.matches[0].startswith("the advantages are divided by std + 0.0001, ddof=0, of the group")
    assert "num_generations = 4" in found.smallest  # a single group
    (rewards,) = (line for line in found.smallest.splitlines() if line.startswith("rewards"))
    assert rewards.count(",") == 3


PACKED = """
import numpy as np


def packed_sum(log_probs, advantages, mask, sequence_ids, completions):
    gain = np.where(mask > 0, log_probs * advantages, 0.0)
    sums = np.bincount(sequence_ids[0], gain[0], minlength=completions)
    return -2.0 * sums.mean()
"""


def test_the_lines_of_a_packed_loss_in_another_folder_run(tmp_path, monkeypatch, capsys):
    """Pasted into a new session: the ids of completions are whole numbers, and the module is found."""
    (tmp_path / "packed_of_mine.py").write_text(PACKED)
    loss = imported(f"{tmp_path}/packed_of_mine.py:packed_sum")
    found = compare(loss, RECIPES["reinforce"], batches=26, packed=True)
    monkeypatch.delitem(sys.modules, "packed_of_mine")
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert "sequence_ids = np.array([[" in found.smallest
    _, _, got = found.smallest.splitlines()[-1].rpartition("got ")
    np.testing.assert_allclose(float(run(found.smallest, capsys)), float(got), rtol=1e-6)
