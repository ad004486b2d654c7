"""Compares wfre with oxigraph and rdflib on the cases of random_cases.py.
usage: compare_cases.py WFRE CASES OXIGRAPH [--show]   OXIGRAPH is the output of oxigraph_cases.mjs on CASES, or - for none.
A case holds if either of them has the same solutions, or oxigraph has with the paths written out. The others are
sorted into the kinds of docs/SPARQL.md by what has to be in the query (--show lists them); one that is of no kind is listed and fails."""
import collections, json, logging, os, re, signal, subprocess, sys, tempfile

import rdflib
rdflib.NORMALIZE_LITERALS = False
logging.disable(logging.CRITICAL)
XSD = 'http://www.w3.org/2001/XMLSchema#'


def number(v, dt):
    if dt and dt.startswith(XSD) and dt[len(XSD):] in ('integer', 'decimal', 'double', 'float'):
        try:
            return '%.9g' % float(v)
        except ValueError:
            pass
    return v


def from_json(j):
    if 'error' in j: return ('error', j['error'])
    if 'boolean' in j: return j['boolean']
    rows = []
    for b in j['results']['bindings']:
        row = []
        for k, v in b.items():
            if v['type'] == 'bnode': t = ('b',)
            elif v['type'] == 'uri': t = ('u', v['value'])
            else:
                dt = v.get('datatype')
                if dt == XSD + 'string' or v.get('xml:lang'): dt = None
                t = ('l', number(v['value'], dt), dt, v.get('xml:lang', '').lower())
            row.append((k, t))
        rows.append(frozenset(row))
    return collections.Counter(rows)


# Where both others differ from the recommendation, or where it leaves the choice.
KINDS = [
    ('a path without length from a written term', r'[*?+]\)*\S* (-?\d|"|true|false|:n)|(:n\d) \S*[*?+]'),
    ('lexical forms that they rewrite', r'STR\((.|\n)*|SUBSTR'),
    ('an order of IRIs, tagged strings or unknown datatypes', r'[<>]=? '),
    ('MINUS within EXISTS', r'EXISTS(.|\n)*MINUS'),
    ('IN by value', r' IN \('),
    ('MIN or MAX over mixed types', r'(MIN|MAX)\(\?'),
]


def kind_of(query, data):
    body = query.split('\n', 1)[1]
    for name, sign in KINDS:
        if re.search(sign, body) and ('lexical' not in name or re.search(r'1e0|1\.0', data + body)): return name
    return None


class Slow(Exception): pass


def from_rdflib(graph, query):
    def alarm(*_): raise Slow()
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(2)
    try:
        r = graph.query(query)
        if r.type == 'ASK': return bool(r.askAnswer)
        rows = []
        for b in r.bindings:
            row = []
            for k, v in b.items():
                if isinstance(v, rdflib.BNode): t = ('b',)
                elif isinstance(v, rdflib.URIRef): t = ('u', str(v))
                else:
                    dt = str(v.datatype) if v.datatype else None
                    if dt == XSD + 'string': dt = None
                    t = ('l', number(str(v), dt), dt, (v.language or '').lower())
                row.append((str(k), t))
            rows.append(frozenset(row))
        return collections.Counter(rows)
    except Exception as e:
        return ('error', '%s: %s' % (type(e).__name__, e))
    finally:
        signal.alarm(0)


def run(wfre, *args):
    return subprocess.run([wfre, *args], capture_output=True, timeout=60)


def main():
    wfre, cases, other = sys.argv[1:4]
    oxigraph = open(other) if other != '-' else None
    tally = collections.Counter()
    with tempfile.TemporaryDirectory() as d:
        for number_of_case, line in enumerate(open(cases)):
            case = json.loads(line)
            theirs = json.loads(oxigraph.readline()) if oxigraph else [(None, None)] * len(case['queries'])
            open(d + '/d.ttl', 'w').write(case['data'])
            r = run(wfre, 'import', d + '/d.ttl', '-o', d + '/g.kg', '--allow-empty')
            if r.returncode: sys.exit('import: ' + r.stderr.decode())
            graph = None
            for query, (ox, plain) in zip(case['queries'], theirs):
                r = run(wfre, 'ask', d + '/g.kg', '--format', 'json', '--timeout', '20', query)
                ours = from_json(json.loads(r.stdout)) if r.returncode == 0 else ('error', r.stderr.decode())
                tally['cases'] += 1
                if ox is not None and from_json(ox) == ours:
                    tally['as oxigraph'] += 1
                    continue
                if plain is not None and from_json(plain) == ours:
                    tally['as oxigraph with paths written out'] += 1
                    continue
                if graph is None:
                    graph = rdflib.Graph()
                    graph.parse(data=case['data'], format='turtle')
                lib = from_rdflib(graph, query)
                if lib == ours:
                    tally['as rdflib only'] += 1
                    continue
                both = isinstance(ours, tuple) and ox and 'error' in ox
                kind = kind_of(query, case['data'])
                tally['refused by both' if both else kind or 'differ'] += 1
                if not both and (kind is None or '--show' in sys.argv):
                    print('---- case', number_of_case, kind or 'of no kind', '\n' + case['data'], '\n' + query)
                    for name, x in (('wfre', ours), ('oxigraph', from_json(ox) if ox else None), ('rdflib', lib)):
                        print(name, '=>', [sorted(s) for s in x.elements()][:12] if isinstance(x, collections.Counter) else x)
    print(dict(tally))
    return tally['differ'] > 0


if __name__ == '__main__':
    sys.exit(main())
