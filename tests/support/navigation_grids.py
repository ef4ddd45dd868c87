"""Grids of cells in which a robot takes up the velocity that is wanted there."""

from __future__ import annotations

from collections.abc import Sequence

WANTED = {
    "n": (0.0, 1.0),
    "e": (1.0, 0.0),
    "s": (0.0, -1.0),
    "w": (-1.0, 0.0),
    "ne": (0.7, 0.7),
    "se": (0.7, -0.7),
    "sw": (-0.7, -0.7),
    "nw": (-0.7, 0.7),
    "goal": (0.0, 0.0),
    "pit": (0.0, 0.0),
}
"""The velocity that is wanted in a cell, by its mark."""


def navigation_grid(
    rows: Sequence[Sequence[str]],
    matrix: tuple[float, float, float, float],
    start: tuple[float, float, float, float],
    speed: float,
) -> str:
    """The text of a model: rows of marks from north to south, v' = matrix (v - wanted), a start
    (least and largest x, least and largest y) with any velocity up to `speed` each way. The
    outer cells have no outer walls. The property "in the pit" says that no cell with that mark
    is entered."""
    columns, height = len(rows[0]), len(rows)
    a, b, c, d = matrix
    cells = [(x, y, rows[height - 1 - y][x]) for y in range(height) for x in range(columns)]
    modes = [
        f"  mode c{x}{y} = Cell({x}, {y}, {WANTED[mark][0]}, {WANTED[mark][1]});"
        for x, y, mark in cells
    ]
    switches = []
    for x, y, _ in cells:
        beside = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        sources = [f"c{u}{v}" for u, v in beside if 0 <= u < columns and 0 <= v < height]
        guard = " && ".join(_within(x, y, columns, height, "<=", ">="))
        switches.append(f"  trans from init, {', '.join(sources)} to c{x}{y} when {guard};")
    pits = [
        "(" + " && ".join(_within(x, y, columns, height, "<", ">")) + ")"
        for x, y, mark in cells
        if mark == "pit"
    ]
    west, east, south, north = start
    return f"""
mode Cell(int column, int row, real wantX, real wantY) {{
  write analog real x, y, vx, vy;
  diff {{
    d(x) == vx;
    d(y) == vy;
    d(vx) == ({a})*(vx - wantX) + ({b})*(vy - wantY);
    d(vy) == ({c})*(vx - wantX) + ({d})*(vy - wantY);
  }}
  inv {{
    column == 0 || x >= column;
    column == {columns - 1} || x <= column + 1;
    row == 0 || y >= row;
    row == {height - 1} || y <= row + 1
  }}
}}
mode Grid() {{
  write analog real x, y, vx, vy;
{chr(10).join(modes)}
{chr(10).join(switches)}
}}
agent Robot() {{
  private analog real x, y, vx, vy;
  init {{
    x in [{west}, {east}];
    y in [{south}, {north}];
    vx in [{-speed}, {speed}];
    vy in [{-speed}, {speed}];
  }}
  mode top = Grid();
  forbid "in the pit" {{ {" || ".join(pits)} }}
}}
"""


def _within(x: int, y: int, columns: int, height: int, below: str, above: str) -> list[str]:
    """The walls of a cell that it shares with others."""
    return [
        *([f"x {above} {x}"] if x > 0 else []),
        *([f"x {below} {x + 1}"] if x < columns - 1 else []),
        *([f"y {above} {y}"] if y > 0 else []),
        *([f"y {below} {y + 1}"] if y < height - 1 else []),
    ]
