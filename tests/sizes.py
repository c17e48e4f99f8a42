"""How big the bounded tests are: small for every commit, FIELDBOOK_TEST_SIZE=nightly for the long run."""

import os

import pytest

NIGHTLY = os.environ.get("FIELDBOOK_TEST_SIZE") == "nightly"


def sized(commit: int, nightly: int) -> int:
    """The number of rounds, threads or examples for this run."""
    return nightly if NIGHTLY else commit


#: For tests that grow with the size; two cores that others use too need patience.
PATIENT = pytest.mark.timeout(sized(300, 7200))
