"""sitegen: a static report site for reinforcement-learning runs trained with verl."""

__version__ = "0.1.0"
