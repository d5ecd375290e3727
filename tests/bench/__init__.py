"""The measurements behind ARCHITECTURE.md, as ratios of two things timed in one run.

    python -m tests.bench [NAME…] [--scale 0.1] [--keep FOLDER]

A ratio survives a slow machine, seconds do not; hence each measure times its yardstick beside it. They are no
tests: a busy machine may miss a target. `--scale` shrinks the inputs, `--keep` leaves them (and the sites) in
a folder and uses again what it finds there.
"""
