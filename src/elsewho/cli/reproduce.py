"""`elsewho reproduce`: the experiments of a paper, run again, beside the paper's own figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elsewho.papers.registry import PAPERS, Job, count_cores, find_paper


def reproduce(
    paper: Annotated[str, typer.Argument(help=" | ".join(PAPERS), metavar="PAPER")],
    data: Annotated[Path, typer.Option(help="Folder of the data set, or a folder of data sets (imm, london, jaffe).")],
    out: Annotated[Path, typer.Option(help="Folder for report.json, index.html and the figures. Private.")],
    runs: Annotated[
        int | None, typer.Option(min=1, help="Splits or runs; without it as many as in the paper.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of splits and triggers: the same seed gives the same report.")] = 0,
    recogniser: Annotated[
        Path | None, typer.Option(help="An ONNX face recogniser to attack with; FILE.json beside it.", metavar="FILE")
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one a core.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report in --out.")] = False,
) -> None:
    """Run a paper's experiments and set the figures beside its own.

    Examples:

    * `elsewho reproduce k-same-furthest --data imm --out report`
    * `elsewho reproduce k-diff-furthest --data imm --out report --runs 100 --recogniser faceres.onnx`
    """
    if paper not in PAPERS:
        raise typer.BadParameter(f"{paper}: the papers that can be reproduced are {', '.join(PAPERS)}.")

    from elsewho.cli.train import show_progress
    from elsewho.papers.report import PAGE, check_out, write_reproduction

    module = find_paper(paper)
    check_out(out, overwrite)
    if recogniser is not None:
        from elsewho.proof.recognisers import OnnxRecogniser

        OnnxRecogniser(recogniser)  # refused now if it cannot be used
    with show_progress() as progress:
        job = Job(data, runs or module.RUNS, seed, recogniser, workers or count_cores(), progress)
        found = module.reproduce(job, module.check(job))
    write_reproduction(found, out, overwrite=overwrite)
    held = sum(claim.holds for claim in found.claims)
    typer.echo(f"{out / PAGE}: {held} of {len(found.claims)} claims of the paper hold.")
