#!/usr/bin/python3
"""Swaps while clients ask: no failed request, and every answer is of one pair of graph and model. A
kill and a restart. A stop that finishes what runs."""
import threading

from common import *

SWAPS, CLIENTS = (100, 16) if LONG else (8, 6)


def pairs():
    """Two graphs, each with its model: what is known, and the tag, tell them apart."""
    return ring("one", 24, seed=1), ring("two", 30, seed=2)


def put(source, target):
    """Replaces a file as it should be done: under its name, at once."""
    shutil.copy(source, target + ".new")
    os.replace(target + ".new", target)


def swap():
    one, two = pairs()
    graph, model = os.path.join(folder(), "g.kg"), os.path.join(folder(), "m.safetensors")
    put(one[0], graph)
    put(one[1], model)
    with Server(graph, model, log="json") as s:
        seen, failed, stop = {}, [], threading.Event()

        def client(number):
            c = s.connect(60)
            while not stop.is_set():
                try:
                    c.request("POST", "/api/ask", json.dumps(
                        {"question": f"?x : r1(e{number}, ?x) | r1(?x, e0)", "top": 2}))
                    a = c.getresponse()
                    body = json.loads(a.read())
                except (OSError, http.client.HTTPException, ValueError) as e:
                    failed.append(repr(e))
                    c.close()
                    c = s.connect(60)
                    continue
                if a.status != 200:
                    failed.append(f"{a.status} {body}")
                    continue
                last = [r[0]["name"] for r in body["known"]["rows"]]
                which = "one" if "e23" in last else "two" if "e29" in last else "neither"
                seen.setdefault((which, body.get("served")), 0)
                seen[(which, body.get("served"))] += 1
                if len(body["predicted"]) != 2:
                    failed.append(f"predictions: {body['predicted']}")
            c.close()

        check(wait_for(lambda: s.ask("?x : r1(e0, ?x)").json.get("served")), "the tag is made")
        threads = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
        for t in threads:
            t.start()
        for i in range(SWAPS):
            pair = (two, one)[i % 2]
            generation = s.metric("wfre_generation")
            put(pair[0], graph)
            put(pair[1], model)
            if i % 3 != 2:  # else the changed files are noticed
                s.process.send_signal(signal.SIGHUP)
            check(wait_for(lambda: s.metric("wfre_generation") > generation, 30), f"swap {i}")
        stop.set()
        for t in threads:
            t.join()
        same(failed[:3], [], f"requests that failed in {SWAPS} swaps")
        same({which for which, _ in seen}, {"one", "two"}, f"both were served: {seen}")
        same(len(seen), 2, f"each pair has one tag: {seen}")
        print(f"{SWAPS} swaps, {sum(seen.values())} requests, {len(failed)} failed")
        # A model of another graph is not taken; the old pair is still served.
        put(two[0] if s.ask("?x : r1(?x, e0)").json["known"]["rows"][0][0]["name"] == "e23" else one[0], graph)
        s.process.send_signal(signal.SIGHUP)
        check(wait_for(lambda: "cannot be served" in s.log(), 30), "a pair that does not fit")
        same(s.ask("?x : r1(e0, ?x)").status, 200, "the old pair is still there")


def restart():
    graph, model = ring("again")
    for _ in range(3):
        with Server(graph, model) as s:
            port = s.port
            s.process.kill()
            s.process.wait()
            start = time.monotonic()
            with Server(graph, model, listen=f"127.0.0.1:{port}") as t:
                same(t.ask("?x : r1(e0, ?x)").status, 200, "an answer after a kill")
                print(f"answers {1e3 * (time.monotonic() - start):.0f} ms after the restart")


def graceful():
    graph, model = ring("stop")
    with Server(graph, model, "--timeout", "2s", "--threads", "1", log="text") as s:
        got = []
        slow = "SELECT (COUNT(*) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
        threads = [threading.Thread(target=lambda: got.append(s.sparql(slow).status)),
                   threading.Thread(target=lambda: got.append(s.ask("?x : r1(e0, ?x)").status))]
        for t in threads:
            t.start()
            time.sleep(0.3)
        s.process.send_signal(signal.SIGTERM)
        for t in threads:
            t.join()
        check(504 in got and len(got) == 2, f"what ran and what waited is answered: {got}")
        same(s.process.wait(30), 0, "exit code")


swap()
restart()
graceful()
finish()
