"""The documentation: what it links to, names and tells people to type is there."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "check_docs.py"


def load_tool():
    spec = importlib.util.spec_from_file_location("check_docs", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs = load_tool()
on_every_page = pytest.mark.parametrize("page", docs.find_pages(), ids=lambda page: page.name)


@on_every_page
@pytest.mark.parametrize("check", [docs.check_links, docs.check_files, docs.check_commands])
def test_links_names_and_commands_of_a_page_hold(page, check):
    assert list(check(page, page.read_text("utf-8"))) == []


@pytest.mark.slow
@on_every_page
def test_the_examples_of_a_page_run(page):
    assert list(docs.check_examples(page, page.read_text("utf-8"))) == []


def test_a_page_that_is_wrong_is_caught():
    page = TOOL.parents[1] / "README.md"
    text = "[x](nowhere.md) and [y](#no-such-heading), `aam/nothing.py`, `make coffee`, `elsewho fly`"

    checks = docs.check_links, docs.check_files, docs.check_commands
    found = [problem for check in checks for problem in check(page, text)]

    assert len(found) == 5


def test_an_example_that_fails_is_caught():
    assert len(list(docs.check_examples(TOOL, "```python\nimport elsewho\n\nelsewho.nothing\n```\n"))) == 1
