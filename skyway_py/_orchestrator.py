"""The orchestrator: JVMs, the links between them, and transfers. The only thing that a script needs."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from skyway_py import _paths as paths
from skyway_py._compare import run_comparison
from skyway_py._comparison import Comparison, ComparisonHook, expand_serializers
from skyway_py._embed import EmbeddedJvm
from skyway_py._errors import InvalidRequest, UnknownJvm
from skyway_py._html import table
from skyway_py._jdk import Jdk
from skyway_py._joining import Joining
from skyway_py._jvm import Jvm, Root
from skyway_py._link import Link
from skyway_py._names import checked_jvm_name, split_source, split_target
from skyway_py._server import ControlServer
from skyway_py._transfer import RunningTransfer
from skyway_py._transfer_result import SKYWAY, ProgressHook, TransferResult

_open: weakref.WeakSet[Orchestrator] = weakref.WeakSet()


class Orchestrator:
    """Launches and attaches JVMs and moves object graphs between their heaps.

    A context manager: leaving it ends every JVM that it launched, and detaches from the others::

        with Orchestrator() as skyway:
            skyway.launch("left", workload="catalog")
            skyway.launch("right")
            print(skyway.transfer("left:catalog", "right", verify=True).total_ms)

    Methods may be called from several threads. The JVMs also end when this process is killed.
    """

    def __init__(self) -> None:
        self.run_directory = paths.make_run_directory()
        self._token = secrets.token_hex(32)
        self._lock = threading.RLock()
        self._jvms: dict[str, Jvm] = {}
        self._reserved: set[str] = set()
        self._links: dict[tuple[str, str, str], Link] = {}
        self._closed = False
        try:
            self._server = ControlServer(self._token)
        except BaseException:
            shutil.rmtree(self.run_directory, ignore_errors=True)
            raise
        self._joining = Joining(self._server, self._token, self.run_directory)
        _open.add(self)

    # JVMs

    def launch(
        self,
        name: str,
        *,
        java: str | Path | None = None,
        jdk: int | str | Path | Jdk | None = None,
        collector: str | None = None,
        heap: str | None = None,
        workload: str | None = None,
        size: int = 0,
        seed: int = 0,
        root: str = "",
        java_args: Sequence[str] = (),
        app: Sequence[str] = (),
        directory: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> Jvm:
        """Starts a JVM with the agent, and waits until the agent is ready.

        :param name: how it is called from now on.
        :param java: an executable to use as it is; else the launcher of `jdk`.
        :param jdk: a feature release (17), the beginning of a version, a home directory or a Jdk; None: the default.
        :param collector: serial, parallel or g1 (others start, but the engine refuses them); None: Java's choice.
        :param heap: the largest heap, e.g. "2g"; None: Java's choice.
        :param workload: a workload of the bench module to build and publish; only without `app`.
        :param size: of the workload, in its own unit; 0: its default.
        :param root: the published name; empty: the workload's.
        :param java_args: flags for the JVM.
        :param app: class path, main class and arguments, such as ["-cp", "app.jar", "com.acme.Main"]; empty: an idle
            application that waits until it is told to end.
        :param directory: working directory; None: this process's.
        :param environment: the whole environment; None: this process's.
        :param timeout: seconds until the agent must be ready.
        :raises LaunchError: the JVM or its agent did not start; quotes the JVM's last output.
        :raises JdkNotFound: no JDK fits.
        :raises InvalidRequest: the name is taken, or an argument makes no sense.
        """
        if workload and app:
            raise InvalidRequest("a workload needs the idle application: leave out the workload, or the application")
        with self._reserve(name):
            plan = self._joining.plan(
                java=java,
                jdk=jdk,
                collector=collector,
                heap=heap,
                java_args=java_args,
                app=app,
                directory=directory,
                environment=environment,
            )
            jvm = self._joining.launch(name, plan, timeout)
            try:
                if workload:
                    jvm.build_workload(workload, size=size, root=root, seed=seed)
                self._add(jvm)
            except BaseException:
                self._end(jvm, grace=0.0)
                raise
            return jvm

    def attach(self, pid: int, name: str | None = None, *, timeout: float = 60.0) -> Jvm:
        """Loads the agent into a JVM that already runs. It stays when the orchestrator ends.

        :param name: how it is called from now on; None: "jvm-PID".
        :param timeout: seconds until the agent must be ready.
        :raises AttachError: no such process, another user's, no JVM, or it does not load agents.
        :raises InvalidRequest: the name is taken, or the JVM is already here.
        """
        self._refuse_known(pid)
        with self._reserve(name or f"jvm-{pid}") as chosen:
            jvm = self._joining.attach(chosen, pid, timeout)
            self._add(jvm)
            return jvm

    def embed(
        self,
        name: str = "python",
        *,
        jdk: int | str | Path | Jdk | None = None,
        collector: str | None = None,
        heap: str | None = None,
        class_path: Sequence[str | Path] = (),
        java_args: Sequence[str] = (),
        timeout: float = 60.0,
    ) -> EmbeddedJvm:
        """Starts a JVM inside this process through JPype, so that Python can touch the objects that arrive. A JVM that
        JPype has already started is taken as it is. It stays until the process ends.

        :param class_path: jars and directories with the application's classes.
        :param timeout: seconds until the agent must be ready.
        :raises EmbedError: JPype is missing, or the JVM or its agent did not start.
        """
        self._refuse_known(os.getpid())
        with self._reserve(name):
            plan = self._joining.plan(jdk=jdk, collector=collector, heap=heap, java_args=java_args)
            jvm = self._joining.embed(name, jdk, plan, class_path, timeout)
            self._add(jvm)
            return jvm

    @property
    def jvms(self) -> dict[str, Jvm]:
        """All JVMs by name, also those that have ended by themselves and were not stopped."""
        with self._lock:
            return dict(self._jvms)

    @property
    def links(self) -> list[Link]:
        """The open links."""
        with self._lock:
            return [link for link in self._links.values() if link.is_open]

    @property
    def types_known(self) -> int:
        """How many classes the type registry knows."""
        return len(self._server.types)

    def jvm(self, name: str | Jvm) -> Jvm:
        """The JVM of that name.

        :raises UnknownJvm: there is none; the message lists those that are here.
        """
        if isinstance(name, Jvm):
            return name
        with self._lock:
            found = self._jvms.get(name)
            known = ", ".join(self._jvms) or "none"
        if found is None:
            raise UnknownJvm(f"no JVM is called '{name}' (here: {known}): launch or attach it first")
        return found

    def roots(self, name: str | Jvm) -> list[Root]:
        """The graphs that a JVM offers by name.

        :raises UnknownJvm: no such JVM.
        :raises JvmLost: it has ended or does not answer.
        """
        return self.jvm(name).roots()

    def stop(self, name: str | Jvm, *, grace: float = 5.0) -> None:
        """Ends a launched JVM; detaches from another one.

        :param grace: seconds that its shutdown hooks may take.
        :raises UnknownJvm: no such JVM.
        """
        jvm = self.jvm(name)
        with self._lock:
            self._jvms.pop(jvm.name, None)
        self._drop_links(jvm)
        self._end(jvm, grace)

    # Graphs

    def connect(self, a: str | Jvm, b: str | Jvm, transport: str | None = None) -> Link:
        """The link from `a` to `b`; opened at the first call, then the same one.

        :param transport: "shm", "tcp", or None for shared memory on the same host and else TCP.
        :raises LayoutMismatch: objects lie differently in the two JVMs.
        :raises LinkError: they cannot reach each other.
        :raises UnknownJvm: no such JVM.
        """
        sender, receiver = self.jvm(a), self.jvm(b)
        key = (sender.name, receiver.name, transport or "auto")
        with self._lock:
            link = self._links.get(key)
            if link is None or not link.is_open or link.sender is not sender or link.receiver is not receiver:
                link = self._links[key] = Link(sender, receiver, transport)
            return link

    def transfer(
        self,
        source: str,
        target: str,
        *,
        destination: str | None = None,
        verify: bool = False,
        serializer: str = SKYWAY,
        transport: str | None = None,
        timeout: float | None = 600.0,
        on_progress: ProgressHook | None = None,
    ) -> TransferResult:
        """Moves a graph from one heap into another and waits until it is visible there.

        :param source: "JVM:ROOT"; a root is a published or received name, or a static field path such as
            "com.acme.Catalog#INSTANCE.byName".
        :param target: "JVM" or "JVM:DESTINATION".
        :param destination: a name for `Skyway.take` and `Skyway.onReceive`, or a static field path; None: the root's.
        :param verify: compare digests that plain Java computes on both sides.
        :param serializer: "skyway", or a baseline such as "java" or "kryo".
        :param transport: as in connect().
        :param timeout: seconds; None: no limit.
        :param on_progress: called with a Progress now and then; an exception of it cancels the transfer.
        :raises TransferError: the graph did not arrive; one of its subclasses says why.
        :raises LinkError: the two JVMs cannot be linked.
        :raises UnknownJvm: no such JVM.
        """
        running = self.start_transfer(
            source,
            target,
            destination=destination,
            verify=verify,
            serializer=serializer,
            transport=transport,
            timeout=timeout,
        )
        return running.finish(on_progress)

    def start_transfer(
        self,
        source: str,
        target: str,
        *,
        destination: str | None = None,
        verify: bool = False,
        serializer: str = SKYWAY,
        transport: str | None = None,
        timeout: float | None = 600.0,
        max_pause_micros: int = 0,
    ) -> RunningTransfer:
        """Begins a transfer, and leaves the waiting to the caller; parameters and errors as in transfer().

        :param max_pause_micros: longest sending window in microseconds; 0: the engine's default.
        """
        sender, root = split_source(source)
        receiver, in_target = split_target(target)
        if destination is not None and in_target is not None and destination != in_target:
            raise InvalidRequest(f"two destinations: '{in_target}' in the target, and '{destination}': name one")
        return self.connect(sender, receiver, transport).start_transfer(
            root,
            destination or in_target,
            verify=verify,
            serializer=serializer,
            timeout=timeout,
            max_pause_micros=max_pause_micros,
        )

    def compare(
        self,
        source: str,
        receiver: str,
        *,
        with_: Iterable[str] = ("java", "kryo"),
        runs: int = 10,
        warmup: int = 3,
        transport: str | None = None,
        timeout: float | None = 120.0,
        on_step: ComparisonHook | None = None,
    ) -> Comparison:
        """Sends the same graph through the engine and through each serializer, over the same link, interleaved.

        :param source: "JVM:ROOT", as in transfer().
        :param with_: names of baselines; "kryo" stands for "kryo" (references on) and "kryo-tree" (off).
        :param runs: measured transfers with each one.
        :param warmup: transfers with each one before those.
        :param timeout: seconds for each single transfer.
        :param on_step: called before each one with (done, total, serializer); an exception of it ends the comparison.
        :raises SkywayError: something failed that concerns all of them; what a single serializer cannot move is in
            its result.
        """
        sender, root = split_source(source)
        link = self.connect(sender, receiver, transport)
        serializers = expand_serializers(with_)
        return run_comparison(link, root, serializers, runs=runs, warmup=warmup, timeout=timeout, on_step=on_step)

    # The end

    def close(self) -> None:
        """Ends all launched JVMs, detaches from the others. Later calls do nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            jvms = list(self._jvms.values())
            self._jvms.clear()
            self._links.clear()
        try:
            if jvms:
                with ThreadPoolExecutor(len(jvms), thread_name_prefix="skyway-close") as pool:
                    list(pool.map(lambda jvm: self._end(jvm, grace=5.0), jvms))
        finally:
            for jvm in jvms:
                if jvm.process:
                    jvm.process.kill()
            self._server.close()
            shutil.rmtree(self.run_directory, ignore_errors=True)

    def __enter__(self) -> Orchestrator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Orchestrator {'closed' if self._closed else ', '.join(self.jvms) or 'without JVMs'}>"

    def _repr_html_(self) -> str:
        infos = [jvm.info for jvm in self.jvms.values()]
        rows = [(info.name, info.state, info.pid, info.java_version, info.collector, info.engine) for info in infos]
        return table("Orchestrator", ("JVM", "state", "pid", "Java", "collector", "engine"), rows)

    def _reserve(self, name: str) -> _Reservation:
        return _Reservation(self, checked_jvm_name(name))

    def _refuse_known(self, pid: int) -> None:
        for jvm in self.jvms.values():
            if jvm.pid == pid and jvm.alive:
                raise InvalidRequest(f"JVM {pid} is already here as '{jvm.name}'")

    def _add(self, jvm: Jvm) -> None:
        with self._lock:
            if self._closed:
                raise InvalidRequest("the orchestrator was closed meanwhile")
            self._jvms[jvm.name] = jvm

    def _drop_links(self, jvm: Jvm) -> None:
        with self._lock:
            dropped = {k: link for k, link in self._links.items() if jvm in (link.sender, link.receiver)}
            for key in dropped:
                del self._links[key]
        for link in dropped.values():
            link.close()

    def _end(self, jvm: Jvm, grace: float) -> None:
        launched = jvm.process is not None
        if jvm.alive:
            jvm.shut_down(exit_jvm=launched, timeout=3.0)
        jvm.disconnect()
        if jvm.process is not None:
            jvm.process.end(grace)


class _Reservation:
    """Keeps a name while a JVM of that name is on its way."""

    def __init__(self, orchestrator: Orchestrator, name: str) -> None:
        self._orchestrator = orchestrator
        self._name = name

    def __enter__(self) -> str:
        owner = self._orchestrator
        with owner._lock:
            if owner._closed:
                raise InvalidRequest("the orchestrator is closed: make a new one")
            present = owner._jvms.get(self._name)
            if self._name in owner._reserved or (present is not None and present.alive):
                raise InvalidRequest(f"a JVM is already called '{self._name}': stop it, or choose another name")
            if present is not None:
                del owner._jvms[self._name]
            owner._reserved.add(self._name)
        return self._name

    def __exit__(self, *_: object) -> None:
        with self._orchestrator._lock:
            self._orchestrator._reserved.discard(self._name)


@atexit.register
def _close_all() -> None:
    for orchestrator in list(_open):
        orchestrator.close()
