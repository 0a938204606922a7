"""The reference: every NNAPI operation from its definition, in plain NumPy. Start at `interpreter.py`.

Nothing here is shared with the code that compiles for the NPU: the few arithmetic primitives are written
a second time on purpose, so that an error in either shows as a difference.
"""
