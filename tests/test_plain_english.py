"""docs/plain_english.py reports unclear English, and its list of allowed findings only shrinks."""

import json
from pathlib import Path

import plain_english
import pytest
from plain_english import check_text, main, read_rules

RULES = read_rules()

# rule -> a summary that it rejects, and a similar one that is fine
OPENINGS = {
    "opens-with-what": ("What one student handed in.", "Whatever the trainer adds to the loss."),
    "opens-with-whether": ("Whether the loss is NaN.", "True if the loss is NaN."),
    "opens-with-those": ("Those of the submission.", "Files of the submission."),
    "opens-with-the-same": ("The same with another unit.", "The sampler of the task."),
    "opens-with-how": ("How many tokens count.", "How many tokens count?"),
    "opens-with-that": ("That which was asked for.", "Thatcher's rule."),
    "opens-with-who": ("Who printed a line, and what.", "Whole numbers of a row."),
    "opens-with-where": ("Where the token ends.", "Where does the token end?"),
    "opens-with-which": ("Which groups are trained on.", "Mask of the groups which are trained on."),
    "opens-with-as": ("As argparse takes them.", "Assign a group to each prompt."),
    "opens-with-of": ("Of single tokens.", "Offset of single tokens."),
}

# rule -> a sentence that it rejects, and a similar one that is fine
PROSE = {
    "in-the-mean": ("It is better in the mean.", "Padding counts in the mean of the group."),
    "whoever": ("It is for whoever trains.", "Anyone who trains needs it."),
    "who-as-subject": ("It is small. Who takes one step sees none.", "It is small. Who takes one step?"),
    "shall": ("It shall stay near.", "A shallow network."),
    "told-apart": ("Runs are told apart by name.", "Runs are kept apart by name."),
    "told": ("The key is told with its value.", 'The argument "told": a text.'),
    "slip": ("It looks like a slip of the pen.", "The value slips through the check."),
    "quirk": ("The quirks of a trainer.", "A quirky trainer."),
    "commonplace": ("The commonplaces hold everywhere.", "This is commonplace."),
    "patient": ("The patient has a leash.", "Please be patient."),
    "clinic": ("Seven runs of the clinic.", "The exercise clinic/large_groups."),
    "chart": ("Look at the chart.", "Draw a bar chart."),
    "house": ("The map of the house.", "An in-house trainer."),
    "room": ("It came out of a room.", "There is room for three labels."),
    "floors": ("Go down the floors.", "It floors the probability."),
    "door": ("Checked at the door.", "Outdoors."),
    "laboratory": ("The laboratory says so.", "The collaborators say so."),
    "family-of-tasks": ("A family of tasks.", "The GRPO family of objectives."),
    "anew": ("Groups are drawn anew.", "Groups are drawn in a new order."),
    "luck": ("It learns without luck.", "It is lucky."),
    "hostile-task": ("In the hostile tasks it fails.", "A hostile answer hangs."),
    "not-shown": ("An effect is not shown.", "The padding is not shown here."),
    "no-experiment": ("It needed no experiment.", "It needed one experiment."),
    "end-of-the-grid": ("At the end of the grid.", "At the end of the budget."),
    "paid": ("Only right answers are paid.", "The debt is paid back."),
    "punishment": ("A soft punishment for length.", "DAPO's Soft Overlong Punishment."),
    "likelier": ("The token is likelier now.", "The token is more likely now."),
    "sibling": ("Compared with its siblings.", "Compared with the group."),
    "dead-group": ("A dead group has no gradient.", "A group with equal rewards."),
    "held-by-the-clip": ("Tokens held by the clip.", "Tokens held by the reference."),
    "stretch": ("The last stretch of the budget.", "NumPy would stretch it."),
    "in-its-place": ("Nothing is drawn in its place.", "The array is sorted in place."),
    "stands": ("It stands in the first line.", "T stands for the length."),
    "left-out": ("The default where it is left out.", "The leave-one-out baseline."),
    "wanted-is": (
        "A verifier said it. Wanted is a high reward.",
        "A verifier said it. We want a high reward.",
    ),
    "wanted": ("Only the wanted metrics.", "The metrics that you wanted."),
    "at-hand": ("The batch at hand.", "Look at hand-written kernels."),
    "ours-theirs": ("The default is ours.", "ours: the recipe of grpo_ref."),
    "is-no": ("12 is no multiple of 8.", "There is no bound, and it is no longer clipped."),
    "nobody": ("A constant that nobody chose.", "A constant without a reason."),
    "has-no-say": ("The token has no say.", "The token is ignored."),
    "textbook": ("The textbook version of GRPO.", "The textbook form of GRPO."),
    "a-training": ("The curves of a training, by update.", "The curves of a training run."),
    "in-a-trainers-words": ("In a trainer's words.", "In a trainer's configuration."),
    "where-to-go-on": ("Where to go on", "Where to go"),
}

# rule -> code whose name it rejects, and similar code that is fine
NAMES = {
    "riddle": ("def _of(recipe): ...", "def part_of(recipe): ..."),
    "name-told": ("class Told: ...", "class Toldo: ..."),
    "name-found": ("found = 1", "not_found = 1"),
    "name-slips": ("def penalty_slips(): ...", "def slipped(): ..."),
    "name-quirks": ("QUIRKS = {}", "quirky = {}"),
    "name-words": ("def f(words): ...", "def f(last_words): ..."),
    "name-rooms": ("self.room = 1", "self.headroom = 1"),
    "name-patients": ("for patient in runs: ...", "for patience in runs: ..."),
    "name-commonplaces": ("COMMONPLACES = ()", "PLACES = ()"),
    "name-doors": ("DOORS: int = 1", "OUTDOORS: int = 1"),
    "name-floors": ("FLOORS = 1", "floor = 1"),
    "name-house": ("def house_map(): ...", "def warehouse(): ..."),
    "name-book": ("book_cispo = 1", "notebook_1 = 1"),
}


def rules_of(text, path="page.md"):
    return [finding.rule.id for finding in check_text(path, text, RULES)]


def cases(table):
    return [pytest.param(rule, *row, id=rule) for rule, row in table.items()]


def test_each_rule_has_a_case():
    assert {rule.id for rule in RULES.rules} == OPENINGS.keys() | PROSE.keys() | NAMES.keys()


@pytest.mark.parametrize(("rule", "rejected", "fine"), cases(OPENINGS))
def test_the_beginning_of_a_docstring(rule, rejected, fine):
    assert rules_of(f'"""{rejected}"""', "grpo_ref/a.py") == [rule]
    assert rules_of(f'"""{fine}"""', "grpo_ref/a.py") == []


@pytest.mark.parametrize(("rule", "rejected", "fine"), cases(PROSE))
def test_a_phrase(rule, rejected, fine):
    assert rules_of(rejected) == [rule]
    assert rules_of(fine) == []


@pytest.mark.parametrize(("rule", "rejected", "fine"), cases(NAMES))
def test_a_name(rule, rejected, fine):
    assert rules_of(rejected, "grpo_ref/a.py") == [rule]
    assert rules_of(fine, "grpo_ref/a.py") == []


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_the_example_of_a_rule_follows_all_rules(rule):
    assert rules_of(rule.example) == []


HAND = '"""What is at hand."""\n'
BOTH = ["opens-with-what", "at-hand"]
PLACES = {
    "a module": (HAND, BOTH),
    "a method": (f"class A:\n    def f(self):\n        {HAND}", BOTH),
    "an attribute": (f"a = 1\n{HAND}", BOTH),
    "an annotated attribute": (f"class A:\n    a: int = 1\n    {HAND}", BOTH),
    "a string that documents nothing": (f"f()\n{HAND}", ["at-hand"]),
    "a comment": ("a = 1  # of the batch at hand", ["at-hand"]),
    "a message": ('print("the batch at hand")', ["at-hand"]),
    "a message in two parts": ('f(\n    "the batch at"\n    f" hand {a}"\n)', ["at-hand"]),
    "a comment in two lines": ("# the batch at\n# hand", ["at-hand"]),
    "a key": ('a["told"] = "told"', []),
    "code": ("at, hand = 1, 2", []),
    "an expression in a message": ('print(f"the {at} {at if hand else 1}")', []),
    "inline code in a comment": ("# see `at hand` here", []),
    "an example in a docstring": ('"""Pad.\n\n>>> pad("at hand")\n"""', []),
}


@pytest.mark.parametrize(("source", "rules"), PLACES.values(), ids=PLACES)
def test_places_in_python(source, rules):
    assert rules_of(source, "grpo_ref/a.py") == rules


MARKDOWN = {
    "a line break": ("the batch at\n  hand", ["at-hand"]),
    "a heading": ("# The batch at hand", ["at-hand"]),
    "two paragraphs": ("Look at\n\nhand", []),
    "a code block": ("```python\nat hand\n```\n", []),
    "inline code": ("see `at hand` and at `a` hand", []),
    "a formula": ("$at hand$ and\n$$\nat hand\n$$", []),
    "a link": ("[here](https://example.org/house) or https://example.org/house", []),
    "a generated table": ("<!-- a: made by make docs -->\nat hand\n<!-- end of a -->", []),
    "the text after a code block": ("```\na\n```\nat hand\n```\nb\n```\n", ["at-hand"]),
}


@pytest.mark.parametrize(("text", "rules"), MARKDOWN.values(), ids=MARKDOWN)
def test_places_in_markdown(text, rules):
    assert rules_of(text) == rules


def test_only_docstrings_of_tests_are_read():
    source = '"""What it does."""\nfound = 1  # at hand\nf("at hand")\n'
    assert rules_of(source, "tests/test_a.py") == ["opens-with-what"]


def test_a_module_is_named_by_its_file():
    assert rules_of("", "grpo_ref/verl/quirks.py") == ["name-quirks"]
    assert rules_of("", "grpo_ref/quirks/__init__.py") == ["name-quirks"]


def test_words_of_a_shell_command_are_words():
    assert rules_of("words = 1", "grpo_ref/shell/lexer.py") == []


def test_a_finding_names_its_line_and_the_replacement():
    (finding,) = check_text("docs/a.md", "One.\n\nThe batch at\nhand.", RULES)
    assert str(finding) == 'docs/a.md:3: "at hand" -> use "current" or "this" [at-hand]'


def test_the_script_follows_its_own_rules():
    source = Path(plain_english.__file__).read_text(encoding="utf-8")
    assert check_text("docs/plain_english.py", source, RULES) == []


@pytest.fixture
def project(tmp_path):
    """Write a project with two findings in a.md, both on the list."""
    (tmp_path / "a.md").write_text("The batch at hand. The key at hand.", encoding="utf-8")
    (tmp_path / "list.json").write_text('{"a.md": {"at-hand": 2}}', encoding="utf-8")
    return tmp_path


def check(project, *options):
    return main([*options], root=project, allowed_file=project / "list.json")


def listed(project):
    return json.loads((project / "list.json").read_text(encoding="utf-8"))


def test_findings_on_the_list_are_allowed(project, capsys):
    assert check(project) == 0
    assert capsys.readouterr().out == "0 findings in 0 files; the list allows 2\n"


def test_all_findings_are_printed_on_request(project, capsys):
    assert check(project, "--all") == 0
    assert "2 findings in 1 file; the list allows 2" in capsys.readouterr().out


NEW = {
    "a larger count": ("a.md", "At hand, at hand, at hand."),
    "another rule": ("a.md", "The batch at hand. The key at hand. Nobody."),
    "another file": ("b.md", "The batch at hand."),
}


@pytest.mark.parametrize(("name", "text"), NEW.values(), ids=NEW)
def test_a_new_finding_fails_and_never_enters_the_list(project, name, text, capsys):
    (project / name).write_text(text, encoding="utf-8")
    assert check(project) == 1
    assert f"{name}:1: " in capsys.readouterr().out
    assert check(project, "--update") == 1
    assert listed(project) == {"a.md": {"at-hand": 2}}


@pytest.mark.parametrize(("text", "shorter"), [("At hand.", {"a.md": {"at-hand": 1}}), ("Now.", {})])
def test_a_list_that_allows_too_much_fails_until_it_is_shrunk(project, text, shorter, capsys):
    (project / "a.md").write_text(text, encoding="utf-8")
    assert check(project) == 1
    assert "shrink the list: python docs/plain_english.py --update" in capsys.readouterr().out
    assert check(project, "--update") == 0
    assert listed(project) == shorter
    assert check(project) == 0


def test_after_files_have_moved_the_list_can_be_written_afresh(project):
    (project / "a.md").rename(project / "b.md")
    assert check(project, "--update") == 1
    assert check(project, "--update", "--new-baseline") == 0
    assert listed(project) == {"b.md": {"at-hand": 2}}


def test_only_the_given_paths_are_checked(project):
    (project / "b.md").write_text("The batch at hand.", encoding="utf-8")
    assert check(project, str(project / "a.md")) == 0
    assert check(project, str(project / "b.md")) == 1


def test_statistics_per_rule_and_folder(project, capsys):
    (project / "docs").mkdir()
    (project / "docs/b.md").write_text("Nobody.", encoding="utf-8")
    assert check(project, "--stats") == 0
    rules, folders = capsys.readouterr().out.split("Findings per folder")
    assert rules.split()[-4:] == ["2", "at-hand", "1", "nobody"]
    assert folders.split()[-4:] == ["2", ".", "1", "docs"]
