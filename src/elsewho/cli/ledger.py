"""`elsewho ledger`: the people whom the key remembers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from elsewho.identity.ledger import PeopleLedger

app = typer.Typer(help="Show or forget the people whom the key remembers.", rich_markup_mode="markdown")

KeyFile = Annotated[Path | None, typer.Option("--key", help="Key file; without it the user's own key.")]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="Person ledger; without it the one beside the key.")]


@app.command("list")
def list_people(
    key: KeyFile = None,
    ledger: LedgerFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with whole ids.")] = False,
) -> None:
    """List the people: id, class of the donors, number of the draw. The ledger holds no names.

    Examples:

    * `elsewho ledger list`
    * `elsewho ledger list --key team.key --json`
    """
    with open_ledger(key, ledger) as known:
        people = list(known)
    if as_json:
        rows = [
            {"id": one.id, "class": one.of_class, "draw": one.draw, "embedding": one.embedding is not None}
            for one in people
        ]
        typer.echo(json.dumps({"people": rows}))
        return
    for one in people:
        typer.echo(f"{one.id[:16]}  {one.of_class}  draw {one.draw}")
    typer.echo(f"{len(people)} people are remembered.")


@app.command()
def forget(
    person: Annotated[str, typer.Argument(help="A name, an id, or its first digits.", metavar="PERSON")],
    key: KeyFile = None,
    ledger: LedgerFile = None,
) -> None:
    """Remove a person from the ledger for good. Pictures already released stay as they are.

    The same name and key draw the same face again, unless a draw was skipped; a person without a name may get
    another face next time.

    Examples:

    * `elsewho ledger forget anna`
    * `elsewho ledger forget 5f2c90d1 --key team.key`
    """
    with open_ledger(key, ledger) as known:
        gone = known.forget(person)
        left = len(known)
    typer.echo(f"{gone[:16]} is forgotten; {left} people are remembered.")


def open_ledger(key: Path | None, ledger: Path | None) -> PeopleLedger:
    """The person ledger, which must be there."""
    from elsewho.errors import LedgerError
    from elsewho.identity.key import load_key
    from elsewho.identity.ledger import PeopleLedger, people_path
    from elsewho.media.files import show_name

    secret = load_key(key, make=False)
    path = people_path(key) if ledger is None else ledger
    if not path.exists():
        raise LedgerError(f"there is no ledger {show_name(path)}: nobody was remembered yet. Check --key and --ledger.")
    return PeopleLedger(path, secret)
