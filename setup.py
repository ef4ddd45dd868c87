"""The packages and compiled parts of the distribution; all other metadata is in pyproject.toml.

A C extension joins by adding its `Extension` to the list; `make venv` rebuilds whenever a
C source changes, and a C compiler is the only thing it needs beyond Python. The page of
`workbench serve` is bundled on the way (`build_studio.py`).
"""

import sys
from pathlib import Path

from setuptools import Command, Extension, find_packages, setup
from setuptools.command.build import build

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_studio

PARTS = ("models", "simulate", "reach", "abstraction", "reports")
"""The folders beside `workbench` that are its subpackages."""

CORE = (
    "memory", "evaluate", "advance", "step", "adams", "output", "comparison", "plan", "atoms",
    "verified", "regular", "roots", "tape", "interval", "point", "result",
)  # fmt: skip
FLEET = ("fleet_module", "fleet_setup", "fleet", "path", "grid", "meeting", "foresee")


def simulation(name: str, *sources: str) -> Extension:
    """An extension on the stepping core."""
    return Extension(
        name,
        sources=[f"simulate/core/{part}.c" for part in (*sources, *CORE)],
        depends=[
            f"simulate/core/{part}.h"
            for part in ("advance", "fleet", "multirate", "program", "roots", "tape")
        ],
        # No fused or reordered arithmetic: the Python reference must give the same numbers.
        extra_compile_args=["-O2", "-ffp-contract=off", "-fno-fast-math", "-std=c11"],
    )


CONE = ("cone_module", "cone", "vectors")

EXTENSIONS: list[Extension] = [
    Extension(
        "workbench.reach._cone",
        sources=[f"reach/core/{part}.c" for part in CONE],
        depends=["reach/core/cone.h", "reach/core/vectors.h"],
        extra_compile_args=["-O2", "-std=gnu11"],  # gnu11: integers of 128 bits
        optional=True,  # where a compiler has none, `reach/sets/double_description.py` does without
    ),
    Extension(
        "workbench.reach._support",
        sources=["reach/core/support_module.c", "reach/core/vertex.c"],
        depends=["reach/core/vertex.h"],
        extra_compile_args=["-O2", "-std=c11"],
        optional=True,  # `reach/sets/support.py` does without, more slowly
    ),
    simulation("workbench.simulate._core", "module", "program"),
    simulation("workbench.simulate._fleet", *FLEET),
    simulation("workbench.simulate._multirate", "multirate_module", "multirate"),
]


def packages() -> list[str]:
    """Every package by the name that it is imported by."""
    beside = ("api", "build", "cli", "editors", "language_server", "server", "verbs", "workers")
    own = ["workbench", *(f"workbench.{name}" for name in beside)]
    for part in PARTS:
        own += [f"workbench.{part}"]
        own += [f"workbench.{part}.{name}" for name in find_packages(part)]
    return own


class BuildStudio(Command):
    """Bundles the front end, before its files are looked for."""

    editable_mode = False
    build_lib = ""

    def initialize_options(self) -> None:
        """There are no options."""

    def finalize_options(self) -> None:
        """There are no options."""

    def run(self) -> None:
        """Make the bundle in the folder of its sources."""
        build_studio.build_or_say_why()

    def get_source_files(self) -> list[str]:
        """What a source distribution needs for it."""
        return ["build_studio.py", *map(str, build_studio.sources())]

    def get_outputs(self) -> list[str]:
        """Nothing beyond the data of the package."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Nothing beyond the data of the package."""
        return {}


class Build(build):
    """A build that begins with the bundle."""

    sub_commands = [("build_studio", None), *build.sub_commands]  # noqa: RUF012 (as in setuptools)


setup(
    packages=packages(),
    package_dir={"workbench": "workbench"} | {f"workbench.{part}": part for part in PARTS},
    ext_modules=EXTENSIONS,
    cmdclass={"build": Build, "build_studio": BuildStudio},
    setup_requires=build_studio.required_packages(),
)
