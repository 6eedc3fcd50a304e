#!/usr/bin/env python3
"""Adds up JUnit reports: prints how many tests passed, failed and were skipped, in one line.

Each that failed is named on stderr, with the first line of what it said.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

passed = failed = skipped = 0
for path in map(Path, sys.argv[1:]):
    if not path.is_file():
        continue
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcomes = {child.tag: child for child in case}
        bad = outcomes.get("failure", outcomes.get("error"))
        if bad is not None:
            failed += 1
            said = (bad.get("message") or bad.text or "").strip().partition("\n")[0]
            print(f"failed: {case.get('classname')}.{case.get('name')}: {said}", file=sys.stderr)
        elif "skipped" in outcomes:
            skipped += 1
        else:
            passed += 1
print(passed, failed, skipped)
