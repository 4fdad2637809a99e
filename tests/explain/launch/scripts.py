"""Random shell scripts, and what bash makes of them."""

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

BASH = shutil.which("bash")
STUB = '#!{bash} -p\n{{ printf "%s\\0" python "$@"; printf "\\1\\0"; }} >> "$RECORD"\n'

NAMES = st.sampled_from(["a", "b", "c", "a", "b", "c", "x", "U"])
ARRAYS = st.sampled_from(["A", "B"])
PLAIN = st.text("abxy01._:/=@%+,-", min_size=1, max_size=4)
OWN = st.integers(0, 10**9)
PATTERNS = st.sampled_from(["a*", "*", "?", "[ab]", "b", "*/", ".*", "x", "[!a]", "'*'", "$a", "*a*"])


def _one(*strategies):
    return st.one_of(*strategies)


def _format(template, **fields):
    return st.builds(lambda **chosen: template.format(**chosen), **fields)


def _arithmetic():
    number = _one(st.integers(-9, 70).map(str), NAMES.map(lambda n: f"N{n}"), st.just("n"))
    pair = _format(
        "{x} {o} {y}", x=number, y=number, o=st.sampled_from("+ - * < > == != && || | & ^ <<".split())
    )
    return _one(
        number,
        pair,
        _format("({p}) {o} {y}", p=pair, o=st.sampled_from(["/", "%", "*", "**"]), y=st.integers(1, 9)),
        _format("{p} ? {x} : {y}", p=pair, x=number, y=number),
    )


def _parameter(operand):
    return _one(
        NAMES.map(lambda n: f"${n}"),
        NAMES.map(lambda n: f"${{{n}}}"),
        _format("${{{n}{o}{w}}}", n=NAMES, o=st.sampled_from([":-", "-", ":+", "+", ":=", "="]), w=operand),
        _format("${{{n}{o}{p}}}", n=NAMES, o=st.sampled_from(["#", "##", "%", "%%"]), p=PATTERNS),
        _format(
            "${{{n}{o}{p}/{w}}}", n=NAMES, o=st.sampled_from(["/", "//", "/#", "/%"]), p=PATTERNS, w=PLAIN
        ),
        _format("${{{n}{o}}}", n=NAMES, o=st.sampled_from(["^^", "^", ",,", ","])),
        _format("${{{n}:{i}:{k}}}", n=NAMES, i=st.integers(0, 3), k=st.integers(-1, 3)),
        _format("${{#{n}}}", n=NAMES),
        _format("${{{o}{n}[{i}]}}", o=st.sampled_from(["", "", "#", "!"]), n=ARRAYS, i=st.sampled_from("@*")),
        _format("${{{n}[{i}]}}", n=ARRAYS, i=st.integers(0, 3)),
        _format("${{{n}[@]:{i}:{k}}}", n=ARRAYS, i=st.integers(0, 3), k=st.integers(0, 3)),
        st.sampled_from(["$1", "$@", "$*", "$#", "${2:-z}", "$x"]),
        _format("$(({e}))", e=_arithmetic()),
        _format("$(echo {w})", w=operand),
    )


def _quoted(parts):
    text = st.text("ab *#;|&{}'~()!<>", min_size=1, max_size=4)
    inside = _one(text, parts, st.sampled_from(["\\\\", '\\"', "\\$", "\\a"]))
    return st.lists(inside, max_size=3).map(lambda pieces: '"' + "".join(pieces) + '"')


def _no_row(word):
    """Whether no "$@" makes a word vanish."""
    return "@" not in word


OPERAND = _one(PLAIN, st.just(""), st.sampled_from(["a b", "$b", '"a b"', "$a$b", "${c:-q}"]))
PARTS = _parameter(OPERAND)
ATOMS = _one(
    PLAIN,
    PARTS,
    _quoted(PARTS),
    st.text('ab $`"\\*#;|&{}', max_size=3).map(lambda text: f"'{text}'"),
    st.sampled_from(
        ["\\ ", "\\$", "\\*", "\\\\", "\\\n", "{a,b}", "{1..3}", "{x,}", "{}", "$'\\t'", "*", "~/a"]
    ),
)
WORDS = st.lists(ATOMS, min_size=1, max_size=3).map("".join)
ROWS = st.lists(WORDS, max_size=3).map(" ".join)
BLANKS = st.sampled_from([" ", " \\\n  ", "\t"])

CONDITIONS = _one(
    _format("[ {w} = {v} ]", w=_quoted(PARTS), v=_quoted(PARTS)),
    _format(
        "[ {o} {w} ]", o=st.sampled_from(["-z", "-n"]), w=_quoted(PARTS).filter(lambda word: "@" not in word)
    ),
    _format("[[ {w} {o} {p} ]]", w=WORDS, o=st.sampled_from(["==", "!="]), p=PATTERNS),
    _format("[[ -n {w} && ! {v} == x ]]", w=WORDS, v=WORDS),
    _format("(( {e} ))", e=_arithmetic()),
    st.sampled_from(["true", "false", "python c", "! false"]),
)


def _statements(inner):
    body = st.lists(inner, min_size=1, max_size=3).map("\n".join)
    return _one(
        _format("if {c}; then\n{x}\nelse\n{y}\nfi", c=CONDITIONS, x=body, y=body),
        _format("if {c}; then {x}; elif {d}; then {y}; fi", c=CONDITIONS, d=CONDITIONS, x=inner, y=inner),
        _format("for x in {r}; do\n{b}\ndone", r=ROWS, b=body),
        _format("for ((n{v} = 0; n{v} < {k}; n{v}++)); do {b}; done", v=OWN, k=st.integers(0, 3), b=inner),
        _format(
            "n{v}=0; while [ $n{v} -lt {k} ]; do n{v}=$((n{v} + 1)); {b}; done",
            v=OWN,
            k=st.integers(0, 3),
            b=inner,
        ),
        _format(
            "case {w} in\n{p}) {x} ;;\n{q} | y) {y} ;;\nesac",
            w=WORDS,
            p=PATTERNS,
            q=PATTERNS,
            x=inner,
            y=inner,
        ),
        _format("f() {{\nlocal a={v}\n{b}\n}}\nf {r}", v=WORDS, b=body, r=ROWS),
        _format("( {b} )", b=inner),
        _format("{{ {b}; }} > /dev/null", b=inner),
        _format("{c} {o} {b}", c=CONDITIONS, o=st.sampled_from(["&&", "||"]), b=inner),
    )


SIMPLE = _one(
    _format("{n}{o}{w}", n=NAMES.filter(lambda n: n != "U"), o=st.sampled_from(["=", "=", "+="]), w=WORDS),
    _format("export {n}={w}", n=st.sampled_from(["a", "b"]), w=WORDS),
    _format("N{n}=$(({e}))", n=NAMES, e=_arithmetic()),
    _format("{n}{o}({r})", n=ARRAYS, o=st.sampled_from(["=", "+="]), r=ROWS),
    _format("{n}[{i}]={w}", n=ARRAYS, i=st.integers(0, 4), w=WORDS),
    _format("python{s}{r}{s}{w}", s=BLANKS, r=ROWS, w=WORDS),
    _format("a={v} python{s}{w} # {p}", v=WORDS, s=BLANKS, w=WORDS, p=PLAIN),
    _format("python {w} <<EOF\n{v}\nEOF", w=WORDS, v=PLAIN),
    _format("set -- {r}", r=ROWS),
    _format("unset {n}", n=NAMES),
)
STATEMENTS = st.recursive(SIMPLE, _statements, max_leaves=6)
HEADS = _format(
    "a={x}\nb={y} c={z} x=1\nA=({r})\nB=(q)\nNa={i} Nb={k} Nc=0 Nx=1 n=2\n{s}",
    x=PLAIN,
    y=WORDS,
    z=PLAIN,
    r=ROWS,
    i=st.integers(-3, 40),
    k=st.integers(0, 9),
    s=st.sampled_from(["", "set --", "set -- p 'q r'"]),
)
BETWEEN = "\x1f"
ANY = "(?s:.*)"
END = 'python end "$a" $b "$c" "${A[@]}" ${B[*]}'
SCRIPTS = st.builds(
    lambda head, lines: "\n".join([head, *lines, END]), HEADS, st.lists(STATEMENTS, min_size=1, max_size=6)
)


def run_by_bash(script):
    """The words of each `python` that bash runs, and nothing else can run; None if it complains or hangs."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "bin").mkdir()
        (home / "empty").mkdir()
        stub = home / "bin" / "python"
        stub.write_text(STUB.format(bash=BASH))
        stub.chmod(0o755)
        record = home / "record"
        record.touch()
        (home / "script").write_text(script)
        try:
            done = subprocess.run(
                [BASH, "--noprofile", "--norc", str(home / "script")],
                cwd=home / "empty",
                env={"PATH": str(home / "bin"), "RECORD": str(record)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=2,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.stderr:
            return None
        commands = record.read_text(errors="replace").split("\0\1\0")[:-1]
        return [tuple(command.split("\0")) for command in commands]


def agree(real, commands):
    """Whether the commands are those that ran, where a hole may be anything and a `maybe` may not have run.

    A loop over a hole may run its commands any number of times, so that then only their words are compared.
    """
    patterns = [_pattern(command.words) for command in commands]
    ran = [BETWEEN.join(words) for words in real]
    if not any(command.maybe for command in commands):
        return len(ran) == len(patterns) and all(map(re.fullmatch, patterns, ran))
    certain = [pattern for pattern, command in zip(patterns, commands, strict=True) if not command.maybe]
    return all(any(re.fullmatch(pattern, words) for pattern in patterns) for words in ran) and all(
        any(re.fullmatch(pattern, words) for words in ran) for pattern in certain
    )


def _pattern(texts):
    """A regular expression for words; a hole may be a part of one, several, or none and no blank beside."""
    words = [[re.escape(p) if isinstance(p, str) else ANY for p in text.parts] for text in texts]
    pattern = BETWEEN.join("".join(word) for word in words)
    return re.sub(rf"(?:{BETWEEN}|\\ )*(?:\(\?s:\.\*\)(?:{BETWEEN}|\\ )*)+", lambda _: ANY, pattern)
