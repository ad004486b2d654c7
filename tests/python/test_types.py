"""The hints hold by mypy --strict, and the files are good for every supported Python."""
import ast
import os
import pathlib
import subprocess
import sys

import pytest

import wfre

SOURCE = pathlib.Path(os.environ["WFRE_SOURCE"], "python")


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    package = pathlib.Path(wfre.__file__).parent
    found = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(SOURCE / "pyproject.toml"),
            "--cache-dir",
            str(tmp_path),
            "-p",
            "wfre",
        ],
        cwd=package.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert found.returncode == 0, found.stdout
    assert (package / "py.typed").exists()


def test_syntax_of_3_9():
    files = sorted((SOURCE / "wfre").glob("*.py"))
    assert len(files) > 8
    for file in files:
        ast.parse(file.read_text(), str(file), feature_version=(3, 9))


@pytest.mark.parametrize("minor", range(9, 14))
def test_import(minor):
    """By another Python, if there is one; without cffi only as far as that goes."""
    name = f"python3.{minor}"
    try:
        subprocess.run([name, "-c", ""], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"no {name}")
    bare = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    stand_in = pathlib.Path(__file__).with_name("stand_in.py")
    package = pathlib.Path(wfre.__file__).parent.parent
    subprocess.run([name, str(stand_in), str(package)], check=True, env=bare)
    if subprocess.run([name, "-c", "import _cffi_backend"], stderr=subprocess.DEVNULL).returncode:
        return
    code = (
        "import wfre; g = wfre.import_triples([('a', 'r', 'b')]);"
        "assert g.ask('?x : r(?x, b)').proven == ['a']"
    )
    subprocess.run([name, "-c", code], check=True)
