"""The XML door: what it lets in, what it refuses, and that it is quick about it."""

from __future__ import annotations

import pytest

from workbench.models.interchange.xml_door import MAX_DEPTH, parse_xml
from workbench.models.source import ModelError


def refused(data: bytes) -> str:
    """The code of the diagnostic."""
    with pytest.raises(ModelError) as caught:
        parse_xml(data, "model.xml")
    return caught.value.diagnostics[0].code


def test_tree_keeps_names_attributes_text_and_order() -> None:
    root = parse_xml(b'<a x="1" y="2"><b>one</b><c/><b>two &amp; three</b></a>', "m.xml")
    assert (root.name, root.attributes) == ("a", (("x", "1"), ("y", "2")))
    assert [(c.name, c.text) for c in root.children] == [
        ("b", "one"),
        ("c", ""),
        ("b", "two & three"),
    ]
    assert root.get("y") == "2" and root.get("z") is None


def test_positions_of_elements_and_of_text_behind_entities() -> None:
    root = parse_xml(b"<a>\n  <flow>x &lt;= 1 &amp;\n y == @</flow>\n</a>", "m.xml")
    flow = root.children[0]
    assert (flow.line, flow.column) == (2, 3)
    less = flow.text.index("<=")
    assert str(flow.place(less, less + 2)) == "m.xml:2:11"
    one = flow.text.index("1")
    assert flow.place(one, one + 1).column == 17  # in the file `&lt;` is three longer
    at = flow.text.index("@")
    assert str(flow.place(at, at + 1)) == "m.xml:3:7"


def test_namespaces_and_prefixes_are_passed_over() -> None:
    root = parse_xml(b'<s:a xmlns:s="urn:s"><s:b/></s:a>', "m.xml")
    assert root.name == "a" and root.children[0].name == "b"


@pytest.mark.parametrize("lead", [b"\n\n  ", b"\xef\xbb\xbf", b" \xef\xbb\xbf\n", b"\r\n\t"])
def test_white_space_and_marks_before_the_declaration(lead: bytes) -> None:
    root = parse_xml(lead + b'<?xml version="1.0"?>\n<a/>', "m.xml")
    assert root.name == "a"
    assert root.line == 2 + lead.count(b"\n")


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8", "utf-16", "us-ascii", "windows-1252"])
def test_declared_encodings_are_honoured(encoding: str) -> None:
    word = "plain" if encoding == "us-ascii" else "Größe"
    text = f'<?xml version="1.0" encoding="{encoding}"?><a>{word}</a>'
    assert parse_xml(text.encode(encoding), "m.xml").text == word


@pytest.mark.parametrize("encoding", [b"utf-7", b"shift_jis", b"no-such-code", b"rot13", b"hex"])
def test_other_encodings_are_diagnosed(encoding: bytes) -> None:
    assert refused(b'<?xml version="1.0" encoding="' + encoding + b'"?><a/>') == "xml-encoding"


def test_bytes_that_contradict_the_encoding() -> None:
    assert refused(b'<?xml version="1.0" encoding="utf-8"?><a>\xe9</a>') == "xml-malformed"
    assert refused('<?xml version="1.0" encoding="utf-8"?><a/>'.encode("utf-16")) == "xml-encoding"


LAUGHS = b"""<!DOCTYPE a [<!ENTITY l0 "ha">%s]><a>&l20;</a>""" % b"".join(
    b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 21)
)


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS,
        b'<!DOCTYPE a [<!ENTITY q "%s">]><a>%s</a>' % (b"x" * 100_000, b"&q;" * 100_000),
        b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        b'<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>',
        b"<!DOCTYPE a><a/>",
        b'<!DOCTYPE a [<!ENTITY % p SYSTEM "x"> %p;]><a/>',
    ],
)
def test_document_types_and_entities_are_refused(data: bytes) -> None:
    assert refused(data) == "xml-doctype"


def test_undeclared_entities_are_not_passed_over() -> None:
    assert refused(b"<a>&nbsp;</a>") == "xml-malformed"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "xml-empty"),
        (b" \n ", "xml-empty"),
        (b"<a>" * 200_000, "xml-too-deep"),
        (b"<a>" * 200_000 + b"</a>" * 200_000, "xml-too-deep"),
        (b"<" * 50_000_000, "xml-malformed"),
        (b"(" * 50_000_000, "xml-malformed"),
        (b"<a>\x00</a>", "xml-malformed"),
        (b"\x00" * 1000, "xml-malformed"),
        (b"<a/><b/>", "xml-malformed"),
        (b"<a><b></a></b>", "xml-malformed"),
        (b"<a", "xml-malformed"),
        (b'<a x="1" x="2"/>', "xml-malformed"),
        (b"<a>" + b"<b/>" * 400_000 + b"</a>", "xml-too-large"),
        (b"<a>" + b"&lt;" * 1_000_000 + b"</a>", "xml-too-large"),
        (b"<a " + b" ".join(b'a%d=""' % i for i in range(10_000)) + b"/>", "xml-too-large"),
        (b"x" * (65 * 1024 * 1024), "xml-too-large"),
    ],
    ids=lambda v: v if isinstance(v, str) else repr(v[:12]),
)
def test_hostile_and_broken_files_end_quickly(data: bytes, code: str) -> None:
    assert refused(data) == code


def test_the_limit_of_depth_is_exact() -> None:
    assert parse_xml(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH, "m.xml").name == "a"
    assert refused(b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1)) == "xml-too-deep"


def test_a_message_points_at_the_place() -> None:
    with pytest.raises(ModelError) as caught:
        parse_xml(b"\n\n<a>\n  <b>\n</a>", "m.xml")
    assert str(caught.value.diagnostics[0].span).startswith("m.xml:5:")
