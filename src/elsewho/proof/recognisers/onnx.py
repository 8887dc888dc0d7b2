"""A recogniser of one's own: an ONNX network, and a small JSON file beside it that says what it wants to see."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np

from elsewho.aam.procrustes import similarity
from elsewho.errors import BadInput, MissingPart
from elsewho.media.files import show_name
from elsewho.types import Array

EXAMPLE = Path(__file__).with_name("faceres.json")
# Five marks by points of the 468-point mesh: the middle of each eye, the tip of the nose, the corners of the mouth.
MARKS = ((33, 133), (362, 263), (1,), (61,), (291,))
NEEDED = ("size", "channels", "mean", "scale", "layout", "output", "align")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a face is brought before the network."""

    size: int  # pixels of the square's side
    channels: Literal["RGB", "BGR"]
    mean: tuple[float, ...]  # taken off R, G, B
    scale: float  # then multiplied
    layout: Literal["NHWC", "NCHW"]
    output: str  # its name; "" for the first
    align: Array  # (5, 2) x, y in pixels of the square: eyes as seen left to right, nose, corners of the mouth


def read_settings(path: Path) -> Settings:
    """The settings in a JSON file."""
    where = show_name(path)
    if not path.is_file():
        raise BadInput(
            f"{where} is not there; it says how faces are prepared for the network: {', '.join(NEEDED)}. "
            f"Copy {EXAMPLE.name} from the package and adapt it."
        )
    try:
        said = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise BadInput(f"{where} cannot be read as JSON: {error}. Correct it.") from None
    if not isinstance(said, dict) or (missing := [name for name in NEEDED if name not in said]):
        lacking = ", ".join(missing) if isinstance(said, dict) else "everything"
        raise BadInput(f"{where} needs {', '.join(NEEDED)}; it lacks {lacking}. Add it.")
    try:
        found = Settings(
            int(said["size"]),
            said["channels"],
            tuple(float(one) for one in said["mean"]),
            float(said["scale"]),
            said["layout"],
            str(said["output"]),
            np.asarray(said["align"], float),
        )
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: {error}. Compare it with {EXAMPLE.name} in the package.") from None
    good = found.channels in ("RGB", "BGR") and found.layout in ("NHWC", "NCHW") and len(found.mean) == 3
    if not good or found.align.shape != (5, 2) or not 16 <= found.size <= 1024:
        raise BadInput(
            f"{where}: channels must be RGB or BGR, layout NHWC or NCHW, mean three numbers, align five pairs, and "
            f"size 16 to 1024. Compare it with {EXAMPLE.name} in the package."
        )
    return found


class OnnxRecogniser:
    """Turns faces into vectors of unit length: the nearer two, the likelier one person."""

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self.name = path.stem
        if not path.is_file():
            raise BadInput(f"the recogniser {show_name(path)} is not there. Check the path.")
        beside, packaged = path.with_suffix(".json"), EXAMPLE.with_name(path.stem + ".json")
        self.settings = read_settings(packaged if packaged.is_file() and not beside.is_file() else beside)
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingPart(
                "a recogniser runs in onnxruntime, which is missing. Run: pip install onnxruntime"
            ) from error
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        options.log_severity_level = 4
        try:
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors share no narrower root
            raise BadInput(f"{show_name(path)} cannot be loaded as an ONNX network: {error}") from None
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = self.settings.output or outputs[0]
        if self._output not in outputs:
            raise BadInput(
                f"{show_name(path)} has the outputs {', '.join(outputs)}, not {self._output}. Correct its JSON."
            )
        self._input = self._session.get_inputs()[0].name

    def embed(self, image: Array, points: Array) -> Array:
        """(e,) float32 of unit length for the face in `image` (H, W, 3) uint8 RGB at `points` (468, 2 or 3)."""
        said = self.settings
        square = cut_aligned(image, points, said.align, said.size).astype(np.float32)
        square = (square - np.asarray(said.mean, np.float32)) * np.float32(said.scale)
        if said.channels == "BGR":
            square = square[..., ::-1]
        if said.layout == "NCHW":
            square = square.transpose(2, 0, 1)
        found = self._session.run([self._output], {self._input: np.ascontiguousarray(square[None])})[0]
        vector = np.asarray(found, np.float32).ravel()
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))


def cut_aligned(image: Array, points: Array, align: Array, size: int) -> Array:
    """The square (size, size, 3) uint8 in which five marks of the face stand nearest to `align` (5, 2)."""
    marks = np.stack([points[list(one), :2].mean(axis=0) for one in MARKS])
    found = similarity(marks, align)
    turn = np.column_stack([found.scale * found.turn, found.move])
    border: Any = cv2.BORDER_REPLICATE
    return np.asarray(cv2.warpAffine(image, turn, (size, size), flags=cv2.INTER_AREA, borderMode=border))
