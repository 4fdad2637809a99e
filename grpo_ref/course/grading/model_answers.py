"""Convert the text of a model answer to its readable form, and to a student's starting file."""

CUT, END, INSTEAD = "# solution", "# end", "# instead: "
"""Marks in a model answer. The first two enclose the lines that a student has to write. Between them, lines
that begin with the third mark hold the faulty code that the student gets instead.
"""


def readable(text: str) -> str:
    r"""Remove from a model answer the marks from which its starting file is made.

    >>> readable("def one():\n    # solution\n    return 1\n    # end\n")
    'def one():\n    return 1\n'
    """
    lines = ((line, line.strip()) for line in text.splitlines(keepends=True))
    return "".join(
        line for line, content in lines if content not in (CUT, END) and not content.startswith(INSTEAD)
    )


def unsolved(text: str, name: str) -> str:
    """Return the code of a model answer with its solution replaced by an error, or by the faulty code.

    Args:
      text: text of the model answer. The lines between "# solution" and "# end" are removed. Code after "#
        instead: " replaces them.
      name: id of the exercise.

    Raises:
      ValueError: if the model answer has no such marks or does not begin with a docstring.
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
