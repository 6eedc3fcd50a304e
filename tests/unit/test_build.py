"""scripts/build.py: builds what has changed and nothing else, and names every tool that is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from scripts import build

BUILD = Path(build.__file__)


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> build.Step:
    for name in ("LIB", "STAMPS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(build, name, tmp_path / name)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    source = tmp_path / "source"
    source.write_text("one")

    def make() -> Iterable[Path]:
        made = tmp_path / "made"
        made.write_text(source.read_text().upper())
        return [made]

    return build.Step("thing", ("made",), (source,), "-O3", make)


def _again(step: build.Step, options: str | None = None) -> build.Step:
    return build.Step(step.name, step.outputs, step.inputs, options or step.options, step.make)


def test_is_built_once(step: build.Step) -> None:
    assert not step.is_current()
    step.run()
    assert _again(step).is_current()
    assert (build.LIB / "made").read_text() == "ONE"


def test_is_stale_when_an_input_an_option_or_an_output_changes(step: build.Step) -> None:
    step.run()
    assert not _again(step, "-O2").is_current()
    (build.LIB / "made").unlink()
    assert not _again(step).is_current()
    _again(step).run()
    step.inputs[0].write_text("two")
    assert not _again(step).is_current()
    _again(step).run()
    assert (build.LIB / "made").read_text() == "TWO"


def test_failed_build_is_no_build(step: build.Step) -> None:
    step.run()
    step.inputs[0].write_text("two")

    def fail() -> Iterable[Path]:
        raise build.BuildError("on purpose")

    with pytest.raises(build.BuildError):
        build.Step(step.name, step.outputs, step.inputs, step.options, fail).run()
    assert not _again(step).is_current()


def test_all_missing_tools_are_named_in_one_line(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(BUILD.parent)!r}); import build; build.discover_jdks = lambda: []; "
    done = subprocess.run(
        [sys.executable, "-c", code + "build.require_tools()"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    for word in ("javac", "openjdk-17-jdk-headless", "Maven", "apt-get install maven", "apt-get install g++"):
        assert word in last
    listed = subprocess.run(
        [sys.executable, "-c", code + "print(build.missing())"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert listed.stdout.strip() == str(["openjdk-17-jdk-headless", "maven", "g++"])


def test_wheel_platform_is_a_tag() -> None:
    assert build.wheel_platform().startswith("linux_")
    assert "-" not in build.wheel_platform()
