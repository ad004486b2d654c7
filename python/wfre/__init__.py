"""Questions over knowledge graphs that are known to be incomplete.

    import wfre
    g = wfre.import_triples([("alice", "knows", "bob"), ...], holdout=0.05)
    m = wfre.train(g, time="10m", progress=True)
    a = g.ask("?x : knows(?x, ?y) & knows(?y, bob)", m)
    a.proven, a.predicted[0].probability, a.explain()

What the graph proves comes first, then what a model trained on it predicts, with a probability.
The score that the model compares by stands alone, too: ``wfre.distance``, ``wfre.Scores``.

Graphs and models may be used by many threads at once; work in C does not hold the GIL. Ctrl-C stops
what runs. After ``os.fork`` a child opens again what came from files, and refuses what was in
memory only. docs/PYTHON.md has a tour.
"""
from ._native import set_threads as set_threads
from ._native import version as _version
from ._ask import (
    Answers as Answers,
    Evidence as Evidence,
    ExplainedAnswer as ExplainedAnswer,
    ExplainedEdge as ExplainedEdge,
    Explanation as Explanation,
    Prediction as Prediction,
    Query as Query,
)
from .errors import (
    ArgumentError as ArgumentError,
    Closed as Closed,
    Error as Error,
    FormatError as FormatError,
    InputOutputError as InputOutputError,
    Interrupted as Interrupted,
    Mismatch as Mismatch,
    NotFound as NotFound,
    NumericError as NumericError,
    OutOfMemory as OutOfMemory,
    Timeout as Timeout,
    Unsupported as Unsupported,
)
from ._evaluate import (
    Evaluation as Evaluation,
    EvaluationRow as EvaluationRow,
    Links as Links,
    LinksRow as LinksRow,
    QuerySet as QuerySet,
    QuerySetType as QuerySetType,
    SampledQuery as SampledQuery,
    evaluate as evaluate,
    evaluate_links as evaluate_links,
)
from ._everyday import (
    Attribute as Attribute,
    Description as Description,
    PredictedTriple as PredictedTriple,
    PredictedTriples as PredictedTriples,
    Row as Row,
    Rows as Rows,
    ScoredTriple as ScoredTriple,
    ScoredTriples as ScoredTriples,
    Verdict as Verdict,
)
from ._graph import Degrees as Degrees, Graph as Graph, Hierarchy as Hierarchy, open as open
from ._import import import_file as import_file, import_triples as import_triples
from ._model import (
    History as History,
    Model as Model,
    Reliability as Reliability,
    ReliabilityBin as ReliabilityBin,
    Step as Step,
    train as train,
    train_settings as train_settings,
)
from ._names import Entity as Entity, Relation as Relation
from ._score import (
    Nearest as Nearest,
    Plan as Plan,
    Score as Score,
    Scores as Scores,
    Solution as Solution,
    distance as distance,
    gradient as gradient,
    solve as solve,
    torch_distance as torch_distance,
    transport as transport,
)
from ._sparql import (
    SparqlResult as SparqlResult,
    SparqlTriple as SparqlTriple,
    Term as Term,
)

# ``from wfre import *`` leaves the builtin ``open`` alone: wfre.open is not in __all__.
#: The library's version, and the commit that it was built from.
__version__, __commit__ = _version()

__all__ = [
    "Answers",
    "ArgumentError",
    "Attribute",
    "Closed",
    "Degrees",
    "Description",
    "Entity",
    "Error",
    "Evaluation",
    "EvaluationRow",
    "Evidence",
    "ExplainedAnswer",
    "ExplainedEdge",
    "Explanation",
    "FormatError",
    "Graph",
    "Hierarchy",
    "History",
    "InputOutputError",
    "Interrupted",
    "Links",
    "LinksRow",
    "Mismatch",
    "Model",
    "Nearest",
    "NotFound",
    "NumericError",
    "OutOfMemory",
    "Plan",
    "PredictedTriple",
    "PredictedTriples",
    "Prediction",
    "Query",
    "QuerySet",
    "QuerySetType",
    "Relation",
    "Reliability",
    "ReliabilityBin",
    "Row",
    "Rows",
    "SampledQuery",
    "Score",
    "ScoredTriple",
    "ScoredTriples",
    "Scores",
    "Solution",
    "SparqlResult",
    "SparqlTriple",
    "Step",
    "Term",
    "Timeout",
    "Unsupported",
    "Verdict",
    "distance",
    "evaluate",
    "evaluate_links",
    "gradient",
    "import_file",
    "import_triples",
    "set_threads",
    "solve",
    "torch_distance",
    "train",
    "train_settings",
    "transport",
]

for _name in [*__all__, "open"]:  # tracebacks and help() show the names that people write
    globals()[_name].__module__ = "wfre"
del _name
