"""What is read of a script; each line of a table was compared with bash."""

import re

import pytest
from explain.launch.scripts import BASH, SCRIPTS, agree, run_by_bash
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from grpo_ref.explain.launch.shell import CannotRead, read_shell


def shown(script):
    """The commands of a script, one a line, their words with a bar between them."""
    return ["|".join(map(str, command.words)) for command in read_shell(script).commands]


def notes(script):
    return [note.text for note in read_shell(script).notes]


WORDS = {
    "blanks part words": ("t  a\tb", "t|a|b"),
    "a backslash continues the line": ("t a \\\n  b", "t|a|b"),
    "single quotes keep all": ("t '$x \\ b'", "t|$x \\ b"),
    "double quotes keep blanks": ('A="b c"; t "$A"', "t|b c"),
    "without quotes, blanks part": ('A="b  c"; t $A', "t|b|c"),
    "what touches is one word": ("A=1; t a$A\"b c\"'d'", "t|a1b cd"),
    "two variables and a slash": ("A=1 B=2; f=$A$B/x; t $f", "t|12/x"),
    "a quoted dollar after a variable": ("A=1; x=$A\\$y; t $x", "t|1$y"),
    "a quoted blank": ("t a\\ b", "t|a b"),
    "nothing in quotes is a word": ("t '' \"\"", "t||"),
    "an empty variable is none": ("A=; t $A b", "t|b"),
    "C escapes": ("t $'a\\tb\\x41'", "t|a\tbA"),
    "a comment": ("t a # b", "t|a"),
    "a number sign inside a word": ("t a#b", "t|a#b"),
    "a comment in backticks": ("t a `# note` \\\n b", "t|a|b"),
    "braces with commas": ("t x{a,b}y", "t|xay|xby"),
    "braces with numbers": ("t {1..3} {03..1..2} {c..a}", "t|1|2|3|03|01|c|b|a"),
    "braces that hold neither": ("t {} {a} {a", "t|{}|{a}|{a"),
    "braces in braces": ("t {a,b{1,2}}", "t|a|b1|b2"),
    "home": ("t ~/x a=~/y b~", "t|$HOME/x|a=$HOME/y|b~"),
    "a place to fill in": ("t --root <your_root> b", "t|--root|<your_root>|b"),
    "redirections are no words": ("t a > out 2>&1 < in b", "t|a|b"),
    "a semicolon ends a command": ("t a; t b & t c", "t|a\nt|b\nt|c"),
    "time is no command": ("time t a", "t|a"),
}
EXPANSIONS = {
    "a default": ("t ${X:-8} ${X-9}", "t|8|9"),
    "a default of several words": ('t ${X:-a b} "${X:-a b}"', "t|a|b|a b"),
    "a default in a default": ("t ${X:-${Y:-1}}", "t|1"),
    "a default of an empty variable": ("X=; t ${X:-8} ${X-9}", "t|8"),
    "no default is needed": ("X=1; t ${X:-8} ${X:+yes}", "t|1|yes"),
    "an assigned default": ("t ${X:=3} $X", "t|3|3"),
    "an alternative to nothing": ("t a${X:+b}", "t|a"),
    "the last part of a path": ("M=a/b.c.d; t ${M##*/} ${M%.*} ${M%%.*} ${M#*/}", "t|b.c.d|a/b.c|a/b|b.c.d"),
    "the last part of an unknown path": ("M=$H/Qwen; t ${M##*/} $(basename $M)", "t|Qwen|Qwen"),
    "replacing": (
        "M=a-b-c; t ${M/-/_} ${M//-/_} ${M/#a/x} ${M/%c/y} ${M//[ab]/z}",
        "t|a_b-c|a_b_c|x-b-c|a-b-y|z-z-c",
    ),
    "upper and lower case": ("M=aB; t ${M^^} ${M,,} ${M^}", "t|AB|ab|AB"),
    "slices": ("M=abcdef; t ${M:2} ${M:1:2} ${M: -2} ${M:1:-1}", "t|cdef|bc|ef|bcde"),
    "a length": ("M=abc; t ${#M}", "t|3"),
    "by the name of a variable": ("A=1; B=A; t ${!B}", "t|1"),
    "arithmetic": (
        "N=8; t $((N * 4 + 2**3)) $((-7 / 2)) $((7 % -3)) $((N > 3 ? 1 : 2)) $((0x10 | 1))",
        "t|40|-3|1|1|17",
    ),
    "64 bits": ("t $((9223372036854775807 + 1))", "t|-9223372036854775808"),
    "counting": ("i=1; ((i++)); ((i += 3)); let i*=2; t $i", "t|10"),
    "what echo writes": ("A=b; t $(echo a $A) `echo c`", "t|a|b|c"),
    "what basename writes": ("t $(basename a/b.txt .txt) $(dirname a/b)", "t|b|a"),
    "what a function writes": ('f() { echo "x $1"; }; t "$(f 1)"', "t|x 1"),
    "what another command writes": ('t $(nproc) "a$(date +%s)"', "nproc\ndate|+%s\nt|$(nproc)|a$(date +%s)"),
    "division by zero": ("t $((1/0))", "t|$((1/0))"),
}
VARIABLES = {
    "from outside": ("t $MODEL", "t|$MODEL"),
    "added to": ("A=a; A+=b; t $A", "t|ab"),
    "exported": ("export A=1 B; t $A", "t|1"),
    "values before names": ("A=1; export A=2 B=$A; t $A $B", "t|2|1"),
    "taken away": ("A=1; unset A; t a $A", "t|a"),
    "an array": ('A=(1 "b c"); t "${A[@]}" ${A[1]} ${#A[@]} $A', "t|1|b c|b|c|2|1"),
    "an array with lines and comments": ("A=(\n  a # one\n  b\n)\nt ${A[@]}", "t|a|b"),
    "an array grows": ('A=(a); A+=(b); A[5]=c; t "${A[@]}" "${!A[@]}"', "t|a|b|c|0|1|5"),
    "an array in one word": ('A=(a b); t "${A[*]}" "x${A[@]}y"', "t|a b|xa|by"),
    "a part of an array": ('A=(a b c); t "${A[@]:1}" "${A[@]:0:1}" "${A[-1]}"', "t|b|c|a|c"),
    "an array of an unknown number": ("A=($X b); t ${#A[@]} ${A[1]}", "t|${#A[@]}|${A[1]}"),
    "an empty array": ('A=(); t "${A[@]}" b', "t|b"),
    "keys": ('declare -A M=([a]=1 ["b"]=2); k=b; t ${M[a]} ${M[$k]}', "t|1|2"),
    "read from a text": ('IFS=, read -ra A <<< "a,b"; t ${A[@]} "${A[1]}"', "t|a|b|b"),
    "arguments set": ('set -- a b c; shift; t $1 $# "$@"', "t|b|2|b|c"),
    "arguments of the file": ('t $1 "$@"', "t|$1|$@"),
}
FLOW = {
    "a function": ('f() { t "$@" $#; }; f a "b c"', "t|a|b c|2"),
    "a local variable": ("x=1; f() { local x=2; t $x; }; f; t $x", "t|2\nt|1"),
    "a function changes the rest": ("f() { x=2; return; x=3; }; f; t $x", "t|2"),
    "a known condition": ("A=b; if [ $A = b ]; then t 1; else t 2; fi", "t|1"),
    "brackets with a pattern": ("A=Qwen-7B; if [[ $A == *7B* && -n $A ]]; then t 1; fi", "t|1"),
    "numbers": ("N=8; if (( N > 4 )); then t 1; elif [ $N -eq 8 ]; then t 2; fi", "t|1"),
    "unset is empty": ('if [ -z "$X" ]; then X=5; fi; t $X', "t|5"),
    "an assumption that would end the script": ('if [ -z "$1" ]; then exit 1; fi; t $1', "t|$1"),
    "and, or": ('[ -n "$X" ] && A=1 || A=2; t $A', "t|2"),
    "a loop": ("for b in 0 0.04; do t $b; done", "t|0\nt|0.04"),
    "a counted loop": ("for ((i = 0; i < 2; i++)); do t $i; done", "t|0\nt|1"),
    "while": ("i=0; while [ $i -lt 2 ]; do t $i; i=$((i + 1)); done", "t|0\nt|1"),
    "break and continue": (
        "for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; t $i; done",
        "t|1\nt|3",
    ),
    "case": ("M=qwen; case $M in llama) t 1;; qwen|gemma) t 2;; *) t 3;; esac", "t|2"),
    "a subshell forgets": ("A=1; (A=2; t $A); t $A", "t|2\nt|1"),
    "a pipe forgets": ("A=1; t a | A=2; t $A", "t|a\nt|1"),
    "exit ends": ("t 1; exit 0; t 2", "t|1"),
    "shell in the shell": ("A=1; export B=2; bash -c 't $B \"$A\"'", 'bash|-c|t $B "$A"\nt|2|$A'),
    "holes go into the inner shell": ("bash -c \"t '$Q' \\$R\"", "bash|-c|t '$Q' $R\nt|$Q|$R"),
    "a here-document for a shell": ("bash <<EOF\nt $A b\nEOF", "bash\nt|$A|b"),
}


@pytest.mark.parametrize(("script", "lines"), WORDS.values(), ids=WORDS)
def test_words(script, lines):
    assert shown(script) == lines.split("\n")


@pytest.mark.parametrize(("script", "lines"), EXPANSIONS.values(), ids=EXPANSIONS)
def test_expansions(script, lines):
    assert shown(script) == lines.split("\n")


@pytest.mark.parametrize(("script", "lines"), VARIABLES.values(), ids=VARIABLES)
def test_variables(script, lines):
    assert shown(script) == lines.split("\n")


@pytest.mark.parametrize(("script", "lines"), FLOW.values(), ids=FLOW)
def test_flow(script, lines):
    assert shown(script) == lines.split("\n")


NOTES = {
    "a comment ends the command": (
        "t --a 1 \\\n# --b 2 \\\n--c 3",
        "The comment of line 2 ends the command before it; "
        "what follows the comment is not passed to that command.",
    ),
    "a blank after the backslash": (
        "t --a 1 \\ \n --b 2",
        "The backslash of line 1 has a blank after it, which ends the command: "
        "the next line is not passed to it.",
    ),
    "taken as unset": ("t ${LR:-1}", "LR is taken as unset in ${LR:-1}."),
    "several launches": (
        "for b in 0 1; do t $b; done",
        "The loop of line 1 runs its commands for each b of 0, 1.",
    ),
    "an output": ("t $(nproc)", "What $(nproc) writes is not known."),
    "an argument taken as unset": ("t ${1:-a}", "$1 is taken as unset in ${1:-a}."),
    "eval": ('eval "$X"', "What `eval` runs in line 1 is not read."),
    "source": ("source env.sh", "What `source` runs in line 1 is not read."),
    "a syntax error": (
        "t a\nif x; then",
        "Line 2 has a syntax error, where bash stops; the rest is read as far as possible.",
    ),
    "a loop without end": (
        "while true; do t; done",
        "Only the first 64 turns of the loop of line 1 are read.",
    ),
}


@pytest.mark.parametrize(("script", "note"), NOTES.values(), ids=NOTES)
def test_notes(script, note):
    assert note in notes(script)


def test_a_script_without_surprises_has_no_notes():
    assert notes("A=1\n# a comment\nt a \\\n  b # another\n\n# the end") == []


HOLES = {
    "from outside": ("t $MODEL", "is not set in this file", ()),
    "an argument": ("t $1", "is an argument that the file is given", ()),
    "an output": ("t $(nproc)", "is what a command writes", ()),
    "one of two values": (
        'if [ "$RANK" = 0 ]; then A=1; else A=2; fi; t $A',
        "depends on a condition in line 1",
        ("1", "2"),
    ),
    "more or nothing": (
        "A=a; [ -f x ] && A+=' --b'; t \"$A\"",
        "depends on a condition in line 1",
        (" --b", ""),
    ),
    "more elements or none": (
        'A=(a); if x; then A+=(--b 2); fi; t "${A[@]:1}"',
        "is known only when the file runs",
        (),
    ),
    "arguments set in a branch": (
        "if x; then set -- a; fi; t ${1:-b}",
        "is known only when the file runs",
        (),
    ),
    "a case": ("case $1 in a) A=1;; *) A=2;; esac; t $A", "depends on a condition in line 1", ("1", "2")),
    "left by a break": (
        "A=1; while true; do A=2; [ -f x ] && break; A=3; done; t $A",
        "depends on a condition after line 1",
        ("3", "2"),
    ),
}


@pytest.mark.parametrize(("script", "why", "alternatives"), HOLES.values(), ids=HOLES)
def test_holes(script, why, alternatives):
    (hole,) = read_shell(script).commands[-1].words[-1].holes
    assert (hole.why, hole.alternatives) == (why, alternatives)


def test_maybe_and_lines():
    commands = read_shell("t a\nif x; then\n  t b\nfi\nt c").commands
    assert [(str(c.words[-1]), c.line, c.maybe) for c in commands] == [
        ("a", 1, False),
        ("x", 2, False),
        ("b", 3, True),
        ("c", 5, False),
    ]


def test_variables_before_a_command():
    (command,) = read_shell("A=1 B=$X t").commands
    assert {name: str(text) for name, text in command.variables.items()} == {"A": "1", "B": "$X"}
    assert shown("A=1 t; t $A") == ["t", "t|$A"]


BESIDE = {
    "env.sh": "LR=1e-6\nexport N=8\nreturn 0\nLR=2\n",
    "run.sh": 't --lr "$LR" --n $N "$@"\n',
    "self.sh": "t\nbash self.sh\n. self.sh\n",
    "left.sh": "exit 1\n",
}
OTHERS = {
    "eval": ("CMD='t --name \"a b\"'; eval $CMD --x $Y", ["t|--name|a b|--x|$Y"]),
    "a function that is handed what the script is given": ('f() { t "${1:-8}"; }; f "$@"', ["t|8"]),
    "eval sets a variable": ("eval A=1; t $A", ["t|1"]),
    "source": ("source env.sh; t $LR $N", ["t|1e-6|8"]),
    "a dot": (". ./env.sh && t $LR", ["t|1e-6"]),
    "the script's own folder": ('source "$(dirname "$0")/env.sh"; t $LR', ["t|1e-6"]),
    "its path in full": (
        'D="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" &>/dev/null && pwd)"; source $D/env.sh; t $D/.. $LR',
        ["t|./..|1e-6"],
    ),
    "the folder above": ('R=$(cd "$(dirname $(readlink -f $0))/.." && pwd); t $R/x', ["t|../x"]),
    "a script sees what is exported": (
        "LR=5; export N=4; bash run.sh --x 1",
        ["bash|run.sh|--x|1", "t|--lr|$LR|--n|4|--x|1"],
    ),
    "a script that is called": ("N=2 ./run.sh", ["./run.sh", "t|--lr|$LR|--n|2"]),
    "a script for a cluster": (
        "N=2 sbatch --nodes 2 run.sh",
        ["sbatch|--nodes|2|run.sh", "t|--lr|$LR|--n|2"],
    ),
    "a script in itself": ("bash self.sh", ["bash|self.sh", "t", "bash|self.sh"]),
    "a script that ends": ("bash left.sh; t", ["bash|left.sh", "t"]),
}


@pytest.mark.parametrize(("script", "lines"), OTHERS.values(), ids=OTHERS)
def test_other_scripts_are_read(script, lines):
    commands = read_shell(script, lambda path: BESIDE.get(path.removeprefix("./"))).commands
    assert ["|".join(map(str, command.words)) for command in commands] == lines


def test_a_script_that_is_not_there_is_told():
    assert notes("bash gone.sh") == [
        "It runs gone.sh, which was not found: what that script does is not in this answer."
    ]


def test_what_python_is_given_in_the_script_is_kept():
    script = "python - <<'E'\na = 1\nE\npython -c 'b = 2'\npython t.py"
    assert read_shell(script).python == ["a = 1\n", "b = 2"]


FILES = {
    "expanded": ("L=1; cat > a.yaml <<EOF\nlr: $L\nm: $M\nEOF", {"a.yaml": "lr: 1\nm: $M\n"}),
    "quoted": ("cat <<'EOF' > a\n$L\nEOF", {"a": "$L\n"}),
    "without tabs": ("cat > a <<-EOF\n\t\tx\n\tEOF", {"a": "x\n"}),
    "added to": ("cat > a <<E\n1\nE\ncat >> a <<E\n2\nE", {"a": "1\n2\n"}),
    "by tee": ("tee a <<E\n1\nE", {"a": "1\n"}),
}


@pytest.mark.parametrize(("script", "files"), FILES.values(), ids=FILES)
def test_files(script, files):
    assert read_shell(script).files == files


SAME = {
    "one line": "python t.py --lr 1e-6 --name 'a b'",
    "a continuation": "python t.py \\\n  --lr 1e-6 \\\n  --name 'a b'",
    "a variable": "LR=1e-6; python t.py --lr $LR --name 'a b'",
    "an array": "A=(--lr 1e-6\n  --name 'a b')\npython t.py \"${A[@]}\"",
    "an array in steps": "A=(--lr 1e-6); A+=(--name 'a b'); python t.py \"${A[@]}\"",
    "a function": "run() { python t.py --lr $1 --name \"$2\"; }; run 1e-6 'a b'",
    "a default": 'python t.py --lr ${LR:-1e-6} --name "${NAME:-a b}"',
    "a prefix": "LR=1e-6 bash -c 'python t.py --lr $LR --name \"a b\"'",
    "Windows lines": "python t.py \\\r\n  --lr 1e-6 --name 'a b'\r\n",
    "a branch": "if true; then B=1e-6; fi; python t.py --lr $B --name a\\ b",
}


@pytest.mark.parametrize("script", SAME.values(), ids=SAME)
def test_the_same_words_however_they_are_written(script):
    assert shown(script)[-1] == "python|t.py|--lr|1e-6|--name|a b"


REFUSED = {
    "an open quote": ("t 'b", "1 opens a quote"),
    "an open quote that may begin anywhere": ('A="b\nt "a\nt "c', "opens a quote"),
    "an open bracket": ("t $(b", "1 opens a bracket"),
    "an open brace": ("t ${b", "1 opens a brace"),
    "an open list": ("A=(b", "1 opens a list"),
    "too many characters": ("#" * 1_000_001, "more than 1,000,000 characters"),
    "values that double": ("x=ab\n" + "x=$x$x\n" * 30, "a value of more than 100,000 characters"),
    "loops in loops": ("for a in {1..60}; do " * 3 + "t; done; done; done", "more than 20,000 steps"),
    "a function that calls itself": ("f() { f; }; f", "nested more than 150 levels"),
    "brackets in brackets": ("(" * 200 + "t" + ")" * 200, "nested"),
    "outputs in outputs": ("t " + "$(" * 400 + ")" * 400, "nested too deep"),
    "braces without end": ("t " + "{a,b}" * 40, "more than 20,000 steps"),
    "a pattern that is slow elsewhere": (
        "x=" + "a" * 50_000 + "\ny=${x//*a*a*a*b/}",
        "more than 20,000 steps",
    ),
}


@pytest.mark.parametrize(("script", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(script, why):
    with pytest.raises(CannotRead, match=f"cannot read: line .*{re.escape(why)}"):
        read_shell(script)


def test_a_script_is_read_up_to_an_open_quote():
    script = read_shell("t a\nt b; t 'c\nt d\n")
    assert [str(command.words[1]) for command in script.commands] == ["a"]
    assert [(note.line, note.text) for note in script.notes] == [
        (2, "The script is read only up to line 1, because line 2 opens a quote, ', that is not closed.")
    ]


STRAY = {
    "a backtick in the first line": ("`set -x\nN=1\nt $N", 1),
    "a backtick before an assignment": ("`MAX_PIXELS=1\nt $MAX_PIXELS", 1),
    "a fence of Markdown": ("```bash\nt 1\n```\n", 1),
    "a fence of quotes": ("'''\nt 1\n'''\n", 1),
}


@pytest.mark.parametrize(("script", "line"), STRAY.values(), ids=STRAY)
def test_a_stray_quote_at_the_beginning_of_a_line_is_ignored(script, line):
    assert shown(script)[-1] == "t|1"
    assert (read_shell(script).notes[0].line, "stray" in notes(script)[0]) == (line, True)


def test_every_word_has_its_line():
    (command,) = read_shell("A=(1 2)\nt \\\n  --a b \\\n  ${A[@]}").commands
    assert (command.line, command.lines) == (2, (2, 3, 3, 4, 4))


def test_the_words_of_an_inner_script_have_their_lines():
    assert read_shell("srun \\\n  bash -c '\n  t a'").commands[-1].line == 3


def test_a_selection_and_items_that_go_on_are_not_known():
    assert shown("select m in a b; do t $m; done") == ["t|$m"]
    commands = read_shell("case a in a) t 1;;& b) t 2;; *) t 3;; esac").commands
    assert [(str(c.words[1]), c.maybe) for c in commands] == [("1", True), ("3", True)]


def test_nothing_of_the_surroundings_is_read(monkeypatch):
    monkeypatch.setenv("MODEL", "secret")
    assert shown("t $MODEL ${MODEL:-a} $HOME") == ["t|$MODEL|a|$HOME"]


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@settings(derandomize=True, max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCRIPTS)
def test_bash_runs_what_is_read(script):
    real = run_by_bash(script)
    assume(real is not None)
    commands = read_shell(script).commands
    assert agree(real, [command for command in commands if str(command.words[0]) == "python"])


INSERTED = st.sampled_from(
    ["${", "$((", "$(", "<<EOF\n", "[[ ", "((", '"', "'", "`", "if ", "done", "(", ")", "{a,", "\\"]
)


@settings(derandomize=True, max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCRIPTS, st.integers(0, 10**6), st.integers(0, 60), st.integers(0, 3), INSERTED)
def test_a_broken_script_is_read_or_refused(script, place, length, times, inserted):
    begin = place % (len(script) + 1)
    piece = script[begin : begin + length]
    broken = script[:begin] + piece * times + inserted + script[begin + length :]
    try:
        read_shell(broken)
    except CannotRead as error:
        assert str(error).startswith("cannot read: line ")  # noqa: PT017
