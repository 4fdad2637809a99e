"""What is read of a script; each line of a table was compared with bash."""

import pytest

from grpo_ref.trainers.launch.shell import CannotRead, read_shell


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


def test_a_quote_that_is_not_closed():
    with pytest.raises(CannotRead, match="cannot read: line 2 opens a quote"):
        read_shell("t a\nt 'b")
