"""Everything pages may know, asked for once; `shapes` says what that is."""

from sitegen.reports.build import Reports, batches, build
from sitegen.reports.desk import Desk
from sitegen.reports.entries import Entry

__all__ = ["Desk", "Entry", "Reports", "batches", "build"]
