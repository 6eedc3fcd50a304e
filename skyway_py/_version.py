"""The package's version, the same as the Maven modules'."""

__version__ = "0.1.0"
