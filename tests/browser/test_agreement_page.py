"""The Agreement page says in words what may be said, and what may not."""

from playwright.sync_api import Page, expect

from data.store import connection, queues, reviews
from data.store.queues import Queue
from evaluators.agreement import WARNING_WORDS
from tests.browser.conftest import App, enter, settled, shoot
from tests.data.labelled import labelled

#: Datasets by the counts of their run, and the warnings that these must raise on the screen.
WARNED = {
    "few cases": (dict(tp=8, fn=2, tn=14, fp=1), {"small_n", "few_misses"}),
    "few badcases": (dict(tp=4, fn=1, tn=60, fp=2), {"few_human_bad", "few_misses"}),
    "few usable": (dict(tp=60, fn=5, tn=6, fp=2), {"few_human_usable"}),
    "flattered": (dict(tp=1, fn=19, tn=178, fp=2), {"accuracy_misleading", "not_shown_better_than_constant"}),
    "worse than always usable": (dict(tp=10, fn=10, tn=60, fp=40), {"worse_than_constant"}),
    "few prompts": (dict(tp=30, fn=10, tn=60, fp=10, prompts=6), {"few_clusters"}),
}


def texts(page: Page) -> str:
    settled(page)
    return page.get_by_test_id("stMain").inner_text()


def test_the_headline_the_undefined_cases_and_every_warning(page: Page, app: App):
    runs = {name: labelled(name, **counts) for name, (counts, _codes) in WARNED.items()}
    runs["read aloud"] = labelled("read aloud", tp=36, fn=14, fp=23, tn=177, unlabelled=50, people=2)
    runs["nothing labelled"] = labelled("nothing labelled", unlabelled=40)
    runs["only usable"] = labelled("only usable", tn=40)
    runs["nothing flagged"] = labelled("nothing flagged", fn=12, tn=40)
    runs["no threshold"] = labelled("no threshold", tp=5, tn=5, threshold=None)
    runs["all refused"] = labelled("all refused", unanswered=20)
    connection.close()
    enter(page, app)

    def shown(name: str, more: str = "") -> str:
        dataset = app.url + f"/agreement?run={runs[name]}&dataset="
        page.goto(dataset + str(_dataset(runs[name])) + more)
        return texts(page)

    said = shown("read aloud")
    assert (
        "On 250 blind, randomly drawn cases (250 prompts) the judge agrees with people on 85.2 % [80.3–89.1], always saying "
        "usable would score 80.0 %; it finds 72.0 % [58.3–82.5] of badcases, and 61.0 % [48.3–72.4] of its flags are right; "
        "balanced accuracy 80.2 %" in said
    )
    assert "kappa 0.57 [" in said
    assert "people among themselves 1.00 [0.90–1.00] (they agree on 100.0 % [98.5–100.0] of 250 cases)." in said
    tile = page.get_by_test_id("stMetric").filter(has_text="Agreement with people")
    expect(tile).to_contain_text("85.2 %")
    tile.get_by_test_id("stTooltipIcon").hover()
    expect(page.get_by_role("tooltip").get_by_text("Over 250 cases. Interval: Wilson, 95 %.")).to_be_visible()

    shoot(page, "agreement-headline")
    for name, (_counts, codes) in WARNED.items():
        said = shown(name)
        for code in codes:
            assert WARNING_WORDS[code] in said, (name, code)

    said = shown("nothing labelled")
    assert "There are no blind labels on cases of this run yet." in said
    expect(page.get_by_role("link", name="Label cases of this run")).to_be_visible()
    said = shown("only usable")
    assert "it finds an undefined share (no badcase among the labels) of badcases" in said
    assert "kappa undefined (only one class was seen: agreement is 100 %, kappa is undefined)" in said
    said = shown("nothing flagged")
    assert "an undefined share (the judge flagged nothing) of its flags are right" in said
    assert "This run gives scores without labels. Here it is as if it called usable what scores 0.5" in shown(
        "no threshold"
    )
    said = shown("all refused")
    assert "The judge gave no label on 20 of the 20 cases; they count as disagreements." in said

    said = shown("read aloud", "&claim=80")
    assert "“At least 80 %” holds (each bound is 95 % sure: above 81.0 %" in said
    assert "“At least 99 %” does not hold" in shown("read aloud", "&claim=99")
    said = shown("read aloud", "&claim=83")
    assert "“At least 83 %” is undecided" in said and "more labels would decide it, if the judge is as good" in said
    assert "interim: 250 of 400 planned labels are there" in shown("read aloud", "&claim=80&planned=400")

    page.get_by_role("link", name="How is this computed?").click()
    settled(page)
    expect(page.get_by_role("heading", name="How is this computed?")).to_be_visible()
    shoot(page, "methods")


def test_an_audit_alone_speaks_by_the_two_phase_figures_only(page: Page, app: App):
    run = labelled("audited", tp=20, fp=10, fn=5, tn=65, people=0)
    ada = reviews.reviewer_named("Ada")
    queue = Queue("audit", run, flagged_share=1.0, passed_share=0.5)
    drawn = queues.next_cases(_dataset(run), "overall", ada, 100, queue=queue)
    first = connection.value("SELECT min(id) FROM cases WHERE dataset_id = ?", [_dataset(run)])
    for one in drawn:
        kind = one["case_id"] - first
        said = "badcase" if kind < 20 or 30 <= kind < 35 else "usable"
        reviews.save_review(
            reviews.Review(str(kind), one["case_id"], 1, "overall", ada, said, blind=True, draw_id=one["draw_id"])
        )
    connection.close()
    enter(page, app, path=f"/agreement?dataset={_dataset(run)}&run={run}")
    said = texts(page)
    assert "Over all 100 judged cases, told by 65 of them that people labelled after random draws or audits" in said
    assert "randomly drawn cases" not in said
    shoot(page, "agreement-audit")


def test_every_view_opens_on_the_sample_and_the_report_draws_itself(page: Page, app: App, tmp_path):
    enter(page, app, path="/agreement?dataset=1&run=1&basis=all")
    for view in (
        "Where they part",
        "Groups",
        "Items",
        "Scores",
        "Over time",
        "Generators",
        "Compare",
        "People",
        "Planning",
    ):
        page.get_by_test_id("stButtonGroup").get_by_role("radio", name=view).click()
        settled(page)
        expect(page.get_by_test_id("stMain").locator("h3").first).to_be_visible()
        assert "met an error" not in texts(page)
        shoot(page, f"agreement-{view.lower().replace(' ', '-')}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report").click()
    written = tmp_path / "report.html"
    download.value.save_as(written)
    alone = page.context.new_page()
    refused = []
    alone.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    alone.set_content(written.read_text(encoding="utf-8"))
    expect(alone.locator("#chart-1 svg").first).to_be_visible()  # under the report's own policy, without any request
    expect(alone.get_by_role("heading", name="The most instructive disagreements")).to_be_visible()
    assert not refused
    # Whoever has the report has seen verdicts: none of these labels will be blind.
    assert connection.value("SELECT count(*) FROM seen_verdicts") > 0


def _dataset(run: int) -> int:
    return connection.value("SELECT dataset_id FROM runs WHERE id = ?", [run])
