"""Limits on the time, memory and output of a student's code, in every sandbox."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits on time, memory and output.

    Attributes:
      seconds: wall-clock time of one call, in seconds. In grading, `Problem.seconds` replaces it.
      impatient_seconds: wall-clock time of each call after one call has timed out.
      rest: wall-clock time that remains for all calls together after one call has timed out.
      total: wall-clock time of all calls together.
      start_seconds: wall-clock time for loading the file.
      memory: address space of the process, in bytes.
      reply: length of one reply, in bytes.
      received: length of all replies together, in bytes.
      values: number of values in all replies together; an array is one value. A value takes up to 50 times as
        much memory as its text.
      output: printed output of one call, in bytes.
    """

    seconds: float = 5.0
    impatient_seconds: float = 1.0
    rest: float = 1.5
    total: float = 15.0
    start_seconds: float = 7.0
    memory: int = 4 * 1024**3
    reply: int = 16 * 1024**2
    received: int = 32 * 1024**2
    values: int = 300_000
    output: int = 16 * 1024**2
