"""A graph to play with: families of three generations, as triples."""


def triples(families=40):
    """Who is married to whom, whose parent, whose sibling, whose grandparent."""
    for f in range(families):
        ada, bob, cleo, dan, eve = (f"{name}_{f}" for name in ("ada", "bob", "cleo", "dan", "eve"))
        kids = [f"kid{k}_{f}" for k in range(1 + f % 3)]
        yield ada, "married_to", bob
        yield cleo, "married_to", eve
        yield cleo, "sibling_of", dan
        yield dan, "sibling_of", cleo
        for child in (cleo, dan):
            yield ada, "parent_of", child
            yield bob, "parent_of", child
        for kid in kids:
            yield cleo, "parent_of", kid
            yield eve, "parent_of", kid
            yield ada, "grandparent_of", kid
            yield bob, "grandparent_of", kid
            for other in kids:
                if other != kid:
                    yield kid, "sibling_of", other
