"""Numbers beyond floating point: a verdict or a reason, never an internal error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODEL = """
mode Top() {{ write analog real x; diff {{ d(x) == -x; }} }}
agent A() {{
  private analog real x;
  init {{ x in [0, {first}]; }}
  mode top = Top();
  assert "b" {{ x <= {bound} }}
}}
system A() until 1;
"""


@pytest.mark.parametrize("method", ["auto", "flowpipe", "template", "quadratic", "rectangular"])
@pytest.mark.parametrize(("first", "bound"), [("1", "1e400"), ("1e350", "1e400")])
def test_verify(
    method: str, first: str, bound: str, workbench: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "huge.charon"
    path.write_text(MODEL.format(first=first, bound=bound))
    result = workbench("verify", path, "--method", method, "--time-limit", "5")
    assert result.code in (0, 5), result.err
