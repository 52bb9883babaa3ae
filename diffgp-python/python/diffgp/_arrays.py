"""Tables of all kinds as rows that the extension module reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.float64] | NDArray[np.float32]


def column_names(table: Any) -> list[str] | None:
    """The names of the columns of a data frame, if all of them are text; its name if it is a single column."""
    columns = getattr(table, "columns", None)
    if columns is None:
        name = getattr(table, "name", None)
        return [name] if isinstance(name, str) else None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None


def rows(X: ArrayLike, names: list[str] | None = None) -> Rows:
    """Rows in one piece, of single or double precision; of a data frame the columns of these names."""
    given = column_names(X) if hasattr(X, "columns") else None
    if names and given is not None:
        # The model holds names without the blanks around them.
        columns = {name.strip(): name for name in given}
        missing = [name for name in names if name not in columns]
        if any(name.partition("=")[0] in columns for name in missing):
            return np.column_stack([_input(X, columns, names, name) for name in names])
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; the model expects the columns {', '.join(names)}")
        X = X[[columns[name] for name in names]]  # type: ignore[call-overload, index]
    array = np.asarray(X)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != 2:
        raise ValueError(f"X has {array.ndim} dimensions; expected 2, one row per prediction")
    return np.ascontiguousarray(array)


def _input(X: Any, columns: dict[str, str], names: list[str], name: str) -> NDArray[np.float64]:
    """One input: a column of numbers, or what a column of words says of it."""
    if name in columns:
        return np.asarray(X[columns[name]], dtype=np.float64)
    column, _, word = name.partition("=")
    if column not in columns:
        raise ValueError(f"X has no column {column!r}; the model expects the columns {', '.join(names)}")
    values = [str(value).strip() for value in X[columns[column]]]
    of_column = [other.partition("=")[2] for other in names if other.partition("=")[0] == column]
    # An input alone stands for two words: 0 for the first, 1 for the second.
    known = word.split("|") if len(of_column) == 1 else of_column
    for row, value in enumerate(values):
        if value not in known:
            raise ValueError(
                f"row {row}, column {column!r}: {value!r} is none of the words that the model knows, "
                f"which are {', '.join(known)}"
            )
    wanted = known[1] if len(of_column) == 1 else word
    return np.asarray([float(value == wanted) for value in values])
