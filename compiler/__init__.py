"""The compiler: NNAPI graph in, program out. Start reading at `pipeline.py`."""
