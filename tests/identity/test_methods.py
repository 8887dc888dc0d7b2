"""The table of methods: every entry leads somewhere, and says what it promises."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from elsewho.identity.methods import METHODS

DOCS = Path(__file__).resolve().parents[2] / "docs"

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def test_the_methods_are_those_of_the_command_line():
    assert list(METHODS) == [
        "k-same-m",
        "k-same-select",
        "k-same-furthest",
        "k-diff-furthest",
        "k-diff-drawn",
        "isd",
        "k-same-pixel",
        "k-same-eigen",
        "blur",
        "pixelate",
        "mask",
    ]


@every_method
def test_every_entry_leads_to_a_function_that_says_what_it_does(method):
    assert inspect.isfunction(method.function)
    assert method.function.__doc__


@every_method
def test_what_is_needed_has_no_default_and_what_may_be_given_has_one(method):
    parameters = inspect.signature(method.function).parameters
    called = {"features": "m", "images": "images", "box": "box"}

    for need in method.needs:
        assert parameters[called.get(need, need)].default is inspect.Parameter.empty
    for option in method.takes:
        assert parameters[option].default is not inspect.Parameter.empty
    assert ("k" in parameters) == bool(method.clusters)


@every_method
def test_every_entry_promises_something_and_says_where_that_ends(method):
    assert method.promises.endswith(".")
    assert method.broken_by.endswith(".")


@pytest.mark.parametrize(
    ("name", "people", "largest"),
    [
        ("k-same-m", 40, 40),
        ("isd", 10, 10),
        ("k-same-furthest", 41, 20),
        ("k-diff-drawn", 3, 0),
        ("k-same-m", 1, 0),
        ("mask", 1, None),
    ],
)
def test_the_largest_k(name, people, largest):
    assert METHODS[name].largest_k(people) == largest


def test_calling_a_method_calls_its_function():
    import numpy as np

    assert METHODS["mask"](np.ones((4, 4)), (1, 1, 2, 2)).sum() == 12


def test_the_page_of_guarantees_has_a_chapter_on_every_method():
    chapters = re.findall(r"^## (.+)$", (DOCS / "guarantees.md").read_text("utf-8"), re.MULTILINE)

    assert set(METHODS) <= set(chapters)


def test_the_names_that_the_page_of_symbols_gives_are_in_the_code():
    modules = ["aam.model", "aam.basis", "identity.release", "identity.isd", "identity.gallery", "identity.furthest"]
    places = [vars(import_module(f"elsewho.{module}")) for module in modules]
    named = re.findall(r"`([A-Z]\w+)(?:\.(\w+))?", (DOCS / "symbols.md").read_text("utf-8"))

    assert len(named) > 20
    for owner, part in named:
        found = next((names[owner] for names in places if owner in names), None)
        assert found is not None, owner
        fields = getattr(found, "__dataclass_fields__", {})
        assert not part or part in fields or hasattr(found, part), f"{owner}.{part}"
