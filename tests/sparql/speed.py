"""Twelve typical queries on WordNet and on a generated graph, side by side with oxigraph (npm) and rdflib, in one run.
usage: speed.py BUILD FOLDER [PEOPLE] [--without rdflib]   BUILD has wfre and libwfre.so.0. FOLDER keeps graphs between runs; its
node_modules has oxigraph. PEOPLE (1060000) have 9.45 triples each. Queries run in the process that has loaded the graph, results
as JSON (rdflib: as a list); the median of three runs, or one that took more than 10 s. Prints a Markdown table; seconds."""
import ctypes, json, os, random, signal, statistics, subprocess, sys, time

MOST = 60  # seconds a query may take
W = 'PREFIX r: <urn:wfre:r:> '
X = 'PREFIX : <http://x/> '
QUERIES = {
    'WordNet': [
        ('star: parts, wholes and kind of a thing', W + 'SELECT ?x ?a ?b ?c { ?x r:has_part ?a ; r:hypernym ?b ; r:derivationally_related_form ?c }'),
        ('star to constants', W + 'SELECT ?x { ?x r:hypernym <urn:wfre:e:dog.n.01> . ?x r:hypernym ?h . ?x r:has_part ?p }'),
        ('two steps to a constant', W + 'SELECT ?x { ?x r:hypernym ?y . ?y r:hypernym <urn:wfre:e:carnivore.n.01> }'),
        ('three steps from all', W + 'SELECT (COUNT(*) AS ?n) { ?a r:has_part ?b . ?b r:has_part ?c . ?c r:hypernym ?d }'),
        ('path hypernym+ from a constant', W + 'SELECT ?x { <urn:wfre:e:dog.n.01> r:hypernym+ ?x }'),
        ('path hypernym* to a constant', W + 'SELECT (COUNT(?x) AS ?n) { ?x r:hypernym* <urn:wfre:e:animal.n.01> }'),
        ('triangles', W + 'SELECT (COUNT(*) AS ?n) { ?a r:derivationally_related_form ?b . ?b r:derivationally_related_form ?c . ?c r:derivationally_related_form ?a }'),
        ('OPTIONAL', W + 'SELECT ?x ?y ?p { ?x r:instance_hypernym ?y OPTIONAL { ?x r:has_part ?p } }'),
        ('count of all triples', W + 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'),
        ('count by predicate, sorted', W + 'SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n)'),
        ('FILTER REGEX on names', W + 'SELECT ?x { ?x r:hypernym ?y FILTER REGEX(STR(?x), "berry[.]n") }'),
        ('NOT EXISTS', W + 'SELECT (COUNT(*) AS ?n) { ?x r:instance_hypernym ?y FILTER NOT EXISTS { ?z r:has_part ?x } }'),
    ],
    'generated': [
        ('star: all about a city\'s people', X + 'SELECT ?x ?n ?a ?c { ?x :city :city7 ; :name ?n ; :age ?a ; :worksFor ?c }'),
        ('star of two constants', X + 'SELECT ?x ?n { ?x :city :city7 ; :worksFor :company7 ; :name ?n }'),
        ('two steps to a constant', X + 'SELECT ?x { ?x :knows ?y . ?y :knows :p17 }'),
        ('three steps from a constant', X + 'SELECT ?z ?n { :p17 :knows ?x . ?x :knows ?y . ?y :knows ?z . ?z :name ?n }'),
        ('path reportsTo+ and a join', X + 'SELECT ?c { :p17 :reportsTo+ ?x . ?x :city ?c }'),
        ('path reportsTo* to a constant', X + 'SELECT (COUNT(?x) AS ?n) { ?x :reportsTo* :p17 }'),
        ('triangles', X + 'SELECT (COUNT(*) AS ?n) { ?a :knows ?b . ?b :knows ?c . ?c :knows ?a }'),
        ('OPTIONAL', X + 'SELECT ?x ?e { ?x :city :city7 OPTIONAL { ?x :email ?e } }'),
        ('count of all triples', X + 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'),
        ('count by city, sorted, first ten', X + 'SELECT ?c (COUNT(?x) AS ?n) { ?x :city ?c } GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 10'),
        ('FILTER on a million numbers', X + 'SELECT (COUNT(*) AS ?n) { ?x :age ?a FILTER(?a > 98) }'),
        ('FILTER REGEX in a star', X + 'SELECT ?x ?n { ?x :city :city7 ; :name ?n FILTER REGEX(?n, "9.9$") }'),
    ],
}


def generate(path, people):
    r = random.Random(1)
    I = '<http://x/%s>'
    with open(path, 'w') as f:
        for i in range(people):
            s = '<http://x/p%d> <http://x/' % i
            lines = [s + 'name> "Person %d" .' % i, s + 'age> "%d"^^<http://www.w3.org/2001/XMLSchema#integer> .' % r.randrange(1, 100),
                     s + 'city> <http://x/city%d> .' % r.randrange(1000), s + 'worksFor> <http://x/company%d> .' % int(r.random() ** 2 * 5000)]
            lines += [s + 'knows> <http://x/p%d> .' % (int(r.random() ** 2 * people)) for _ in range(4)]
            if i: lines.append(s + 'reportsTo> <http://x/p%d> .' % r.randrange(max(0, i - 5000), i))
            if r.random() < .45: lines.append(s + 'email> "p%d@x.org" .' % i)
            f.write('\n'.join(lines) + '\n')


# ---- wfre -----------------------------------------------------------------------------------------------------------

class Error(ctypes.Structure):
    _fields_ = [('code', ctypes.c_int), ('offset', ctypes.c_size_t), ('message', ctypes.c_char * 4096)]


WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_void_p)


class Output(ctypes.Structure):
    _fields_ = [('write', WRITE), ('context', ctypes.c_void_p)]


class Limits(ctypes.Structure):
    _fields_ = [('timeout', ctypes.c_double), ('memory', ctypes.c_size_t), ('rows', ctypes.c_uint64)]


def wfre_times(build, graph, queries):
    lib = ctypes.CDLL(os.path.join(build, 'libwfre.so.0'))
    error = Error()
    handle = ctypes.c_void_p()
    view = ctypes.c_void_p()
    start = time.perf_counter()
    check = lambda status: status == 0 or sys.exit('wfre: ' + error.message.decode())
    check(lib.wfre_graph_open(graph.encode(), ctypes.byref(handle), ctypes.byref(error)))
    check(lib.wfre_rdf_view_open(handle, 2, ctypes.byref(view), ctypes.byref(error)))
    load = time.perf_counter() - start
    size = [0]

    def write(context, data, length, error):
        size[0] += length
        return 0
    output = Output(WRITE(write), None)
    limits = (ctypes.c_char * 256)()  # the run options, zero but for their first member
    ctypes.memmove(limits, ctypes.byref(Limits(MOST, 1 << 32, 0)), ctypes.sizeof(Limits))

    def run(query):
        parsed = ctypes.c_void_p()
        rows = ctypes.c_uint64()
        text = query.encode()
        check(lib.wfre_sparql_parse(text, ctypes.c_size_t(len(text)), None, ctypes.byref(parsed), ctypes.byref(error)))
        check(lib.wfre_sparql_write(parsed, view, limits, 1, ctypes.byref(output), ctypes.byref(rows), ctypes.byref(error)))
        lib.wfre_sparql_free(parsed)
        return rows.value
    return load, [measure(lambda: run(q)) for _, q in queries]


def measure(run):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        rows = run()
        times.append(time.perf_counter() - start)
        if times[-1] > 10: break
    return [statistics.median(times), rows]


# ---- the others -----------------------------------------------------------------------------------------------------

NODE = """
import oxigraph from 'oxigraph'; import fs from 'node:fs'; import readline from 'node:readline';
const store = new oxigraph.Store(); let t = performance.now(), lines = [], n = 0;
const load = () => { store.load(lines.join('\\n'), { format: 'application/n-triples', no_transaction: true, lenient: true }); n += lines.length; lines = []; };
for await (const line of readline.createInterface({ input: fs.createReadStream(process.argv[2]) })) { lines.push(line); if (lines.length == 200000) load(); }
load(); console.log(JSON.stringify({ load: (performance.now() - t) / 1000, triples: n }));
for (const q of JSON.parse(fs.readFileSync(process.argv[3]))) {
  const times = []; let rows = 0;
  for (let i = 0; i < 3; i++) { const s = performance.now(); const r = store.query(q, { results_format: 'json' }); times.push((performance.now() - s) / 1000);
    rows = (r.match(/\\n?\\{"[a-z]+":\\{"type"/g) || []).length; if (times[i] > 10) break; }
  console.log(JSON.stringify([times.sort((a, b) => a - b)[times.length >> 1], rows]));
}
"""

RDFLIB = """
import json, resource, signal, statistics, sys, time
import rdflib
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
class Slow(Exception): pass
def alarm(*_): raise Slow()
signal.signal(signal.SIGALRM, alarm)
t = time.perf_counter(); g = rdflib.Graph(); g.parse(sys.argv[1], format='nt')
print(json.dumps({'load': time.perf_counter() - t, 'triples': len(g)}), flush=True)
for q in json.load(open(sys.argv[2])):
    times, rows = [], None
    signal.alarm(%d)
    try:
        for _ in range(3):
            s = time.perf_counter(); rows = len(list(g.query(q))); times.append(time.perf_counter() - s)
            if times[-1] > 10: break
        print(json.dumps([statistics.median(times), rows]), flush=True)
    except Slow: print(json.dumps([None, None]), flush=True)
    finally: signal.alarm(0)
""" % MOST


def other(command, folder, count):
    """Load time, and a pair for each query; None where it did not get so far."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=open(os.path.join(folder, 'errors'), 'a'), text=True)
    load, times = None, []
    while True:
        line = process.stdout.readline()
        if not line: break
        value = json.loads(line)
        if isinstance(value, dict): load = value['load']
        else: times.append(value)
    process.wait()
    return load, times + [None] * (count - len(times))


def show(value):
    return 'not loaded' if value is None else '> %d' % MOST if value[0] is None else '%.1f' % value[0] if value[0] >= 10 else '%.2g' % value[0] if value[0] >= 1e-4 else '%.6f' % value[0]


def table(name, build, folder, source, without):
    queries = QUERIES[name]
    graph = os.path.join(folder, name + '.kg')
    nt = os.path.join(folder, name + '.nt')
    listed = os.path.join(folder, name + '.json')
    json.dump([q for _, q in queries], open(listed, 'w'))
    if not os.path.exists(graph):
        subprocess.run([os.path.join(build, 'wfre'), 'import', source or nt, '-o', graph], check=True, stdout=sys.stderr)
    if not os.path.exists(nt):
        subprocess.run([os.path.join(build, 'wfre'), 'export', graph, '-o', nt], check=True, stdout=sys.stderr)
    open(os.path.join(folder, 'load.mjs'), 'w').write(NODE)
    open(os.path.join(folder, 'load.py'), 'w').write(RDFLIB)
    columns = {'wfre': wfre_times(build, graph, queries),
               'oxigraph': other(['node', '--max-old-space-size=8000', 'load.mjs', nt, listed], folder, len(queries)),
               'rdflib': (None, [None] * len(queries)) if without else other([sys.executable, 'load.py', nt, listed], folder, len(queries))}
    faster = 0
    print('| %s | rows | wfre | oxigraph | rdflib |\n| --- | --- | --- | --- | --- |' % name)
    for i, (what, _) in enumerate(queries):
        row = [columns[c][1][i] for c in columns]
        best = min([x[0] for x in row[1:] if x and x[0] is not None], default=1e9)
        faster += row[0][0] < best
        rows = {x[1] for x in row if x and x[1] is not None}
        note = '' if len(rows) == 1 else ' (they differ: %s)' % [x and x[1] for x in row]
        print('| %s | %d%s | %s |' % (what, row[0][1], note, ' | '.join(map(show, row))))
    print('| opening or loading | | %s |\n\nFaster than both: %d of %d.\n' % (
        ' | '.join('not loaded' if columns[c][0] is None else '%.2f' % columns[c][0] for c in columns), faster, len(queries)), flush=True)


if __name__ == '__main__':
    build, folder = map(os.path.abspath, sys.argv[1:3])
    people = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3].isdigit() else 1060000
    nt = os.path.join(folder, 'generated.nt')
    if not os.path.exists(nt): generate(nt, people)
    table('WordNet', build, folder, '/usr/share/wordnet', '--without' in sys.argv)
    table('generated', build, folder, None, '--without' in sys.argv)
