"""The face model: points and pixels in, coefficients out, and back."""
