#!/usr/bin/python3
"""Real clients: curl, SPARQLWrapper, rdflib's SPARQLStore, another engine's SERVICE, fetch in node,
Comunica (WFRE_LONG=1, as it is installed for it), and the queries that YASGUI and AWS Graph
Explorer send."""
import subprocess

from common import *

EX, FOAF = "http://example.org/", "http://xmlns.com/foaf/0.1/"
NAMES = "PREFIX foaf: <" + FOAF + "> SELECT ?n { ?x foaf:name ?n } ORDER BY ?n"


def curl(s):
    if not have("curl"):
        print("curl is not there")
        return

    def run(*arguments):
        return subprocess.run(["curl", "-sS", *arguments], capture_output=True, check=True).stdout
    same(len(json.loads(run(s.url + "/sparql", "--data-urlencode", "query=" + NAMES))
             ["results"]["bindings"]), 4, "curl: a form")
    same(len(run(s.url + "/sparql", "-G", "--data-urlencode", "query=" + NAMES, "-H",
                 "Accept: text/csv").splitlines()), 5, "curl: GET")
    same(len(json.loads(run(s.url + "/sparql", "-H", "Content-Type: application/sparql-query", "-d",
                            NAMES, "--compressed"))["results"]["bindings"]), 4, "curl: a body")
    same(json.loads(run(s.url + "/api/ask", "-d", '{"question":"?x : foaf:knows(?x, ?y)"}'))
         ["known"]["count"], 3, "curl: ask")


def wrapper(s):
    try:
        from SPARQLWrapper import SPARQLWrapper, CSV, JSON, POST, TSV, TURTLE, XML
    except ImportError:
        print("SPARQLWrapper is not there")
        return
    w = SPARQLWrapper(s.url + "/sparql")
    for method in ("GET", "POST"):
        w.setMethod(method)
        w.setQuery(NAMES)
        w.setReturnFormat(JSON)
        same([b["n"]["value"] for b in w.query().convert()["results"]["bindings"]],
             ["<script>alert(1)</script>", "Alice", "D\u00e4ve", "Bob"], f"SPARQLWrapper {method}")
        w.setReturnFormat(XML)
        same(len(w.query().convert().getElementsByTagName("result")), 4, f"its XML by {method}")
        for kind in (CSV, TSV):
            w.setReturnFormat(kind)
            same(len(w.query().convert().splitlines()), 5, f"{kind} by {method}")
        w.setQuery("ASK { ?s ?p ?o }")
        w.setReturnFormat(JSON)
        same(w.query().convert()["boolean"], True, f"its ASK by {method}")
    w.setMethod("GET")
    w.setQuery("CONSTRUCT WHERE { ?s <%sknows> ?o }" % FOAF)
    w.setReturnFormat(TURTLE)
    import rdflib
    g = rdflib.Graph()
    g.parse(data=w.query().convert(), format="turtle")
    same(len(g), 4, "its CONSTRUCT")


def rdflib_store(s):
    try:
        import rdflib
        from rdflib.plugins.stores.sparqlstore import SPARQLStore
    except ImportError:
        print("rdflib is not there")
        return
    store = SPARQLStore(s.url + "/sparql", returnFormat="json")
    g = rdflib.Graph(store)
    alice, knows = rdflib.URIRef(EX + "alice"), rdflib.URIRef(FOAF + "knows")
    same(sorted(str(o) for o in g.objects(alice, knows)), [EX + "bob", EX + "carol"],
         "SPARQLStore: objects")
    same(len(list(g.triples((None, knows, None)))), 4, "SPARQLStore: triples")
    same((alice, knows, rdflib.URIRef(EX + "dave")) in g, False, "SPARQLStore: in")
    same(len(g), 14, "SPARQLStore: len")
    same([str(r.n) for r in g.query(NAMES)][1:3], ["Alice", "D\u00e4ve"], "SPARQLStore: query")
    # Another engine federates to us: its own data joined with ours.
    local = rdflib.Graph()
    local.parse(data=f"<{EX}alice> <{EX}mail> 'alice@example.org' . <{EX}erin> <{EX}mail> 'e' .",
                format="turtle")
    rows = list(local.query("SELECT ?m ?y { ?x <%smail> ?m SERVICE <%s/sparql> { ?x <%slikes> ?y } }"
                            % (EX, s.url, EX)))
    same([(str(r.m), str(r.y)) for r in rows], [("alice@example.org", EX + "bob")],
         "rdflib federates to our SERVICE")


def federated_prediction(graph, model):
    try:
        import rdflib
    except ImportError:
        return
    with Server(graph, model) as s:
        rows = list(rdflib.Graph().query(
            "SELECT ?x { SERVICE <%s/sparql/predicted> { <urn:wfre:e:e0> <urn:wfre:r:r1> ?x } }" % s.url))
        same(len(rows), 11, "predictions come through a federated query")


def explorers(s):
    """What YASGUI, and AWS Graph Explorer, ask an endpoint."""
    queries = {
        "YASGUI: autocompletion of properties":
            "SELECT DISTINCT ?property WHERE { ?s ?property ?o . } ORDER BY ?property LIMIT 100",
        "YASGUI: autocompletion of classes":
            "SELECT DISTINCT ?class WHERE { [] a ?class . } ORDER BY ?class LIMIT 100",
        "YASGUI: its first query": "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
            "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
            "SELECT * WHERE {\n  ?sub ?pred ?obj .\n} LIMIT 10",
        "Explorer: classes and their numbers":
            "SELECT ?class (COUNT(?start) AS ?instancesCount) { ?start a ?class } GROUP BY ?class",
        "Explorer: predicates": "SELECT ?predicate (COUNT(?predicate) as ?count) { [] ?predicate ?object "
            "FILTER(!isLiteral(?object)) } GROUP BY ?predicate",
        "Explorer: predicates of a class": "SELECT ?pred (SAMPLE(?object) as ?sample) { ?subject a "
            "<http://example.org/Person> ; ?pred ?object . FILTER(isLiteral(?object)) } GROUP BY ?pred",
        "Explorer: neighbours": """
            SELECT ?subject ?pred ?value ?subjectClass ?pToSubject ?pFromSubject {
              ?subject ?pred ?value.
              { SELECT DISTINCT ?subject ?subjectClass ?pToSubject ?pFromSubject {
                  BIND(<http://example.org/alice> AS ?argument)
                  { ?argument ?pToSubject ?subject. } UNION { ?subject ?pFromSubject ?argument. }
                  OPTIONAL { ?subject a ?subjectClass. }
                } LIMIT 10 OFFSET 0 }
              FILTER(isLiteral(?value)) }""",
        "Explorer: numbers of neighbours": """
            SELECT ?class (COUNT(?class) AS ?count) { ?subject a ?class {
              SELECT DISTINCT ?subject ?class { ?subject a ?class .
                { ?subject ?p <http://example.org/alice> } UNION { <http://example.org/alice> ?p ?subject }
              } LIMIT 500 } } GROUP BY ?class""",
        "Explorer: search": "SELECT DISTINCT ?subject ?class { OPTIONAL { ?subject a ?class } . ?subject "
            "?predicate ?value . FILTER (regex(str(?value), 'ali', 'i')) } LIMIT 100 OFFSET 0",
        "Explorer: labels": "SELECT ?subject ?pred ?value { ?subject ?pred ?value { SELECT DISTINCT "
            "?subject ?class { ?subject a ?class ; ?predicate ?value . FILTER (?predicate IN ("
            "<http://www.w3.org/2000/01/rdf-schema#label>)) FILTER (?value = 'x') } LIMIT 10 } "
            "FILTER(isLiteral(?value)) }",
    }
    for name, query in queries.items():
        a = s.post("/sparql", urllib.parse.urlencode({"query": query}),
                   type="application/x-www-form-urlencoded; charset=UTF-8",
                   Accept="application/sparql-results+json,*/*;q=0.9")
        if same(a.status, 200, f"{name}: {a.body[:300]}"):
            check("bindings" in a.json["results"], name)
    rows = s.sparql(queries["Explorer: neighbours"]).json["results"]["bindings"]
    # bob is known and liked, carol known and liking; each way once for each of their literals.
    same({r["subject"]["value"] for r in rows}, {EX + "bob", EX + "carol"}, "Explorer: alice's neighbours")


FETCH = """
const [url] = process.argv.slice(2);
const answer = await fetch(url + '/api/ask', {method: 'POST', body: JSON.stringify({question: '?x : foaf:knows(?x, ?y)'})});
const sparql = await fetch(url + '/sparql', {method: 'POST', headers: {Accept: 'application/sparql-results+json'},
                                             body: new URLSearchParams({query: 'SELECT * { ?s ?p ?o }'})});
console.log(answer.status, (await answer.json()).known.count, (await sparql.json()).results.bindings.length);
"""
COMUNICA = """
import {QueryEngine} from '@comunica/query-sparql';
const [url] = process.argv.slice(2);
const engine = new QueryEngine();
const sources = [{type: 'sparql', value: url + '/sparql'}];
const names = await (await engine.queryBindings('SELECT ?n { ?x <http://xmlns.com/foaf/0.1/name> ?n }', {sources})).toArray();
const pairs = await (await engine.queryBindings(`SELECT ?x ?n { SERVICE <${url}/sparql> { ?x <http://xmlns.com/foaf/0.1/knows> ?y }
    SERVICE <${url}/sparql> { ?y <http://xmlns.com/foaf/0.1/name> ?n } }`, {sources: [{type: 'serialized', value: '', mediaType: 'text/turtle', baseIRI: 'http://x/'}]})).toArray();
const quads = await (await engine.queryQuads('CONSTRUCT WHERE { ?s <http://xmlns.com/foaf/0.1/knows> ?o }', {sources})).toArray();
console.log(names.length, pairs.length, quads.length);
"""


def node(s):
    if not have("node"):
        print("node is not there")
        return
    path = os.path.join(folder(), "fetch.mjs")
    with open(path, "w") as file:
        file.write(FETCH)
    run = subprocess.run(["node", path, s.url], capture_output=True, text=True)
    if run.returncode != 0 and "fetch is not defined" in run.stderr:
        print("this node has no fetch")
        return
    same(run.stdout.strip(), "200 3 14", f"fetch in node {run.stderr[-300:]}")


def comunica(s):
    if not LONG or not have("npm"):
        return
    place = os.path.join(folder(), "comunica")
    os.makedirs(place)
    with open(os.path.join(place, "package.json"), "w") as file:
        file.write('{"type":"module"}')
    try:
        subprocess.run(["npm", "install", "--silent", "--no-audit", "@comunica/query-sparql@4"],
                       cwd=place, check=True, timeout=400)
    except (subprocess.SubprocessError, OSError):
        print("Comunica cannot be installed here")
        return
    with open(os.path.join(place, "run.mjs"), "w") as file:
        file.write(COMUNICA)
    run = subprocess.run(["node", "run.mjs", s.url], cwd=place, capture_output=True, text=True)
    same(run.stdout.strip(), "4 4 4", f"Comunica {run.stderr[-600:]}")


with Server(rdf_graph()) as server:
    curl(server)
    wrapper(server)
    rdflib_store(server)
    explorers(server)
    node(server)
    comunica(server)
federated_prediction(*ring())
finish()
