"""Outputs appear whole or not at all."""

import errno
import os
import stat

import pytest

from elsewho.errors import OutputExists
from elsewho.media import files
from elsewho.media.files import appear_whole, show_name, write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_while_another_does(path):
    with appear_whole(path) as draft:
        draft.write_bytes(b"new")
        path.write_bytes(b"other's")


def test_a_written_file_holds_the_bytes_and_nothing_lies_beside_it(tmp_path):
    write_atomically(tmp_path / "ä b.bin", b"abc")

    assert (tmp_path / "ä b.bin").read_bytes() == b"abc"
    assert names(tmp_path) == ["ä b.bin"]


def test_an_existing_file_is_kept_and_named_in_the_error(tmp_path):
    (tmp_path / "out").write_bytes(b"old")

    with pytest.raises(OutputExists, match=r"out: exists already\. Choose"):
        write_atomically(tmp_path / "out", b"new")

    assert (tmp_path / "out").read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


def test_a_file_that_appears_while_the_draft_is_written_is_kept(tmp_path):
    with pytest.raises(OutputExists):
        write_while_another_does(tmp_path / "out")

    assert (tmp_path / "out").read_bytes() == b"other's"
    assert names(tmp_path) == ["out"]


def test_overwriting_replaces_the_file(tmp_path):
    (tmp_path / "out").write_bytes(b"old")

    write_atomically(tmp_path / "out", b"new", overwrite=True)

    assert (tmp_path / "out").read_bytes() == b"new"


@pytest.mark.parametrize("target", ["kept", "missing"])
def test_a_link_planted_at_the_name_is_refused(tmp_path, target):
    (tmp_path / "kept").write_bytes(b"old")
    (tmp_path / "out").symlink_to(tmp_path / target)

    with pytest.raises(OutputExists):
        write_atomically(tmp_path / "out", b"new")

    assert (tmp_path / "kept").read_bytes() == b"old"
    assert not (tmp_path / "missing").exists()


def test_overwriting_replaces_a_planted_link_and_spares_what_it_points_to(tmp_path):
    (tmp_path / "kept").write_bytes(b"old")
    (tmp_path / "out").symlink_to(tmp_path / "kept")

    write_atomically(tmp_path / "out", b"new", overwrite=True)

    assert (tmp_path / "kept").read_bytes() == b"old"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_a_pipe_is_not_replaced_even_when_overwriting_is_allowed(tmp_path):
    os.mkfifo(tmp_path / "out")

    with pytest.raises(OutputExists, match="not a file"):
        write_atomically(tmp_path / "out", b"new", overwrite=True)

    assert stat.S_ISFIFO((tmp_path / "out").lstat().st_mode)


def test_a_block_that_raises_leaves_nothing_behind(tmp_path):
    def write_half():
        with appear_whole(tmp_path / "out.mp4") as draft:
            draft.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()

    assert names(tmp_path) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)

    with pytest.raises(OSError, match="No space left"):
        write_atomically(tmp_path / "out", b"new")

    assert names(tmp_path) == []


def test_the_draft_lies_beside_the_output_and_has_its_suffix(tmp_path):
    with appear_whole(tmp_path / "out.mp4") as draft:
        assert draft.parent == tmp_path
        assert draft.suffix == ".mp4"
        assert not (tmp_path / "out.mp4").exists()


def test_a_name_of_255_bytes_can_be_written(tmp_path):
    write_atomically(tmp_path / ("a." + "b" * 253), b"new")

    assert names(tmp_path) == ["a." + "b" * 253]


def test_without_hard_links_the_file_still_appears_and_still_spares_another(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(files.os, "link", refuse)
    write_atomically(tmp_path / "out", b"new")

    with pytest.raises(OutputExists):
        write_while_another_does(tmp_path / "late")

    assert (tmp_path / "out").read_bytes() == b"new"
    assert (tmp_path / "late").read_bytes() == b"other's"
    assert names(tmp_path) == ["late", "out"]


def test_a_private_file_can_be_read_by_its_owner_only(tmp_path):
    write_atomically(tmp_path / "key", b"secret", mode=0o600)

    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_shown_name_has_no_line_break_and_no_stray_byte():
    assert show_name(os.fsdecode(b"a\nb\xff\x1b[31m \xc3\xa9.jpg")) == "a\\nb\\udcff\\x1b[31m é.jpg"
