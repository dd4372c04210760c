"""The charts of the Agreement page, each with the table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from evaluators.agreement import REASON_WORDS, WARNING_WORDS, wilson

#: Figures in the order in which they are read, with their words and what they mean.
FIGURES = {
    "accuracy": ("Agreement with people", "share of cases on which judge and people give the same label"),
    "balanced_accuracy": ("Balanced accuracy", "mean of the shares found among badcases and among usable cases"),
    "recall_bad": ("Badcases found", "of the cases people call badcase, the share the judge flags"),
    "precision_bad": ("Flags that are right", "of the cases the judge flags, the share people call badcase"),
    "specificity": ("Usable cases passed", "of the cases people call usable, the share the judge passes"),
    "kappa": ("Cohen's kappa", "agreement beyond what chance would give: 0 is chance, 1 is perfect"),
}
BLUE, ORANGE, GREY = "#1f77b4", "#d9822b", "#8a94a3"
_NO_TOOLBAR = {"displayModeBar": False}  # it lies over titles and legends
_INTERVAL = dict(thickness=2, width=6)


def draw_figures(report: Mapping) -> None:
    """The figures with their intervals, and the constant judge beside accuracy."""
    tiles = st.columns(5)
    accuracy = report["accuracy"]
    tiles[0].metric("Agreement with people", _percent(accuracy), _interval(accuracy), delta_color="off", delta_arrow="off",
                    help=f"Over {report['n']} cases. Interval: {accuracy['method']}, 95 %.")  # fmt: skip
    tiles[1].metric(f"Always “{report['baseline_label']}”", f"{100 * report['baseline']:.1f} %",
                    help="The share that a judge would reach by giving everything the more frequent label.")  # fmt: skip
    for tile, name in zip(tiles[2:4], ("recall_bad", "precision_bad"), strict=True):
        words, meaning = FIGURES[name]
        tile.metric(
            words, _percent(report[name]), _interval(report[name]), delta_color="off", delta_arrow="off", help=meaning
        )
    people = report["human"]
    kappa = report["kappa"]
    between = f"people: {people['kappa']:.2f}" if people["kappa"] is not None else "people: unknown"
    tiles[4].metric("Cohen's kappa", "undefined" if kappa["value"] is None else f"{kappa['value']:.2f}", between,
                    delta_color="off", delta_arrow="off", help=FIGURES["kappa"][1])  # fmt: skip

    defined = {name: report[name] for name in FIGURES if report[name]["lo"] is not None}
    chart = go.Figure()
    chart.add_scatter(
        x=[e["value"] for e in defined.values()],
        y=[FIGURES[name][0] for name in defined],
        mode="markers",
        marker=dict(size=10, color=BLUE),
        error_x=dict(
            type="data", symmetric=False, array=[e["hi"] - e["value"] for e in defined.values()],
            arrayminus=[e["value"] - e["lo"] for e in defined.values()], **_INTERVAL,
        ),
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )  # fmt: skip
    chart.add_vline(x=report["baseline"], line_dash="dot", line_color=GREY,
                    annotation_text=f"always {report['baseline_label']}", annotation_position="top")  # fmt: skip
    lowest = min([0.0, *(e["lo"] for e in defined.values())])
    chart.update_layout(height=300, margin=dict(l=0, r=10, t=30, b=30), showlegend=False)
    chart.update_xaxes(range=[lowest - 0.02, 1.03])
    chart.update_yaxes(autorange="reversed")
    st.plotly_chart(chart, config=_NO_TOOLBAR, key="figures", alt="Figures with 95 % intervals")
    table = [
        {
            "Figure": words, "Value": report[name]["value"], "From": report[name]["lo"], "To": report[name]["hi"],
            "Cases": report[name]["n"], "Method": report[name]["method"],
            "Undefined because": REASON_WORDS.get(report[name]["reason"], ""), "Meaning": meaning,
        }
        for name, (words, meaning) in FIGURES.items()
    ]  # fmt: skip
    _table_behind("figures", pd.DataFrame(table))


def draw_all_judged(found: Mapping | None) -> None:
    """The judge over all cases that it labelled, and the true share of usable ones."""
    if found is None or not found["cases"]:
        return
    st.subheader("Over all judged cases")
    st.text(found["words"])
    st.text(
        f"From {found['labelled']} random and audit labels: within each of the judge's labels a random draw, and how many "
        f"cases it flagged is known. The judge itself passed {100 * found['judge_usable']:.1f} %, which is not the true share."
    )
    for code in found["warnings"]:
        st.text(WARNING_WORDS[code])
    names = {
        "accuracy": "Agreement with people", "recall_bad": "Badcases found", "specificity": "Usable cases passed",
        "precision_bad": "Flags that are right", "npv": "Passed cases that are usable",
        "usable_rate": "Truly usable cases (the generator's)",
    }  # fmt: skip
    _table_behind("all-judged", pd.DataFrame([
        {"Figure": words, "Value": found[name]["value"], "From": found[name]["lo"], "To": found[name]["hi"],
         "Undefined because": REASON_WORDS.get(found[name]["reason"], "")}
        for name, words in names.items()
    ]))  # fmt: skip


def draw_confusion(report: Mapping) -> None:
    """The 2x2 table of labels, over the cases that the judge labelled."""
    labels = ("badcase", "usable")
    cells = [[report["tp"], report["fn"]], [report["fp"], report["tn"]]]
    chart = go.Figure(
        go.Heatmap(
            z=cells, x=[f"judge: {label}" for label in labels], y=[f"people: {label}" for label in labels],
            text=cells, texttemplate="%{text}", textfont=dict(size=22, color=_text_color()),
            colorscale=[[0, "rgba(31,119,180,0.08)"], [1, "rgba(31,119,180,0.75)"]], showscale=False,
            hovertemplate="%{y}, %{x}: %{z} cases<extra></extra>",
        )
    )  # fmt: skip
    chart.update_layout(height=320, margin=dict(l=0, r=0, t=10, b=10))
    chart.update_yaxes(autorange="reversed")
    st.plotly_chart(chart, config=_NO_TOOLBAR, key="confusion", alt="Confusion matrix")
    table = pd.DataFrame(cells, columns=[f"judge {label}" for label in labels])
    table.insert(0, "", [f"people {label}" for label in labels])
    _table_behind("confusion", table)


def _text_color() -> str:
    """Plotly picks the colour of texts in cells as if the page were white."""
    return "#e8ecf2" if st.context.theme.type == "dark" else "#1b2430"


def draw_time(days: Sequence[Mapping]) -> None:
    """Accuracy of each day's newly settled labels with its interval, and of all until then."""
    table, right, total = [], 0, 0
    for day in days:
        right, total = right + day["tp"] + day["tn"], total + day["n"]
        of_day, so_far = wilson(day["tp"] + day["tn"], day["n"]), wilson(right, total)
        table.append(
            {
                "Day": day["day"], "Cases": day["n"], "Accuracy": of_day.value, "From": of_day.lo, "To": of_day.hi,
                "All so far": so_far.value, "All from": so_far.lo, "All to": so_far.hi, "All cases": total,
            }
        )  # fmt: skip
    frame = pd.DataFrame(table)
    chart = go.Figure()
    chart.add_scatter(
        x=frame["Day"], y=frame["All to"], mode="lines", line=dict(width=0), showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["All from"], mode="lines", line=dict(width=0), fill="tonexty",
        fillcolor="rgba(31,119,180,0.18)", name="95 % interval", hoverinfo="skip",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["All so far"], mode="lines+markers", line=dict(color=BLUE, width=3), name="all labels so far",
        customdata=frame["All cases"], hovertemplate="%{x}: %{y:.1%} of %{customdata} cases<extra></extra>",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["Accuracy"], mode="markers", marker=dict(color=ORANGE, size=8, symbol="diamond"),
        name="labels of the day",
        error_y=dict(type="data", symmetric=False, array=frame["To"] - frame["Accuracy"],
                     arrayminus=frame["Accuracy"] - frame["From"], thickness=1, width=3),
        customdata=frame["Cases"], hovertemplate="%{x}: %{y:.1%} of %{customdata} cases<extra></extra>",
    )  # fmt: skip
    chart.update_layout(height=320, margin=dict(l=0, r=0, t=10, b=10), legend=dict(orientation="h", y=1.12))
    chart.update_yaxes(range=[0, 1.05], tickformat=".0%")
    chart.update_xaxes(type="date")
    st.plotly_chart(chart, config=_NO_TOOLBAR, key="time", alt="Accuracy over time")
    _table_behind("time", frame)


def draw_items(items: Sequence[Mapping]) -> None:
    """Agreement item by item: sub-scores with bias and error, answers by question type or kind."""
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
    chart = go.Figure(
        go.Scatter(
            x=frame["Agreement"], y=frame["Item"], mode="markers", marker=dict(size=10, color=BLUE),
            error_x=dict(type="data", symmetric=False, array=frame["To"] - frame["Agreement"],
                         arrayminus=frame["Agreement"] - frame["From"], **_INTERVAL),
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )  # fmt: skip
    chart.update_layout(height=90 + 34 * len(frame), margin=dict(l=0, r=10, t=10, b=30))
    chart.update_xaxes(range=[-0.02, 1.03], tickformat=".0%")
    chart.update_yaxes(autorange="reversed")
    st.plotly_chart(chart, config=_NO_TOOLBAR, key="items", alt="Agreement item by item")
    st.dataframe(frame.dropna(axis=1, how="all"), hide_index=True, key="table-items")


def _table_behind(name: str, frame: pd.DataFrame) -> None:
    with st.expander("The table behind"):
        st.dataframe(frame, hide_index=True, key=f"table-{name}")


def _percent(estimate: Mapping) -> str:
    return "undefined" if estimate["value"] is None else f"{100 * estimate['value']:.1f} %"


def _interval(estimate: Mapping) -> str:
    if estimate["value"] is None:
        return REASON_WORDS[estimate["reason"]]
    if estimate["lo"] is None:
        return f"no interval: {REASON_WORDS[estimate['reason']]}"
    return f"{100 * estimate['lo']:.1f}–{100 * estimate['hi']:.1f}"
