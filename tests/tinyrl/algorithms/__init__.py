"""Advantages and losses, each a function of arrays."""
