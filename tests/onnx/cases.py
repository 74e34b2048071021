"""The cases of ONNX's node suite as plain values: an operator, its attributes, inputs and expected outputs.

The package `onnx` makes them (onnx.backend.test.case.node); making them all takes a minute, so they are kept
in a file beside the virtual environment. Random operands come from fixed seeds.
"""
import hashlib
import os
import pickle
import warnings
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    name: str                   # as ONNX calls it, without "test_"
    op: str
    attrs: dict                 # values of Python; graphs as serialized bytes
    inputs: list                # arrays, None where one is left out, a list for what is no tensor
    outputs: list               # likewise
    wants: list                 # the places of the node's results that are named, so expected
    version: int                # of the operators' set
    rtol: float = 1e-3
    atol: float = 1e-7
    graphs: dict = field(default_factory=dict)

    def digest(self):
        text = hashlib.sha256(repr((self.op, sorted(self.attrs.items(), key=str), self.wants)).encode())
        for value in self.inputs + self.outputs:
            text.update(value.dtype.name.encode() + repr(value.shape).encode() + value.tobytes()
                        if isinstance(value, np.ndarray) else repr(value).encode())
        return text.hexdigest()


def plain(value):
    return value.decode() if isinstance(value, bytes) else value


def attributes(node):
    import onnx
    values = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if attribute.type == onnx.AttributeProto.TENSOR:
            value = onnx.numpy_helper.to_array(value)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            value = value.SerializeToString()
        elif isinstance(value, (list, tuple)) or hasattr(value, "append"):
            value = [plain(item) for item in value]
        values[attribute.name] = plain(value) if attribute.type != onnx.AttributeProto.GRAPH else value
    return values


def as_value(value):
    """An array; anything that is no tensor of numbers stays what it is."""
    import onnx
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if value is None or isinstance(value, (list, tuple, dict)):
        return value
    return np.asarray(value)


def one(case):
    node = case.model.graph.node[0]
    inputs, outputs = case.data_sets[0]
    given = dict(zip([info.name for info in case.model.graph.input], map(as_value, inputs)))
    results = list(map(as_value, outputs))
    return Case(name=case.name.removeprefix("test_"), op=node.op_type, attrs=attributes(node),
                inputs=[given.get(name) if name else None for name in node.input], outputs=results,
                wants=[i for i, name in enumerate(node.output) if name],
                version=max(entry.version for entry in case.model.opset_import),
                rtol=case.rtol, atol=case.atol)


def collect():
    """Those of one node: a name with `_expanded` is the same operator as a graph of others."""
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [case for case in collect_testcases(None) if "_expanded" not in case.name]
    return [one(case) for case in found if len(case.model.graph.node) == 1]


def load(folder):
    """All cases, from the file in `folder` if this version has been collected before."""
    import onnx
    key = hashlib.sha256(open(__file__, "rb").read()).hexdigest()[:12]
    path = os.path.join(folder, f"cases-{onnx.__version__}-{np.__version__}-{key}.pickle")
    if os.path.exists(path):
        with open(path, "rb") as file:
            return pickle.load(file)
    cases = sorted(collect(), key=lambda case: (case.op, case.name))
    with open(path + ".part", "wb") as file:
        pickle.dump(cases, file)
    os.replace(path + ".part", path)
    return cases
