"""Formats that are recognised by themselves. Each file has `recognise(table)`: a proposal if the table is one of its kind.

To add one: write its file, and add it to the list here. A format whose cells are not plain rewrites the rows first, so that
what people see and change on screen are simple columns.
"""

from data.exchange.formats import (
    argilla,
    coze,
    coze_loop,
    deepeval,
    imagenhub,
    label_studio,
    second_look,
    second_look_wide,
    vertex_gecko,
    viescore,
)

FORMATS = (
    second_look, second_look_wide, label_studio, argilla, coze_loop, deepeval, vertex_gecko, viescore, imagenhub, coze,
)  # fmt: skip

__all__ = ["FORMATS"]
