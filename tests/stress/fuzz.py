"""Bad bytes: altered images for the receiver's decoder, until the time or the number is reached.

Without ``--live`` the native reader runs over a heap of its own, under the address and undefined-behaviour sanitizers,
guided by coverage when there is clang++. With ``--live`` JVMs of every kind land altered images and verify their heaps.
What crashed stays in build/fuzz. Exit status 1 when anything did.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from skyway_py import JdkNotFound, find_jdk
from tests.jvm.jvms import VERIFY
from tests.jvm.load import VARIANTS

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "jvm-agent" / "core"
WORK = ROOT / "build" / "fuzz"
SANITIZED = ["-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
FLAGS = {"serial": "-XX:+UseSerialGC", "parallel": "-XX:+UseParallelGC", "g1": "-XX:+UseG1GC"}
#: Images that one JVM lands before another seed gets a new one.
ROUND = 20_000


@dataclass
class Totals:
    runs: int = 0
    seconds: float = 0.0
    seed: int = 0
    crashes: int = 0
    refused: int = 0
    accepted: int = 0


def _say(text: str) -> None:
    print(f"skyway: {text}", file=sys.stderr, flush=True)


def _compile(compiler: str | None, name: str, flags: list[str]) -> Path:
    WORK.mkdir(parents=True, exist_ok=True)
    program = WORK / name
    sources = [CORE / "src/test/cpp/reader_fuzz.cpp", *sorted((CORE / "src/main/cpp").glob("*.cpp"))]
    flags = ["-std=c++17", "-g", "-O2", "-Wall", "-Wextra", "-Werror", *flags, *map(str, sources), "-o", str(program)]
    environment = os.environ if compiler is None else {**os.environ, "CXX": compiler}
    command = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "build.py"), "--cxx", *flags],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    _say(f"compiling {name} with {command[0]}")
    subprocess.run(command, check=True, stdout=sys.stderr)
    return program


def _native(seconds: float | None, runs: int | None, seed: int) -> Totals:
    clang = shutil.which("clang++")
    totals = Totals(seed=seed)
    started = time.monotonic()
    if clang is None:
        program = _compile(None, "reader_fuzz", SANITIZED)
        # The plain driver counts, and knows nothing of time: some 1,000 runs a second.
        command = [str(program), f"-runs={runs or int((seconds or 60) * 1000)}", f"-seed={seed}"]
    else:
        corpus = WORK / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        subprocess.run([str(_compile(clang, "corpus_writer", [])), f"-write={corpus}"], check=True)
        guided = ["-DSKYWAY_LIBFUZZER", *SANITIZED, "-fsanitize=fuzzer"]
        command = [str(_compile(clang, "reader_fuzz", guided)), "-max_len=65536", "-len_control=0", "-timeout=20"]
        # libFuzzer takes 0 for a seed of its own choice.
        command += [f"-seed={seed or 1}", f"-artifact_prefix={WORK}/", "-rss_limit_mb=3072", str(corpus)]
        command += [f"-runs={runs}"] if runs is not None else []
        command += [f"-max_total_time={int(seconds)}"] if seconds is not None else []
    log = WORK / "native.log"
    with log.open("w") as out:
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=WORK, check=False).returncode
    text = log.read_text(errors="replace")
    counted = re.findall(r"^skyway: runs (\d+) accepted (\d+) refused (\d+)$", text, flags=re.MULTILINE)
    if counted:
        totals.runs, totals.accepted, totals.refused = map(int, counted[-1])
    else:
        totals.runs = max(map(int, re.findall(r"^#(\d+)", text, flags=re.MULTILINE)), default=0)
    if status != 0:
        totals.crashes = 1
        _say("\n".join(text.splitlines()[-60:]))
        _say(f"the reader crashed: {log}")
    totals.seconds = round(time.monotonic() - started, 1)
    return totals


def _live_round(java: Path, flags: list[str], images: int, seed: int, totals: Totals) -> None:
    log = WORK / "live.log"
    command = [str(java), *flags, "-Xmx128m", *VERIFY, "-XX:+ErrorFileToStdout", "-Djdk.attach.allowAttachSelf=true"]
    command += ["-XX:+EnableDynamicAgentLoading", "-cp", f"{WORK}/live/classes:{WORK}/live/test-classes"]
    command += ["io.skyway.core.BadBytes", f"{WORK}/live/libskyway.so", str(images), str(seed)]
    with log.open("w") as out:
        # An image takes a millisecond; one that never ends is a failure too.
        status = subprocess.run(
            command, stdout=out, stderr=subprocess.STDOUT, check=False, timeout=120 + images / 20
        ).returncode
    text = log.read_text(errors="replace")
    found = re.findall(r'^\{"images": .*\}$', text, flags=re.MULTILINE)
    if status == 0 and found:
        result = json.loads(found[-1])
        totals.runs += result["images"]
        totals.refused += result["refused"]
        totals.accepted += result["landed"]
    else:
        totals.crashes += 1
        kept = WORK / f"live-{seed}.log"
        shutil.copyfile(log, kept)
        _say("\n".join(text.splitlines()[-60:]))
        _say(f"a JVM failed: {kept}")


def _live(seconds: float | None, runs: int | None, seed: int) -> Totals:
    WORK.mkdir(parents=True, exist_ok=True)
    matrix: list[tuple[Path, list[str], str]] = []
    for feature in (17, 25):
        try:
            java = find_jdk(feature).home / "bin" / "java"
        except JdkNotFound:
            _say(f"no JDK {feature} was found: left out")
            continue
        for name, flag in FLAGS.items():
            for variant in VARIANTS.get(feature, [[]]):
                matrix.append((java, [flag, *variant], f"JDK {feature} {name} {' '.join(variant)}"))
    build = ROOT / "scripts" / "build.py"
    home = subprocess.run(
        [sys.executable, str(build), "--build-jdk"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    maven = [os.environ.get("MVN", "mvn"), "--batch-mode", "--quiet", "-f", str(ROOT / "jvm-agent/pom.xml")]
    subprocess.run(
        [*maven, "-pl", "core", "-am", "test-compile"],
        env={**os.environ, "JAVA_HOME": home},
        stdout=sys.stderr,
        check=True,
    )
    # Copies: whoever builds meanwhile does not pull the classes from under a JVM.
    shutil.rmtree(WORK / "live", ignore_errors=True)
    for classes in ("classes", "test-classes"):
        shutil.copytree(CORE / "target" / classes, WORK / "live" / classes)
    shutil.copyfile(ROOT / "skyway_py/_lib/libskyway.so", WORK / "live/libskyway.so")
    totals = Totals(seed=seed)
    rng = random.Random(seed)
    started = time.monotonic()
    over: Callable[[], bool] = lambda: (  # noqa: E731
        (runs is not None and totals.runs >= runs)
        or (seconds is not None and time.monotonic() - started >= seconds)
        or totals.crashes > 0
    )
    while not over():
        for java, flags, name in matrix:
            if over():
                break
            # A small number is shared out too, so that every JVM of the matrix gets its part.
            images = ROUND if runs is None else min(ROUND, runs - totals.runs, -(-runs // len(matrix)))
            _live_round(java, flags, images, rng.randrange(1 << 31), totals)
            _say(f"{name}: {totals.runs} images so far, {totals.accepted} landed")
    totals.seconds = round(time.monotonic() - started, 1)
    return totals


@click.command()
@click.option("--seconds", type=float, default=None, help="Stops after this time; default 60 when --runs is not given.")
@click.option("--runs", type=int, default=None, help="Stops after so many images.")
@click.option("--seed", type=int, default=None, help="Replays the choices of an earlier run.")
@click.option("--live", is_flag=True, help="In JVMs of every release, collector and layout, with heap verification.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def main(seconds: float | None, runs: int | None, seed: int | None, live: bool, output: str) -> None:
    """Altered, cut, reordered, replayed and grown images for the receiver's decoder."""
    chosen = random.SystemRandom().randrange(1, 1 << 31) if seed is None else seed
    _say(f"seed {chosen}")
    if seconds is None and runs is None:
        seconds = 60.0
    try:
        totals = (_live if live else _native)(seconds, runs, chosen)
    except subprocess.CalledProcessError as error:
        _say(f"{error.cmd[0]} failed with status {error.returncode}: its errors are above")
        sys.exit(1)
    if output == "json":
        print(json.dumps(asdict(totals)))
    else:
        for name, value in asdict(totals).items():
            print(f"{name:9} {value}")
    sys.exit(0 if totals.crashes == 0 and totals.runs > 0 else 1)


if __name__ == "__main__":
    main()
