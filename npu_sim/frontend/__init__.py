"""The frontend: instruction fetch and in-order dispatch."""
