"""Agreement item by item: sub-scores with bias and error, answers by question type or kind."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from data.reports.charts.forest import forest
from data.reports.items import item_report
from pages.parts.agreement.view import Chosen, draw_chart


def draw(chosen: Chosen) -> None:
    """Agreement item by item: sub-scores with bias and error, answers by question type or kind."""
    st.subheader("Item by item")
    items = item_report(chosen.run["id"])
    if not items:
        st.text("Nobody has corrected an item, or left one as it is beside the verdict, on a drawn case yet.")
        return
    st.text("A person speaks of items by correcting one of a verdict, or by labelling with the verdict in sight.")
    frame = pd.DataFrame(items).rename(
        columns={
            "item": "Item", "kind": "Kind", "n": "Said by people", "agreement": "Agreement", "lo": "From", "hi": "To",
            "bias": "Bias (judge - people)", "bias_lo": "Bias from", "bias_hi": "Bias to", "mae": "Mean absolute error",
        }
    )  # fmt: skip
    frame = frame[["Item", "Kind", "Said by people", "Agreement", "From", "To", "Bias (judge - people)", "Bias from",
                   "Bias to", "Mean absolute error"]]  # fmt: skip
    rows = [{"name": i["item"], "value": i["agreement"], "lo": i["lo"], "hi": i["hi"]} for i in items]
    draw_chart("items", forest(rows), frame.dropna(axis=1, how="all"), "Agreement item by item")
