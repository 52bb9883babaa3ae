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
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; the model expects the columns {', '.join(names)}")
        X = X[[columns[name] for name in names]]  # type: ignore[call-overload, index]
    array = np.asarray(X)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != 2:
        raise ValueError(f"X has {array.ndim} dimensions; expected 2, one row per prediction")
    return np.ascontiguousarray(array)
