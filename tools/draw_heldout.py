"""Draw the held-out people once: 20 of London, stratified by gender, and 100 of Congress.

    python tools/draw_heldout.py ../shared/data > benchmarks/heldout.csv

They are in no shipped model, gallery or estimator. The file is committed; this script says how it came about.
"""

import csv
import sys
from pathlib import Path

import numpy as np

SEED = 20261119


def main() -> None:
    """Print set,person rows."""
    data = Path(sys.argv[1])
    rng = np.random.default_rng(SEED)
    with (data / "london" / "info.csv").open(newline="") as file:
        people = [(row["face_id"], row["face_gender"]) for row in csv.DictReader(file)]
    genders = sorted({gender for _, gender in people})
    held = []
    for gender in genders:
        ids = sorted(person for person, its in people if its == gender)
        count = round(20 * len(ids) / len(people))
        held += sorted(rng.choice(ids, count, replace=False).tolist())
    congress = sorted(path.stem for path in (data / "congress").glob("*.jpg"))
    print("set,person")
    for person in sorted(held):
        print(f"london,{person}")
    for person in sorted(rng.choice(congress, 100, replace=False).tolist()):
        print(f"congress,{person}")


if __name__ == "__main__":
    main()
