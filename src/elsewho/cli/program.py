"""The commands in one program, and what every failure becomes: one line, and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from elsewho import __version__
from elsewho.cli import demo, doctor, gallery, ledger, reproduce, train
from elsewho.errors import ElsewhoError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="elsewho",
    help="Give every face in a picture another identity.",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (train, demo, doctor, reproduce):
    app.command()(getattr(command, command.__name__.rpartition(".")[2]))
for group in (gallery, ledger):
    app.add_typer(group.app, name=group.__name__.rpartition(".")[2], no_args_is_help=True)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"elsewho {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Give every face in a picture another identity.

    Examples:

    * `elsewho demo`
    * `elsewho doctor`
    * `elsewho train photos --points points --out faces.safetensors`
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given  # taken at any place, before the command or after it
    try:
        words = [word for word in given if word != "--debug"] or ["--help"]
        code = app(words, prog_name="elsewho", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python complains once more when it exits
        return FAILED
    except Exception as error:  # the last place where anything can be caught
        if debug:
            traceback.print_exc()
        return _explain(error, debug)
    if code == INTERRUPTED:
        return _say("interrupted; nothing half-done was left behind.", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _explain(error: Exception, debug: bool) -> int:
    """One line on standard error for any failure, and its exit code."""
    if hasattr(error, "format_message"):  # typer's own: wrong usage
        where = getattr(getattr(error, "ctx", None), "command_path", "elsewho")
        return _say(f"{error.format_message()} Try: {where} --help", WRONG_USAGE)
    if isinstance(error, ElsewhoError):
        return _say(f"{type(error).__name__}: {error}", FAILED)
    hint = "" if debug else " Run again with --debug to see where."
    what = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else error
    return _say(f"{type(error).__name__}: {what}.{hint}", FAILED)


def _say(message: str, code: int) -> int:
    print("elsewho: " + " ".join(str(message).split()), file=sys.stderr)
    return code
