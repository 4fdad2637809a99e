import numpy as np

from grpo_ref.experiments.framework.tasks.flattery import along, flattery

P, E, F = range(3)


def test_rewards_by_hand():
    task = flattery(sentences=4)
    answers = np.array([[[P, P, P, P], [E, E, P, P], [F, P, P, P], [F, F, E, E], [F, F, F, F]]])
    judged = task.verify(np.zeros(1, int), answers, np.ones_like(answers, bool))[0]
    # e + 2 f, and the same minus 4 f²
    assert judged.tolist() == [[0.0, 0.0], [0.5, 0.5], [0.5, 0.25], [1.5, 0.5], [2.0, -2.0]]


def test_a_quarter_of_flattery_is_best():
    task = flattery(sentences=8)
    answers = np.array([[[F] * number + [P] * (8 - number) for number in range(9)]])
    true = task.verify(np.zeros(1, int), answers, np.ones_like(answers, bool))[0, :, 1]
    assert (int(true.argmax()), float(true[4])) == (2, 0.0)


def test_a_path_that_turns_back_counts_where_it_first_arrives():
    path, curve = np.array([[0.0, 2.0, 1.0, 4.0]]), np.array([[0.0, 20.0, 0.0, 40.0]])
    assert along(path, curve, (1.0, 3.0))[0].tolist() == [10.0, 20.0]
