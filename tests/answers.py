"""What a reader makes of any input: an answer, or an error in words; any other exception fails the test."""


def answer(reader, *inputs):
    """What the reader returns, or the text of its ValueError."""
    try:
        return reader(*inputs)
    except ValueError as error:
        return str(error)
