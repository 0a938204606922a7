"""AOSP's conformance cases: read, derive variants, run, compare, report. Start reading at `harness.py`."""
