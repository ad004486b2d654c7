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
