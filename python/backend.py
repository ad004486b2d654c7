"""Builds the wheel and the source archive (PEP 517), without anything that has to be downloaded.

Meson compiles the library and makes the declarations, in ../build or in a folder of its own; a wheel
is the package with the library inside. The library still takes zlib and jansson from the system.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TIME = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes


def _version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        return re.search(r"version: '([^']+)'", file.read())[1]


def _metadata():
    return (
        "Metadata-Version: 2.1\n"
        "Name: wfre\n"
        f"Version: {_version()}\n"
        "Summary: First-order questions over incomplete knowledge graphs, and the transport score "
        "they stand on\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.9\n"
        "Requires-Dist: cffi>=1.15\n"
        "Provides-Extra: arrays\n"
        'Requires-Dist: numpy>=1.20; extra == "arrays"\n'
        "Provides-Extra: frames\n"
        'Requires-Dist: pandas; extra == "frames"\n'
    )


def _meson(*arguments):
    # pip hides the packages of the system from what it starts; Meson is one of them.
    hidden = ("PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME")
    clean = {k: v for k, v in os.environ.items() if k not in hidden}
    subprocess.run(["meson", *arguments], check=True, stdout=sys.stderr, env=clean)


def _built(folder):
    """A build folder with the library and the package."""
    build = os.environ.get("WFRE_BUILD")
    if not build:
        build = os.path.join(folder, "build")
        _meson("setup", build, ROOT, "--buildtype", "debugoptimized")
    package = os.path.join(build, "python", "wfre")
    if not os.path.exists(os.path.join(package, "_library.py")):
        raise SystemExit("Meson found no python3 with cffi to make the declarations with")
    _meson("compile", "-C", build, "python_package")
    return build, package


def _files(build, package):
    """Names in the wheel, and their contents."""
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".pyi", ".typed")) and name != "_library_installed.py":
            with open(os.path.join(package, name), "rb") as file:
                contents = file.read()
            if name == "_library.py":
                contents = re.sub(rb'PATH = ".*"', b'PATH = NAME', contents)
            yield "wfre/" + name, contents
    library = os.path.join(build, "libwfre.so.0")
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "libwfre.so.0")
        if subprocess.run(["strip", "-o", stripped, library]).returncode != 0:
            stripped = library
        with open(stripped, "rb") as file:
            yield "wfre/libwfre.so.0", file.read()


def _info(tag):
    """Names and contents of what describes the wheel."""
    wheel = f"Wheel-Version: 1.0\nGenerator: wfre\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return [("METADATA", _metadata().encode()), ("WHEEL", wheel.encode())]


def _tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"wfre-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name), exist_ok=True)
    for part, contents in _info(_tag()):
        with open(os.path.join(metadata_directory, name, part), "wb") as file:
            file.write(contents)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = _tag()
    name = f"wfre-{_version()}"
    info = f"{name}.dist-info"
    record = []
    with tempfile.TemporaryDirectory() as folder:
        build, package = _built(folder)
        parts = list(_files(build, package))
    parts += [(f"{info}/{part}", contents) for part, contents in _info(tag)]
    path = os.path.join(wheel_directory, f"{name}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for part, contents in parts:
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=")
            record.append(f"{part},sha256={digest.decode()},{len(contents)}")
            _add(wheel, part, contents)
        record.append(f"{info}/RECORD,,")
        _add(wheel, f"{info}/RECORD", "\n".join(record + [""]).encode())
    return os.path.basename(path)


def _add(wheel, name, contents):
    entry = zipfile.ZipInfo(name, TIME)
    entry.external_attr = (0o755 if name.endswith(".so.0") else 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, contents)


def build_sdist(sdist_directory, config_settings=None):
    """The whole project: the library is built from its own sources."""
    name = f"wfre-{_version()}"
    path = os.path.join(sdist_directory, f"{name}.tar.gz")
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.split("\0")
    with tarfile.open(path, "w:gz") as archive:
        for file in filter(None, listed):
            if os.path.exists(os.path.join(ROOT, file)):
                archive.add(os.path.join(ROOT, file), f"{name}/{file}", recursive=False)
        with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
            project = file.read().replace('backend-path = ["."]', 'backend-path = ["python"]')
        with tempfile.TemporaryDirectory() as folder:
            for part, text in (("pyproject.toml", project), ("PKG-INFO", _metadata())):
                made = os.path.join(folder, part)
                with open(made, "w", encoding="utf-8") as file:
                    file.write(text)
                archive.add(made, f"{name}/{part}")
    return os.path.basename(path)


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
