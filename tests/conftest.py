"""What all tests share: a private state directory, so that no test meets a user's orchestrator."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SKYWAY_STATE_DIR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SKYWAY_STATE_DIR", str(tmp_path / "state"))
