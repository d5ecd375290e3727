"""Logs -> one folder of Parquet per run. The only writer below `.sitegen/`."""

from sitegen.archive.lock import locked
from sitegen.archive.read import Archive
from sitegen.archive.refresh import Update, update

__all__ = ["Archive", "Update", "locked", "update"]
