"""Looks up rows of a table model with the public client and its binary default; prints their cells as JSON.

Usage: rows.py HOST:PORT ROW...
"""

import json
import sys

import numpy as np
import tritonclient.http as triton

address, *rows = sys.argv[1:]
client = triton.InferenceServerClient(address, network_timeout=60, connection_timeout=60)
array = np.array([int(row) for row in rows], dtype=np.int64)
tensor = triton.InferInput("row", array.shape, "INT64")
tensor.set_data_from_numpy(array)
cells = client.infer("model", [tensor]).as_numpy("cells")
assert cells.dtype == np.float32, cells.dtype
print(json.dumps(cells.astype(np.float64).tolist()))
