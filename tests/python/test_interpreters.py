"""The tests of the module under every Python that it is for, with what each of them has.

A Python is looked for on the path and among pyenv's. One without cffi imports the module with a
stand-in for it, and gets a message that says what to install; one with cffi runs the tests, without
those for arrays if it has no numpy. $WFRE_PACKAGES may name a folder with a subfolder for each
version ("3.9", "3.10", ...), where more packages are. $WFRE_LONG runs all tests, not only every
public name."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import wfre

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(wfre.__file__).parent.parent


def environment(version):
    """What a Python of this version is started with."""
    more = os.path.join(os.environ.get("WFRE_PACKAGES", os.devnull), version)
    variables = dict(os.environ, PYTHONPATH=os.pathsep.join((more, str(PACKAGE))))
    variables.pop("PYTHONHOME", None)
    return variables


def find(version):
    """A Python of this version; skips without one."""
    home = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    pattern = os.path.join(glob.escape(home), "versions", version + ".*", "bin", "python3")
    own = "%d.%d" % sys.version_info[:2]
    known = [sys.executable if version == own else None, shutil.which(f"python{version}")]
    for path in known + sorted(glob.glob(pattern)):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        if path and run(path, "-c", code, version=version).stdout.strip() == version:
            return path
    pytest.skip(f"no Python {version}")


def run(python, *arguments, version):
    return subprocess.run(
        [python, *arguments],
        env=environment(version),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def has(python, version, module):
    return run(python, "-c", f"import {module}", version=version).returncode == 0


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13"])
def test_interpreter(version, tmp_path):
    python = find(version)
    stood = run(python, str(HERE / "stand_in.py"), str(PACKAGE), version=version)
    assert stood.returncode == 0, stood.stdout
    if not has(python, version, "_cffi_backend"):
        told = run(python, "-c", "import wfre", version=version)
        assert "ImportError" in told.stdout and "install cffi" in told.stdout, told.stdout
        pytest.skip(f"Python {version} has no cffi; it says so, and all else is imported")
    if not has(python, version, "pytest"):
        code = (
            "import wfre; g = wfre.import_triples([('a', 'r', 'b')]);"
            "assert g.ask('?x : r(?x, b)').proven == ['a']"
        )
        assert run(python, "-c", code, version=version).returncode == 0
        pytest.skip(f"Python {version} has no pytest; the module asks and answers")
    if python == sys.executable and not os.environ.get("WFRE_LONG"):
        return  # the other files do it
    names = ["module", "calls", "stopping"] if os.environ.get("WFRE_LONG") else ["module"]
    files = [str(HERE / f"test_{name}.py") for name in names]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "-rs"]
    options += ["--basetemp", str(tmp_path / "base")]
    ran = run(python, "-m", "pytest", *options, *files, version=version)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout


def test_without_numpy(tmp_path):
    """What needs no arrays works where there are none."""
    (tmp_path / "numpy.py").write_text("raise ImportError('there is none')\n")
    path = os.pathsep.join((str(tmp_path), str(PACKAGE)))
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "base")]
    names = "graph or imports or saving or ask or explain or sparql or predict or evaluate or holds"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-k", names, str(HERE / "test_module.py")],
        env=dict(os.environ, PYTHONPATH=path),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert ran.returncode == 0 and "passed" in ran.stdout, ran.stdout
