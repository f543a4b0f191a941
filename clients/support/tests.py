"""Runs unittest and ends as all clients here do: `N passed, N failed, N skipped`.

A test that `known-failures.txt` beside the suite names counts as skipped when it fails, and as failed when it passes.
"""

import os
import sys
import unittest


def main():
    suite = sys.modules["__main__"]
    loaded = unittest.defaultTestLoader.loadTestsFromModule(suite)
    known = listed(os.path.join(os.path.dirname(os.path.abspath(suite.__file__)), "known-failures.txt"))
    # A suite may have a list of names of its own.
    known &= set(names(loaded))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(loaded)
    failures = {test.id().removeprefix("__main__.") for test, _ in result.failures + result.errors}
    passing = known - failures
    for name in sorted(passing):
        print(f"a known failure passes: {name}")
    failed = len(failures - known) + len(passing) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped) + len(result.expectedFailures) + len(known & failures)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


def names(tests):
    """Names of the tests of a suite and of those in it."""
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id().removeprefix("__main__.")


def listed(path):
    """Names of tests, one a line; what stands behind `#` says why."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        lines = (line.split("#")[0].strip() for line in file)
        return {line for line in lines if line}
