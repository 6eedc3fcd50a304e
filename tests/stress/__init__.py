"""Longer stress over real JVM pairs: scripts/stress."""
