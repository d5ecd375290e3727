"""Colours of figures that leave the site; those of the site itself are in templates/assets/sitegen.css."""

INK, MUTED, GRID = "#1d262b", "#55636b", "#e4e8ea"
FAMILIES = {
    "reward": "#1565c0",
    "kl": "#8424a8",
    "entropy": "#00796b",
    "policy": "#6d4c41",
    "critic": "#a3307f",
    "length": "#716700",
    "speed": "#3f4db8",
    "memory": "#00677f",
    "validation": "#0277a8",
}
OTHER = "#5f6368"
PHASES = {
    "warmup": "#aab4b9",
    "critic_warmup": "#c3c8ca",
    "exploration": "#90caf9",
    "climb": "#80cbc4",
    "plateau": "#b9a3e3",
    "converged": "#a5d6a7",
    "learning": "#c5d3ea",
    "decline": "#ffcc80",
    "diverging": "#f19a9a",
    "collapse": "#e57373",
}
SEVERITIES = {"critical": "#c62828", "error": "#c62828", "warning": "#b35009", "info": "#546e7a"}
STATUSES = {  # white on each has a contrast of 4.5 or more
    "crashed": "#8e1b1b",
    "failed": "#c62828",
    "unfinished": "#546e7a",
    "attention": "#a84a08",
    "healthy": "#2e7d32",
}
SCORE = "#1565c0"
