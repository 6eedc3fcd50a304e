"""The orchestrator that `skyway up` keeps running, and the way to talk to it."""

from skyway_py._daemon._remote import RemoteOrchestrator, Status
from skyway_py._daemon._start import connect, require, start

__all__ = ["RemoteOrchestrator", "Status", "connect", "require", "start"]
