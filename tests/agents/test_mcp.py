"""grpo-ref mcp: the server as an agent sees it, over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from grpo_ref import explain
from grpo_ref.cli import main

PROGRAM = "from grpo_ref.cli import main; main()"
TRAINED = [
    {"step": step, "loss": 0.0, "reward": 0.5, "reward_std": 0.5, "grad_norm": 1.0, "entropy": 1.0}
    for step in range(1, 9)
]


def call(root, *requests, timeout="30"):
    """Start the server, call its tools one after another, and return the list of tools and the results."""
    mcp = pytest.importorskip("mcp")

    async def talk():
        parameters = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-c", PROGRAM, "mcp", "--root", str(root), "--timeout", timeout],
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        async with mcp.Client(parameters) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in requests]

    return asyncio.run(asyncio.wait_for(talk(), 120.0))


def message(result):
    assert result.is_error
    return result.content[0].text


@pytest.fixture
def folder(tmp_path):
    """A folder with a launch file and a log, and a file beside the folder."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "grpo.yaml").write_text("loss_type: dr_grpo\nscale_rewards: none\n")
    (root / "trainer_state.json").write_text(json.dumps({"log_history": TRAINED}))
    (tmp_path / "secret.yaml").write_text("loss_type: dapo\nepsilon: 0.123\n")
    return root


def test_the_tools_of_a_session(folder):
    (folder / "old.sh").write_text("pip install trl==0.22.1\ntrl grpo --num_generations 8\n")
    tools, (explained, of_text, converted, audited, diagnosed) = call(
        folder,
        ("explain", {"config": "grpo.yaml", "trainer": "trl", "changes": ["epsilon_high=0.28"]}),
        ("explain", {"config": "trl grpo --beta 0.04", "version": "0.16.0"}),
        ("convert", {"config": "grpo.yaml", "trainer": "trl", "target": "verl", "form": "line"}),
        ("audit", {"folder": ".", "releases": ["trl==0.22.1"]}),
        ("diagnose", {"logs": ["trainer_state.json"]}),
    )
    assert [tool.name for tool in tools] == ["explain", "convert", "audit", "diagnose"]
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools)
    same = explain("loss_type=dr_grpo", "scale_rewards=none", "epsilon_high=0.28", trainer="trl")
    report = explained.structured_content
    assert report["sentence"] == same.sentence
    assert report["objective_id"]["id"] == same.objective_id.id
    assert "without_effect" not in report
    assert of_text.structured_content["version"] == "TRL 0.16.0"
    assert of_text.structured_content["kl_coef"] == 0.04
    assert "loss_agg_mode=seq-mean-token-sum-norm" in converted.structured_content["config"]
    assert converted.structured_content["losses"][0].startswith("This cannot be expressed in verl: surrogate")
    files = {each["file"]: each for each in audited.structured_content["files"]}
    assert files["old.sh"]["status"] == "certain"
    touched = {each["entry"] for each in files["old.sh"]["launches"][0]["touched"]}
    assert "trl-scale-rewards-does-not-divide" in touched
    assert not diagnosed.is_error
    assert diagnosed.structured_content["trainer"] == "trl"


REFUSED = {
    "a file elsewhere": ("explain", {"config": "../secret.yaml"}, "only files below"),
    "an absolute path": ("explain", {"config": "/etc/hostname"}, "only files below"),
    "no file": ("explain", {"config": "none.yaml"}, "there is no such file below"),
    "no configuration": ("explain", {}, "expected a configuration, or a trainer"),
    "a typo": ("explain", {"trainer": "trl", "changes": ["epsilon_hih=1"]}, "did you mean 'epsilon_high'"),
    "an option": ("explain", {"trainer": "trl", "changes": ["--trace"]}, 'expected "key=value"'),
    "an unknown trainer": ("convert", {"trainer": "trl", "target": "nope"}, "no dialect is called 'nope'"),
    "a folder elsewhere": ("audit", {"folder": ".."}, "only files below"),
    "a release that is not covered": ("audit", {"releases": ["trl==0.1.0"]}, "is not covered"),
    "no launch file": ("audit", {"folder": "trainer_state.json"}, "no launch file of a known trainer"),
    "a log elsewhere": ("diagnose", {"logs": ["/etc/hostname"]}, "only files below"),
    "a log without metrics": ("diagnose", {"logs": ["grpo.yaml"]}, "grpo.yaml"),
    "no log": ("diagnose", {"logs": []}, "at least 1 item"),
    "a tool that is not there": ("check", {}, "check"),
}


def test_errors_say_what_was_expected(folder):
    requests = [(tool, arguments) for tool, arguments, _ in REFUSED.values()]
    _, results = call(folder, *requests)
    for name, result, (_, _, expected) in zip(REFUSED, results, REFUSED.values(), strict=True):
        assert expected in message(result), name


def test_the_server_answers_after_a_call_that_took_too_long(folder):
    """A second is not enough to read 60 MB of metrics."""
    row = json.dumps({"step": 1, "loss": 0.0, "reward": 0.5, "reward_std": 0.5})
    (folder / "run.jsonl").write_text(f"{row}\n" * 1_000_000)
    _, (slow, again) = call(
        folder, ("diagnose", {"logs": ["run.jsonl"]}), ("explain", {"config": "none.yaml"}), timeout="1"
    )
    assert "stopped after 1 seconds" in message(slow)
    assert "there is no such file" in message(again)


def test_a_message_does_not_repeat_a_long_text(folder):
    _, (result,) = call(folder, ("explain", {"config": "{ = " * 5_000}))
    assert 0 < len(message(result)) < 2_000


def test_no_other_command_imports_the_sdk():
    code = (
        "import sys; from grpo_ref.cli import main\ntry: main(['recipes', 'dapo'])\nexcept SystemExit: pass\n"
    )
    code += "import grpo_ref.agents.command\nprint(sorted({'mcp', 'pydantic'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"


def test_help_shows_how_to_register_the_server():
    shown = CliRunner().invoke(main, ["mcp", "--help"]).output
    assert '{"mcpServers": {"grpo-ref": {"command": "grpo-ref"' in shown
    assert "Example:  grpo-ref mcp --root" in shown


def test_without_the_sdk_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["mcp", "--root", str(Path.cwd())])
    assert result.exit_code == 1
    assert "pip install 'grpo-ref[mcp]'" in result.output
