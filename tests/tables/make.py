"""Makes the files of this folder, with NumPy and pyarrow: the same table in many forms.

    pip install numpy pyarrow && python make.py
"""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

i = np.arange(40)
a, b = i * 37 % 101 / 50 - 1, i * 53 % 97 / 48 - 1
y = a * a + 0.3 * b
table = np.column_stack([a, b, y])
lines = "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())
open("plain.csv", "w").write(lines)
open("named.csv", "w").write("a,b,y\n" + lines)

# As plain.csv.
np.save("rows.npy", table)
np.save("columns.npy", np.asfortranarray(table))
np.save("single.npy", table.astype("f4"))
np.save("big-endian.npy", table.astype(">f8"))
np.savez("stored.npz", table)
np.savez("x-and-y.npz", X=table[:, :2], y=y, about=np.array(["not a column"], dtype=object))
np.savez_compressed("packed-columns.npz", X=np.asfortranarray(table[:, :2]), y=y.reshape(-1, 1))

# As named.csv.
records = np.zeros(40, dtype=[("a", "f8"), ("b", ">f8"), ("y", "f8")])
records["a"], records["b"], records["y"] = a, b, y
np.save("records.npy", records)
np.savez("named.npz", a=a, b=b, y=y)
named = pa.table({"a": a, "b": b, "y": y})
pq.write_table(named, "named.parquet", row_group_size=15)
for codec in ["gzip", "lz4", "none", "zstd"]:
    pq.write_table(named, f"{codec}.parquet", compression=codec, use_dictionary=False, data_page_version="2.0")

# Of all types, as mixed.csv.
site = [f"site {n % 3}" for n in range(40)]
on = (a > 0).tolist()
halves = [decimal.Decimal(n) / 2 for n in range(40)]
rows = zip(a.tolist(), b.tolist(), i.tolist(), on, halves, site)
open("mixed.csv", "w").write("a,b,count,on,halves,site\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
mixed = np.zeros(40, dtype=[("a", "f8"), ("b", "f8"), ("count", "i2"), ("on", "?"), ("halves", "f4"), ("site", "U9")])
for name, column in [("a", a), ("b", b), ("count", i), ("on", on), ("halves", i / 2), ("site", site)]:
    mixed[name] = column
np.save("mixed.npy", mixed)
when = [datetime.datetime(2024, 3, 1) + datetime.timedelta(hours=n) for n in range(40)]
columns = {"a": pa.array(a), "b": pa.array(b), "count": pa.array(i, pa.uint8()), "on": pa.array(on)}
columns |= {"halves": pa.array(halves, pa.decimal128(5, 1)), "site": pa.array(site).dictionary_encode()}
pq.write_table(pa.table(columns), "mixed.parquet", row_group_size=25)

# With what is refused, in row 30, the fifth of the second row group.
gap = [None if n == 29 else v for n, v in enumerate(a.tolist())]
bad = {"gap": gap, "nan": [v if v is not None else float("nan") for v in gap], "infinite": np.where(i == 29, np.inf, a)}
bad |= {"when": when, "many": [[v] for v in a], "y": y}
pq.write_table(pa.table(bad), "refused.parquet", row_group_size=25)
np.save("refused.npy", np.column_stack([np.where(i == 29, np.nan, a), np.where(i == 29, -np.inf, a), y]))
