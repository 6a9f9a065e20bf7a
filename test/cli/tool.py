"""Runs the tools as a shell would, for the tests of this folder."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ.get("TRACEC_BUILD", pathlib.Path(__file__).parents[2] / "build/dev"))
INPUTS = pathlib.Path(__file__).parent / "Inputs"


def run(tool, *arguments, env=None, stdin=None, stdout=subprocess.PIPE, cwd=None):
    """The finished process; its texts are bytes."""
    return subprocess.run([BUILD / "bin" / tool, *(a if isinstance(a, bytes) else str(a) for a in arguments)],
                          stdout=stdout, stderr=subprocess.PIPE, input=stdin, env={**os.environ, **(env or {})},
                          cwd=cwd, timeout=100)


def lines(process):
    return process.stdout.decode().splitlines()


def ok(tool, *arguments, **options):
    """Standard output as text of a run that must succeed."""
    process = run(tool, *arguments, **options)
    assert process.returncode == 0, process.stderr.decode(errors="replace")
    return process.stdout.decode()


def fails(code, tool, *arguments, **options):
    """The one line on standard error of a run that must end with `code`."""
    process = run(tool, *arguments, **options)
    text = process.stderr.decode()
    assert process.returncode == code, f"exit {process.returncode}: {text}"
    assert len(text.splitlines()) == 1 and text.startswith(f"{tool}: error "), text
    assert text.isprintable() or text[:-1].isprintable(), repr(text)
    return text
