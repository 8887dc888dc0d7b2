from __future__ import annotations

import json

import pytest

from elsewho.identity.key import load_key
from elsewho.identity.ledger import PeopleLedger, Person, id_of_name, people_path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of one's own, with nothing in it."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


@pytest.fixture
def key(tmp_path):
    """A key file with a ledger of two people beside it."""
    path = tmp_path / "team.key"
    path.write_bytes(b"k" * 32)
    path.chmod(0o600)
    remember(path)
    return path


def remember(path):
    secret = load_key(path)
    with PeopleLedger(people_path(path), secret) as ledger:
        ledger.remember(Person(id_of_name(secret, name), "male-darker-older", 2) for name in ("anna", "bert"))


@pytest.mark.parametrize("command", [(), ("list",), ("forget",)])
def test_every_help_has_examples(run, command):
    code, out, _ = run("ledger", *command, "--help")

    assert code == 0
    if command:
        assert f"elsewho ledger {command[0]}" in out


def test_the_people_are_listed_without_names(run, key):
    code, out, err = run("ledger", "list", "--key", key)

    assert (code, err) == (0, "")
    assert out.count("male-darker-older  draw 2") == 2
    assert out.endswith("2 people are remembered.\n")
    assert "anna" not in out


def test_json_holds_whole_ids(run, key):
    _, out, _ = run("ledger", "list", "--key", key, "--json")

    people = json.loads(out)["people"]
    assert {one["id"] for one in people} == {id_of_name(b"k" * 32, name) for name in ("anna", "bert")}
    assert people[0] | {"id": ""} == {"id": "", "class": "male-darker-older", "draw": 2, "embedding": False}


def test_the_users_own_ledger_is_the_default(run):
    remember(None)

    assert run("ledger", "forget", "anna")[0] == 0
    assert run("ledger", "list")[1].endswith("1 people are remembered.\n")


def test_a_ledger_may_lie_elsewhere(run, key, tmp_path):
    people_path(key).rename(tmp_path / "elsewhere")

    assert run("ledger", "list", "--key", key, "--ledger", tmp_path / "elsewhere")[0] == 0


def test_who_is_forgotten_is_gone(run, key):
    code, out, err = run("ledger", "forget", "anna", "--key", key)

    assert (code, err) == (0, "")
    assert out.endswith("is forgotten; 1 people are remembered.\n")
    code, _, err = run("ledger", "forget", "anna", "--key", key)
    assert code == 1
    assert err.startswith("elsewho: BadInput: the ledger knows no person 'anna'")


def test_nothing_is_made_by_looking(run, tmp_path):
    code, _, err = run("ledger", "list")

    assert code == 1
    assert "there is no key" in err
    assert not (tmp_path / "home").exists()


def test_a_ledger_that_is_not_there_is_named(run, key):
    people_path(key).unlink()

    code, _, err = run("ledger", "list", "--key", key)

    assert code == 1
    assert "nobody was remembered yet" in err
    assert err.count("\n") == 1
    assert not people_path(key).exists()


def test_a_damaged_ledger_is_one_line(run, key):
    people_path(key).write_bytes(b"x" * 5000)

    code, _, err = run("ledger", "list", "--key", key)

    assert code == 1
    assert err.startswith("elsewho: LedgerDamaged: ")
    assert err.count("\n") == 1


def test_forgetting_needs_a_person(run):
    assert run("ledger", "forget")[0] == 2
