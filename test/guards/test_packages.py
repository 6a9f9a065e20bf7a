"""Every package that ./dev installs is needed for a reason that README.md gives."""

import pathlib
import re

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()


def apt_packages():
    listed = re.search(r"apt_packages=\((.*?)\)", (REPOSITORY / "dev").read_text(), re.DOTALL)
    return listed.group(1).split()


def python_packages():
    """Those that requirements.txt asks for itself."""
    wanted = (REPOSITORY / "requirements.txt").read_text().split("# Pulled in by those above.")[0]
    return [line.split("==")[0] for line in wanted.splitlines() if "==" in line]


def reasons(source):
    """Package -> reason, from the rows `| source | `a`, `b` | why |`."""
    found = {}
    for names, why in re.findall(rf"^\| {source} \| (.*?) \| (.*?) \|$", README, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", names):
            found[name] = why.strip()
    return found


@pytest.mark.parametrize("source, packages", [("apt", apt_packages()), ("PyPI", python_packages())], ids=["apt", "PyPI"])
def test_each_package_has_its_reason(source, packages):
    told = reasons(source)
    assert len(packages) > 5 and all(told.values())
    assert set(packages) - set(told) == set(), "installed without a reason in README.md"
    assert set(told) - set(packages) == set(), "in README.md but not installed"
