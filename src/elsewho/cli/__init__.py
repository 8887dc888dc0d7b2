"""The command line: one module a command, each thin; nothing heavy is imported before a command needs it."""

from elsewho.cli.program import app, main

__all__ = ["app", "main"]
