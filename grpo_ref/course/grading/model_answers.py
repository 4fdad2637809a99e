"""A model answer as text: as it is shown, and without its solution, as a student begins."""

CUT, END, INSTEAD = "# solution", "# end", "# instead: "
"""Lines that enclose what a student has to write, in a model answer. Lines among them that begin with the
third one are what the student finds there: the fault to be mended.
"""


def readable(text: str) -> str:
    r"""A model answer without the lines that say how a starter is made of it.

    >>> readable("def one():\n    # solution\n    return 1\n    # end\n")
    'def one():\n    return 1\n'
    """
    lines = ((line, line.strip()) for line in text.splitlines(keepends=True))
    return "".join(
        line for line, content in lines if content not in (CUT, END) and not content.startswith(INSTEAD)
    )


def unsolved(text: str, name: str) -> str:
    """The code of a model answer, with what raises an error, or with the fault, in place of its solution.

    Args:
      text: of the model answer; what stands between the lines "# solution" and "# end" is cut; what follows
        "# instead: " in it is put in its place.
      name: id of the exercise.

    Raises:
      ValueError: if the model answer has no such lines or no docstring to replace.
    """
    if not text.startswith('"""') or CUT not in text:
        raise ValueError(f"{name}: a model answer begins with a docstring and has a line {CUT!r}")
    code = text.split('"""', 2)[2].lstrip("\n")
    kept, cutting = [], False
    broken = INSTEAD in code
    for line in code.splitlines():
        indent, content = line[: len(line) - len(line.lstrip())], line.strip()
        if content == CUT:
            cutting = True
            if not broken:
                kept.append(f'{indent}raise NotImplementedError("{name}")')
        elif content == END:
            cutting = False
        elif content.startswith(INSTEAD):
            kept.append(indent + content.removeprefix(INSTEAD))
        elif not cutting:
            kept.append(line)
    return "\n".join(kept) + "\n"
