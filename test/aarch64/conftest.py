"""The op matrix and the demo are reached from here."""

import pathlib
import sys

TEST = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TEST / "e2e"), str(TEST / "python"), str(TEST.parent / "examples/demo")]
