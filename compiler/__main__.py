"""`python -m compiler` prints the documentation of all operations."""

import sys

from compiler.operation_table import operation_table

if __name__ == "__main__":
    sys.stdout.write(operation_table())
