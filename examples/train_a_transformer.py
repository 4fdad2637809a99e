"""Train a small transformer with GRPO to add numbers of two digits. It takes about half a minute.

    python train_a_transformer.py
    python train_a_transformer.py --updates 100          # takes less time and learns less

Language models are trained in two stages, and so is this transformer. First it imitates right answers, until
at least 30 % of the answers that it samples are right. Then GRPO trains it: the transformer writes answers of
its own and gets a reward for each right one. A fifth of the questions is used in neither stage. The accuracy
on these held-out questions shows that the transformer learns a rule for addition, not a list of answers. In
runs with four different seeds, this accuracy rose from 31 to 43 % before GRPO to 78 to 87 % after GRPO.

The example does not show that GRPO is the best way to learn addition. Longer imitation would be faster here,
because right answers are known. GRPO is for tasks where an answer can be checked but not written down.
"""

import argparse
import os

# Use one thread: the matrices are small, and more threads can make the program many times slower. NumPy reads
# these variables when it is imported, so they are set before the next import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.learning.held_out import held_out
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.pretraining import PretrainConfig, pretrain
from grpo_ref.learning.rollout import sample

parser = argparse.ArgumentParser(description="Train a small transformer with GRPO to add numbers.")
parser.add_argument("--updates", type=int, default=250, help="updates of GRPO (default: 250)")
updates = parser.parse_args().updates

# 1. The task. A prompt is a question such as 27+38= and its right completion is 51.60.065. This means: the
#    units give digit 5 and carry 1, the tens give digit 6 and carry 0, the sum is 065. The reward is 1 if
#    the last three digits are the sum, else 0. The digits and carries before the sum do not matter.
task = TASKS["sums"]()
held_out_task = held_out(task)  # the same task, with only the questions that training never uses

# 2. The policy: a transformer with 2 layers, 2 attention heads and 48 numbers per token.
network = network_for(task, "transformer", {"width": 48, "layers": 2, "heads": 2})

# 3. Imitation. A transformer with random weights gives only wrong answers, so all rewards would be 0 and GRPO
#    would have nothing to compare. The transformer first learns from examples, by maximum likelihood.
print("Imitation of right answers")
for step in pretrain(task, network, PretrainConfig(learning_rate=2e-3, until=0.3)):
    if step.step % 25 == 0:
        print(f"  step {step.step:3}: loss {step.loss:.2f} nats per token", flush=True)
policy = step.policy
weights_before = policy.weights[None]  # (1, number of weights), because there is 1 training run

# 4. GRPO. Each update samples 64 questions and a group of 8 answers to each question. An answer becomes more
#    likely if its reward is above the mean of its group, and less likely if its reward is below. GRPO is a
#    recipe: a table with a function for each part of the algorithm. DR_GRPO and RLOO are others to try.
print("GRPO with 64 questions per update and 8 answers per question; mean reward: share of right answers")
config = config_for(task, updates=updates, prompts=64, group_size=8, learning_rate=1e-3)
for update in iter_train(task, GRPO, config, policy=policy):
    if update.state.update == 1 or update.state.update % 50 == 0:
        mean_reward = update.metrics["reward"][0]  # of the answers in this update
        print(f"  update {update.state.update:3}: mean reward {mean_reward:.2f}", flush=True)
weights_after = update.state.params

# 5. What was learned? Answer 2000 held-out questions with the weights before and after GRPO. Print 5 answers.
for stage, weights in ("before", weights_before), ("after", weights_after):
    answers = sample(held_out_task, weights, prompts=2000, policy=policy)
    print(f"\n{stage} GRPO: {answers.rewards.mean():.0%} of 2000 answers to held-out questions are right")
    for i in range(5):
        text = task.render(answers.prompts[0, i], answers.tokens[0, i, 0], answers.mask[0, i, 0])
        print(f"  {text:20} {'right' if answers.rewards[0, i, 0] else 'wrong'}")
