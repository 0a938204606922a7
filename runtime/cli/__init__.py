"""The command line. Start reading at `main.py`; commands import what they need when they run."""
