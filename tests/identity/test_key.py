"""The user's key: made once, closed to others, never shown."""

import stat
import subprocess
import sys

import pytest

from elsewho.errors import BadKey
from elsewho.identity.key import default_path, derive, fingerprint, load_key

RAW = bytes(range(32))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of one's own, with nothing in it."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


def write_key(path, data, mode=0o600):
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_the_users_own_key_is_made_once_and_only_its_owner_can_read_it():
    first = load_key()

    assert len(first) == 32
    assert load_key() == first
    assert stat.S_IMODE(default_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700


def test_two_runs_that_make_it_at_once_get_the_same_key():
    code = "from elsewho.identity.key import load_key; print(load_key().hex())"
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]

    assert len({run.communicate()[0] for run in runs}) == 1


def test_it_is_not_made_where_it_must_be_there():
    with pytest.raises(BadKey, match="there is no key"):
        load_key(make=False)

    assert not default_path().exists()


@pytest.mark.parametrize("data", [RAW, RAW.hex().encode(), RAW.hex().upper().encode() + b"\r\n"])
def test_a_key_is_32_bytes_or_64_hexadecimal_digits(tmp_path, data):
    assert load_key(write_key(tmp_path / "k", data)) == RAW


@pytest.mark.parametrize("data", [b"", RAW[:31], RAW + b"\n", RAW.hex().encode()[:63], b"z" * 64, bytes(10_000)])
def test_a_key_of_another_size_is_refused(tmp_path, data):
    with pytest.raises(BadKey, match="a key is 32 bytes, or 64 hexadecimal digits"):
        load_key(write_key(tmp_path / "k", data))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_key_that_others_may_open_is_refused_with_the_command_that_closes_it(tmp_path, mode):
    path = write_key(tmp_path / "k", RAW, mode)

    with pytest.raises(BadKey, match=f"chmod 600 {path}"):
        load_key(path)


def test_a_key_that_is_not_there_is_named_and_not_made(tmp_path):
    with pytest.raises(BadKey, match="there is no key"):
        load_key(tmp_path / "none")

    assert not (tmp_path / "none").exists()


def test_a_folder_is_no_key(tmp_path):
    with pytest.raises(BadKey, match="cannot be read: Is a directory"):
        load_key(tmp_path)


def test_a_place_where_no_key_can_be_made_is_named(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")

    with pytest.raises(BadKey, match="cannot be made"):
        load_key()


def test_messages_never_show_the_key(tmp_path):
    path = write_key(tmp_path / "k", RAW.hex().encode() + b"00")

    with pytest.raises(BadKey) as error:
        load_key(path)
    assert RAW.hex()[:8] not in str(error.value)


def test_the_fingerprint_names_the_key_and_is_none_of_its_bytes():
    assert fingerprint(RAW) == fingerprint(RAW)
    assert fingerprint(RAW) != fingerprint(bytes(32))
    assert len(fingerprint(RAW)) == 16
    assert fingerprint(RAW) not in RAW.hex()


def test_keys_for_different_purposes_have_nothing_in_common():
    assert derive(RAW, "people ledger") != derive(RAW, "ids")
    assert len(derive(RAW, "ids")) == 32
