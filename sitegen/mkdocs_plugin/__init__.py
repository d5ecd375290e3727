"""The only room that knows MkDocs: the plugin, and a build that uses it."""

from sitegen.mkdocs_plugin.building import Built, build, config_file, read_settings
from sitegen.mkdocs_plugin.plugin import NAME, SitegenPlugin

__all__ = ["NAME", "Built", "SitegenPlugin", "build", "config_file", "read_settings"]
