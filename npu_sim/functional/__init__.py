"""What instructions do to bytes: untimed and pure. Start reading at `executor.py`."""
