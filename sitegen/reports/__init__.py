"""Everything pages may know, asked for once; `shapes` says what that is."""

from sitegen.reports.build import Reports, build
from sitegen.reports.desk import Desk
from sitegen.reports.entries import Entry
from sitegen.reports.spread import spread

__all__ = ["Desk", "Entry", "Reports", "build", "spread"]
