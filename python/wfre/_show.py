"""Tables for people: as text, and as HTML for notebooks; frames for pandas."""
from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    import pandas

_STYLE = "text-align:left;padding:2px 10px;white-space:nowrap"
_BAR = (
    '<div style="display:inline-block;width:80px;height:9px;margin-right:6px;'
    'background:rgba(128,128,128,.25);border-radius:3px">'
    '<div style="width:{width:.0f}%;height:9px;background:#4a7fb5;border-radius:3px"></div></div>'
)


def bar(share: Optional[float]) -> str:
    """A probability as a bar with its number."""
    if share is None or math.isnan(share):
        return "&ndash;"
    return _BAR.format(width=100 * min(max(share, 0.0), 1.0)) + f"{share:.3f}"


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
    return html.escape(printable(str(value)))


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    bars: Sequence[str] = (),
    caption: str = "",
    most: int = 60,
) -> str:
    """An HTML table; the columns in ``bars`` hold probabilities."""
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="{_STYLE}">{escape(caption)}</caption>')
    heads = "".join(f'<th style="{_STYLE}">{escape(c)}</th>' for c in columns)
    parts.append(f"<thead><tr>{heads}</tr></thead><tbody>")
    barred = [c in bars for c in columns]
    for row in rows[:most]:
        cells = (bar(v) if b else escape(v) for v, b in zip(row, barred))
        parts.append("<tr>" + "".join(f'<td style="{_STYLE}">{c}</td>' for c in cells) + "</tr>")
    if len(rows) > most:
        parts.append(f'<tr><td colspan="{len(columns)}">and {len(rows) - most:,} more</td></tr>')
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
    """A pandas frame of columns."""
    import pandas

    return pandas.DataFrame(columns)


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
