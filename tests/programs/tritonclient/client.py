"""Asks a server that gives back what it gets, with the public client and its binary default, and compares every number.

Usage: client.py HOST:PORT. Prints one line per thing that was found right; ends with an error at the first that was not.
"""

import sys

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

TYPES = [bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
         np.float16, np.float32, np.float64, np.object_]
ROWS = 3


def values(dtype, rows=ROWS):
    """The borders of a type and something in between, in rows of two."""
    if dtype is np.object_:
        return np.array([b"", "Grüße, 世界".encode(), b"a b", b"x" * 5000, b"true", b"1"][: 2 * rows],
                        dtype=np.object_).reshape(rows, 2)
    if dtype is bool:
        few = [True, False, False, True, True, True]
    elif np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        few = [info.min, info.max, 0, 1, info.max - 1, 42]
    else:
        info = np.finfo(dtype)
        few = [info.min, info.max, info.tiny, -0.0, np.pi, np.nan]
    return np.array(few[: 2 * rows], dtype=dtype).reshape(rows, 2)


def inputs(binary, skip_nan=False):
    found = {}
    for dtype in TYPES:
        array = values(dtype)
        if skip_nan and np.issubdtype(array.dtype, np.floating):
            array = np.nan_to_num(array, nan=7.0)
        name = np_to_triton_dtype(array.dtype)
        tensor = triton.InferInput(f"in_{name}", array.shape, name)
        tensor.set_data_from_numpy(array, binary_data=binary)
        found[name] = (tensor, array)
    return found


def compare(result, expected):
    for name, (_, array) in expected.items():
        got = result.as_numpy(f"out_{name}")
        assert got is not None, f"{name}: no output"
        assert got.shape == array.shape, f"{name}: {got.shape}"
        if name == "BYTES":
            got = np.array([v if isinstance(v, bytes) else v.encode() for v in got.ravel()], dtype=object)
            assert list(got) == list(array.ravel()), f"{name}: {[value[:20] for value in got]}"
            continue
        assert got.dtype == array.dtype, f"{name}: {got.dtype}"
        assert got.tobytes() == array.tobytes(), f"{name}: {got} is not {array}"


def refused(call, *words):
    try:
        call()
    except InferenceServerException as error:
        text = str(error)
        missing = [word for word in words if word not in text]
        assert not missing, f"{missing} not in {text}"
        return
    raise AssertionError("it was taken")


def main():
    client = triton.InferenceServerClient(sys.argv[1], concurrency=4, network_timeout=60, connection_timeout=60)
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("model") and client.is_model_ready("model", "1")
    assert not client.is_model_ready("other")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    metadata = client.get_model_metadata("model", "1")
    assert len(metadata["inputs"]) == len(TYPES) and metadata["inputs"][0]["shape"] == [-1, 2], metadata
    print("health and metadata")

    sent = inputs(binary=True)
    tensors = [tensor for tensor, _ in sent.values()]
    compare(client.infer("model", tensors), sent)
    print("all types, binary both ways")

    result = client.infer("model", tensors, request_id="seven", model_version="1",
                          outputs=[triton.InferRequestedOutput("out_FP32"),
                                   triton.InferRequestedOutput("out_INT64", binary_data=False)])
    compare(result, {name: sent[name] for name in ("FP32", "INT64")})
    answer = result.get_response()
    assert answer["id"] == "seven" and len(answer["outputs"]) == 2, answer
    print("chosen outputs, one of them as JSON")

    plain = inputs(binary=False, skip_nan=True)
    tensors_plain = [tensor for tensor, _ in plain.values()]
    outputs = [triton.InferRequestedOutput(f"out_{name}", binary_data=False) for name in plain]
    compare(client.infer("model", tensors_plain, outputs=outputs), plain)
    print("all types, JSON both ways")

    for algorithm in ("gzip", "deflate"):
        compare(client.infer("model", tensors, request_compression_algorithm=algorithm,
                             response_compression_algorithm=algorithm), sent)
    print("compressed requests")

    compare(client.infer("model", tensors, priority=3, timeout=1000, sequence_id=9, sequence_start=True,
                         parameters={"mood": "good"}), sent)
    print("parameters that mean nothing here")

    waiting = [client.async_infer("model", tensors, request_id=str(number)) for number in range(40)]
    for number, one in enumerate(waiting):
        result = one.get_result(timeout=60)
        compare(result, sent)
        assert result.get_response()["id"] == str(number)
    print("many at a time")

    wrong = triton.InferInput("in_FP32", [1, 3], "FP32")
    wrong.set_data_from_numpy(np.zeros((1, 3), np.float32))
    others = [tensor for name, (tensor, _) in sent.items() if name != "FP32"]
    refused(lambda: client.infer("model", [*others, wrong]), "[400]", '"in_FP32" should be FP32 [batch,2], but is FP32 [1,3]')
    refused(lambda: client.infer("model", others), "[400]", 'missing: "in_FP32" FP32 [batch,2]')
    refused(lambda: client.infer("other", tensors), "[404]", 'no model "other"')
    refused(lambda: client.infer("model", tensors, model_version="2"), "[404]", 'no version "2"')
    for text in (b"\xff\xfe", b"a\x00b"):
        odd = triton.InferInput("in_BYTES", [1, 2], "BYTES")
        odd.set_data_from_numpy(np.array([[b"a", text]], dtype=np.object_))
        rest = [tensor for name, (tensor, _) in sent.items() if name != "BYTES"]
        refused(lambda: client.infer("model", [*rest, odd]), "[400]", '"in_BYTES": element 1 is no UTF-8 text')
    print("errors in words")


main()
