"""Builds the Java part and the native engine when a wheel is made, and puts them inside the package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SkywayBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs scripts/build.py for wheels, editable ones too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is not up to date and sets the wheel's tag.

        :raises SystemExit: a tool is missing or the build failed; the message says which and what to do.
        """
        if self.target_name != "wheel":
            return
        build = _load_build(Path(self.root))
        try:
            build.build()
        except build.BuildError as error:
            sys.exit(f"skyway: {error}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build.wheel_platform()}"


def _load_build(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("skyway_build", root / "scripts" / "build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
