from __future__ import annotations

import subprocess
import sys
import time

import pytest

from elsewho import __version__
from elsewho.cli import program
from elsewho.errors import BadModel


@pytest.mark.parametrize("command", [(), ("train",), ("demo",), ("doctor",)])
def test_every_help_has_examples(run, command):
    code, out, err = run(*command, "--help")

    assert code == 0
    assert "Usage: elsewho" in out
    assert not err
    if command:
        assert "Examples" in out
        assert f"elsewho {command[0]}" in out


def test_the_version_is_one_line(run):
    assert run("--version") == (0, f"elsewho {__version__}\n", "")


def test_no_words_show_the_help(run):
    code, out, _ = run()

    assert code == 0
    assert "Commands" in out


@pytest.mark.parametrize(
    "words",
    [("bogus",), ("demo", "--bogus"), ("train", "photos"), ("demo", "--seed", "x"), ("demo", "--seed", "-1")],
)
def test_wrong_usage_is_one_line_and_exits_with_2(run, words):
    code, out, err = run(*words)

    assert code == 2
    assert not out
    assert err.count("\n") == 1
    assert "--help" in err


def raise_in_demo(monkeypatch, error):
    """Let the pipeline under `demo` raise."""

    def fail(*_given, **_options):
        raise error

    monkeypatch.setattr("elsewho.pipeline.deidentify", fail)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BadModel("face.bin\nis damaged."), "elsewho: BadModel: face.bin is damaged.\n"),
        (RuntimeError("no such thing"), "elsewho: RuntimeError: no such thing. Run again with --debug to see where.\n"),
        (PermissionError(13, "Permission denied", "x.png"), "elsewho: PermissionError: Permission denied: x.png."),
    ],
)
def test_a_failure_is_one_line_without_a_traceback_and_exits_with_1(run, monkeypatch, tmp_path, error, said):
    raise_in_demo(monkeypatch, error)

    code, out, err = run("demo", "--out", tmp_path)

    assert code == 1
    assert not out
    assert err.count("\n") == 1
    assert err.startswith(said)


@pytest.mark.parametrize("place", [0, 1])
def test_debug_shows_the_traceback_wherever_it_stands(run, monkeypatch, tmp_path, place):
    raise_in_demo(monkeypatch, RuntimeError("no such thing"))
    words = ["demo", "--out", tmp_path]
    words.insert(0 if place == 0 else len(words), "--debug")

    code, _, err = run(*words)

    assert code == 1
    assert "Traceback" in err
    assert err.endswith("elsewho: RuntimeError: no such thing.\n")


def test_an_interrupt_is_one_line_and_exits_with_130(run, monkeypatch, tmp_path):
    raise_in_demo(monkeypatch, KeyboardInterrupt())

    code, _, err = run("demo", "--out", tmp_path)

    assert code == 130
    assert err == "elsewho: interrupted; nothing half-done was left behind.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_help_imports_nothing_heavy_and_is_quick():
    code = "import sys; from elsewho.cli import main; main(['--help']); print('numpy' in sys.modules)"
    best = 9.9
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        best = min(best, time.perf_counter() - start)

    assert done.stdout.endswith("False\n")
    assert best < 1.0  # half of it on an idle machine


def test_the_commands_are_those_of_the_documentation():
    names = {info.callback.__name__ for info in program.app.registered_commands}

    assert names == {"train", "reproduce", "demo", "doctor"}
