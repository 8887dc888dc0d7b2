"""Write docs/model-card.md from the packaged model, its gallery and what benchmarks/default_model.py measured.

python tools/make_card.py out/model/default_model.json > docs/model-card.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from elsewho.aam.load import PACKAGED, load_model
from elsewho.identity.gallery import DEFAULT, load_gallery

NEUTRAL = PACKAGED.with_name("neutral.safetensors")


def main() -> None:
    """Print the card."""
    measured = json.loads(Path(sys.argv[1]).read_text())
    model, gallery = load_model(), load_gallery()
    training, screening = model.card["training"], gallery.card["screening"]
    speed, traits, by_modes = measured["speed"], measured["traits"], measured["by_modes"]
    seen = measured.get("recogniser")
    cost = measured["quantisation"]
    print(f"""# Card of the packaged model

`face-model.safetensors`, {PACKAGED.stat().st_size / 2**20:.1f} MiB, SHA-256 `{measured["model"]}`, and
`gallery.safetensors`, {DEFAULT.stat().st_size / 2**20:.1f} MiB. Licence: Apache-2.0. Made by
`tools/train_default.py` and `tools/sample_gallery.py`; every figure below is from `benchmarks/default_model.py`,
{measured["date"]}, {measured["machine"]}.

## What it is

{model.shape.count} points in space (mark-up `{model.marks}`), {len(model.shape.basis)} modes of shape; texture
{model.texture.mesh.size[1]} x {model.texture.mesh.size[0]} pixels, {len(model.texture.basis)} modes; three levels for
fitting; the population of neutral faces that samples are drawn from; readings of apparent gender, skin tone and age.

## Training data

{training["pictures"]} pictures of {training["people"]} people, each also mirrored: {training["london"]} of the Face
Research Lab London Set (neutral and smiling; DeBruine and Jones 2017,
[doi 10.6084/m9.figshare.5047666](https://doi.org/10.6084/m9.figshare.5047666), CC-BY 4.0) and {training["congress"]}
portraits of members of the US Congress (Government Publishing Office, public domain). 20 people of London, stratified
by gender, and 100 of Congress were drawn once and kept out of everything (`benchmarks/heldout.csv`). Congress portraits
in which glasses are seen were left out; hair and background that hide the face were painted over with the mean face.

**Underrepresented**: dark skin (13 of London's 102 people), East Asian people (about 10), women among the older
(Congress is four fifths men), glasses and beards (glasses are not modelled at all), heads turned by more than 20
degrees, expressions other than neutral and smiling. **Not represented**: children. Nothing was measured on them.

## Held-out people: reconstruction

{measured["held_out"]["people"]} people, {measured["held_out"]["pictures"]} pictures; root mean square error of luma in
grey levels (0 to 255), by number of texture modes. Folds: five, by person, over the training pictures.

| modes | London | Congress | folds |
|---|---|---|---|""")
    for count, errors in by_modes["texture_grey_levels"].items():
        print(f"| {count} | {errors['london']:.1f} | {errors['congress']:.1f} | {measured['folds'][count]:.1f} |")
    shape = ", ".join(f"{n} modes {e:.2f}%" for n, e in by_modes["shape_percent_of_diagonal"].items())
    print(f"""
Congress counts glasses and beards, which the model was not given. Shape, mean distance of the points, in percent of the
face's diagonal: {shape}.""")
    if cost:
        full, shipped = cost["grey_levels_full"], cost["grey_levels_shipped"]
        print(
            f"Quantisation to 8 bits costs {shipped - full:+.3f} grey levels: {full:.3f} before, {shipped:.3f} after."
        )
    if seen:
        print(f"""
A deep recogniser that had no part in making the model (faceres, cosine; strangers {seen["strangers_mean"]:.2f} on
average, {seen["strangers_999"]:.2f} at one false match in a thousand) puts photo and reconstruction at
{seen["cosine_photo_reconstruction"]:.2f} on average, {seen["lowest"]:.2f} at the lowest, and finds the right person
among {seen["gallery"]} pictures in {seen["rank1"]:.0%} of cases: held-out people are recognisable.""")
    print("""
| group | pictures | error |
|---|---|---|""")
    for name, group in measured["by_group"].items():
        print(f"| {name} | {group['pictures']} | {group['error']:.1f} |")
    tones = ", ".join(f"{n} {v[0]:.0f} ({v[1]})" for n, v in traits["london_tone_by_ethnicity"].items())
    gender = ", ".join(f"{n} {v:.0%}" for n, v in traits["imm_gender_right"].items())
    print(f"""
`london:` as people said of themselves, `read:` as the model reads it from all held-out pictures.

## Readings

Apparent traits, linear in the coefficients, used to choose donors: not what a person is. London's labels taught them;
Congress portraits got theirs from readings of the embedder learned on London, in all lights.

- **Apparent gender**: {traits["london_gender_right"]:.1%} right on London's held-out people
  ({traits["london_gender_sure_and_wrong"]:.1%} wrong and sure of it). On IMM, 40 people in no training data, by
  picture: {gender}. Of the held-out Congress portraits {traits["congress_share_read_male"]:.0%} read as male.
- **Age**: mean error {traits["london_age_mean_error_years"]:.1f} years, correlation
  {traits["london_age_correlation"]:.2f} on London's held-out people (18 to 54). Good for two bands, no more. Congress
  portraits were given the rank that the embedder's reading has, with the mean (58) and spread (10) of members' ages.
- **Skin tone**: L* in Lab, exposure taken out as far as the face tells. By what London's held-out people said of
  themselves: {tones} (pictures in brackets).
- **Brightness**: the direction in which a face moves when the light is turned up, with what reads as another tone
  taken out.

- **Face at rest** (`neutral.safetensors`, {NEUTRAL.stat().st_size / 1024:.0f} KiB, `tools/train_neutral.py`): what a
  smiling face looks like without its smile, learned on the pairs of London's 82 training people and their mirror
  images. It knows smiles only. How well expressions arrive with it: [what was measured](measured.md).

## Gallery

{len(gallery.vectors)} sampled faces of nobody in {len(gallery.classes)} classes and
{len(set(gallery.cluster_of.tolist()))} clusters of 5. Each was seen by the pipeline's embedder (dlib's) and kept only
if it lies farther from every training person than all but one in a thousand pairs of different people do:
{screening["threshold_photo"]:.3f} from photographs, {screening["threshold_painted"]:.3f} from painted faces.
{screening["kept"]} of {screening["tried"]} passed. No template of a training person is in the package.

## Speed

One thread, a face {speed["face_pixels_wide"]:.0f} pixels wide, CPU time (best wall-clock time):
encode {speed["encode"]["cpu_ms"]:.1f} ({speed["encode"]["best_ms"]:.1f}) ms,
decode {speed["decode"]["cpu_ms"]:.1f} ({speed["decode"]["best_ms"]:.1f}) ms; `load_model()` in a fresh process, median
(best): {speed["load_model_in_a_fresh_process"]["median_ms"]:.0f}
({speed["load_model_in_a_fresh_process"]["best_ms"]:.0f}) ms.

## Use

For research on and use of face de-identification. Not for recognising people, not for judging what people are, and not
a protection by itself: see [what each method promises](guarantees.md).""")


if __name__ == "__main__":
    main()
