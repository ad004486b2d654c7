"""What the tests of the server share: small graphs and a model, a running server, requests, checks.

A test is a script that is run in any folder with WFRE naming the program; it prints what failed and
exits with 1, or with 77 and a line "skipped: ..." if it cannot run."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

WFRE = os.environ["WFRE"]
LONG = os.environ.get("WFRE_LONG") == "1"
os.environ["WFRE_PROGRESS"] = "never"

TURTLE = """@prefix : <http://example.org/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:alice foaf:knows :bob, :carol ; foaf:name "Alice" ; :age 42 .
:bob foaf:knows :carol ; foaf:name "Bob"@en ; rdfs:label "Bobby" .
:carol foaf:knows :dave ; foaf:name "<script>alert(1)</script>" .
:dave foaf:name "D\\u00e4ve" ; rdfs:comment "a \\"quoted\\" & <b>bold</b> one" .
:alice :likes :bob . :bob :likes :carol . :carol :likes :alice .
"""

failures = 0


def check(good, what):
    """Counts and prints a failure."""
    global failures
    if not good:
        failures += 1
        print("FAILED:", what, flush=True)
    return good


def same(is_, should, what):
    return check(is_ == should, f"{what}: {is_!r} instead of {should!r}")


def finish():
    print("all is well" if failures == 0 else f"{failures} checks failed")
    sys.exit(1 if failures else 0)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def wfre(*arguments):
    subprocess.run([WFRE, *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


_folder = None


def folder():
    """An empty folder that goes away at the end."""
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="wfre-serve-")
    return _folder.name


def rdf_graph(text=TURTLE, name="rdf"):
    path = os.path.join(folder(), name)
    with open(path + ".ttl", "w") as file:
        file.write(text)
    wfre("import", path + ".ttl", "-o", path + ".kg")
    return path + ".kg"


def ring(name="ring", entities=24, steps=30, seed=1):
    """A graph whose edges are easy to tell, and a model that was trained for a moment."""
    path = os.path.join(folder(), name)
    parts = {"train": [], "valid": [], "test": []}
    for k in range(entities * 3):
        i, r = k // 3, k % 3 + 1
        part = {0: "valid", 4: "test"}.get(k % 9, "train")
        parts[part].append(f"e{i}\tr{r}\te{(i + r) % entities}\n")
    os.makedirs(path)
    for part, lines in parts.items():
        with open(os.path.join(path, part + ".tsv"), "w") as file:
            file.writelines(lines)
    wfre("import", path, "-o", path + ".kg")
    wfre("train", path + ".kg", "-o", path + ".safetensors", "--dim", "20", "--bases", "3",
         "--batch", "32", "--negatives", "16", "--steps", str(steps), "--validate", "2",
         "--calibrate", "6", "--seed", str(seed))
    return path + ".kg", path + ".safetensors"


class Server:
    """A running server on a free port; a context manager."""

    def __init__(self, *arguments, listen="127.0.0.1:0", log="none"):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [WFRE, "serve", *arguments, "--listen", listen, "--log", log],
            stdout=subprocess.PIPE, stderr=self.errors)
        line = self.process.stdout.readline().decode()
        if not line.startswith("http"):
            self.process.wait()
            raise RuntimeError("the server does not start: " + self.log())
        self.url = line.strip()
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.tls = parts.hostname, parts.port, parts.scheme == "https"

    def log(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def connect(self, timeout=30):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def socket(self, timeout=30):
        made = socket.create_connection((self.host, self.port), timeout=timeout)
        return made

    def request(self, method, path, body=None, headers=None, timeout=30):
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, headers=fix(headers))

    def post(self, path, body, type="application/json", **headers):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        return self.request("POST", path, body, {"Content-Type": type, **fix(headers)})

    def ask(self, question, **options):
        return self.post("/api/ask", {"question": question, **options})

    def sparql(self, query, path="/sparql", **headers):
        return self.get(path + "?" + urllib.parse.urlencode({"query": query}), **headers)

    def metric(self, name):
        found = re.search(r"^" + re.escape(name) + r" ([-0-9.e+]+)$",
                          self.get("/metrics").text, re.M)
        return float(found[1]) if found else 0.0

    def cpu(self):
        """Seconds of CPU that all its threads have used."""
        tasks, used = f"/proc/{self.process.pid}/task", 0
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/schedstat") as file:
                used += int(file.read().split()[0])
        return used / 1e9

    def memory(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def alive(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGTERM, seconds=60):
        """The exit code. A sanitizer's report is a failure."""
        if self.alive():
            self.process.send_signal(number)
        code = self.process.wait(seconds)
        log = self.log()
        check("Sanitizer" not in log, "a sanitizer speaks:\n" + log[-4000:])
        return code

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.process.poll() is None or self.process.returncode is not None:
            code = self.stop() if self.alive() else self.process.returncode
            if code != -signal.SIGKILL:
                same(code, 0, "exit code of the server")
        self.process.stdout.close()
        self.errors.close()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


def fix(headers):
    return {name.replace("_", "-"): value for name, value in headers.items()}


def have(program):
    return shutil.which(program) is not None


def wait_for(what, seconds=10):
    """Whether it becomes true within some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return bool(what())
