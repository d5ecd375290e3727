"""The command line: one module per verb. The only place that prints and exits."""

from sitegen.cli.main import main

__all__ = ["main"]
