"""The documents say what the program does."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_promotion_table_is_what_the_package_computes():
    tool = runpy.run_path(str(ROOT / "tools/promotion-table"))
    assert tool["table"]() in (ROOT / "docs/promotion.md").read_text()


def python_blocks(path):
    text = (ROOT / path).read_text()
    return [part.split("```")[0] for part in text.split("```python\n")[1:]]


def test_the_readme_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks("README.md")
    assert blocks
    for number, block in enumerate(blocks):
        # From a file, since the trace shows its lines.
        file = tmp_path / f"readme{number}.py"
        file.write_text(block)
        runpy.run_path(str(file))
    assert (tmp_path / "smooth.trc").stat().st_size > 0
