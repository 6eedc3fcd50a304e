"""Tests without JVMs: a Python program stands in for Java and its agent."""
