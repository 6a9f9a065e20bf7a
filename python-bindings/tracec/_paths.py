"""Paths as the user gives them: str, bytes or os.PathLike, any bytes but NUL.

Usage: `name = check_path(path)`; os.fsencode(name) gives the bytes for the system.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any


def check_path(path: Any) -> str:
    """The path as a str; bytes that are not UTF-8 become surrogate escapes, as os.fsdecode makes them."""
    try:
        name = os.fsdecode(path)
        os.fsencode(name)
    except TypeError:
        raise TypeError(f"TC0102 a path must be str, bytes or os.PathLike, got {type(path).__name__}\n  give the file's name") from None
    except UnicodeEncodeError:
        raise ValueError(f"TC0101 the path {path!r} cannot be written in this system's encoding\n  give another name") from None
    if "\0" in name:
        raise ValueError(f"TC0101 the path {path!r} contains a NUL character\n  give a name without it")
    return name
