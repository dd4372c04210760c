"""The desk as a component: Streamlit hands it data again and again, and may clean an older hand-over up after a newer one."""

from __future__ import annotations

from playwright.sync_api import Page

from pages.parts.desk import desk as component
from tests.browser.conftest import App

#: Mounts the component on a bare page of the server, as Streamlit does; `sent` is what it would send up.
MOUNT = """
async ([html, js]) => {
  const { default: mount } = await import(URL.createObjectURL(new Blob([js], { type: "text/javascript" })))
  const parentElement = document.body.appendChild(document.createElement("div"))
  parentElement.innerHTML = html
  const one = (id) => ({ id, draw_id: id, revision: 1, name: `case ${id}`, generator: "", prompt: "", inputs: [], results: [],
    output_texts: ["a text"], expected: [], context: [], verdict: null, mine: null, has_verdict: false, people: [] })
  const data = { workspace: "w", reviewer: 1, reviewer_name: "x", run_id: null, has_run: false, mode: "blind", window: 8,
    criterion: "overall", question: "?", reveal: false, tags: {}, cases: [1, 2, 3, 4].map(one), revealed: {}, settled: [],
    refused: {}, trouble: "", held: 0, adjudicates: false, done: 0, total: 4 }
  let entries = []
  window.desk = {
    sent: () => entries.map((entry) => `${entry.kind} ${entry.case_id}`),
    shown: () => parentElement.querySelector(".case-name").textContent,
    mayUndo: () => !parentElement.querySelector(".undo").disabled,
    update: () => mount({ data, parentElement, setStateValue: (name, value) => name === "outbox" && (entries = value.entries) }),
    leave: () => parentElement.remove(),
    painted: async () => {
      while (!parentElement.querySelector(".desk").dataset.painted) await new Promise(requestAnimationFrame)
    },
  }
}
"""


def test_an_update_that_a_newer_one_overtook_takes_nothing_away(page: Page, app: App):
    page.goto(app.url + "/_stcore/health")
    html, js = component._text("desk.html"), "\n".join(map(component._text, component._SCRIPTS))
    page.evaluate(MOUNT, [html, js])
    page.evaluate("window.overtaken = desk.update(); window.last = desk.update(); desk.painted()")
    page.keyboard.press("u")
    page.evaluate("overtaken(); desk.painted()")  # the clean-up of the older update comes after the newer one
    page.keyboard.press("b")
    assert page.evaluate("desk.sent()") == ["review 1", "review 2"]
    assert page.evaluate("desk.mayUndo()")
    page.evaluate("overtaken = desk.update(); overtaken(); last = desk.update(); desk.painted()")  # or before it
    page.keyboard.press("z")
    assert page.evaluate("[...desk.sent(), desk.shown()]") == ["review 1", "review 2", "undo 2", "case 2"]
    page.evaluate("desk.leave(); last()")
    page.keyboard.press("u")
    assert page.evaluate("desk.sent()") == ["review 1", "review 2", "undo 2"]
