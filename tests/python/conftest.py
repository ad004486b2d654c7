"""What the tests share: a small graph with a model, trained once."""
import pytest

import wfre

PEOPLE = 40


def ring(count=PEOPLE):
    """Two relations on a ring: the next one, and the one after that."""
    return [
        (f"p{i}", "knows" if step == 1 else "trusts", f"p{(i + step) % count}")
        for i in range(count)
        for step in (1, 2)
    ]


@pytest.fixture(scope="session")
def graph():
    return wfre.import_triples(ring(), holdout=0.15, labels={"p1": "Ann Lee"})


@pytest.fixture(scope="session")
def model(graph):
    return wfre.train(graph, steps=150, dim=40, batch=64, calibrate=50)


@pytest.fixture(scope="session")
def files(graph, model, tmp_path_factory):
    """The same as files."""
    folder = tmp_path_factory.mktemp("files")
    graph.save(folder / "g.kg")
    model.save(folder / "m.safetensors")
    return folder
