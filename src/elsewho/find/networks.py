"""The networks that the wheel embeds: where they lie, how they are loaded, whether they are the right ones.

weights.json names each file with its source and SHA-256; hatch_build.py puts the files there when elsewho
is built.  Runtimes are imported on first use, so importing elsewho stays fast.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elsewho.errors import MissingPart
from elsewho.types import Array

FOLDER = Path(__file__).with_name("weights")
REPAIR = "Run: pip install --force-reinstall --no-deps elsewho (in a checkout: pip install -e .)."


def read_manifest() -> dict[str, dict[str, Any]]:
    """What weights.json says of each file, by its name."""
    text = Path(__file__).with_name("weights.json").read_text(encoding="utf-8")
    files: dict[str, dict[str, Any]] = json.loads(text)["files"]
    return files


def find_weights(name: str) -> Path:
    """The path of an embedded file."""
    path = FOLDER / name
    if not path.is_file():
        raise MissingPart(f"elsewho needs the network {name}; {FOLDER} does not hold it. {REPAIR}")
    return path


def check_weights() -> dict[str, str]:
    """What is wrong with each embedded file, by its name; empty where it is right. For `elsewho doctor`."""
    found = {}
    for name, entry in read_manifest().items():
        path = FOLDER / name
        if not path.is_file():
            found[name] = f"{path} is not there. {REPAIR}"
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        wrong = digest != entry["sha256"]
        found[name] = f"{path} has SHA-256 {digest}, not {entry['sha256']}. {REPAIR}" if wrong else ""
    return found


class OnnxNetwork:
    """An embedded ONNX network in onnxruntime; may be called from several threads at once."""

    def __init__(self, name: str, threads: int = 1) -> None:
        path = find_weights(name)
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingPart(
                f"{name} runs in onnxruntime, which is not installed. Run: pip install onnxruntime."
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors share no narrower root
            raise _damaged(path, error) from error
        self._input = self._session.get_inputs()[0].name

    def __call__(self, values: Array) -> list[Array]:
        """All outputs for a float32 array of the network's own shape."""
        values = np.ascontiguousarray(values, np.float32)
        outputs: list[Array] = self._session.run(None, {self._input: values})
        return outputs


class LiteNetwork:
    """An embedded TFLite network in LiteRT; calls from several threads wait for each other."""

    def __init__(self, name: str, threads: int = 1) -> None:
        path = find_weights(name)
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise MissingPart(
                f"{name} runs in LiteRT, which is not installed. Run: pip install ai-edge-litert."
            ) from error
        self._lock = threading.Lock()
        try:
            with _quiet():
                self._interpreter = Interpreter(model_path=str(path), num_threads=threads)
                self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            raise _damaged(path, error) from error
        self._input = self._interpreter.get_input_details()[0]["index"]
        self._outputs = [detail["index"] for detail in self._interpreter.get_output_details()]

    def __call__(self, values: Array) -> list[Array]:
        """All outputs for a float32 array of the network's own shape."""
        with self._lock:
            self._interpreter.set_tensor(self._input, np.ascontiguousarray(values, np.float32))
            self._interpreter.invoke()
            return [self._interpreter.get_tensor(index) for index in self._outputs]


def _damaged(path: Path, error: Exception) -> MissingPart:
    return MissingPart(f"elsewho needs the network {path.name}; {path} cannot be loaded ({error}). {REPAIR}")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep LiteRT's note about its delegate, which no setting turns off, from standard error."""
    try:
        kept = os.dup(2)
    except OSError:  # standard error is closed: nothing can be printed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
