"""The wheel and the source archive: they hold what they need, and a wheel works where it is put."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

SOURCE = pathlib.Path(os.environ["WFRE_SOURCE"])


@pytest.fixture
def backend(monkeypatch):
    """python/backend.py over the folder that this is built in, and what it tells Meson to do."""
    spec = importlib.util.spec_from_file_location("backend", SOURCE / "python" / "backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.told = []
    monkeypatch.setattr(module, "_meson", lambda *given: module.told.append(given))
    monkeypatch.setenv("WFRE_BUILD", os.environ["WFRE_BUILD_FOLDER"])
    return module


def test_wheel(backend, tmp_path):
    name = backend.build_wheel(str(tmp_path))
    assert backend.told == [("compile", "-C", os.environ["WFRE_BUILD_FOLDER"], "python_package")]
    installed = tmp_path / "installed"
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert wheel.testzip() is None
        names = wheel.namelist()
        record = wheel.read(f"wfre-{backend._version()}.dist-info/RECORD").decode().splitlines()
        wheel.extractall(installed)
    assert sorted(line.split(",")[0] for line in record) == sorted(names)
    assert "wfre/libwfre.so.0" in names and "wfre/py.typed" in names
    code = (
        "import os, wfre; from wfre import _native\n"
        "assert os.path.dirname(_native._path()) == os.path.dirname(wfre.__file__)\n"
        "g = wfre.import_triples([('a', 'r', 'b')])\n"
        "assert g.ask('?x : r(?x, b)').proven == ['a']\n"
    )
    variables = dict(os.environ, PYTHONPATH=str(installed))
    variables.pop("WFRE_LIBRARY", None)
    subprocess.run([sys.executable, "-c", code], env=variables, cwd=tmp_path, check=True)


def test_needs_cffi(backend, tmp_path, monkeypatch):
    """Where Meson makes no module, that is said before anything is compiled."""
    monkeypatch.setenv("WFRE_BUILD", str(tmp_path))
    with pytest.raises(SystemExit, match="cffi"):
        backend.build_wheel(str(tmp_path))
    assert backend.told == []


def test_source_archive(backend, tmp_path):
    if not (SOURCE / ".git").exists():
        pytest.skip("not a clone: the files are listed by git")
    with tarfile.open(tmp_path / backend.build_sdist(str(tmp_path))) as archive:
        names = {n.split("/", 1)[1] for n in archive.getnames()}
    assert {"pyproject.toml", "PKG-INFO", "meson.build", "python/backend.py"} <= names
