"""What a metric is called, what it means and which way is better."""

from sitegen.metrics.glossary import GROUPS, Glossary, glossary

__all__ = ["GROUPS", "Glossary", "glossary"]
