"""Models and galleries on disk: safetensors with a JSON header, checked on the way in. Never pickle.

A file holds one dataclass. Its arrays lie in the safetensors part under dotted names ("texture.basis.modes"); all
else lies in the header as JSON. Arrays named `modes` may be kept small: int8 with one float32 scale a row, each
row as differences from entry to entry, deflated in blocks of rows that are inflated side by side. Neighbouring
pixels are alike, so that takes a seventh of the room. Some other arrays may be kept as float16. Such a model is
read back in its own types, and saved and read again it stays the same to the bit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import types
import typing
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from elsewho.errors import BadModel
from elsewho.media.files import write_atomically
from elsewho.types import Array

FORMAT = 1
MOST_BYTES = 4 << 30
T = TypeVar("T")
_INT8, _HALF = "int8-rows", "half"


def write(path: Path | str, thing: Any, kind: str, *, small: bool = False, overwrite: bool = False) -> None:
    """Write a dataclass to `path`; `small` keeps modes as int8 and other floats as float16."""
    write_atomically(Path(path), to_bytes(thing, kind, small=small), overwrite=overwrite)


def to_bytes(thing: Any, kind: str, *, small: bool = False) -> bytes:
    """The bytes of the file that holds the dataclass `thing`."""
    arrays: dict[str, Array] = {}
    packed: dict[str, dict[str, Any]] = {}
    tree = _take_apart(thing, "", arrays)
    stored: dict[str, Array] = {}
    for name, array in arrays.items():
        if small and name.rpartition(".")[2] == "modes" and array.dtype.kind == "f":
            stored[name], stored[name + ":scale"], how = _pack_rows(array)
            packed[name] = {"as": _INT8, "type": array.dtype.name, **how}
        elif small and name.rpartition(".")[2] in HALF_FIELDS and array.dtype.kind == "f":
            stored[name] = np.ascontiguousarray(array, np.float16)
            packed[name] = {"as": _HALF, "type": array.dtype.name}
        else:
            stored[name] = np.ascontiguousarray(array)
    header = {
        "format": FORMAT,
        "kind": kind,
        "tree": tree,
        "packed": packed,
        "sha256": _digest(stored),
    }
    return save(stored, {"elsewho": json.dumps(header, sort_keys=True, separators=(",", ":"))})


BLOCK = 16  # rows that are deflated together
HALF_FIELDS = frozenset({"factor", "vectors"})  # large, and no exactness is lost that anybody could see


def read(path: Path | str, kind: str, cls: type[T]) -> T:
    """Read what `write` wrote; refuses a file that is truncated, changed, foreign or newer, by name."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise BadModel(f"{path} has {size} bytes; {kind} files of elsewho stay under {MOST_BYTES}.")
        data = path.read_bytes()
    except OSError as error:
        raise BadModel(f"{path} cannot be read as a {kind}: {error.strerror}. Check the path.") from error
    return from_bytes(data, kind, cls, str(path))


def from_bytes(data: bytes, kind: str, cls: type[T], name: str) -> T:
    """The dataclass in the bytes of a file called `name`."""
    header = _header(data, kind, name)
    try:
        stored = {key: _as_array(value) for key, value in deserialize(data)}  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError, KeyError) as error:
        raise BadModel(f"{name} is damaged or cut short ({error}). Fetch or make it again.") from error
    if header.get("sha256") != _digest(stored):
        raise BadModel(f"{name} was changed since it was made: its checksum does not match. Fetch or make it again.")
    try:
        for key, how in header["packed"].items():
            if how["as"] == _INT8:
                stored[key] = _unpack_rows(stored[key], stored.pop(key + ":scale"), how)
            else:
                stored[key] = stored[key].astype(how["type"])
        for array in stored.values():
            array.flags.writeable = False
        thing = _put_together(cls, header["tree"], "", stored)
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise BadModel(f"{name} is not a {kind} that this version reads ({error!r}). Make it again.") from error
    return typing.cast(T, thing)


def sha256_of(path: Path | str) -> str:
    """The hash of a file, as reports name models by it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def to_int8(rows: Array) -> tuple[Array, Array]:
    """Rows (m, d) as int8 (m, d) and float32 scales (m,); the largest entry of a row is kept exactly."""
    scale = (np.abs(rows).max(axis=-1) / 127).astype(np.float32)
    safe = np.where(scale > 0, scale, 1)
    return np.round(rows / safe[..., None]).astype(np.int8), scale


def _pack_rows(rows: Array) -> tuple[Array, Array, dict[str, Any]]:
    """Rows (m, d) as deflated bytes, their scales (m,), and what is needed to read them."""
    small, scale = to_int8(rows.reshape(len(rows), -1))
    steps = np.diff(small, axis=1, prepend=np.int8(0))  # int8 wraps around, and back again when they are added up
    blocks = [zlib.compress(steps[i : i + BLOCK].tobytes(), 6) for i in range(0, len(steps), BLOCK)]
    how = {"shape": list(rows.shape), "blocks": [len(block) for block in blocks]}
    return np.frombuffer(b"".join(blocks), np.uint8), scale, how


def _unpack_rows(data: Array, scale: Array, how: Mapping[str, Any]) -> Array:
    """The inverse of `_pack_rows`."""
    m, *rest = how["shape"]
    rows = np.empty((m, int(np.prod(rest))), how["type"])
    ends = np.cumsum(how["blocks"])

    def inflate(number: int) -> None:
        block = data[ends[number] - how["blocks"][number] : ends[number]]
        first = number * BLOCK
        here = rows[first : first + BLOCK]
        steps = np.frombuffer(zlib.decompress(block.tobytes()), np.int8).reshape(here.shape)
        np.multiply(np.cumsum(steps, axis=1, dtype=np.int8), scale[first : first + BLOCK, None], out=here)

    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        list(pool.map(inflate, range(len(ends))))
    return rows.reshape(how["shape"])


def _header(data: bytes, kind: str, name: str) -> dict[str, Any]:
    remedy = f"Pass a {kind} file made by elsewho."
    if len(data) < 8:
        raise BadModel(f"{name} has {len(data)} bytes: it is empty or cut short. Fetch or make it again.")
    length = int.from_bytes(data[:8], "little")
    if length > len(data) - 8 and data[8:9] == b"{":
        raise BadModel(f"{name} is cut short: its header alone has {length} bytes. Fetch or make it again.")
    try:
        meta = json.loads(data[8 : 8 + length])["__metadata__"]["elsewho"] if length <= len(data) - 8 else None
        header = json.loads(meta) if meta is not None else None
    except (ValueError, KeyError, TypeError):
        header = None
    if not isinstance(header, dict):
        raise BadModel(f"{name} was not made by elsewho: it is no safetensors file with our header. {remedy}")
    if not isinstance(header.get("format"), int) or header["format"] > FORMAT:
        raise BadModel(
            f"{name} has format {header.get('format')}; this version reads formats up to {FORMAT}. Update elsewho."
        )
    if header.get("kind") != kind:
        raise BadModel(f"{name} holds a {header.get('kind')}, asked was a {kind}. {remedy}")
    return header


_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
_DTYPES |= {"BOOL": "|b1", "I16": "<i2", "U16": "<u2"}


def _as_array(value: Mapping[str, Any]) -> Array:
    return np.frombuffer(value["data"], _DTYPES[value["dtype"]]).reshape(value["shape"]).copy()


def _digest(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}|{arrays[name].dtype.str}|{arrays[name].shape}|".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def _take_apart(thing: Any, at: str, arrays: dict[str, Array]) -> Any:
    """JSON for `thing`; its arrays go to `arrays` under their dotted names and leave their name behind."""
    if isinstance(thing, np.ndarray):
        arrays[at] = thing
        return {"array": at}
    if dataclasses.is_dataclass(thing):
        fields = {}
        for f in dataclasses.fields(thing):
            fields[f.name] = _take_apart(getattr(thing, f.name), f"{at}.{f.name}" if at else f.name, arrays)
        return {"is": fields}
    if isinstance(thing, tuple | list):
        return [_take_apart(part, f"{at}.{i}", arrays) for i, part in enumerate(thing)]
    if isinstance(thing, Mapping):
        return {"map": {str(key): _take_apart(value, f"{at}.{key}", arrays) for key, value in thing.items()}}
    if isinstance(thing, np.generic):
        return thing.item()
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    raise TypeError(f"{at}: a {type(thing).__name__} cannot be stored")


def _put_together(wanted: Any, tree: Any, at: str, arrays: Mapping[str, Array]) -> Any:
    """The inverse of `_take_apart`, led by the type hints of the dataclasses."""
    if isinstance(tree, dict) and "array" in tree:
        return arrays[tree["array"]]
    if isinstance(tree, dict) and "is" in tree:
        cls = _dataclass_in(wanted)
        hints = _hints(cls)
        if unknown := set(tree["is"]) - set(hints):
            raise ValueError(f"{at or cls.__name__} has unknown fields {sorted(unknown)}")
        return cls(**{key: _put_together(hints[key], value, key, arrays) for key, value in tree["is"].items()})
    if isinstance(tree, dict) and "map" in tree:
        inner = (typing.get_args(wanted) or (str, Any))[-1]
        return {key: _put_together(inner, value, key, arrays) for key, value in tree["map"].items()}
    if isinstance(tree, list):
        inner = (typing.get_args(wanted) or (Any,))[0]
        return tuple(_put_together(inner, value, at, arrays) for value in tree)
    return tree


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _dataclass_in(wanted: Any) -> Any:
    """The dataclass of an annotation such as `Basis`, `Basis | None` or `tuple[Level, ...]`."""
    options = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    found = [option for option in options if dataclasses.is_dataclass(option)]
    if len(found) != 1:
        raise ValueError(f"no dataclass is expected where the file holds one ({wanted})")
    return found[0]
