"""The verbs of the command line, one module each; `workbench.cli` loads them on demand."""
