"""Small SpaceEx files written by hand, and the benchmark files of others beside the project."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

BENCHMARKS = Path(__file__).resolve().parents[3] / "shared" / "benchmarks"


def spaceex(*components: str) -> bytes:
    """A whole file."""
    return (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n'
        '<sspaceex xmlns="http://www-verimag.imag.fr/xml-namespaces/sspaceex" version="0.2">\n'
        + "\n".join(components)
        + "\n</sspaceex>\n"
    ).encode("iso-8859-1")


def component(name: str, *parts: str) -> str:
    """A component."""
    return f"<component id={quoteattr(name)}>\n" + "\n".join(parts) + "\n</component>"


def real(*names: str, more: str = "") -> str:
    """Parameters that may change."""
    return "".join(f'<param name="{n}" type="real" d1="1" d2="1" {more}/>' for n in names)


def given(*names: str) -> str:
    """Uncontrolled parameters."""
    return real(*names, more='controlled="false"')


def const(*names: str) -> str:
    """Constant parameters."""
    return real(*names, more='dynamics="const"')


def labels(*names: str, local: bool = False) -> str:
    """Synchronisation labels."""
    where = "true" if local else "false"
    return "".join(f'<param name="{n}" type="label" local="{where}"/>' for n in names)


def location(number: int, name: str, flow: str = "", invariant: str = "") -> str:
    """A location."""
    return (
        f'<location id="{number}" name="{name}" x="1.0" y="2.0">'
        + (f"<invariant>{escape(invariant)}</invariant>" if invariant else "")
        + (f"<flow>{escape(flow)}</flow>" if flow else "")
        + "</location>"
    )


def transition(
    source: int,
    target: int,
    guard: str = "",
    assignment: str = "",
    label: str = "",
    more: str = "",
) -> str:
    """A transition."""
    return (
        f'<transition source="{source}" target="{target}" {more}>'
        + (f"<label>{label}</label>" if label else "")
        + (f"<guard>{escape(guard)}</guard>" if guard else "")
        + (f"<assignment>{escape(assignment)}</assignment>" if assignment else "")
        + '<labelposition x="0.0" y="0.0"/></transition>'
    )


def bind(what: str, name: str, **maps: str) -> str:
    """An instance of a component in a network."""
    keys = "".join(f'<map key="{k}">{escape(v)}</map>' for k, v in maps.items())
    return f'<bind component="{what}" as="{name}" x="3.0" y="4.0">{keys}</bind>'
