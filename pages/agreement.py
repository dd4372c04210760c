"""Agreement: how far the judge of a run can be trusted, and where it and people part."""

import streamlit as st

from data.report import agreement_report
from data.store import agreement, cases, reviews, runs
from data.store.agreement import BASES, Basis
from evaluators.agreement import WARNING_WORDS
from evaluators.verdict import shown_score
from pages.parts.agreement_charts import draw_all_judged, draw_confusion, draw_figures, draw_items, draw_time
from pages.parts.case_gallery import draw_cards
from pages.parts.choices import choose, choose_dataset, choose_run
from pages.parts.guard import require_reviewer

reviewer = require_reviewer()
st.title("Agreement")

where, which, how = st.columns([3, 4, 3])
with where:
    dataset = choose_dataset(cases.datasets())
if dataset is None:
    st.stop()
with which:
    run = choose_run(runs.runs(dataset["id"]))
if run is None:
    st.text("No run of this dataset yet: there is no judge to compare with people.")
    st.page_link(
        "pages/runs.py",
        label="Start a run",
        icon=":material/play_circle:",
        query_params={"dataset": str(dataset["id"])},
    )
    st.stop()
with how:
    basis_name = choose("basis", "People's labels", BASES)

if run["threshold"] is None:
    st.text("This run gives scores without labels. Choose a threshold to see how it would agree.")
threshold = run["threshold"]
with st.expander("Try another threshold (nothing is asked again, nothing is stored)", expanded=threshold is None):
    tried = st.slider(
        "Usable from score", 0.0, 1.0, 0.5 if threshold is None else threshold, 0.01, key=f"try-{run['id']}",
        disabled=run["options"]["strict"], help="A strict run has set scores below 1 to 0: nothing else can be tried.",
    )  # fmt: skip
    if tried != threshold:
        st.text(
            "Trying thresholds on the labels that measure them flatters: the best one here will do less well on new cases."
        )
    threshold = tried
target = st.number_input(
    "Test a claim: agrees with people on at least … %", 1.0, 100.0, None, 1.0, format="%.1f", key="claim", bind="query-params",
    placeholder="e.g. 85", width=360, help="Look once, when the labels you planned are there: who looks again and again until "
    "it holds claims falsely in up to one of five cases.",
)  # fmt: skip
report = agreement_report(run["id"], basis_name, threshold, None if target is None else target / 100)
basis = Basis(run["id"], threshold, basis_name)

st.subheader("In a sentence")
st.text(report["words"][0])
if report["claim"]:
    st.text(report["claim"]["words"])
for code in report["warnings"]:
    st.warning(WARNING_WORDS[code])
left_out = report["left_out"]
asides = [
    f"{report['unresolved']} labelled cases have no majority and are left out; they are listed at the end, to adjudicate."
    if report["unresolved"] else "",
    f"{left_out['picked']} labels are on cases that somebody picked; they are listed, never counted." if left_out["picked"] else "",
    f"{left_out['audited']} labels come from audits; until the random order passes them they count over all judged cases only."
    if left_out["audited"] else "",
    f"{left_out['stale']} labels are about an earlier version of their case and no longer count." if left_out["stale"] else "",
    f"The judge gave no label on {report['n'] - report['answered']} of the {report['n']} cases; they count as disagreements."
    if report["n"] != report["answered"] else "",
]  # fmt: skip
for aside in filter(None, asides):
    st.text(aside)

if report["n"] == 0:
    st.page_link(
        "pages/review.py", label="Label cases of this run", icon=":material/rate_review:",
        query_params={"dataset": str(dataset["id"]), "run": str(run["id"])},
    )  # fmt: skip
    st.stop()

st.subheader("The figures")
draw_figures(report)
if report["prompts"] < report["n"]:
    worth = report["accuracy"]["n_eff"]
    st.text(
        f"The {report['n']} cases belong to {report['prompts']} prompts; pictures of one prompt are alike, and the intervals "
        f"know it: for agreement they are worth about {worth:.0f} independent cases."
        if worth is not None
        else f"The {report['n']} cases belong to one prompt: nothing can be said beyond it."
    )
draw_all_judged(report["all_judged"])
left, right = st.columns(2)
with left:
    st.subheader("Judge against people")
    draw_confusion(report)
with right:
    st.subheader("Accuracy over time")
    draw_time(agreement.counts_by_day(basis))

st.subheader("Item by item")
draw_items(report["items"])

st.subheader("Where they part")
apart = agreement.disagreements(basis, limit=60)
if not apart:
    st.text("Nowhere: judge and people agree on every counted case.")
else:
    count = agreement.count_disagreements(basis)
    reviews.saw_verdicts(
        reviewer["id"], [pair["case_id"] for pair in apart]
    )  # whoever reads on labels none of them blind
    first = f", the first {len(apart)} here" if count > len(apart) else ""
    st.text(f"{count} case{'s' if count != 1 else ''}{first}. Open one to see everything that was said of it.")
    draw_cards(
        {
            pair[
                "case_id"
            ]: f"judge: {pair['judge'] or pair['status']} {shown_score(pair['score'], threshold)} · people: {pair['gold']}"
            for pair in apart
        }
    )

tied = agreement.unresolved(basis)
if tied:
    st.subheader("Without a majority")
    st.text(
        "People's labels tie here, or all are unsure. Open a case to adjudicate it: the decision counts from then on."
    )
    draw_cards({pair["case_id"]: f"people: {pair['bad']} badcase, {pair['usable']} usable" for pair in tied})
