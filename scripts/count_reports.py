#!/usr/bin/env python3
"""Adds up JUnit reports: prints how many tests passed, failed and were skipped, in one line."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

passed = failed = skipped = 0
for path in map(Path, sys.argv[1:]):
    if not path.is_file():
        continue
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failed += 1
        elif "skipped" in outcomes:
            skipped += 1
        else:
            passed += 1
print(passed, failed, skipped)
