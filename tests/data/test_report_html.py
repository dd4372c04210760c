"""report.html: it stands alone, says what the figures say, and shows no text as markup."""

from __future__ import annotations

from html.parser import HTMLParser

import plotly.graph_objects as go
import pytest

from data.home import home as home_folder
from data.images import kept_part
from data.reports.headline import agreement_report
from data.reports.html import cases_shown, report_html
from data.reports.instructive import instructive_disagreements
from data.reports.sections.section import with_plain_names
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.agreement import Basis
from data.store.cases import dataset_id, save_cases
from data.store.judges import judge_named, save_recorded
from evaluators import METRICS, Case, Options, Part, Verdict
from evaluators.verdict import Item
from tests.conftest import kept_case, load_sample
from tests.data.test_instructive import say
from tests.data.test_queues import judged

#: Attributes by which a page loads or leads to something.
ADDRESSES = ("src", "href", "srcset", "data", "action", "poster", "background", "formaction", "xlink:href")
HOSTILE = "</script></style><script>alert(1)</script><img src=http://evil.example/x.png onerror=alert(1)>{{ 7*7 }}&amp;"


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, the text outside scripts and styles, the scripts."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        {"script": self.scripts, "style": self.styles}.get(self._inside, self.words).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _attributes in self.elements)


def addresses(page: Page) -> list[str]:
    return [value for _tag, found in page.elements for name, value in found.items() if name in ADDRESSES and value]


@pytest.fixture(scope="module")
def sample_page(tmp_path_factory) -> Page:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECOND_LOOK_HOME", str(tmp_path_factory.mktemp("sample") / "home"))
        load_sample()
        return Page(report_html(1, target=0.85))


def test_the_page_stands_alone(sample_page):
    assert sample_page.count("img") > 0
    assert all(address.startswith("data:image/jpeg;base64,") for address in addresses(sample_page))
    assert sample_page.count("link") == sample_page.count("iframe") == sample_page.count("base") == 0
    assert not any("url(" in style or "@import" in style for style in sample_page.styles)
    [policy] = [a["content"] for tag, a in sample_page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert sum(len(script) > 1_000_000 for script in sample_page.scripts) == 1  # plotly.js, once
    assert sum("Plotly.newPlot" in script for script in sample_page.scripts) >= 3


def test_it_says_what_the_figures_say(sample_page, home):
    load_sample()
    report = agreement_report(1, target=0.85)
    assert " ".join(report["words"][0].split()) in sample_page.text
    assert report["claim"]["words"] in sample_page.text
    assert "Agreement with people 76.0 % [54.1–89.5] 25" in sample_page.text
    assert report["all_judged"]["words"] in sample_page.text
    for words in ("Fewer than 30 labelled cases", "text_to_image, version", "45 labels on 28 cases by 2 reviewers",
                  "usable from a score of 0.50", "people: badcase 7 3 people: usable 2 12", "sample-judge"):  # fmt: skip
        assert words in sample_page.text
    for case in instructive_disagreements(Basis(1, 0.5)):
        assert " ".join(case["reason"].split()) in sample_page.text


@pytest.mark.parametrize("run", range(1, 7))
def test_every_run_of_the_sample_has_a_report_in_words_and_numbers(run, home):
    load_sample()
    page = Page(report_html(run, "all"))
    for title in ("The figures", "Generators", "Scores and thresholds", "Item by item", "People among themselves",
                  "How this was measured", "The most instructive disagreements"):  # fmt: skip
        assert title in page.text
    assert not any(sign in page.text for sign in ("{'", "None", "nan", "Estimate("))


def test_pictures_are_in_the_page_as_small_jpegs_and_missing_ones_are_said_to_be(sample_page, home):
    load_sample()
    assert sample_page.count("article") == len(cases_shown(1)) > 0
    for picture in (home_folder() / "images").rglob("*.png"):
        picture.unlink()
    page = Page(report_html(1))
    assert page.count("img") == 0
    assert "is missing from the workspace" in page.text


def test_texts_of_people_and_models_are_texts():
    """One hostile text as the name of the dataset, judge, case, generator, tag and question, as prompt, reason and comment."""
    pictures = [kept_case("c1")[1], kept_case("c2", "blue")[1]]
    cases = [
        Case(f"{i}{HOSTILE}", input=(Part.of_text(f"{i}{HOSTILE}"),), output=(kept_part(picture, ""), Part.of_text(HOSTILE)),
             generator=f"{i}{HOSTILE}", tags=(f"{i}{HOSTILE}",))
        for i, picture in enumerate(pictures)
    ]  # fmt: skip
    save_cases(HOSTILE, cases, pictures)
    save_recorded(HOSTILE, {"model": HOSTILE, "parameters": {HOSTILE: HOSTILE}})
    dataset = dataset_id(HOSTILE)
    run = run_store.create_run(dataset, METRICS["gecko_image"], judge_named(HOSTILE), Options())
    item = Item("question:1", "question", HOSTILE, HOSTILE, answer="yes", expected="yes", choices=("yes", "no"))
    said = Verdict(HOSTILE, "gecko_image", "ok", score=0.9, threshold=0.5, reason=HOSTILE, items=(item,))
    verdict_store.save_verdicts(run, [(1, 1, said), (2, 1, said)])
    reviewer = reviews.reviewer_named("Ada")
    for drawn in queues.next_cases(dataset, "match", reviewer, 2):
        case_id = drawn["case_id"]
        reviews.save_review(reviews.Review(str(case_id), case_id, 1, "match", reviewer, "badcase", shown=True, run_id=run,
                                           comment=HOSTILE, items={"question:1": "no"}, draw_id=drawn["draw_id"]))  # fmt: skip
    page = Page(report_html(run, "all"))
    assert (page.count("article"), page.count("img")) == (2, 2)
    assert all(address.startswith("data:image/jpeg;base64,") for address in addresses(page))
    assert not any(name.startswith("on") for _tag, found in page.elements for name in found)
    charts = [script for script in page.scripts if "Plotly.newPlot" in script and len(script) < 100_000]
    assert any("alert(1)" in script for script in charts)  # groups by the hostile generators are drawn
    assert not any("<img" in script or "</script" in script for script in charts)
    assert not any(script.startswith("alert(1)") for script in page.scripts)
    for title in ("By generator", "By tag", "Item by item"):
        assert title in page.text
    assert page.text.count(HOSTILE) > 20


def test_names_in_a_chart_are_no_markup():
    named = go.Figure(go.Scatter(x=[0.5], y=['<a href="http://evil.example">x</a>'], name="<b>y</b>"))
    assert with_plain_names(named).data[0].y == ('&lt;a href="http://evil.example">x&lt;/a>',)
    assert named.data[0].name == "&lt;b>y&lt;/b>"
    numbers = go.Figure(go.Heatmap(z=[[1, 2]], text=[[1, 2]], x=["judge: usable", "b"]))
    assert [list(row) for row in with_plain_names(numbers).data[0].text] == [[1, 2]]


def test_without_labels_it_says_so(fill):
    run = judged(fill(2), {1: 0.9, 2: 0.1})
    page = Page(report_html(run))
    assert "There are no blind labels on cases of this run yet." in page.text
    assert (page.count("article"), page.count("figure")) == (0, 0)
    assert not any(len(script) > 1000 for script in page.scripts)
    assert cases_shown(run) == []


def test_labels_of_an_audit_alone_are_told_over_all_judged_cases(fill):
    dataset = fill(6)
    run = judged(dataset, {i: 0.1 if i <= 3 else 0.9 for i in range(1, 7)})
    audit = queues.Queue("audit", run, flagged_share=1.0, passed_share=1.0)
    say(dataset, "Ada", {i: "badcase" if i <= 2 else "usable" for i in range(1, 7)}, queue=audit)
    page = Page(report_html(run))
    assert "the judge agrees with people on 83.3 %" in page.text
    assert (
        "6 by an audit: each case with a chance known before the draw (audit/run 1/1 of flagged, 1 of passed)"
        in page.text
    )


def test_a_run_that_judged_nothing_or_has_no_threshold(fill):
    dataset = fill(2)
    empty = judged(dataset, {})
    assert "0 of 2 cases have a verdict" in Page(report_html(empty)).text
    run = run_store.create_run(dataset, METRICS["text_to_image"], judge_named("judge"), Options(threshold=None))
    verdict_store.save_verdicts(run, [(1, 1, Verdict("c0", "text_to_image", "ok", score=0.9))])
    say(dataset, "Ada", {1: "badcase"})
    page = Page(report_html(run))
    assert "This run gives scores without labels" in page.text and "no threshold" in page.text
    assert "1 badcase" in Page(report_html(run, threshold=0.5)).text
    assert "(tried)" in Page(report_html(run, threshold=0.5)).text
    assert cases_shown(run) == [] and cases_shown(run, threshold=0.5) == [1]


def test_chinese_texts_are_whole(fill):
    dataset = fill(1)
    run = judged(dataset, {1: 0.9})
    say(dataset, "小明", {1: "badcase"}, "手有六根手指")
    html = report_html(run)
    assert '<meta charset="utf-8">' in html
    assert "手有六根手指" in Page(html).text
