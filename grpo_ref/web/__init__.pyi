"""The modules of this folder that the command uses when it runs, and not when it is asked for help."""

from . import build as build, serve as serve
