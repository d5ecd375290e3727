"""Series and spans to drawings: inline SVG and a little HTML, as Markup. Pure; knows the model only.

Colours are CSS classes of templates/assets/sitegen.css, so one drawing serves light, dark and print.
"""

from sitegen.charts.frame import Frame, Limit, Mark, Size, Span, live_spans
from sitegen.charts.labels import human
from sitegen.charts.ribbon import phase_word, ribbon
from sitegen.charts.spark import spark
from sitegen.charts.svg import EVIDENCE, FULL, SMALL, TINY, backdrop, chart
from sitegen.charts.timing import stacked

__all__ = [
    "EVIDENCE",
    "FULL",
    "SMALL",
    "TINY",
    "Frame",
    "Limit",
    "Mark",
    "Size",
    "Span",
    "backdrop",
    "chart",
    "human",
    "live_spans",
    "phase_word",
    "ribbon",
    "spark",
    "stacked",
]
