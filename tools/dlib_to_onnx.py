"""Writes dlib's face recognition network (CC0) as ONNX, with neither dlib nor onnx installed; needs numpy.

    python tools/dlib_to_onnx.py dlib_face_recognition_resnet_model_v1.dat dlib_face.onnx

Input "rgb": (n, 3, 150, 150) float32, RGB, 0..255.  Output "face": (n, 128) float32, as dlib gives it.
Filters are kept as int8 with one scale per output channel: a quarter of the size, cosine to dlib's own output
.9998 or more.

The same .dat gives the same bytes everywhere: every number is made by single IEEE operations, and the few
messages of ONNX are written here, not by a library whose next version may write them otherwise.

How dlib writes (serialize.h, cuda/tensor.h, dnn/core.h, dnn/layers.h):

    integer  a byte (low four bits: how many bytes follow; top bit: negative), then those, lowest first
    float    two integers, mantissa and exponent: mantissa * 2**exponent
    string   an integer, its length; then the characters
    tensor   integers: version 2, samples, channels, rows, columns; then little-endian float32
    alias    integers: version 1, samples, channels, rows, columns: a window on a tensor, no data
    network  each layer writes its version, then the layer below it, then itself: all versions come first,
             from the loss down to the input, and then the layers from the input up.  Version 1: the loss, a
             tag or a skip; 2: a layer; 3: the layer that holds the input
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Layer = tuple[str, list[Any]]

LAYERS = {  # what each layer writes after its name: t tensor, i integer, a alias, f float
    "con_4": "tiiiiiiiaaffff",  # filters then biases; how many filters; size, stride, padding
    "affine_": "taai",  # gammas then betas
    "max_pool_2": "iiiiii",  # size, stride, padding
    "avg_pool_2": "iiiiii",  # the same; size 0, 0: everything
    "fc_2": "iitaaiffff",  # inputs x outputs
    "relu_": "",
    "add_prev_": "",
}
FLOAT, INT8, INT64 = 1, 3, 7  # ONNX's numbers for types
INT, INTS = 2, 7  # and for kinds of attributes


class NetworkError(ValueError):
    """The .dat is not the network that this converter knows."""


class Reader:
    """Reads dlib's fields one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        self.at += count
        if self.at > len(self.data):
            raise NetworkError(f"the file ends at byte {len(self.data)}; {self.at} are needed. Fetch it anew.")
        return self.data[self.at - count : self.at]

    def integer(self) -> int:
        """The next integer."""
        head = self.take(1)[0]
        value = int.from_bytes(self.take(head & 15), "little")
        return -value if head & 128 else value

    def tensor(self) -> Array:
        """The next tensor, (samples, channels, rows, columns) float32."""
        version, *shape = self.fields("iiiii")
        if version != 2:
            raise NetworkError(f"a tensor has version 2; at byte {self.at} stands {version}.")
        return np.frombuffer(self.take(4 * int(np.prod(shape))), "<f4").reshape(shape)

    def fields(self, codes: str) -> list[Any]:
        """The next fields, one a letter."""
        read: dict[str, Callable[[], Any]] = {
            "i": self.integer,
            "t": self.tensor,
            "f": lambda: self.integer() * 2.0 ** self.integer(),
            "a": lambda: self.fields("iiiii")[1:],
            "s": lambda: self.take(self.integer()).decode("ascii"),
        }
        return [read[code]() for code in codes]


def read_network(data: bytes) -> tuple[list[float], list[int], list[Layer]]:
    """Channel means, rows and columns of the input, and the layers from the input up."""
    reader = Reader(data)
    reader.fields("isff")  # the loss: version, name, two settings
    versions = [reader.integer()]
    while versions[-1] != 3:
        versions.append(reader.integer())
    _, *mean, rows, columns = reader.fields("sfffii")
    layers: list[Layer] = []
    for version in reversed(versions):
        if version == 1 and layers[-1][0] == "tag":
            layers[-1] = "shortcut", []  # a second tag and a skip, always together
        elif version == 1:
            layers.append(("tag", []))
        else:
            name = reader.fields("s")[0]
            layers.append((name, reader.fields(LAYERS[name])))
            reader.take(3)  # three flags
            if any(unused.size for unused in reader.fields("ttt")) or (version == 3 and reader.integer() != 1):
                raise NetworkError(f"the layer {name} holds more than its weights.")
    if reader.at != len(data):
        raise NetworkError(f"the network ends at byte {reader.at} of {len(data)}.")
    return mean, [rows, columns], layers


# What ONNX, as protocol buffers, needs: a message is its fields, one after the other.


def field(number: int, value: int | bytes | str) -> bytes:
    """One field: a number as a varint, all else with its length before it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    """A number that is not negative, seven bits a byte, lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def tensor_message(name: str, value: Array) -> bytes:
    """A TensorProto."""
    kind = {"float32": FLOAT, "int8": INT8, "int64": INT64}[value.dtype.name]
    raw = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
    dims = b"".join(field(1, size) for size in value.shape)
    return dims + field(2, kind) + field(8, name) + field(9, raw)


def attribute_message(name: str, value: int | list[int]) -> bytes:
    """An AttributeProto."""
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, INT)
    return field(1, name) + b"".join(field(8, number) for number in value) + field(20, INTS)


def end_message(name: str, shape: Iterable[int | str]) -> bytes:
    """A ValueInfoProto of floats; a size that is a string may be any."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, sizes)))


class Graph:
    """Collects nodes and constants; values are known by name."""

    def __init__(self) -> None:
        self.nodes: list[tuple[str, tuple[str, ...], str, dict[str, int | list[int]]]] = []
        self.constants: list[bytes] = []

    def constant(self, value: Array) -> str:
        """Adds a constant."""
        name = f"constant{len(self.constants)}"
        self.constants.append(tensor_message(name, value))
        return name

    def add(self, kind: str, *inputs: str, **attributes: int | list[int]) -> str:
        """Adds a node and returns its output."""
        output = f"value{len(self.nodes)}"
        self.nodes.append((kind, inputs, output, attributes))
        return output

    def weight(self, value: Array, axis: int) -> str:
        """Adds weights as int8 with a scale per output channel, which lie along `axis`."""
        others = tuple({*range(value.ndim)} - {axis})
        scale = np.abs(value).max(others, keepdims=True) / np.float32(127)
        small = np.round(value / scale).astype(np.int8)
        return self.add("Mul", self.add("Cast", self.constant(small), to=FLOAT), self.constant(scale))

    def model(self, output: str, ends: tuple[bytes, bytes]) -> bytes:
        """The ModelProto: ONNX 13, the value `output` named "face"."""
        out = []
        for kind, inputs, name, attributes in self.nodes:
            texts = [field(1, text) for text in inputs] + [field(2, "face" if name == output else name)]
            texts += [field(4, kind)] + [field(5, attribute_message(*pair)) for pair in attributes.items()]
            out.append(field(1, b"".join(texts)))
        out += [field(2, "dlib_face"), *(field(5, constant) for constant in self.constants)]
        graph = b"".join([*out, field(11, ends[0]), field(12, ends[1])])
        return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def convert(data: bytes) -> bytes:
    """The ONNX file for the bytes of the .dat."""
    mean, size, layers = read_network(data)
    graph = Graph()
    level = graph.add("Sub", "rgb", graph.constant(np.array(mean, np.float32).reshape(3, 1, 1)))
    x = graph.add("Mul", level, graph.constant(np.array(1 / 256, np.float32)))
    shape = [3, *size]  # channels, rows, columns of x
    start = other = (x, shape)

    def slide(kind: str, numbers: list[int], channels: int, *weights: str) -> tuple[str, list[int]]:
        """A convolution or pooling of x; dlib rounds the number of steps down, as ONNX does."""
        window, stride, pad = numbers[0:2], numbers[2:4], numbers[4:6]
        steps = [(n + 2 * p - w) // s + 1 for n, w, s, p in zip(shape[1:], window, stride, pad, strict=True)]
        output = graph.add(kind, x, *weights, kernel_shape=window, strides=stride, pads=pad * 2)
        return output, [channels, *steps]

    def grow(value: str, have: list[int], want: list[int]) -> str:
        """Zeros after the last channel, row and column."""
        more = [b - a for a, b in zip(have, want, strict=True)]
        if not any(more):
            return value
        return graph.add("Pad", value, graph.constant(np.array([0] * 5 + more, np.int64)))

    for (name, numbers), above in zip(layers, [*layers[1:], ("", [])], strict=True):
        if name == "tag":  # a block starts
            start = other = x, shape
        elif name == "shortcut":  # the block is done: back to its start
            other, (x, shape) = (x, shape), start
        elif name == "con_4":  # an affine always follows: fold it in
            gamma, beta = above[1][0].reshape(2, -1)
            filters = numbers[1]
            count = numbers[0].size - filters
            window = numbers[2:4]
            weight = numbers[0].ravel()[:count].reshape(filters, -1, *window) * gamma.reshape(-1, 1, 1, 1)
            bias = numbers[0].ravel()[count:] * gamma + beta
            x, shape = slide("Conv", numbers[2:8], filters, graph.weight(weight, 0), graph.constant(bias))
        elif name == "relu_":
            x = graph.add("Relu", x)
        elif name == "avg_pool_2" and numbers[0] == 0:
            x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
        elif name in ("max_pool_2", "avg_pool_2"):
            x, shape = slide("MaxPool" if name == "max_pool_2" else "AveragePool", numbers, shape[0])
        elif name == "add_prev_":  # what is smaller counts as zero beyond its end
            both = [max(pair) for pair in zip(shape, other[1], strict=True)]
            x, shape = graph.add("Add", grow(x, shape, both), grow(*other, both)), both
        elif name == "fc_2":
            x = graph.add("MatMul", x, graph.weight(numbers[2][:, :, 0, 0], 1))
    return graph.model(x, (end_message("rgb", ["n", 3, *size]), end_message("face", ["n", 128])))


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(convert(Path(sys.argv[1]).read_bytes()))
