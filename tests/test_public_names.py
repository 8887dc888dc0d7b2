from __future__ import annotations

import subprocess
import sys

import pytest

import elsewho


def test_every_public_name_is_there():
    for name in elsewho.__all__:
        assert getattr(elsewho, name) is not None
    assert set(elsewho.__all__) <= set(dir(elsewho))


def test_every_method_is_a_public_name_of_identity():
    from elsewho import identity

    for name in identity.__all__:
        assert getattr(identity, name) is not None
    assert {method.function.__name__ for method in identity.METHODS.values()} <= set(identity.__all__)


def test_importing_elsewho_imports_nothing_heavy():
    code = "import sys, elsewho; print([m for m in ('numpy', 'cv2', 'onnxruntime', 'typer') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'deidentfy'"):
        _ = elsewho.deidentfy
