"""elsewho gives every face another identity."""
__version__ = "0.1.0"
