#!/usr/bin/python3
"""The JSON API, its errors and limits, and who gets in."""
import base64
import gzip
import ssl
import subprocess

from common import *


def answers(server):
    a = server.ask("?x : r1(e0, ?x) & !r2(e0, ?x)", top=3)
    same(a.status, 200, "ask")
    same(a.headers["Content-Type"], "application/json", "type of an answer")
    d = a.json
    same(d["kind"], "answers", "kind")
    same([r[0]["name"] for r in d["known"]["rows"]], ["e1"], "known")
    same(len(d["predicted"]), 3, "predicted")
    same(d["question"]["logic"], "?x : r1(e0, ?x) & !r2(e0, ?x)", "logic")
    check("SELECT" in d["question"]["sparql"] and d["question"]["sentence"], "other forms")
    check(all(0 <= p["probability"] <= 1 for p in d["predicted"]), "probabilities")
    drawing = d["question"]["drawing"]
    e = server.post("/api/ask", {"drawing": drawing, "top": 3}).json
    same((e["known"], e["predicted"]), (d["known"], d["predicted"]), "the drawing asks the same")
    e = server.ask(d["question"]["sparql"], top=3).json
    same((e["known"], e["predicted"]), (d["known"], d["predicted"]), "the SPARQL asks the same")
    e = server.ask("?x : r1(?x, ?y)", known=2, known_offset=3, only="known").json
    same(([r[0]["id"] for r in e["known"]["rows"]], e["known"]["count"], e["predicted"]),
         ([3, 4], 24, []), "a page of known answers")
    d = server.ask("r1(e0, e1)").json
    same((d["holds"], d["probability"]), ("proven", 1), "a sentence")
    same(server.ask("r1(e0, e5)").json["holds"], "predicted", "an unproven sentence")
    d = server.ask("?x, ?y : r1(?x, ?y) & r2(?y, e5)").json
    same([[c["name"] for c in row] for row in d["known"]["rows"]], [["e2", "e3"]], "rows")
    d = server.ask("SELECT ?x ?y { ?x r:r1 ?y } ORDER BY ?x LIMIT 2").json
    same((d["kind"], len(d["results"]["bindings"])), ("table", 2), "a table")
    same(server.ask("?x : r1(e0, ?x)", only="known", top=0, forms=False).json["question"], None,
         "without forms")


def errors(server):
    def error(a, status, code, **more):
        got = a.json["error"]
        same((a.status, got["code"]), (status, code), f"error of {got}")
        for name, value in more.items():
            same(got.get(name), value, f"{name} of {got['message']}")
        check("\n" not in got["message"], "a message is one line")

    error(server.ask("?x : r1(e0, ?x"), 400, "syntax", offset=14)
    error(server.ask("?x : r9(e0, ?x)"), 400, "not_found", offset=5)
    error(server.post("/api/ask", "{"), 400, "json")
    error(server.post("/api/ask", "[]"), 400, "json")
    error(server.post("/api/ask", '{"question":"a","question":"b"}'), 400, "json")
    error(server.post("/api/ask", {"question": 5}), 400, "argument")
    error(server.post("/api/ask", {"question": "?x : r1(e0, ?x)", "top": -1}), 400, "argument")
    error(server.post("/api/ask", {"question": "?x : r1(e0, ?x)", "only": "x"}), 400, "argument")
    error(server.post("/api/ask", b"{\"question\":\"\xff\"}"), 400, "json")
    error(server.get("/api/entity/999"), 404, "not_found")
    error(server.get("/api/entity/x"), 404, "not_found")
    error(server.get("/api/entity/1/nothing"), 404, "not_found")
    error(server.get("/api/around?id=1&depth=9"), 400, "argument")
    error(server.get("/api/ask"), 405, "method")
    error(server.request("DELETE", "/sparql"), 405, "method")
    error(server.get("/nothing"), 404, "not_found")
    error(server.get("/api/complete?text=%zz"), 400, "syntax")
    error(server.get("/api/complete?text=a%00b"), 400, "syntax")
    error(server.get("/api/complete?text=%ff"), 400, "syntax")
    error(server.post("/api/score", {"triples": [["e0", "r1", "nobody"]]}), 400, "not_found")
    same(server.get("/api/ask").headers["Allow"], "POST, OPTIONS", "what is allowed")


def looking(server):
    same(server.get("/healthz").text, "ok\n", "health")
    info = server.get("/api/info").json
    shown = subprocess.run([WFRE, "info", model, "--json"], capture_output=True, text=True, check=True)
    measured = info["model"]["measured"]
    same(measured, json.loads(shown.stdout)["measured"], "what training measured, as wfre info says it")
    check(measured["types"] and all(0 <= t["mrr_low"] <= t["mrr"] <= t["mrr_high"] <= 1 and t["questions"] > 0
                                    for t in measured["types"]), f"MRR by type with intervals: {measured}")
    same((info["graph"]["entities"], info["graph"]["relations"]), (24, 3), "sizes")
    check(info["model"]["calibrated"] and len(info["examples"]) >= 4, "model and examples")
    for example in info["examples"]:
        d = server.ask(example["text"], known=100).json
        same(d["known"]["count"], example["answers"], "answers of " + example["text"])
    items = server.get("/api/complete?text=e2&kind=entity&limit=3").json["items"]
    same(items[0]["name"], "e2", "completion")
    items = server.get("/api/complete?text=&kind=relation&after=" +
                       urllib.parse.quote("?x : ?x = e0")).json["items"]
    check(items and all(i["kind"] == "relation" for i in items), "relations that e0 has")
    d = server.get("/api/entity/0?limit=1").json
    same((d["name"], d["iri"], len(d["relations"])), ("e0", "urn:wfre:e:e0", 6), "an entity")
    relation = next(r for r in d["relations"] if r["name"] == "r1" and not r["inverse"])
    d = server.get(f"/api/entity/0/edges?relation={relation['relation']}").json
    same((d["total"], d["items"][0]["name"]), (1, "e1"), "its edges")
    d = server.get("/api/entity/0/missing?limit=4").json
    same(len(d["items"]), 4, "what it may lack")
    d = server.get("/api/around?id=0&limit=5").json
    same((len(d["nodes"]), d["cut"]), (5, True), "around")
    d = server.post("/api/score", {"triples": [["e0", "r1", "e1"], [0, 0, 9]]}).json
    same([i["status"] for i in d["items"]], ["proven", "predicted"], "scores")
    d = server.post("/api/convert", {"question": "(p,r1,(e,e0))"}).json
    same(d["logic"], "?x : r1(e0, ?x)", "converted")
    first = server.ask("?x : r1(e0, ?x)").json["predicted"][0]["row"][0]
    d = server.post("/api/explain", {"question": "?x : r1(e0, ?x)", "entity": first["id"]}).json
    same(d["edges"][0]["tail"]["id"], first["id"], "the edge of an explanation")
    text = server.get("/metrics").text
    check('wfre_requests_total{route="ask",status="200"}' in text and
          "wfre_request_seconds_bucket" in text and "wfre_cache_bytes" in text, "metrics")


def openapi(server):
    d = server.get("/api/openapi.json").json
    check(d.get("openapi", "").startswith("3."), "OpenAPI version")
    for path, methods in d.get("paths", {}).items():
        address = path.replace("{id}", "0")
        for method in methods:
            if method in ("get", "post"):
                a = server.request(method.upper(), address, b"{}" if method == "post" else None)
                there = b"nothing at this address" not in a.body and a.status not in (405, 500)
                check(there, f"{method} {path} exists: {a.status}")
    for path in ("/api/ask", "/api/explain", "/api/convert", "/api/complete", "/api/entity/{id}",
                 "/api/around", "/api/score", "/api/info", "/sparql", "/healthz", "/metrics"):
        check(path in d.get("paths", {}), f"{path} is described")


def caching(server):
    a = server.get("/api/info")
    tag = a.headers["ETag"]
    check(tag and a.headers["Cache-Control"] == "no-cache", "an entity tag")
    b = server.get("/api/info", If_None_Match=tag)
    same((b.status, b.body, b.headers["ETag"]), (304, b"", tag), "not modified")
    same(server.get("/api/info", If_None_Match='"other"').status, 200, "modified")
    z = server.get("/api/info", Accept_Encoding="gzip")
    same(z.headers["Content-Encoding"], "gzip", "gzip")
    same(gzip.decompress(z.body), a.body, "the same, compressed")
    check(z.headers["ETag"] != tag, "another tag when compressed")
    same(server.get("/api/info", Accept_Encoding="gzip;q=0").headers["Content-Encoding"], None,
         "no gzip")
    h = server.request("HEAD", "/api/info")
    same((h.status, h.body), (200, b""), "HEAD")
    q = "/sparql?query=" + urllib.parse.quote("SELECT ?x { ?x r:r1 e:e5 }")
    a = server.get(q)
    same(server.get(q, If_None_Match=a.headers["ETag"]).status, 304, "SPARQL is cached")
    same(server.get("/sparql?query=" + urllib.parse.quote("SELECT (NOW() AS ?t) {}")).headers["ETag"],
         None, "what changes is not")


def limits(graph):
    with Server(graph, "--body", "2048", "--header", "4096", "--rows", "5") as server:
        same(server.post("/api/ask", b" " * 3000).status, 413, "a long body")
        same(server.post("/api/ask", b" " * 300000).status, 413, "a very long body")
        same(server.get("/" + "a" * 8000).status, 414, "a long address")
        check(server.get("/healthz", X_Long="a" * 8000).status in (413, 431), "a long header")
        a = server.sparql("SELECT * { ?s ?p ?o }")
        check(a.status >= 400 and "error" in a.json, f"too many rows: {a.status}")
        same(len(server.sparql("SELECT * { ?s ?p ?o } LIMIT 5").json["results"]["bindings"]), 5,
             "few rows")
        c = server.socket()
        c.sendall(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        c.sendall(b"800\r\n" + b" " * 0x800 + b"\r\n" + b"10\r\n" + b" " * 16 + b"\r\n0\r\n\r\n")
        check(c.recv(1000).startswith(b"HTTP/1.1 413"), "a long chunked body")
        c.close()
    with Server(graph, "--connections", "3") as server:
        held = [server.socket() for _ in range(3)]
        time.sleep(0.2)
        a = server.get("/healthz")
        same((a.status, a.headers["Retry-After"]), (503, "1"), "too many connections")
        for c in held:
            c.close()
        check(wait_for(lambda: server.get("/healthz").status == 200), "room again")
    with Server(graph, "--connections-each", "2") as server:
        held = [server.socket() for _ in range(2)]
        time.sleep(0.2)
        same(server.get("/healthz").status, 429, "too many connections of one address")
        for c in held:
            c.close()


def doors(graph):
    token = os.path.join(folder(), "token")
    with open(token, "w") as file:
        file.write("open-sesame-1\n")
    for address in ("0.0.0.0:0", "[::]:0"):
        run = subprocess.run([WFRE, "serve", graph, "--listen", address], capture_output=True)
        check(run.returncode != 0 and b"--token" in run.stderr and b"--public" in run.stderr,
              f"{address} without a token is refused")
    run = subprocess.run([WFRE, "serve", graph, "--token", os.devnull], capture_output=True)
    check(run.returncode != 0 and b"empty" in run.stderr, "an empty token is refused")
    with Server(graph, "--token", token, listen="0.0.0.0:0") as server:
        a = server.get("/api/info")
        same((a.status, a.json["error"]["code"]), (401, "token"), "no token")
        check("Bearer" in a.headers["WWW-Authenticate"], "how to show it")
        for wrong in ("open-sesame-", "open-sesame-2", "open-sesame-11", "", "x" * 5000,
                      "open-sesame-1open-sesame-1"):
            same(server.get("/api/info", Authorization="Bearer " + wrong).status, 401, wrong[:40])
        same(server.get("/api/info", Authorization="Bearer open-sesame-1").status, 200, "the token")
        basic = base64.b64encode(b"anyone:open-sesame-1").decode()
        same(server.get("/api/info", Authorization="Basic " + basic).status, 200, "as a password")
        same(server.get("/metrics").status, 401, "metrics need it, too")
        same(server.get("/sparql").status, 401, "SPARQL needs it")
        same(server.get("/healthz").status, 200, "health does not")
        same(server.get("/").status, 200, "nor does the page")
    with Server(graph, "--public", listen="0.0.0.0:0") as server:
        same(server.get("/api/info").status, 200, "public")
    with Server(graph) as server:
        same(server.get("/api/info", Host="evil.example").status, 421, "a foreign Host")
        same(server.get("/api/info", Host="localhost:80").status, 200, "localhost")
        a = server.get("/api/info", Origin="https://evil.example")
        same(a.headers["Access-Control-Allow-Origin"], None, "no CORS unless wanted")
    with Server(graph, "--cors", "https://a.example", "--host", "kg.example") as server:
        same(server.get("/api/info", Host="kg.example").status, 200, "a name that was given")
        a = server.get("/api/info", Origin="https://a.example")
        same(a.headers["Access-Control-Allow-Origin"], "https://a.example", "CORS")
        a = server.get("/api/info", Origin="https://b.example")
        same(a.headers["Access-Control-Allow-Origin"], None, "another origin")
        a = server.request("OPTIONS", "/sparql", headers={
            "Origin": "https://a.example", "Access-Control-Request-Method": "POST"})
        same((a.status, a.headers["Access-Control-Allow-Origin"]), (204, "https://a.example"),
             "before the request")
        check("POST" in a.headers["Access-Control-Allow-Methods"], "methods")


def tls(graph):
    if not have("openssl"):
        print("openssl is not there to make a certificate")
        return
    cert, key = os.path.join(folder(), "cert.pem"), os.path.join(folder(), "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    run = subprocess.run([WFRE, "serve", graph, "--cert", cert], capture_output=True)
    same(run.returncode, 2, "a certificate without its key")
    with Server(graph, "--cert", cert, "--key", key) as server:
        check(server.url.startswith("https://"), "the address says https")
        context = ssl.create_default_context(cafile=cert)
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=30)
        connection.request("GET", "/api/info")
        same(json.loads(connection.getresponse().read())["graph"]["entities"], 24, "over TLS")
        connection.close()
        c = server.socket()
        c.sendall(b"GET /api/info HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(b"200" not in c.recv(100), "nothing without TLS")
        c.close()


def streams(graph):
    """Long results are whole or break off; they never look whole when they are not."""
    query = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    with Server(graph, "--rows", "20000") as server:
        a = server.sparql(query + " LIMIT 20000", Accept="text/csv")
        same((a.status, len(a.text.splitlines())), (200, 20001), "a long result")
        z = server.sparql(query + " LIMIT 20000", Accept="text/csv", Accept_Encoding="gzip")
        same((z.headers["Content-Encoding"], gzip.decompress(z.body)), ("gzip", a.body),
             "the same, compressed")
        try:
            b = server.sparql(query, Accept="text/csv")
            check(False, f"a cut result looks whole: {b.status}, {len(b.body)} bytes")
        except http.client.IncompleteRead:
            pass
        same(server.sparql(query + " LIMIT 3").status, 200, "after a broken one")


def files(graph):
    web = os.path.join(folder(), "web")
    os.makedirs(os.path.join(web, "assets"))
    for name in ("index.html", "assets/a.js", "secret.txt"):
        with open(os.path.join(web, name), "w") as file:
            file.write(name)
    os.symlink("/etc/passwd", os.path.join(web, "assets", "link.txt"))
    with Server(graph, "--web", web) as server:
        a = server.get("/")
        same(a.text, "index.html", "the page from a folder")
        check("default-src 'self'" in a.headers["Content-Security-Policy"], "its policy")
        same(server.get("/assets/a.js").text, "assets/a.js", "an asset")
        for path in ("/assets/../secret.txt", "/assets/..%2fsecret.txt", "/assets/%2e%2e/secret.txt",
                     "/assets/link.txt", "/secret.txt", "//etc/passwd", "/../../etc/passwd",
                     "/assets//etc/passwd", "/assets/", "/assets/.", "/assets/a.js%00.txt",
                     "/assets/..\\secret.txt"):
            c = server.socket()
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            got = b"".join(iter(lambda: c.recv(4096), b""))
            c.close()
            check(got[9:12] in (b"404", b"400") and b"root:" not in got, f"{path}: {got[:40]}")
    with Server(graph) as server:
        a = server.get("/")
        same((a.status, a.headers["X-Content-Type-Options"]), (200, "nosniff"), "the page")


def escaping(graph):
    with Server(graph) as server:
        a = server.get("/api/entity/2")
        check("<" not in a.text and "\\u003c" in a.text, "JSON has no tags")
        check("<script>alert(1)</script>" in json.dumps(a.json), "but says them")
        a = server.get("/nothing/%3Cscript%3E")
        check("<script>" not in a.text, "an address is not repeated")
        a = server.ask("?x : \"<script>\"(?x, ?y)")
        check("<script>" not in a.text, "nor a name")
        x = server.sparql('SELECT ?n { ?x foaf:name ?n }', Accept="application/sparql-results+xml")
        check("<script>" not in x.text and "&lt;script" in x.text, "XML is escaped")


def log(graph):
    with Server(graph, log="json") as server:
        server.ask("?x : secretive(?x, ?y)")
        server.sparql("SELECT ?secretive { ?secretive ?p ?o } LIMIT 1")
        server.stop()
        lines = [json.loads(line) for line in server.log().splitlines()]
        same([line.get("status") for line in lines if "route" in line], [400, 200], "log lines")
        check("secretive" not in server.log(), "no question in the log")
    with Server(graph, "--log-questions", log="json") as server:
        server.ask("?x : secretive(?x, ?y)")
        server.stop()
        check("secretive" in server.log(), "the question in the log")


graph, model = ring()
with Server(graph, model) as server:
    answers(server)
    errors(server)
    looking(server)
    openapi(server)
    caching(server)
limits(graph)
doors(graph)
tls(graph)
streams(graph)
files(graph)
rdf = rdf_graph()
escaping(rdf)
log(rdf)
finish()
