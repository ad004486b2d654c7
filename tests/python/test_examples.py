"""The examples run, the notebook runs and shows, and so does all Python code of docs/PYTHON.md."""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("numpy")
SOURCE = pathlib.Path(os.environ["WFRE_SOURCE"])
EXAMPLES = SOURCE / "examples" / "python"


@pytest.mark.parametrize("name", ["owner", "researcher", "transport"])
def test_example(name, tmp_path):
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), "20"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert ran.returncode == 0 and ran.stdout


def test_notebook_cells(tmp_path, monkeypatch):
    """Cell after cell, as a notebook does it, also where there is no Jupyter; what a cell ends with
    is shown as HTML or as a drawing."""
    book = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    monkeypatch.setenv("WFRE_STEPS", "20")
    monkeypatch.setenv("WFRE_EXAMPLES", str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    names, shown = {"__name__": "__main__"}, []
    for number, cell in enumerate(c for c in book["cells"] if c["cell_type"] == "code"):
        tree = ast.parse("".join(cell["source"]), f"cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is None:
            continue
        value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        for how in ("_repr_html_", "_repr_svg_"):
            if hasattr(value, how):
                shown.append(getattr(value, how)())
    assert sum("<table" in page for page in shown) > 1
    assert sum("<svg" in page for page in shown) > 1


def test_notebook(tmp_path):
    """The same in Jupyter."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbconvert.preprocessors")
    pytest.importorskip("ipykernel")
    book = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells)
    os.environ.update(WFRE_STEPS="20", WFRE_EXAMPLES=str(EXAMPLES))
    # The notebook's kernel is whatever this Python is.
    specs = tmp_path / "kernels" / "python3"
    specs.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    specs.joinpath("kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"})
    )
    os.environ["JUPYTER_PATH"] = str(tmp_path)
    client.ExecutePreprocessor(timeout=240, kernel_name="python3").preprocess(
        book, {"metadata": {"path": str(tmp_path)}}
    )
    kinds = {
        kind
        for cell in book.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert {"text/html", "image/svg+xml"} <= kinds


def test_side_by_side():
    """Others' code is Python at least, and ours for the same job is as short as the page says."""
    text = (SOURCE / "docs" / "PYTHON.md").read_text()
    part = text.split("## Side by side")[1].split("\n## ")[0]
    found = re.findall(r"(\d+) lines:\n\n```(py|python)\n(.*?)^```", part, re.M | re.S)
    assert [kind for _, kind, _ in found] == ["py", "python"] * 2
    counts = []
    for said, _, code in found:
        ast.parse(code)
        lines = [line for line in code.splitlines() if line.strip()]
        assert max(map(len, lines)) <= 100 and ";" not in code
        counts.append(len(lines))
        assert int(said) == len(lines)
    assert counts[1] <= counts[0] and counts[3] <= counts[2]


def test_docs(tmp_path):
    """One block after the other, in a folder with the files that they name."""
    pytest.importorskip("pandas")
    text = (SOURCE / "docs" / "PYTHON.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 5
    code = tmp_path / "docs.py"
    code.write_text("\n".join(blocks))
    sys.path.insert(0, str(EXAMPLES))
    try:
        import family
    finally:
        sys.path.remove(str(EXAMPLES))
    people = list(family.triples(20))
    (tmp_path / "my.tsv").write_text("".join("\t".join(t) + "\n" for t in people))
    nations = tmp_path / "nations"
    nations.mkdir()
    for name, part in (("train", people[:300]), ("valid", people[300:320]), ("test", people[320:])):
        (nations / f"{name}.txt").write_text("".join("\t".join(t) + "\n" for t in part))
    ran = subprocess.run([sys.executable, str(code)], cwd=tmp_path, stdout=subprocess.PIPE)
    assert ran.returncode == 0
