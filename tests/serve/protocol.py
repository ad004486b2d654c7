#!/usr/bin/python3
"""The SPARQL 1.1 Protocol and Service Description: the query operations and the description that the
W3C test suite lists (each by its name there), written anew, and what goes beyond them."""
import xml.etree.ElementTree

from common import *

GRAPH = """@prefix : <http://example/> .
:s :p :o ; :q "a", "b"@en, 5 . :t :p :o .
"""
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
CSV, TSV = "text/csv", "text/tab-separated-values"
TURTLE_, NT = "text/turtle", "application/n-triples"
FORM, QUERY = "application/x-www-form-urlencoded", "application/sparql-query"
ASK, SELECT = "ASK {}", "SELECT * { ?s ?p ?o }"


def url(**parameters):
    return "/sparql?" + urllib.parse.urlencode(parameters, doseq=True)


def is_true(a):
    kind = a.headers["Content-Type"].split(";")[0]
    if kind == XML:
        root = xml.etree.ElementTree.fromstring(a.text)
        return root.find("{http://www.w3.org/2005/sparql-results#}boolean").text == "true"
    return kind == JSON and a.json["boolean"] is True


def good(name, a, types=(JSON, XML)):
    kind = (a.headers["Content-Type"] or "").split(";")[0]
    return check(200 <= a.status < 300 and kind in types, f"{name}: {a.status} {kind} {a.body[:200]}")


def bad(name, a):
    return check(400 <= a.status < 500, f"{name}: {a.status}")


def operations(s):
    accept = f"{XML}, {JSON}"
    form = urllib.parse.urlencode
    # Good ones.
    a = s.post("/sparql", form({"query": ASK}), type=FORM, Accept=accept)
    good("query_post_form", a) and check(is_true(a), "query_post_form is true")
    a = s.get(url(query=ASK), Accept=accept)
    good("query_get", a) and check(is_true(a), "query_get is true")
    a = s.post("/sparql", ASK, type=QUERY, Accept=accept)
    good("query_post_direct", a) and check(is_true(a), "query_post_direct is true")
    tables = (JSON, XML, CSV, TSV)
    good("query_content_type_select", s.get(url(query=SELECT), Accept=",".join(tables)), tables)
    good("query_content_type_ask", s.get(url(query=ASK), Accept=accept))
    graphs = (TURTLE_, NT, "application/rdf+xml")
    good("query_content_type_describe",
         s.get(url(query="DESCRIBE <http://example/s>"), Accept=",".join(graphs)), graphs)
    good("query_content_type_construct",
         s.get(url(query="CONSTRUCT { <s> <p> 1 } WHERE {}".replace("<s>", "<http://e/s>")
                   .replace("<p>", "<http://e/p>")), Accept=",".join(graphs)), graphs)
    # Bad ones.
    bad("bad_query_method", s.request("PUT", url(query=ASK)))
    bad("bad_multiple_queries", s.get(url(query=["ASK {}", "SELECT * {}"])))
    bad("bad_query_wrong_media_type", s.post("/sparql", ASK, type="text/plain"))
    bad("bad_query_missing_form_type",
        s.request("POST", "/sparql", form({"query": ASK}).encode()))
    bad("bad_query_missing_direct_type", s.request("POST", "/sparql", ASK.encode()))
    bad("bad_query_non_utf8", s.post("/sparql", 'ASK { ?s ?p "\u00e9" }'.encode("utf-16"),
                                     type=QUERY + "; charset=UTF-16"))
    bad("bad_query_syntax", s.get(url(query="ASK { ?s ?p")))


def datasets():
    """The graphs of the protocol: each of three says what it is, and the whole is all of them."""
    path = os.path.join(folder(), "three.nq")
    with open(path, "w") as file:
        for i in (1, 2, 3):
            file.write(f"<http://e/s{i}> <http://e/p> <http://e/o{i}> <http://e/g{i}> .\n")
    wfre("import", path, "-o", path + ".kg")
    g = ["http://e/g%d" % i for i in (1, 2, 3)]
    first = "ASK { <http://e/s1> ?p ?o FILTER NOT EXISTS { <http://e/s2> ?q ?r } }"
    both = "ASK { <http://e/s1> ?p ?o . <http://e/s2> ?q ?r FILTER NOT EXISTS { <http://e/s3> ?t ?u } }"
    two = ("ASK { GRAPH ?g { <http://e/s1> ?p ?o } GRAPH ?h { <http://e/s2> ?q ?r } "
           "FILTER NOT EXISTS { GRAPH ?i { <http://e/s3> ?t ?u } } }")
    full = ("ASK { <http://e/s3> ?p ?o FILTER NOT EXISTS { <http://e/s1> ?a ?b } "
            "GRAPH <http://e/g1> { <http://e/s1> ?q ?r } GRAPH <http://e/g2> { ?s ?t ?u } }")
    default, named = "default-graph-uri", "named-graph-uri"
    with Server(path + ".kg") as s:
        def holds(name, a):
            good(name, a) and check(is_true(a), f"{name}: it holds")
        holds("query_dataset_default_graph", s.get(url(query=first, **{default: g[0]})))
        holds("query_dataset_default_graphs_get", s.get(url(query=both, **{default: g[:2]})))
        holds("query_dataset_default_graphs_post", s.post(url(**{default: g[:2]}), both, type=QUERY))
        holds("query_dataset_named_graphs_get", s.get(url(query=two, **{named: g[:2]})))
        holds("query_dataset_named_graphs_post", s.post(url(**{named: g[:2]}), two, type=QUERY))
        holds("query_dataset_full", s.get(url(query=full, **{default: g[2], named: g[:2]})))
        holds("query_multiple_dataset", s.post(
            "/sparql", urllib.parse.urlencode({
                "query": f"ASK FROM <{g[2]}> {{ <http://e/s1> ?p ?o "
                         "FILTER NOT EXISTS { <http://e/s3> ?q ?r } }", default: g[0]}), type=FORM))
        a = s.get(url(query="ASK {}", **{default: "http://elsewhere/"}))
        check(a.status == 400 and "http://elsewhere/" in a.json["error"]["message"], "another graph")


def description(s):
    a = s.get("/sparql", Accept=TURTLE_)
    good("returns-rdf", a, (TURTLE_,))
    try:
        import rdflib
    except ImportError:
        print("without rdflib the description is not read")
        return
    g = rdflib.Graph()
    g.parse(data=a.text, format="turtle")
    sd = rdflib.Namespace("http://www.w3.org/ns/sparql-service-description#")
    services = list(g.subjects(rdflib.RDF.type, sd.Service))
    same(len(services), 1, "conforms-to-schema: one service")
    service = services[0]
    for _, _, language in g.triples((service, sd.supportedLanguage, None)):
        check(isinstance(language, rdflib.URIRef), "conforms-to-schema: a language is an IRI")
    check((service, sd.supportedLanguage, sd.SPARQL11Query) in g, "it speaks SPARQL 1.1")
    endpoint = list(g.objects(service, sd.endpoint))
    same([str(e) for e in endpoint], [s.url + "/sparql"], "has-endpoint-triple")
    g = rdflib.Graph()
    g.parse(data=s.get("/sparql", Accept=NT).text, format="nt")
    check((None, sd.endpoint, None) in g, "as N-Triples")
    return g


def formats(s):
    """Negotiation with weights, and the parameters that clients use instead."""
    def kind(accept, query=SELECT):
        a = s.get(url(query=query), **({"Accept": accept} if accept else {}))
        return a.headers["Content-Type"].split(";")[0] if a.status == 200 else a.status
    same(kind(None), JSON, "no Accept")
    same(kind("*/*"), JSON, "*/*")
    same(kind("text/csv"), CSV, "CSV")
    same(kind("text/*"), "text/xml", "text/*")
    same(kind(f"{CSV};q=0.5, {TSV};q=0.6"), TSV, "weights")
    same(kind(f"{JSON};q=0, */*"), "application/json", "not this one")
    same(kind("image/png"), 406, "no picture")
    same(kind("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), "application/xml",
         "a browser")
    same(kind("text/turtle", "CONSTRUCT WHERE { ?s ?p ?o }"), TURTLE_, "Turtle")
    same(kind("application/rdf+xml, text/turtle;q=0.2", "CONSTRUCT WHERE { ?s ?p ?o }"), TURTLE_,
         "Turtle for want of RDF/XML")
    same(kind("application/rdf+xml", "CONSTRUCT WHERE { ?s ?p ?o }"), 406, "RDF/XML alone")
    for name in ("format", "output", "results"):
        for word, type_ in (("json", JSON), ("xml", XML), ("csv", CSV), ("tsv", TSV), (XML, XML)):
            a = s.get(url(query=SELECT, **{name: word}))
            same(a.headers["Content-Type"].split(";")[0], type_, f"{name}={word}")
    a = s.get(url(query="CONSTRUCT WHERE { ?s ?p ?o }", format="nt"))
    same((a.headers["Content-Type"], len(a.text.splitlines())), (NT, 5), "format=nt")
    rows = {len(s.get(url(query=SELECT), Accept=t).text.splitlines()) for t in (CSV, TSV)}
    same(rows, {6}, "rows of CSV and TSV")


def predicted(graph, model):
    with Server(graph, model) as s:
        plain = s.sparql("SELECT ?x { e:e0 r:r1 ?x }").json["results"]["bindings"]
        same(len(plain), 1, "a plain query predicts nothing")
        for path in ("/sparql/predicted?", "/sparql?default-graph-uri=urn:wfre:predicted&"):
            a = s.get(path + urllib.parse.urlencode({"query": "SELECT ?x { e:e0 r:r1 ?x }"}))
            rows = a.json["results"]["bindings"]
            same((len(rows), rows[0]), (11, plain[0]), f"predictions at {path}")
        a = s.get("/sparql/predicted?top=2&query=" + urllib.parse.quote("SELECT ?x { e:e0 r:r1 ?x }"))
        same(len(a.json["results"]["bindings"]), 3, "two of them")
        a = s.sparql("PREFIX wfre: <urn:wfre:ns#> SELECT ?x ?p ?s { SERVICE wfre:predict { [] wfre:answer "
                     "?x ; wfre:probability ?p ; wfre:status ?s ; wfre:top 3 . { e:e0 r:r1 ?x } } }")
        rows = a.json["results"]["bindings"]
        same([r["s"]["value"] for r in rows], ["proven"] + 3 * ["predicted"], "SERVICE wfre:predict")
        g = s.get("/sparql").text
        check("urn:wfre:ns#predict" in g, "the description names the feature")
    with Server(graph) as s:
        check("urn:wfre:ns#predict" not in s.get("/sparql").text, "not without a model")


with Server(rdf_graph(GRAPH)) as server:
    operations(server)
    description(server)
    formats(server)
datasets()
predicted(*ring())
finish()
