#!/usr/bin/python3
"""restart.py G.kg M.safetensors MILLISECONDS: kills the server and starts it again, several times: how
long until it gives its address, and until it has answered its first question with a prediction. The
median of the answers must be within MILLISECONDS. Not part of `make check`: `make restart`."""
import statistics

from common import *

graph, model, limit = sys.argv[1:4]
TIMES = 7
QUESTION = json.dumps({"question": "(p,#0,(e,#0))", "top": 3, "forms": False})


with Server(graph, model) as server:
    port = server.port
    same(server.post("/api/ask", QUESTION).status, 200, "an answer")
    server.process.kill()
addresses, answers, costs = [], [], []
for _ in range(TIMES):
    start = time.monotonic()
    with Server(graph, model, listen=f"127.0.0.1:{port}") as server:
        addresses.append(1e3 * (time.monotonic() - start))
        a = server.post("/api/ask", QUESTION)
        answers.append(1e3 * (time.monotonic() - start))
        costs.append(1e3 * server.cpu())
        same((a.status, len(a.json["predicted"])), (200, 3), "an answer after a kill")
        server.process.kill()
        server.process.wait()
for name, times in (("address", addresses), ("first answer", answers), ("CPU until then", costs)):
    print(f"{name:15} median {statistics.median(times):.1f} ms, {min(times):.1f} to {max(times):.1f}")
check(statistics.median(answers) <= float(limit), f"serves again within {limit} ms")
finish()
