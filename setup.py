"""The compiled parts of the distribution; all other metadata is in pyproject.toml.

A C extension joins by adding its `Extension` to the list; `make venv` rebuilds whenever a
C source changes, and a C compiler is the only thing it needs beyond Python.
"""

from setuptools import Extension, setup

EXTENSIONS: list[Extension] = []

setup(ext_modules=EXTENSIONS)
