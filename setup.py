"""The compiled parts of the distribution; all other metadata is in pyproject.toml.

A C extension joins by adding its `Extension` to the list; `make venv` rebuilds whenever a
C source changes, and a C compiler is the only thing it needs beyond Python.
"""

from setuptools import Extension, setup

EXTENSIONS: list[Extension] = [
    Extension(
        "simulate._core",
        sources=[
            f"simulate/core/{name}.c"
            for name in ("module", "advance", "adams", "plan", "roots", "tape")
        ],
        depends=[f"simulate/core/{name}.h" for name in ("advance", "roots", "tape")],
        # No fused or reordered arithmetic: the Python reference must give the same numbers.
        extra_compile_args=["-O2", "-ffp-contract=off", "-fno-fast-math", "-std=c11"],
    ),
]

setup(ext_modules=EXTENSIONS)
