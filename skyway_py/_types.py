"""The type registry: global ids for classes, one table for all JVMs of an orchestrator."""

from __future__ import annotations

import threading

from skyway_py._proto.agent_pb2 import TypeDescriptor


class TypeTable:
    """Ids are positive and dense, and never change. Thread-safe.

    Two JVMs with the same class of the same shape get one id; another version or another layout of it gets its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: dict[tuple[str, bytes], int] = {}
        self._types: list[TypeDescriptor] = []

    def __len__(self) -> int:
        return len(self._types)

    def register(self, types: list[TypeDescriptor]) -> list[int]:
        """The ids of these types, in order; new ones are assigned.

        :raises ValueError: a type has no name or no fingerprint; nothing is assigned then.
        """
        for descriptor in types:
            if not descriptor.class_name or not descriptor.fingerprint:
                raise ValueError(f"type '{descriptor.class_name}' has no name or no fingerprint")
        with self._lock:
            return [self._id(descriptor) for descriptor in types]

    def _id(self, descriptor: TypeDescriptor) -> int:
        key = (descriptor.class_name, descriptor.fingerprint)
        known = self._ids.get(key)
        if known is None:
            self._types.append(descriptor)
            known = self._ids[key] = len(self._types)
        return known

    def lookup(self, ids: list[int]) -> list[TypeDescriptor]:
        """The types behind these ids, in order.

        :raises KeyError: an id was never assigned; its argument is the first such id.
        """
        with self._lock:
            for number in ids:
                if not 1 <= number <= len(self._types):
                    raise KeyError(number)
            return [self._types[number - 1] for number in ids]
