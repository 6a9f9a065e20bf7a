"""The documents say what the program does."""

import os
import re
import runpy
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TRACEC_BUILD", ROOT / "build/dev")).absolute()


def test_promotion_table_is_what_the_package_computes():
    tool = runpy.run_path(str(ROOT / "tools/promotion-table"))
    assert tool["table"]() in (ROOT / "docs/promotion.md").read_text()


def blocks(path, language):
    text = (ROOT / path).read_text()
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]


def test_the_readme_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks("README.md", "python")
    assert found
    for number, block in enumerate(found):
        # From a file, since the trace shows its lines.
        file = tmp_path / f"readme{number}.py"
        file.write_text(block)
        runpy.run_path(str(file))
    assert (tmp_path / "smooth.trc").stat().st_size > 0


def test_the_readme_c_program_runs_the_readme_model(tmp_path, monkeypatch):
    """The C program of the README, compiled as C99, on the file that the README's Python dumps."""
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(blocks("README.md", "python")):
        (tmp_path / f"readme{number}.py").write_text(block)
        runpy.run_path(str(tmp_path / f"readme{number}.py"))
    [program] = blocks("README.md", "c")
    (tmp_path / "main.c").write_text(program)
    subprocess.run(["gcc-12", "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main", f"-I{ROOT}/runtime/include",
                    f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-ltracert"], check=True)
    assert float(subprocess.run(["./main"], check=True, capture_output=True, text=True).stdout) == 0.5


def test_the_readme_names_every_command_of_dev():
    usage = subprocess.run([ROOT / "dev", "help"], check=True, capture_output=True, text=True).stdout
    commands = re.findall(r"^\./dev (\w+)", usage, re.MULTILINE)
    assert len(commands) >= 7 and commands[:2] == ["demo", "test"]
    readme = (ROOT / "README.md").read_text()
    for command in commands:
        assert f"./dev {command}" in readme or f"`{command}`" in readme, command


def test_every_folder_and_file_that_the_documents_name_is_there():
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = document.read_text()
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (document.parent / link).exists(), f"{document.name} links to {link}"
        for name in re.findall(r"`((?:runtime|lib|dialects|tools|test|python-bindings|include|examples|bench|docs)/[\w./-]*)`", text):
            assert (ROOT / name).exists() or (ROOT / "runtime" / name).exists(), f"{document.name} names {name}"


def test_the_page_on_files_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.py").write_text("\n".join(blocks("docs/files.md", "python")))
    runpy.run_path(str(tmp_path / "page.py"))
    assert (tmp_path / "small.trc").stat().st_size < (tmp_path / "scale.trc").stat().st_size
