"""Launches as people paste them: lines of a README, cells of a notebook, scripts and files for a cluster."""

import json

import pytest

from grpo_ref.explain.launch import Unknown, launches
from grpo_ref.explain.launch.pastes import blocks, by_process, repairs, without_prompts

VERL = "-m verl.trainer.main_ppo algorithm.adv_estimator=grpo"
WORDS = ", ".join(map(repr, VERL.split()))
N = "actor_rollout_ref.rollout.n"


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})


PASTES = {
    "a terminal": f"$ python {VERL} \\\n>   {N}=8\n",
    "a terminal with a place": f"(env) me@host:~/work$ python {VERL} {N}=8\n",
    "markdown": f"# Mine\n\nTrain with:\n\n```bash\npython {VERL} \\\n  {N}=8\n```\n",
    "accelerate": f"CUDA_VISIBLE_DEVICES=0 accelerate launch --num_processes 4 {VERL} {N}=8",
    "several flags before the module": f"python3 -u{VERL[1:]} {N}=8",
    "deepspeed": f"deepspeed --module verl.trainer.main_ppo algorithm.adv_estimator=grpo {N}=8",
    "torchrun behind": f"nohup torchrun --nproc_per_node=8 {VERL} {N}=8 > train.log 2>&1 &",
    "uv": f"uv run --isolated --extra vllm {VERL} {N}=8",
    "ray": f'ray job submit --runtime-env-json=\'{{"env_vars": {{"A": "1"}}}}\' -- python3 {VERL} {N}=8',
    "a container": f'docker run --gpus all -v $PWD:/w verl bash -c "cd /w && python3 {VERL} {N}=8"',
    "SLURM": f'#!/bin/bash\n#SBATCH --nodes=2\nN=8\nsrun -w "$HEAD" bash -c "\n  python3 -u {VERL} {N}=$N"\n',
    "SLURM in a line": f'sbatch --gres=gpu:8 --wrap="python {VERL} {N}=8"',
    "another machine": f"ssh node1 'cd /w && python {VERL} {N}=8'",
    "a terminal that stays": f'tmux new-session -d -s train "python {VERL} {N}=8"',
    "a command that grows": f'CMD="python {VERL}"\nCMD+=" {N}=8"\necho "$CMD"\neval "$CMD"\n',
    "a here-document": f"read -r -d '' A <<EOF\n{VERL[3:]}\n   {N}=8\nEOF\npython -m $A",
    "a cell": notebook("import os", f"!python {VERL} \\\n  {N}=8"),
    "a cell for the shell": notebook("%env N=8", f"%%bash\npython {VERL} {N}=$N"),
    "an environment that Python sets": notebook("import os\nos.environ['N'] = '8'", f"!python {VERL} {N}=$N"),
    "a file that a cell writes": notebook(
        "%%writefile conf/my.yaml\nalgorithm: {adv_estimator: grpo}\nactor_rollout_ref: {rollout: {n: 8}}\n",
        "!python -m verl.trainer.main_ppo --config-path conf --config-name my",
    ),
    "a program that starts another": (
        f'import subprocess\nn = 8\ncmd = ["python", {WORDS}, f"{N}={{n}}"]\nsubprocess.run(cmd)\n'
    ),
    "a line that Python hands to a shell": f"import os\nos.system('python {VERL} {N}=8')\n",
    "a job": f"spec:\n  parts:\n  - command: [bash, -c]\n    args:\n    - |\n      python3 {VERL} {N}=8\n",
    "words of a job": f"spec:\n  containers:\n  - command: [python3, {VERL.replace(' ', ', ')}, {N}=8]\n",
    "a program with arguments": f"spec: [{{command: [python3], args: [{VERL.replace(' ', ', ')}, {N}=8]}}]\n",
    "a cluster's file with variables": f"envs: {{N: 8}}\nrun: |\n  python3 {VERL} {N}=$N\n",
    "an editor": json.dumps(
        {"configurations": [{"module": "verl.trainer.main_ppo", "args": [*VERL.split()[2:], f"{N}=8"]}]}
    ),
}


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_a_paste_is_read(text):
    (launch,) = launches(text)
    assert launch.trainer == "verl"
    assert {key: launch.keys[key] for key in ("algorithm.adv_estimator", N)} == {
        **{"algorithm.adv_estimator": "grpo", N: 8}
    }


def test_a_variable_of_python_in_a_line_for_the_shell_is_a_hole():
    (launch,) = launches(notebook("n = read()", f"!python {VERL} \\\n {N}={{n}}"))
    assert isinstance(launch.keys[N], Unknown)
    (launch,) = launches(
        f"import subprocess\nsubprocess.run(['python', '-m', 'verl.trainer.main_ppo', f'{N}={{n}}'])"
    )
    assert isinstance(launch.keys[N], Unknown)


def test_a_program_that_a_script_writes_is_read():
    program = "from trl import GRPOConfig\nargs = GRPOConfig(num_generations=16, beta=0.1)\n"
    script = f"cat > train.py <<'EOF'\n{program}EOF\naccelerate launch --num_processes 8 train.py\n"
    (launch,) = launches(script)
    assert (launch.trainer, launch.keys["num_generations"]) == ("trl", 16)


def test_a_notebook_that_became_a_script_is_read():
    text = "!pip install trl==0.19.0\nfrom trl import GRPOConfig\nargs = GRPOConfig(beta=0.1)\n"
    (launch,) = launches(f"{text}%matplotlib inline\n", "colab.py")
    assert (launch.trainer, launch.version, launch.keys) == ("trl", "0.19.0", {"beta": 0.1})


# ---- pastes with prefixes, or without an end ------------------------------------------------------------

CONFIG = "args = GRPOConfig(\n    beta=0.1,\n    num_generations=4,\n"
DAMAGED = {
    "a stray backtick": "`trl grpo --beta 0.1 --num_generations 4",
    "''' as a fence": f"I use\n'''\nfrom trl import GRPOConfig\n{CONFIG})\n'''\nand it fails",
    "a call without an end": f"I use {CONFIG}    ...\nand it fails",
    "a call without an end in a block": f"I use\n```python\n{CONFIG}```\n",
    "a block without an end": "I run\n```bash\ntrl grpo --beta 0.1 --num_generations 4\n",
    "no import": f"{CONFIG})",
    "SLURM": "0: + trl grpo --beta 0.1 --num_generations 4\n1: + trl grpo --beta 0.1 --num_generations 4\n",
    "docker compose": "trainer-1  | + trl grpo --beta 0.1 --num_generations 4\nvllm-1     | ready\n",
    "Ray": "".join(
        f"(main pid=7) {line}\n"
        for line in ("trl:", "  beta: 0.1", "  num_generations: 4", "  max_completion_length: 9")
    ),
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_paste_is_read(text):
    (launch,) = launches(text)
    assert launch.trainer == "trl"
    assert (launch.keys["beta"], launch.keys["num_generations"]) == (0.1, 4)


def test_the_class_of_a_snippet_without_import_is_an_assumption():
    (launch,) = launches(DAMAGED["no import"])
    assert launch.cautions == ["GRPOConfig is not imported in this text. It is taken to be TRL's class."]
    with pytest.raises(ValueError, match="a class of its own"):
        launches(f"from .mine import Other\nclass GRPOConfig: pass\n{CONFIG})")
    with pytest.raises(ValueError, match="a class of its own"):
        launches(f"from . import GRPOConfig\n{CONFIG})")


def test_the_output_of_each_process_is_read_once():
    assert by_process("0: a\n1: b\n0: c\n1: d\n2: b\n2: d") == ["a\nc", "b\nd"]
    assert by_process("(main pid=7, ip=10.0.0.2) a: 1\n(main pid=7, ip=10.0.0.2)   b: 2") == ["a: 1\n  b: 2"]
    assert by_process("trainer-1  | a\nloss 0.1") == []
    assert by_process("") == []


def test_only_a_text_with_a_defect_is_repaired():
    assert [*repairs("trl grpo --beta 0.1")] == []
    assert [*repairs(f"{CONFIG})")] == []
    assert [repair.text for repair in repairs("`ls")] == ["ls"]


def test_prompts_are_removed():
    assert without_prompts("(env) me@host:~/w$ ls \\\n> -l") == "ls \\\n-l"


def test_the_blocks_of_markdown_are_in_order():
    assert blocks("a\n```sh\nls\n```\n~~~\nps\n~~~\n```\ndf\n") == ["ls\n", "ps\n", "df\n"]
