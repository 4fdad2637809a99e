import numpy as np

from grpo_ref import rollout
from grpo_ref.experiments.framework.tasks.chain import RIGHT, chain, pass_rates


def test_a_uniform_policy_solves_k_steps_with_a_chance_of_4_to_the_minus_k():
    task = chain(longest=3, moves=4, hardest_share=0.5)
    np.testing.assert_allclose(pass_rates(task, task.ref_logits), [1 / 4, 1 / 16, 1 / 64])
    assert task.prompt_probs.tolist() == [0.25, 0.25, 0.5]


def test_a_prompt_is_solved_if_every_move_is_right():
    task = chain(longest=2, moves=2, hardest_share=0.5)
    uniforms = np.array([[[0.1, 0.1], [0.1, 0.9], [0.9, 0.1]]])  # below 1/2 the first move, which is right
    found = rollout(task, np.full((1, *task.ref_logits.shape), 0.5), np.array([[1]]), uniforms[None])
    assert (found.tokens[0, 0] == RIGHT).tolist() == [[True, True], [True, False], [False, True]]
    assert found.rewards.tolist() == [[[1.0, 0.0, 0.0]]]


def test_prompts_share_steps_or_have_their_own():
    shared, own = (chain(longest=4, hardest_share=0.25, shared=shared) for shared in (True, False))
    assert (len(shared.ref_logits), len(own.ref_logits)) == (4, 16)
