"""The orchestrator: JVMs, the links between them, and transfers. The only thing that a script needs."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from skyway_py import _paths as paths
from skyway_py import _rpc as rpc
from skyway_py._compare import run_comparison
from skyway_py._comparison import Comparison, ComparisonHook, expand_serializers
from skyway_py._embed import EmbeddedJvm
from skyway_py._errors import InvalidRequest
from skyway_py._fleet import Fleet, end
from skyway_py._html import table
from skyway_py._jdk import Jdk
from skyway_py._joining import Joining
from skyway_py._jvm import Jvm, Root
from skyway_py._link import Link
from skyway_py._names import split_source, split_target
from skyway_py._server import ControlServer
from skyway_py._tls import LOOPBACK, Tls, checked_link_host
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

    def __init__(
        self, *, tls: Tls | str | Path | None = None, link_host: str = LOOPBACK, silence: float = rpc.SILENCE
    ) -> None:
        """:param tls: certificates, or the directory with them: every link is then encrypted, on the loopback address
            too, and both ends show a certificate. None: links are not encrypted.
        :param link_host: the IP address at which JVMs listen for links; without `tls` only a loopback address.
        :param silence: seconds without a sign of life, in the middle of something, after which a JVM counts as stopped.
        :raises InvalidRequest: that address is no loopback address and there is no TLS, or the directory is not one.
        :raises InstallationError: others have access to the certificates' files.
        """
        self.tls = tls if tls is None or isinstance(tls, Tls) else Tls.load(tls)
        self.link_host = checked_link_host(link_host, self.tls is not None)
        if silence < 0.1:
            raise InvalidRequest(f"{silence:g} s of silence say nothing: allow at least 0.1 s")
        links = {"link.host": self.link_host}
        if self.tls is not None:
            links["tls.directory"] = str(self.tls.directory)
        self.run_directory = paths.make_run_directory()
        self._token = secrets.token_hex(32)
        self._fleet = Fleet()
        try:
            self._server = ControlServer(self._token)
        except BaseException:
            shutil.rmtree(self.run_directory, ignore_errors=True)
            raise
        self._joining = Joining(self._server, self._token, self.run_directory, links, silence)
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
        timeout: float = 120.0,
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
        with self._fleet.reserved(name):
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
            except BaseException:
                end(jvm, grace=0.0)
                raise
            self._fleet.add(jvm)
            return jvm

    def attach(self, pid: int, name: str | None = None, *, timeout: float = 120.0) -> Jvm:
        """Loads the agent into a JVM that already runs. It stays when the orchestrator ends.

        :param name: how it is called from now on; None: "jvm-PID".
        :param timeout: seconds until the agent must be ready.
        :raises AttachError: no such process, another user's, no JVM, or it does not load agents.
        :raises InvalidRequest: the name is taken, or the JVM is already here.
        """
        self._fleet.refuse_known(pid)
        with self._fleet.reserved(name or f"jvm-{pid}") as chosen:
            jvm = self._joining.attach(chosen, pid, timeout)
            self._fleet.add(jvm)
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
        timeout: float = 120.0,
    ) -> EmbeddedJvm:
        """Starts a JVM inside this process through JPype, so that Python can touch the objects that arrive. A JVM that
        JPype has already started is taken as it is. It stays until the process ends.

        :param class_path: jars and directories with the application's classes.
        :param timeout: seconds until the agent must be ready.
        :raises EmbedError: JPype is missing, or the JVM or its agent did not start.
        """
        self._fleet.refuse_known(os.getpid())
        with self._fleet.reserved(name):
            plan = self._joining.plan(jdk=jdk, collector=collector, heap=heap, java_args=java_args)
            jvm = self._joining.embed(name, jdk, plan, class_path, timeout)
            self._fleet.add(jvm)
            return jvm

    @property
    def jvms(self) -> dict[str, Jvm]:
        """All JVMs by name, also those that have ended by themselves and were not stopped."""
        return self._fleet.jvms

    @property
    def links(self) -> list[Link]:
        """The open links."""
        return self._fleet.links

    @property
    def types_known(self) -> int:
        """How many classes the type registry knows."""
        return len(self._server.types)

    def jvm(self, name: str | Jvm) -> Jvm:
        """The JVM of that name.

        :raises UnknownJvm: there is none; the message lists those that are here.
        """
        return self._fleet.get(name)

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
        self._fleet.remove(self.jvm(name), grace)

    # Graphs

    def connect(self, a: str | Jvm, b: str | Jvm, transport: str | None = None) -> Link:
        """The link from `a` to `b`; opened at the first call, then the same one.

        :param transport: "shm", "tcp", or None for shared memory on the same host and else TCP.
        :raises LayoutMismatch: objects lie differently in the two JVMs.
        :raises LinkError: they cannot reach each other.
        :raises EngineRefused: the engine does not run in one of them.
        :raises UnknownJvm: no such JVM.
        """
        return self._fleet.connect(self.jvm(a), self.jvm(b), transport)

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
        max_pause_micros: int = 0,
        consistent: bool = False,
        cuts: Sequence[str] = (),
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
        :param max_pause_micros: longest sending window in microseconds; 0: the engine's default.
        :param consistent: copy the whole graph at one safepoint, as it is at one moment; the pause is as long as the
            walk.
        :param cuts: fields (`com.acme.Order.session`) and classes (`com.acme.Session`) that arrive as null, in this
            transfer and all that follow from this sender.
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
            max_pause_micros=max_pause_micros,
            consistent=consistent,
            cuts=cuts,
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
        consistent: bool = False,
        cuts: Sequence[str] = (),
    ) -> RunningTransfer:
        """Begins a transfer, and leaves the waiting to the caller; parameters and errors as in transfer()."""
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
            consistent=consistent,
            cuts=cuts,
            again=lambda: self.connect(sender, receiver, transport),
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
        max_pause_micros: int = 0,
        max_seconds: float | None = None,
        on_step: ComparisonHook | None = None,
    ) -> Comparison:
        """Sends the same graph through the engine and through each serializer, over the same link, interleaved.

        :param source: "JVM:ROOT", as in transfer().
        :param with_: names of baselines; "kryo" stands for "kryo" (references on) and "kryo-tree" (off).
        :param runs: measured transfers with each one.
        :param warmup: transfers with each one before those.
        :param timeout: seconds for each single transfer.
        :param max_pause_micros: as in transfer(); serializers have no windows.
        :param max_seconds: no round of transfers begins after this time, so there may be fewer runs, but at least one.
        :param on_step: called before each one with (done, total, serializer); an exception of it ends the comparison.
        :raises SkywayError: something failed that concerns all of them; what a single serializer cannot move is in
            its result.
        """
        sender, root = split_source(source)
        return run_comparison(
            lambda: self.connect(sender, receiver, transport),
            root,
            expand_serializers(with_),
            runs=runs,
            warmup=warmup,
            timeout=timeout,
            max_pause_micros=max_pause_micros,
            max_seconds=max_seconds,
            on_step=on_step,
        )

    # The end

    def close(self) -> None:
        """Ends all launched JVMs, detaches from the others. Later calls do nothing."""
        try:
            self._fleet.close()
        finally:
            self._server.close()
            shutil.rmtree(self.run_directory, ignore_errors=True)

    def __enter__(self) -> Orchestrator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Orchestrator {'closed' if self._fleet.closed else ', '.join(self.jvms) or 'without JVMs'}>"

    def _repr_html_(self) -> str:
        infos = [jvm.info for jvm in self.jvms.values()]
        rows = [(info.name, info.state, info.pid, info.java_version, info.collector, info.engine) for info in infos]
        return table("Orchestrator", ("JVM", "state", "pid", "Java", "collector", "engine"), rows)


@atexit.register
def _close_all() -> None:
    for orchestrator in list(_open):
        orchestrator.close()
