"""Paths with alternatives and negated sets, written out as UNION and FILTER as the recommendation defines them (9.1, 18.2.2.4):
some implementations count their solutions once where the definition keeps duplicates."""
import itertools, re

TRIPLE = re.compile(r'(?<=[{.}) ] )(\?[a-d]|:n\d) ([(^!][^ ]*) (\?[a-d]|:n\d|"[^"]*"(?:@\w+|\^\^\S+)?|-?\d[\d.e]*|true|false) \.')


class Path:
    """A path as random_cases.py writes it, as a tree of (kind, parts)."""
    def __init__(self, text):
        self.text, self.at = text, 0
        self.tree = self.joined('|', lambda: self.joined('/', self.element))
        assert self.at == len(text), text

    def joined(self, sign, part):
        parts = [part()]
        while self.text[self.at:self.at + 1] == sign:
            self.at += 1
            parts.append(part())
        return (sign, parts) if len(parts) > 1 else parts[0]

    def element(self):
        if self.text[self.at] == '^':
            self.at += 1
            return ('^', [self.element()])
        begin = self.at
        if self.text[self.at] == '(':
            self.at += 1
            tree = self.joined('|', lambda: self.joined('/', self.element))
            self.at += 1
        elif self.text[self.at] == '!':
            self.at = self.text.index(')', self.at) + 1
            tree = ('!', self.text[begin + 2:self.at - 1].split('|'))
        else:
            self.at = re.compile(r':[a-z]+').match(self.text, self.at).end()
            tree = ('link', self.text[begin:self.at])
        while self.text[self.at:self.at + 1] in ('*', '+', '?'):
            self.at += 1
            tree = ('whole', self.text[begin:self.at])  # its solutions are a set: nothing to write out
        return tree


def ways(tree, forward=True):
    """Lists of steps (kind, what, forward), one list for each way that leads to a solution."""
    kind, parts = tree
    if kind == '|': return [w for p in parts for w in ways(p, forward)]
    if kind == '^': return ways(parts[0], not forward)
    if kind == '/': return [list(itertools.chain(*w)) for w in itertools.product(*[ways(p, forward) for p in (parts if forward else parts[::-1])])]
    if kind == '!':
        sets = ([p for p in parts if p[0] != '^'], forward), ([p[1:] for p in parts if p[0] == '^'], not forward)
        return [[('!', s, f)] for s, f in sets if s]
    return [[(kind, parts, forward)]]


def written(query):
    count = itertools.count()

    def triple(match):
        subject, path, object = match.groups()
        variables = [t for t in dict.fromkeys((subject, object)) if t[0] == '?']
        if not variables: return match.group(0)
        groups = []
        for steps in ways(Path(path).tree):
            nodes = [subject] + ['?w%d' % next(count) for _ in steps[1:]] + [object]
            text = ''
            for (kind, what, forward), a, b in zip(steps, nodes, nodes[1:]):
                a, b = (a, b) if forward else (b, a)
                if kind == '!':
                    p = '?w%d' % next(count)
                    text += '%s %s %s . FILTER (%s NOT IN (%s)) ' % (a, p, b, p, ', '.join(what))
                else: text += '%s %s %s . ' % (a, what, b)
            groups.append('{ SELECT %s { %s} }' % (' '.join(variables), text))
        return ' UNION '.join(groups) + ' '
    return TRIPLE.sub(triple, query)
