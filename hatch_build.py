"""The build hook: whatever is built of elsewho, wheel (editable too) or sdist, embeds its networks.

All the work is in tools/embed_weights.py.  An sdist carries the networks: building from it downloads
nothing.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Puts the networks into src/elsewho/find/weights and has them packed although git ignores them."""

    def dependencies(self) -> list[str]:
        """What fetching needs: nothing where all networks are there."""
        tool = self._load_tool()
        missing = tool.find_missing(tool.read_manifest(), tool.FIND / "weights")
        return ["numpy>=1.26", "pip>=23"] if missing else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Runs before anything is packed."""
        tool = self._load_tool()
        try:
            embedded = tool.embed_here()
        except tool.WeightsError as error:
            raise SystemExit(f"elsewho was not built: {error}") from None
        if embedded:
            self.app.display_info(f"Embedded {', '.join(embedded)}")
        build_data["artifacts"] += [f"/src/elsewho/find/weights/{name}" for name in tool.read_manifest()["files"]]

    def _load_tool(self) -> ModuleType:
        path = Path(self.root) / "tools" / "embed_weights.py"
        spec = importlib.util.spec_from_file_location("embed_weights", path)
        if spec is None or spec.loader is None:
            raise SystemExit(f"elsewho was not built: {path} is missing. Restore it.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
