"""`python -m isa` prints the instruction table."""

import sys

from isa.instruction_table import instruction_table

if __name__ == "__main__":
    sys.stdout.write(instruction_table())
