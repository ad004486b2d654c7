"""Tables for people: as text, and as HTML for notebooks; frames for pandas."""
from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    import pandas

_STYLE = "text-align:left;padding:2px 10px;white-space:nowrap"
_NUMBER = "text-align:right;padding:2px 10px;font-variant-numeric:tabular-nums"
_PROVEN, _PREDICTED = "#2e8b57", "#4a7fb5"
_BAR = (
    '<div style="display:inline-block;width:80px;height:9px;margin-right:6px;'
    'background:rgba(128,128,128,.25);border-radius:3px">'
    '<div style="width:{width:.0f}%;height:9px;background:{colour};border-radius:3px"></div></div>'
)


def bar(share: Optional[float]) -> str:
    """A probability as a bar with its number; what is certain has another colour."""
    if share is None or math.isnan(share):
        return "&ndash;"
    width, colour = 100 * min(max(share, 0.0), 1.0), _PROVEN if share == 1 else _PREDICTED
    return _BAR.format(width=width, colour=colour) + f"{share:.3f}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def printable(text: str) -> str:
    """Text as it may reach a terminal: control characters and broken UTF-8 are written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def escape(value: Any) -> str:
    """A cell's text; numbers with few digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "&ndash;" if math.isnan(value) else f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return html.escape(printable(str(value)))


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    bars: Sequence[str] = (),
    caption: str = "",
    most: int = 20,
) -> str:
    """An HTML table; the columns in ``bars`` hold probabilities, and numbers stand at the right."""
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="{_STYLE};font-weight:bold">{escape(caption)}</caption>')
    barred = [c in bars for c in columns]
    styles = [
        _NUMBER if rows and not b and _is_number(rows[0][i]) else _STYLE
        for i, b in enumerate(barred)
    ]
    heads = "".join(f'<th style="{s}">{escape(c)}</th>' for c, s in zip(columns, styles))
    parts.append(f"<thead><tr>{heads}</tr></thead><tbody>")
    for row in rows[:most]:
        cells = (bar(v) if b else escape(v) for v, b in zip(row, barred))
        line = "".join(f'<td style="{s}">{c}</td>' for c, s in zip(cells, styles))
        parts.append(f"<tr>{line}</tr>")
    if len(rows) > most:
        more = f"and {len(rows) - most:,} more"
        parts.append(f'<tr><td style="{_STYLE}" colspan="{len(columns)}">{more}</td></tr>')
    parts.append("</tbody></table>")
    return "".join(parts)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return printable(str(value))


def aligned(columns: Sequence[str], rows: Sequence[Sequence[Any]], most: int = 60) -> str:
    """The same as text; numbers stand at the right."""
    cells = [[_cell(v) for v in row] for row in rows[:most]]
    widths = [max([len(c)] + [len(r[i]) for r in cells]) for i, c in enumerate(columns)]
    right = [bool(rows) and isinstance(rows[0][i], (int, float)) for i in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        padded = (v.rjust(w) if r else v.ljust(w) for v, w, r in zip(row, widths, right))
        return "  ".join(padded).rstrip()

    lines = [line(columns)] + [line(r) for r in cells]
    if len(rows) > most:
        lines.append(f"and {len(rows) - most:,} more")
    return "\n".join(lines)


def frame(columns: Dict[str, Any]) -> "pandas.DataFrame":
    """A pandas frame of columns. Entities and relations become plain text: theirs would keep the
    graph."""
    import pandas

    def plain(value: Any) -> Any:
        return str(value) if isinstance(value, str) else value

    return pandas.DataFrame({name: [plain(v) for v in column] for name, column in columns.items()})


class Table(Sequence[Any]):
    """Rows with named columns: a sequence of rows, a frame for pandas, a table in a notebook."""

    _columns: Tuple[str, ...] = ()
    _bars: Tuple[str, ...] = ()

    def _rows(self) -> Sequence[Any]:
        raise NotImplementedError

    def _cells(self) -> List[Tuple[Any, ...]]:
        return [tuple(getattr(row, c) for c in self._columns) for row in self._rows()]

    def __len__(self) -> int:
        return len(self._rows())

    def __getitem__(self, index: Any) -> Any:
        return self._rows()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows())

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a frame."""
        cells = self._cells()
        return frame({c: [row[i] for row in cells] for i, c in enumerate(self._columns)})

    def __str__(self) -> str:
        return aligned(self._columns, self._cells())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        return table(self._columns, self._cells(), self._bars)
