"""How well the rules detect: simulated runs with known incidents, and the scores of the rules on them.

profiles   kinds of run (PPO, GRPO, DAPO without KL, GSPO, LoRA, SFT) and what a seed draws for one
otherhand  the same kind of runs written a second time, with other formulas and other noise
curves     what a run would log if there were no noise
noise      curves -> a trace: the numbers that verl would log, noise and all
incidents  what goes wrong, one noun a file: it bends curves or scars a trace, and says which rule must see it
habits     names, columns and resumes of the logs
traps      what looks wrong and is healthy
degrade    the same traces, logged badly
write      traces -> an archive, or the text that verl would have printed
matching   findings against labels
scoring    recall, precision, onsets, false alarms
"""
