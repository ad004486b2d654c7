#!/usr/bin/python3
"""load.py G.kg M.safetensors Q.tsv SECONDS SESSIONS: mixed questions over 64 connections (wrk), beside
the same sessions without HTTP (the program SESSIONS, see sessions.c), with and without batches, and
memory over many requests. Not part of `make check`: `make load`."""
import subprocess

from common import *

graph, model, queries, seconds, sessions = sys.argv[1:6]
if not have("wrk"):
    skip("wrk is not there")
CONNECTIONS = 64
LUA = """
local bodies, at = {}, 0
for line in io.lines("%s") do bodies[#bodies + 1] = '{"forms":false,"question":"' .. line .. '"}' end
function setup(thread) thread:set("offset", math.random(#bodies)) end
request = function() at = at + 1
  return wrk.format("POST", "/api/ask", nil, bodies[(at + (offset or 0)) %% #bodies + 1]) end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %%d %%d %%d %%f %%f %%f %%f\\n", summary.requests, e.connect + e.read + e.write + e.timeout,
    e.status, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
"""


def questions():
    path = os.path.join(folder(), "questions")
    kept = []
    with open(queries) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if not line.startswith("#") and len(fields) > 1:
                kept.append(fields[1])
    step = max(1, len(kept) // 200)
    with open(path, "w") as file:
        file.writelines(q + "\n" for q in kept[::step])
    return path


def cpu(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def direct(path, batch):
    run = subprocess.run([sessions, graph, model, path, str(os.cpu_count()), str(batch), seconds],
                         capture_output=True, text=True, check=True)
    return [float(x) for x in run.stdout.split()]


def load(server, lua):
    before = cpu(server)
    run = subprocess.run(["wrk", "-c", str(CONNECTIONS), "-t", "2", "-d", seconds, "--timeout", "30s",
                          "-s", lua, server.url], capture_output=True, text=True, check=True)
    result = [float(x) for x in run.stdout.split("RESULT")[1].split()[:7]]
    requests, failed, status, took, median, p99, worst = result
    same((failed, status), (0, 0), "failed requests")
    return requests / took, 1e3 * (cpu(server) - before) / requests, median, p99, worst, requests


def row(name, rate, cost, *more):
    print(f"{name:32} {rate:8.1f} questions/s {cost:7.3f} ms CPU each", *more, flush=True)


path = questions()
lua = os.path.join(folder(), "ask.lua")
with open(lua, "w") as file:
    file.write(LUA % path)
results = {}
for batch in (1, 32):
    with Server(graph, model, "--batch", str(batch), "--timeout", "60s") as server:
        with open(path) as file:  # everything derived is made now
            for question in file:
                same(server.ask(question.strip(), forms=False).status, 200, question)
        first = direct(path, batch)
        rate, cost, median, p99, worst, requests = load(server, lua)
        second = direct(path, batch)
        results[batch] = (rate, cost)
        plain, plain_cost = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
        row(f"sessions alone, batches of {batch}", plain, plain_cost)
        row(f"server, batches of up to {batch}", rate, cost,
            f"{rate / plain:.2f} of the sessions' rate, {plain_cost / cost:.2f} by CPU; "
            f"median {median:.0f} ms, p99 {p99:.0f} ms ({p99 / median:.2f} times), worst {worst:.0f} ms")
        memory = [server.memory() >> 20]
        while requests < (100000 if LONG else 0):
            requests += load(server, lua)[5]
            memory.append(server.memory() >> 20)
        print("memory after each run, MB:", *memory, "over", int(requests), "requests")
print(f"batching gains {results[32][0] / results[1][0]:.2f} times the rate, "
      f"{results[1][1] / results[32][1]:.2f} times by CPU")
finish()
