"""The ledgers: nothing is lost, nothing is shown, nothing forgotten stays."""

import signal
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from elsewho.errors import (
    BadInput,
    LedgerBusy,
    LedgerDamaged,
    LedgerError,
    LedgerForeign,
    LedgerReadOnly,
    LedgerTooNew,
    SecondRelease,
)
from elsewho.identity import sealed
from elsewho.identity.ledger import (
    PeopleLedger,
    Person,
    ReleaseLedger,
    Settings,
    id_of_content,
    id_of_name,
    id_of_people,
    id_of_pictures,
)

KEY, OTHER = b"k" * 32, b"o" * 32
SETTINGS = Settings("f" * 16, "g" * 64, "m" * 64, "k-diff-drawn", 5, "alike")


def make_person(name, draw=0, embedding=None):
    return Person(id_of_name(KEY, name), "female-lighter-older", draw, embedding)


def embed(seed):
    return np.random.default_rng(seed).standard_normal(128).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "key.people"


@pytest.fixture
def full(path):
    """A ledger of 40 people, closed."""
    with PeopleLedger(path, KEY) as ledger:
        ledger.remember(make_person(f"p{number}", number, embed(number)) for number in range(40))
    return path


def run(code, *words):
    """A Python process of its own that runs `code`, the ledger open in it as `ledger`."""
    opening = (
        "import sys, time\nimport numpy as np\n"
        "from elsewho.identity.ledger import PeopleLedger, Person, id_of_name\n"
        "KEY = b'k' * 32\nledger = PeopleLedger(sys.argv[1], KEY)\n"
    )
    words = [sys.executable, "-c", opening + code, *map(str, words)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class TestPeople:
    def test_who_is_remembered_is_found_again(self, full):
        with PeopleLedger(full, KEY) as ledger:
            found = ledger.find(id_of_name(KEY, "p7"))
            assert found == make_person("p7", 7)
            np.testing.assert_array_equal(found.embedding, embed(7))
            assert ledger.find(id_of_name(KEY, "nobody")) is None
            assert len(ledger) == len(list(ledger)) == 40

    def test_the_nearest_embedding_finds_a_person_again(self, full):
        with PeopleLedger(full, KEY) as ledger:
            found, away = ledger.nearest(embed(9) + 0.01)

        assert found == make_person("p9", 9)
        assert away == pytest.approx(0.01 * np.sqrt(128), rel=1e-3)

    def test_people_without_embeddings_are_nobodys_neighbours(self, path):
        with PeopleLedger(path, KEY) as ledger:
            ledger.remember([make_person("anna")])
            assert ledger.nearest(embed(0)) is None

    def test_an_embedding_of_another_network_is_refused(self, full):
        with PeopleLedger(full, KEY) as ledger, pytest.raises(BadInput, match="128 values, yours 64"):
            ledger.nearest(np.zeros(64))

    def test_what_was_written_first_stays(self, path):
        with PeopleLedger(path, KEY) as ledger:
            ledger.remember([make_person("anna", 0)])
            kept = ledger.remember([make_person("anna", 3), make_person("bert", 1)])

            assert [person.draw for person in kept] == [0, 1]

    def test_what_another_run_wrote_is_seen(self, full):
        with PeopleLedger(full, KEY) as one, PeopleLedger(full, KEY) as other:
            one.nearest(embed(0))
            other.remember([make_person("new", 0, embed(99))])

            assert one.nearest(embed(99))[0] == make_person("new")

    def test_all_are_written_or_none(self, full):
        def people():
            yield make_person("new")
            raise KeyboardInterrupt

        with PeopleLedger(full, KEY) as ledger:
            with pytest.raises(KeyboardInterrupt):
                ledger.remember(people())
            assert len(ledger) == 40

    def test_only_its_owner_can_read_it(self, tmp_path):
        path = tmp_path / "new" / "folder" / "people"
        PeopleLedger(path, KEY).close()

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    def test_neither_names_nor_classes_nor_embeddings_can_be_read_in_it(self, full):
        data = full.read_bytes()

        assert b"female" not in data
        assert b"p39" not in data
        assert embed(0).tobytes()[:8] not in data

    @pytest.mark.parametrize("bad", ["", "xyz", "ab" * 31, "é"])
    def test_what_is_no_id_is_refused(self, path, bad):
        with PeopleLedger(path, KEY) as ledger, pytest.raises(BadInput, match="is no id"):
            ledger.find(bad)


class TestForget:
    @pytest.mark.parametrize("how", ["name", "id", "digits"])
    def test_nothing_of_a_person_stays_in_the_file(self, full, how):
        person = id_of_name(KEY, "p7")
        with sqlite3.connect(full) as db:
            row = db.execute("SELECT sealed FROM rows WHERE id = ?", (bytes.fromhex(person),)).fetchone()[0]
        db.close()
        assert row in full.read_bytes()

        with PeopleLedger(full, KEY) as ledger:
            assert ledger.forget({"name": "p7", "id": person, "digits": person[:8].upper()}[how]) == person
            assert ledger.find(person) is None
            assert len(ledger) == 39

        data = full.read_bytes()
        assert bytes.fromhex(person)[:6] not in data
        assert not any(row[i : i + 8] in data for i in range(0, len(row) - 8, 8))
        assert list(full.parent.iterdir()) == [full]

    @pytest.mark.parametrize("who", ["nobody", "0123456", "0" * 64])
    def test_who_is_not_known_cannot_be_forgotten(self, full, who):
        with PeopleLedger(full, KEY) as ledger, pytest.raises(BadInput, match="knows no person"):
            ledger.forget(who)


class TestTwoRuns:
    def test_two_runs_that_write_at_once_lose_nothing_and_agree(self, path):
        code = """
def people(number):
    yield Person(id_of_name(KEY, f"{sys.argv[2]} {number}"), "a", 0, None)
    time.sleep(0.005)
    yield Person(id_of_name(KEY, f"both {number}"), "a", int(sys.argv[2]), None)
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(ledger.remember(people(number))[1].draw)
"""
        runs = [run(code, path, number) for number in (1, 2)]
        assert [process.stdout.readline() for process in runs] == ["ready\n"] * 2
        for process in runs:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate()[0].split() for process in runs]

        assert [process.returncode for process in runs] == [0, 0]
        assert said[0] == said[1]
        with PeopleLedger(path, KEY) as ledger:
            assert len(ledger) == 60

    def test_a_run_that_holds_it_too_long_is_named(self, full, monkeypatch):
        monkeypatch.setattr(sealed, "PATIENCE", 0.05)
        holder = sqlite3.connect(full, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")

        with PeopleLedger(full, KEY) as ledger:
            with pytest.raises(LedgerBusy, match="Another run holds it"):
                ledger.remember([make_person("new")])
            holder.execute("ROLLBACK")
            holder.close()
            ledger.remember([make_person("new")])
            assert len(ledger) == 41

    def test_a_run_that_is_killed_in_the_middle_leaves_what_was_there(self, full):
        code = """
def people():
    for number in range(6000):
        yield Person(id_of_name(KEY, f"n{number}"), "a", 0, np.ones(128))
    print("writing", flush=True)
    time.sleep(60)
ledger.remember(people())
"""
        process = run(code, full)
        assert process.stdout.readline() == "writing\n"
        assert full.with_name(full.name + "-journal").stat().st_size > 0
        process.send_signal(signal.SIGKILL)
        process.communicate()

        with PeopleLedger(full, KEY) as ledger:
            assert {person.draw for person in ledger} == set(range(40))
            ledger.remember([make_person("new")])
            assert len(ledger) == 41


class TestRefusals:
    """Each leaves the file as it was."""

    def refused(self, path, error, match, key=KEY, kind=PeopleLedger):
        before = path.read_bytes()
        with pytest.raises(error, match=match), kind(path, key) as ledger:
            list(ledger)
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.parametrize("size", [0, 1, 99, 100, 4096, 8192, 0.5, -4096, -1])
    def test_a_ledger_that_is_cut_short(self, full, size):
        data = full.read_bytes()
        full.write_bytes(data[: int(len(data) * size) if isinstance(size, float) else size])

        self.refused(full, LedgerDamaged, "ledger|damaged")

    @pytest.mark.parametrize("data", [b"anything else" * 100, b"SQLite format 3\0" + bytes(4080)])
    def test_a_file_that_is_no_ledger(self, path, data):
        path.write_bytes(data)

        self.refused(path, LedgerDamaged, "ledger|damaged")

    def test_a_database_of_another_program(self, path):
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.close()

        self.refused(path, LedgerDamaged, "is no ledger of elsewho")

    def test_a_ledger_of_another_key(self, full):
        self.refused(full, LedgerForeign, "was made with the key", key=OTHER)

    def test_a_ledger_of_a_newer_version(self, full):
        with sqlite3.connect(full) as db:
            db.execute("PRAGMA user_version = 2")
        db.close()

        self.refused(full, LedgerTooNew, "format 2; this version reads up to 1")

    def test_a_ledger_of_the_other_kind(self, full):
        before = full.read_bytes()

        with pytest.raises(LedgerError, match="is a ledger of people, asked was one of releases"):
            ReleaseLedger(full, KEY)
        assert full.read_bytes() == before

    def test_a_row_that_was_changed(self, full):
        with sqlite3.connect(full) as db:
            row = db.execute("SELECT sealed FROM rows").fetchone()[0]
        db.close()
        data = bytearray(full.read_bytes())
        data[data.index(row) + 40] ^= 1
        full.write_bytes(data)

        self.refused(full, LedgerDamaged, "was changed")

    def test_a_row_that_was_put_under_another_id(self, full):
        with sqlite3.connect(full) as db:
            db.execute("UPDATE rows SET id = zeroblob(32) WHERE id = (SELECT min(id) FROM rows)")
        db.close()

        self.refused(full, LedgerDamaged, "row 0000000000000000 was changed")

    def test_a_ledger_that_may_not_be_written(self, full):
        with PeopleLedger(full, KEY) as ledger:
            ledger._table._db.execute("PRAGMA query_only = ON")
            with pytest.raises(LedgerReadOnly, match="Allow writing to it"):
                ledger.remember([make_person("new")])
            assert len(ledger) == 40

    def test_a_folder(self, tmp_path):
        with pytest.raises(LedgerError, match="unable to open"):
            PeopleLedger(tmp_path, KEY)

    def test_a_place_where_none_can_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")

        with pytest.raises(LedgerError, match="cannot be made"):
            PeopleLedger(tmp_path / "file" / "people", KEY)


class TestIds:
    def test_nobody_without_the_key_can_ask_for_a_name(self):
        assert id_of_name(KEY, "anna") != id_of_name(OTHER, "anna")
        assert id_of_name(KEY, "anna") != id_of_name(KEY, "bert")

    def test_a_person_without_a_name_is_named_by_pictures_in_whatever_order(self, tmp_path):
        pictures = [tmp_path / f"{number}.png" for number in range(4)]
        for number, picture in enumerate(pictures):
            picture.write_bytes(bytes([number]) * 100)
        smallest = min(pictures, key=lambda picture: id_of_content(KEY, picture))

        assert id_of_pictures(KEY, pictures) == id_of_pictures(KEY, pictures[::-1])
        assert id_of_pictures(KEY, pictures) == id_of_pictures(KEY, [smallest])

    def test_a_person_without_name_and_pictures_is_refused(self):
        with pytest.raises(BadInput, match="at least one picture"):
            id_of_pictures(KEY, [])

    def test_a_set_of_people_has_one_id(self):
        assert id_of_people(KEY, ["a", "b", "a"]) == id_of_people(KEY, ["b", "a"])
        assert id_of_people(KEY, ["a", "b"]) != id_of_people(KEY, ["a"])


ORIGINALS = tuple(id_of_name(KEY, f"picture {number}") for number in range(3))


class TestReleases:
    @pytest.fixture
    def ledger(self, tmp_path):
        with ReleaseLedger(tmp_path / "releases", KEY) as ledger:
            yield ledger

    def test_the_same_settings_may_release_again(self, ledger):
        ledger.record(ORIGINALS, SETTINGS)

        assert ledger.record([*ORIGINALS, ORIGINALS[0]], SETTINGS) == {}
        assert len(ledger) == 3

    @pytest.mark.parametrize("name", Settings.__slots__)
    def test_any_other_setting_is_refused_and_named(self, ledger, name):
        ledger.record(ORIGINALS[:2], SETTINGS)
        other = replace(SETTINGS, **{name: 6 if name == "k" else "other"})

        for refuse in (ledger.check, ledger.record):
            with pytest.raises(SecondRelease, match=f"2 of 3 pictures were released before with another {name};"):
                refuse(ORIGINALS, other)
        assert len(ledger) == 2  # the third was not written either

    def test_a_second_release_that_is_allowed_is_remembered_with_the_first(self, ledger):
        other = replace(SETTINGS, k=7, method="isd")
        ledger.record(ORIGINALS, SETTINGS)

        assert ledger.record(ORIGINALS, other, allow=True) == {one: ["method", "k"] for one in ORIGINALS}
        ledger.check(ORIGINALS, SETTINGS)
        ledger.check(ORIGINALS, other)
        with pytest.raises(SecondRelease):
            ledger.check(ORIGINALS, replace(SETTINGS, k=9))
