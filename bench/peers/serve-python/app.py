"""The same model behind a Python server that is as fast as we know to make one: uvicorn with uvloop and httptools, one worker a
core, no framework, orjson, and onnxruntime called on the loop itself, because a hop to a thread costs more than so small a run.

It speaks as much of the inference protocol as the load needs: one input, one output, JSON or binary.
"""

import os

import numpy as np
import onnxruntime
import orjson

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(os.environ["THREADS"])
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["MODEL"], options, providers=["CPUExecutionProvider"])
INPUT = session.get_inputs()[0].name
OUTPUT = session.get_outputs()[0].name
JSON = (b"content-type", b"application/json")
BINARY = (b"content-type", b"application/octet-stream")


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    if scope["method"] == "GET":
        return await answer(send, [JSON], b"{}")
    message = await receive()
    body = message["body"]
    while message.get("more_body"):
        message = await receive()
        body += message["body"]
    for name, value in scope["headers"]:
        if name == b"inference-header-content-length":
            return await binary(send, body, int(value))
    tensor = orjson.loads(body)["inputs"][0]
    data = np.array(tensor["data"], dtype=np.float32).reshape(tensor["shape"])
    result = session.run([OUTPUT], {INPUT: data})[0]
    output = {"name": OUTPUT, "datatype": "FP32", "shape": result.shape, "data": result.ravel()}
    await answer(send, [JSON], orjson.dumps({"model_name": "model", "model_version": "1", "outputs": [output]},
                                            option=orjson.OPT_SERIALIZE_NUMPY))


async def binary(send, body, length):
    tensor = orjson.loads(body[:length])["inputs"][0]
    data = np.frombuffer(body, dtype=np.float32, offset=length).reshape(tensor["shape"])
    result = session.run([OUTPUT], {INPUT: data})[0]
    raw = result.tobytes()
    output = {"name": OUTPUT, "datatype": "FP32", "shape": result.shape, "parameters": {"binary_data_size": len(raw)}}
    head = orjson.dumps({"model_name": "model", "model_version": "1", "outputs": [output]})
    await answer(send, [BINARY, (b"inference-header-content-length", b"%d" % len(head))], head + raw)


async def answer(send, headers, body):
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
