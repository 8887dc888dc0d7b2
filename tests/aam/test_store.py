"""Models on disk: read back to the bit, or refused by name."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save

from elsewho.aam import store
from elsewho.aam.basis import Basis
from elsewho.errors import BadModel, OutputExists


@dataclass(frozen=True)
class Cabinet:
    """Something with everything in it that models have."""

    name: str
    basis: Basis
    parts: tuple[Basis, ...]
    maybe: Basis | None
    turns: tuple[float, ...]
    card: dict[str, object]


def basis(seed=0, n=20, d=37):
    rng = np.random.default_rng(seed)
    modes = np.linalg.qr(rng.standard_normal((d, n)))[0].T.astype(np.float32)
    return Basis(rng.standard_normal(d).astype(np.float32), modes, np.arange(n, 0, -1.0), 0.5)


@pytest.fixture
def cabinet():
    return Cabinet("oak", basis(), (basis(1), basis(2)), None, (0.0, -8.0), {"licence": "Apache-2.0", "n": 3})


def same(a, b):
    assert a.name == b.name
    assert a.turns == b.turns
    assert dict(a.card) == dict(b.card)
    for one, other in zip((a.basis, *a.parts), (b.basis, *b.parts), strict=True):
        for field in ("mean", "modes", "variance"):
            assert_array_equal(getattr(one, field), getattr(other, field), strict=True)
        assert one.rest == other.rest


def test_what_was_written_is_read_back_to_the_bit(cabinet, tmp_path):
    store.write(tmp_path / "c", cabinet, "cabinet")

    same(store.read(tmp_path / "c", "cabinet", Cabinet), cabinet)


def test_a_small_file_once_read_is_written_again_to_the_same_bytes(cabinet):
    first = store.to_bytes(cabinet, "cabinet", small=True)

    again = store.to_bytes(store.from_bytes(first, "cabinet", Cabinet, "c"), "cabinet", small=True)

    assert again == first


def test_small_modes_lie_within_half_a_step_of_the_full_ones(cabinet):
    read = store.from_bytes(store.to_bytes(cabinet, "cabinet", small=True), "cabinet", Cabinet, "c")

    step = np.abs(cabinet.basis.modes).max(axis=1, keepdims=True) / 127
    assert (np.abs(read.basis.modes - cabinet.basis.modes) <= 0.51 * step).all()
    assert read.basis.modes.dtype == np.float32


def test_arrays_in_any_memory_order_are_stored_alike(cabinet):
    turned = Basis(cabinet.basis.mean, np.asfortranarray(cabinet.basis.modes), cabinet.basis.variance, 0.5)
    strange = Cabinet("oak", turned, cabinet.parts, None, cabinet.turns, cabinet.card)

    assert store.to_bytes(strange, "cabinet") == store.to_bytes(cabinet, "cabinet")


def test_what_was_read_cannot_be_changed(cabinet, tmp_path):
    store.write(tmp_path / "c", cabinet, "cabinet", small=True)
    read = store.read(tmp_path / "c", "cabinet", Cabinet)

    with pytest.raises(ValueError, match="read-only"):
        read.basis.modes[0, 0] = 1


@pytest.mark.parametrize("share", [0, 1e-4, 0.02, 0.3, 0.9, 0.9999])
@pytest.mark.parametrize("small", [False, True])
def test_a_file_cut_anywhere_is_refused(cabinet, share, small):
    data = store.to_bytes(cabinet, "cabinet", small=small)

    with pytest.raises(BadModel, match=r"shelf\.bin"):
        store.from_bytes(data[: int(len(data) * share)], "cabinet", Cabinet, "shelf.bin")


def test_a_changed_byte_is_noticed(cabinet):
    data = bytearray(store.to_bytes(cabinet, "cabinet"))
    data[-9] ^= 1

    with pytest.raises(BadModel, match="checksum does not match"):
        store.from_bytes(bytes(data), "cabinet", Cabinet, "c")


def test_a_newer_format_asks_for_an_update(cabinet, monkeypatch):
    monkeypatch.setattr(store, "FORMAT", 2)
    data = store.to_bytes(cabinet, "cabinet")
    monkeypatch.setattr(store, "FORMAT", 1)

    with pytest.raises(BadModel, match=r"has format 2; this version reads formats up to 1\. Update elsewho"):
        store.from_bytes(data, "cabinet", Cabinet, "c")


def test_a_file_of_another_kind_is_named(cabinet):
    with pytest.raises(BadModel, match="holds a cabinet, asked was a model"):
        store.from_bytes(store.to_bytes(cabinet, "cabinet"), "model", Cabinet, "c")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        b"\x80\x04\x95 a pickle, perhaps, that must never be run.",
        b"\xff" * 64,
        save({"x": np.zeros(3)}),
        save({"x": np.zeros(3)}, {"elsewho": json.dumps([1, 2])}),
        save({"x": np.zeros(3)}, {"elsewho": "{not json"}),
    ],
)
def test_a_foreign_file_is_refused(data):
    with pytest.raises(BadModel):
        store.from_bytes(data, "cabinet", Cabinet, "c")


def test_a_header_that_promises_other_fields_is_refused(cabinet):
    @dataclass(frozen=True)
    class Other:
        name: str

    with pytest.raises(BadModel, match="not a cabinet that this version reads"):
        store.from_bytes(store.to_bytes(cabinet, "cabinet"), "cabinet", Other, "c")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadModel, match="nowhere"):
        store.read(tmp_path / "nowhere", "cabinet", Cabinet)


def test_nothing_is_overwritten_unasked(cabinet, tmp_path):
    (tmp_path / "c").write_bytes(b"precious")

    with pytest.raises(OutputExists):
        store.write(tmp_path / "c", cabinet, "cabinet")

    assert (tmp_path / "c").read_bytes() == b"precious"
