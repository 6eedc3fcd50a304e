"""JDK discovery."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyway_py import JdkNotFound, discover_jdks, find_jdk
from skyway_py._jdk import feature_of, feature_of_java, parse_release, read_jdk
from tests.unit.conftest import make_jdk


def test_release_file() -> None:
    text = 'JAVA_VERSION="25.0.3"\nMODULES="java.base jdk.attach"\n# words\nSOURCE=".:git:1"\nODD\nPLAIN=x\n'
    assert parse_release(text) == {
        "JAVA_VERSION": "25.0.3",
        "MODULES": "java.base jdk.attach",
        "SOURCE": ".:git:1",
        "PLAIN": "x",
    }


@pytest.mark.parametrize(
    ("version", "feature"), [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("26-ea", 26), ("", None), ("x", None)]
)
def test_feature(version: str, feature: int | None) -> None:
    assert feature_of(version) == feature


def test_directories_that_are_no_jdk(tmp_path: Path) -> None:
    assert read_jdk(tmp_path / "missing") is None
    assert read_jdk(tmp_path) is None
    home = make_jdk(tmp_path / "jdk")
    assert read_jdk(home)
    (home / "release").write_text("nothing")
    assert read_jdk(home) is None


def test_order_of_discovery(tmp_path: Path) -> None:
    homes = {name: make_jdk(tmp_path / "all" / name, name) for name in ("17.0.1", "25.0.3", "21.0.2", "1.8.0_1")}
    link = tmp_path / "all" / "default"
    link.symlink_to(homes["21.0.2"])
    found = discover_jdks(
        {"JAVA_HOME": str(link), "PATH": str(homes["17.0.1"] / "bin")}, patterns=[f"{tmp_path}/all/*"]
    )
    # Each once, through whichever name it was found.
    assert [jdk.version for jdk in found] == ["21.0.2", "17.0.1", "25.0.3", "1.8.0_1"]
    assert [jdk.supported for jdk in found] == [True, True, True, False]


def test_java_on_the_path_is_followed_to_its_home(tmp_path: Path) -> None:
    home = make_jdk(tmp_path / "jdk")
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    (bin_directory / "java").symlink_to(home / "bin" / "java")
    assert [jdk.home for jdk in discover_jdks({"PATH": str(bin_directory)}, patterns=[])] == [home.resolve()]


def test_find(tmp_path: Path) -> None:
    jdks = discover_jdks({}, patterns=[f"{tmp_path}/*"])
    assert jdks == []
    for version in ("1.8.0_1", "17.0.1", "17.0.15", "25.0.3"):
        make_jdk(tmp_path / version, version)
    jdks = discover_jdks({}, patterns=[f"{tmp_path}/*"])
    assert find_jdk(17, jdks).version == "17.0.15"
    assert find_jdk("17.0.1", jdks).version == "17.0.1"
    assert find_jdk(None, jdks).version == "25.0.3"
    assert find_jdk(tmp_path / "17.0.1").version == "17.0.1"
    with pytest.raises(JdkNotFound, match=r"no JDK 21 was found \(found: JDK 25.0.3 "):
        find_jdk(21, jdks)
    with pytest.raises(JdkNotFound, match=r"no JDK 17 or newer .* install one, or set JAVA_HOME"):
        find_jdk(None, [])
    with pytest.raises(JdkNotFound, match="is not the home of a JDK"):
        find_jdk(tmp_path / "nothing")


def test_feature_of_a_launcher_without_a_home(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho '    java.specification.version = 21' >&2\n")
    java.chmod(0o700)
    assert feature_of_java(java) == 21
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)
    with pytest.raises(JdkNotFound, match="does not run"):
        feature_of_java(broken)
