"""The language server: what editors ask over the Language Server Protocol, answered by documents.

It knows the public API of the workbench and nothing deeper. `workbench lsp` runs it.
"""
