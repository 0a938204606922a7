"""`libneuralnetworks.so`: NNAPI's C functions for programs that load a library. Start reading at `bridge.c`.

`source` writes the C text from the list of declarations, `library` compiles it, and `callbacks` fills the
table of a library that was loaded.
"""
