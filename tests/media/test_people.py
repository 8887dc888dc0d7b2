"""The table of who is on which picture."""

import pytest

from elsewho.errors import BadAnnotation
from elsewho.media.people import read_people


def test_people_are_read_by_file(tmp_path):
    (tmp_path / "p.csv").write_bytes(b'\xef\xbb\xbfFile, Person\r\na/1.jpg,anna\r\n\r\n"b, c.jpg",ben\r\n')

    assert read_people(tmp_path / "p.csv") == {"a/1.jpg": "anna", "b, c.jpg": "ben"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", ":1: the first line must read file,person; found nothing"),
        (b"name,who\na,b\n", ":1: the first line must read file,person; found name,who"),
        (b"file,person\na.jpg,anna\nb.jpg\n", ":3: needs a file and a person"),
        (b"file,person\na.jpg,\n", ":2: needs a file and a person"),
        (b"file,person\na.jpg,anna\na.jpg,ben\n", ":3: a.jpg is 'anna' above and 'ben' here"),
        ("file,person\nä,b".encode("utf-16"), ":1: cannot be read as UTF-8"),
    ],
)
def test_a_wrong_table_is_refused_by_file_and_line(tmp_path, text, says):
    (tmp_path / "p.csv").write_bytes(text)

    with pytest.raises(BadAnnotation) as error:
        read_people(tmp_path / "p.csv")

    assert f"p.csv{says}" in str(error.value)


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(BadAnnotation, match="none"):
        read_people(tmp_path / "none.csv")
