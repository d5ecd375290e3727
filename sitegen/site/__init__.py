"""From an archive to pages and files; the one room that renders and writes a site."""

from sitegen.site.csp import PLACE, guarded
from sitegen.site.offline import copy
from sitegen.site.prepare import Site, prepare
from sitegen.site.publish import Manifest, publish, write
from sitegen.site.search import index, region
from sitegen.site.serve import serve
from sitegen.site.templates import digest, environment, folder, has_charts, spoken_in

__all__ = [
    "PLACE",
    "Manifest",
    "Site",
    "copy",
    "digest",
    "environment",
    "folder",
    "guarded",
    "has_charts",
    "index",
    "prepare",
    "publish",
    "region",
    "serve",
    "spoken_in",
    "write",
]
