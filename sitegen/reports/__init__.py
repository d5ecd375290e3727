"""Everything pages may know, asked for once; `shapes` says what that is."""

from sitegen.reports.build import Reports, build

__all__ = ["Reports", "build"]
