"""Small language-model runs, really trained, that log the way verl does.

A policy (`policy`) learns to add up digits (`task`) with GRPO, DAPO or PPO (`algorithms`, `trainer`).
Every number about learning (scores, losses, KL, entropy, gradients, lengths, explained variance) is measured
on that training. A sick run is sick because of its settings (`scenarios`), never because a curve was drawn.

Two things are modelled rather than measured, in `costs`: seconds and gigabytes. A step takes milliseconds of
CPU here, and a clock would give other bytes every time; so time and memory follow from the tokens of the
step, as they would for a model of seven billion weights on the GPUs that the run's config names, with a
seeded jitter. Dates are part of the scenario. Hence a scenario gives the same bytes every time on one machine
and numpy; another CPU may round the last bit differently and so, after some steps, sample another token.

    python -m tests.tinyrl runs/           regenerates the bundled archive
    python -m tests.tinyrl runs/ NAME…     only some runs of it
"""
