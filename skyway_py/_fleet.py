"""The JVMs of one orchestrator by name, and the links between them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from skyway_py._errors import InvalidRequest, UnknownJvm
from skyway_py._jvm import Jvm
from skyway_py._link import Link
from skyway_py._names import checked_jvm_name


class Fleet:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._jvms: dict[str, Jvm] = {}
        self._reserved: set[str] = set()
        self._links: dict[tuple[str, str, str], Link] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    @property
    def jvms(self) -> dict[str, Jvm]:
        """All of them, also those that have ended by themselves."""
        with self._lock:
            return dict(self._jvms)

    @property
    def links(self) -> list[Link]:
        """The open ones."""
        with self._lock:
            return [link for link in self._links.values() if link.is_open]

    def get(self, name: str | Jvm) -> Jvm:
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

    def refuse_known(self, pid: int) -> None:
        """:raises InvalidRequest: the process with this pid is already here."""
        for jvm in self.jvms.values():
            if jvm.pid == pid and jvm.alive:
                raise InvalidRequest(f"JVM {pid} is already here as '{jvm.name}'")

    @contextmanager
    def reserved(self, name: str) -> Iterator[str]:
        """Keeps a name while a JVM of that name is on its way. One that has ended by itself gives its name away.

        :raises InvalidRequest: the name is taken or malformed.
        """
        checked_jvm_name(name)
        with self._lock:
            self._refuse_when_closed()
            present = self._jvms.get(name)
            if name in self._reserved or (present is not None and present.alive):
                raise InvalidRequest(f"a JVM is already called '{name}': stop it, or choose another name")
            self._reserved.add(name)
        if present is not None:
            self.remove(present, grace=0.0)
        try:
            yield name
        finally:
            with self._lock:
                self._reserved.discard(name)

    def add(self, jvm: Jvm) -> None:
        """:raises InvalidRequest: the fleet was closed meanwhile; the JVM is ended then."""
        with self._lock:
            if not self._closed:
                self._jvms[jvm.name] = jvm
                return
        end(jvm, grace=0.0)
        self._refuse_when_closed()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise InvalidRequest("the orchestrator is closed: make a new one")

    def remove(self, jvm: Jvm, grace: float) -> None:
        """Closes its links and ends it, or detaches from it."""
        with self._lock:
            self._jvms.pop(jvm.name, None)
            dropped = {key: link for key, link in self._links.items() if jvm in (link.sender, link.receiver)}
            for key in dropped:
                del self._links[key]
        for link in dropped.values():
            link.close()
        end(jvm, grace)

    def connect(self, sender: Jvm, receiver: Jvm, transport: str | None) -> Link:
        """The link between the two, opened when there is none.

        :raises LinkError: they cannot be linked.
        """
        key = (sender.name, receiver.name, transport or "auto")
        with self._lock:
            link = self._links.get(key)
            if link is None or not link.is_open or link.sender is not sender or link.receiver is not receiver:
                link = self._links[key] = Link(sender, receiver, transport)
            return link

    def close(self) -> None:
        """Ends all launched ones, detaches from the others. Later calls do nothing."""
        with self._lock:
            self._closed = True
            jvms = list(self._jvms.values())
            self._jvms.clear()
            self._links.clear()
        try:
            if jvms:
                with ThreadPoolExecutor(len(jvms), thread_name_prefix="skyway-close") as pool:
                    list(pool.map(lambda jvm: end(jvm, grace=5.0), jvms))
        finally:
            for jvm in jvms:
                if jvm.process:
                    jvm.process.kill()


def end(jvm: Jvm, grace: float) -> None:
    """Ends a launched JVM, `grace` seconds after asking it at the latest; detaches from another one."""
    if jvm.alive:
        jvm.shut_down(exit_jvm=jvm.process is not None, timeout=3.0)
    jvm.disconnect()
    if jvm.process is not None:
        jvm.process.end(grace)
