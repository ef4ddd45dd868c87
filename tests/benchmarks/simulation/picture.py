"""Small line plots as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 300, 64, 44, 30
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#7d3c98")


def line_plot(
    title: str,
    across: str,
    up: str,
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    log: bool = False,
) -> str:
    """Lines through points, each with a name; with `log` in powers of ten upwards."""
    if log:
        lines = [
            (name, [(x, math.log10(max(y, 1e-13))) for x, y in points]) for name, points in lines
        ]
    xs = [x for _, points in lines for x, _ in points]
    ys = [y for _, points in lines for _, y in points]
    x0, x1, y0, y1 = min(xs), max(xs), min(0.0, *ys), max(ys)
    y1 = y1 if y1 > y0 else y0 + 1.0

    def label(y: float) -> str:
        return f"{10**y:.0e}" if log else f"{y:.2g}"

    def at(x: float, y: float) -> str:
        px = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - 20)
        py = HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP)
        return f"{px:.1f},{py:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' role="img" font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>',
        f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle"'
        f' transform="rotate(-90 14 {HEIGHT / 2})">{escape(up)}</text>',
    ]
    for k in range(5):
        x, y = x0 + k * (x1 - x0) / 4, y0 + k * (y1 - y0) / 4
        px, py = at(x, y0).split(",")[0], at(x0, y).split(",")[1]
        parts.append(f'<text x="{px}" y="{HEIGHT - 28}" text-anchor="middle">{x:.3g}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{py}" text-anchor="end">{label(y)}</text>')
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{py}" y2="{py}" stroke="#ddd"/>')
    for i, (name, points) in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(at(x, y) for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        parts.append(
            f'<text x="{WIDTH - 24}" y="{18 + 14 * i}" text-anchor="end"'
            f' fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])
