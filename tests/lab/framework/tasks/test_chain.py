import numpy as np

from grpo_ref.lab.framework.tasks.chain import COPIES, RIGHT, chain, drawn_chain, pass_rates
from grpo_ref.learning.rollout import rollout


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


def test_the_hardest_prompt_of_a_drawn_chain_is_solved_as_rarely_as_told():
    for seed in range(4):
        _, plain = drawn_chain(seed, chance=1e-3)
        np.testing.assert_allclose(np.log(pass_rates(plain, plain.ref_logits)[-1]), np.log(1e-3), atol=1.0)


def test_most_copies_of_a_drawn_prompt_ask_for_the_right_moves():
    task, plain = drawn_chain(1)
    prompts = np.arange(len(task.prompts))
    steps = np.repeat(np.arange(len(plain.prompts)) + 1, COPIES)
    mask = np.arange(task.max_length) < steps[:, None]
    tokens = np.full((len(prompts), 1, task.max_length), RIGHT)
    solved = task.verify(prompts, tokens, mask[:, None])[..., 0]
    assert 0.6 < solved.mean() <= 1.0
