"""Random data and random SPARQL queries, to be compared with other implementations.
usage: random_cases.py SEED GRAPHS QUERIES   Writes one JSON object a line: {"data": Turtle, "queries": [...], "written": the same
with paths written out}."""
import json, random, sys

from written_out import written

PREFIX = 'PREFIX : <http://x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n'
NODES = [':n%d' % i for i in range(5)]
PREDICATES = [':p', ':q', ':r', ':s']
LITERALS = ['1', '2', '3', '-1', '0', '2.5', '1.0', '1e0', '"a"', '"b"', '"ab"', '"a"@en', '"b"@de', 'true', 'false',
            '"2020-01-01"^^xsd:date', '"2021-06-01T00:00:00Z"^^xsd:dateTime', '"x"^^:t', '""', '10', '"10"']
VARIABLES = ['?a', '?b', '?c', '?d']


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.fresh = 0

    def data(self):
        r = self.rng
        lines = ['@prefix : <http://x/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .']
        for _ in range(r.randrange(6, 36)):
            s = r.choice(NODES + ['_:b0', '_:b1'])
            o = r.choice(NODES) if r.random() < .55 else r.choice(LITERALS) if r.random() < .85 else r.choice(['_:b0', '_:b1'])
            lines.append('%s %s %s .' % (s, r.choice(PREDICATES), o))
        return '\n'.join(lines)

    def term(self, literal=False):
        r = self.rng
        x = r.random()
        if x < .72:
            return r.choice(VARIABLES)
        if literal and x < .82:
            return r.choice(LITERALS)
        return r.choice(NODES)

    def path(self, depth=0):
        r = self.rng
        x = r.random()
        if depth > 2 or x < .35:
            return r.choice(PREDICATES)
        inner = lambda: self.path(depth + 1)
        if x < .45: return '^' + '(' + inner() + ')'
        if x < .6: return '(%s/%s)' % (inner(), inner())
        if x < .72: return '(%s|%s)' % (inner(), inner())
        if x < .8: return '(%s)*' % inner()
        if x < .88: return '(%s)+' % inner()
        if x < .94: return '(%s)?' % inner()
        return '!(%s)' % '|'.join(r.sample(PREDICATES + ['^' + p for p in PREDICATES], r.randrange(1, 4)))

    def triple(self):
        r = self.rng
        p = r.choice(VARIABLES) if r.random() < .12 else self.path() if r.random() < .2 else r.choice(PREDICATES)
        return '%s %s %s .' % (self.term(), p, self.term(True))

    def value(self, depth=0):
        r = self.rng
        x = r.random()
        if x < .5 or depth > 2: return r.choice(VARIABLES)
        if x < .75: return r.choice(LITERALS + NODES)
        v = lambda: self.value(depth + 1)
        return r.choice([lambda: '(%s + %s)' % (v(), v()), lambda: '(%s * %s)' % (v(), v()), lambda: '(%s - %s)' % (v(), v()),
                         lambda: 'STR(%s)' % v(), lambda: 'STRLEN(STR(%s))' % v(), lambda: 'COALESCE(%s, %s)' % (v(), v()),
                         lambda: 'IF(%s, %s, %s)' % (self.condition(depth + 1), v(), v()), lambda: 'LANG(%s)' % v(),
                         lambda: 'DATATYPE(%s)' % v(), lambda: 'CONCAT(STR(%s), "z")' % v(), lambda: 'ABS(%s)' % v(),
                         lambda: 'UCASE(STR(%s))' % v(), lambda: 'SUBSTR(STR(%s), 2)' % v()])()

    def condition(self, depth=0):
        r = self.rng
        x = r.random()
        v = lambda: self.value(depth + 1)
        if x < .4: return '(%s %s %s)' % (v(), r.choice(['=', '!=', '<', '>', '<=', '>=']), v())
        if x < .5: return 'BOUND(%s)' % r.choice(VARIABLES)
        if x < .58: return r.choice(['isIRI', 'isLiteral', 'isBlank', 'isNumeric']) + '(%s)' % v()
        if x < .64: return '(%s %s (%s, %s))' % (v(), r.choice(['IN', 'NOT IN']), v(), v())
        if x < .7: return 'CONTAINS(STR(%s), "a")' % v()
        if x < .75: return 'sameTerm(%s, %s)' % (v(), v())
        if depth > 1: return '(%s = %s)' % (v(), v())
        c = lambda: self.condition(depth + 1)
        return r.choice([lambda: '(%s && %s)' % (c(), c()), lambda: '(%s || %s)' % (c(), c()), lambda: '(!%s)' % c(),
                         lambda: 'REGEX(STR(%s), "^[a1]")' % v()])()

    def group(self, depth=0):
        r = self.rng
        parts = [self.triple() for _ in range(r.choice([1, 1, 1, 2, 2, 3]))]
        for _ in range(r.randrange(0, 3 if depth == 0 else 2)):
            if depth > 2: break
            x = r.random()
            g = lambda: self.group(depth + 1)
            if x < .25: parts.append('OPTIONAL ' + g())
            elif x < .37: parts.append('%s UNION %s' % (g(), g()))
            elif x < .47: parts.append('MINUS ' + g())
            elif x < .57: parts.append('FILTER %sEXISTS %s' % (r.choice(['', 'NOT ']), g()))
            elif x < .75: parts.append('FILTER ' + '(' + self.condition() + ')')
            elif x < .82:
                self.fresh += 1
                parts.append('BIND (%s AS ?f%d)' % (self.value(), self.fresh))
            elif x < .89: parts.append('VALUES (%s) { %s }' % (' '.join(vs := r.sample(VARIABLES, r.randrange(1, 3))), ' '.join(
                '(%s)' % ' '.join(r.choice(NODES + LITERALS[:6] + ['UNDEF']) for _ in vs) for _ in range(r.randrange(1, 3)))))
            elif x < .95: parts.append('{ %s }' % self.select(depth + 1))
            else: parts.append(g())
        head, rest = parts[0], parts[1:]
        r.shuffle(rest)
        return '{ %s }' % ' '.join([head] + rest)

    def select(self, depth=0):
        r = self.rng
        x = r.random()
        body = self.group(depth)
        if x < .2:
            key = r.choice(VARIABLES)
            v = r.choice(VARIABLES)
            self.fresh += 1
            a = r.choice(['COUNT(*)', 'COUNT(%s)' % v, 'COUNT(DISTINCT %s)' % v, 'SUM(%s)' % v, 'MIN(STR(%s))' % v, 'MAX(STR(%s))' % v,
                          'MIN(%s)' % v, 'MAX(%s)' % v, 'AVG(%s)' % v])
            having = ' HAVING (COUNT(*) > 1)' if r.random() < .3 else ''
            return 'SELECT %s (%s AS ?g%d) WHERE %s GROUP BY %s%s' % (key, a, self.fresh, body, key, having)
        columns = ' '.join(r.sample(VARIABLES, r.randrange(1, 4)))
        d = r.choice(['', '', 'DISTINCT '])
        if depth == 0 and r.random() < .15:
            return 'SELECT %s%s WHERE %s ORDER BY %s' % (d, columns, body, ' '.join(r.choice(['', 'DESC']) + '(%s)' % c for c in columns.split()))
        return 'SELECT %s%s WHERE %s' % (d, columns if r.random() < .7 or depth else '*', body)

    def query(self):
        if self.rng.random() < .06:
            return PREFIX + 'ASK ' + self.group()
        return PREFIX + self.select()


if __name__ == '__main__':
    seed, graphs, queries = map(int, sys.argv[1:4])
    for g in range(graphs):
        m = Maker(random.Random(seed * 1000003 + g))
        data, made = m.data(), [m.query() for _ in range(queries)]
        print(json.dumps({'data': data, 'queries': made, 'written': [written(q) for q in made]}))
