// What the desk shows beside the pictures: the case, the judge, the decision, the toolbar, how far one is.

function drawCase(desk, one) {
  desk.part(".side").hidden = false
  desk.part(".case-name").textContent = one.name
  desk.part(".generator").textContent = one.generator
  desk.part(".prompt").textContent = one.prompt
  desk.part(".comment").value = one.comment ?? one.mine?.comment ?? ""
  desk.part(".question").textContent = desk.data.question
  desk.part(".scroll").scrollTop = 0
  showTags(desk.part(".tags"), one.tags)
  drawPeople(desk.part(".people"), one.people, desk.data.tags)
}

function drawJudge(desk) {
  const one = desk.current
  const section = desk.part(".verdict")
  if (one.verdict) {
    const redrawn = () => showCorrected(section, one.verdict, one.corrections)
    return drawVerdict(section, one.verdict, one.corrections, redrawn)
  }
  const said = desk.data.has_run && !one.has_verdict
    ? "This run has no verdict on this case yet: your label will measure it when it comes."
    : desk.data.has_run
    ? desk.stage === "reveal" ? "Saving your label; then the verdict appears." : "The judge's verdict is hidden: label first."
    : "No run is chosen: your label will measure whatever judge comes."
  section.replaceChildren(element("div", "hidden-verdict", said))
}

function drawDecision(desk) {
  const label = desk.stage === "label" ? desk.current?.mine?.label : desk.current.said.label
  for (const button of desk.root.querySelectorAll("[data-label]")) {
    button.disabled = !desk.current
    button.setAttribute("aria-pressed", button.dataset.label === label)
  }
  desk.part(".keep-row").hidden = !desk.mayKeep()
  if (desk.stage === "reveal") desk.part(".compared").textContent = compared(desk.current)
  if (desk.stage === "past") desk.part(".compared").textContent = `Decision ${desk.decided.place(desk.current)}. Another label revises it.`
  desk.part(".skip").disabled = !desk.current || desk.stage !== "label"
  desk.part(".undo").disabled = !desk.decided.size
  // A lead decides for good: usable or badcase, with the comment as the reason.
  for (const name of [".unsure", ".undo"]) desk.part(name).hidden = desk.data.adjudicates
  desk.part(".back").disabled = !desk.decided.before(desk.current)
  desk.part(".forward").disabled = desk.stage !== "past"
}

// The toolbar over the stage. It is drawn when the pictures are on the screen, so that no key has to wait for it.
function drawTools(desk) {
  const stage = desk.part(".stage")
  const swiped = Boolean(stage.querySelector(".swipe"))
  const panes = desk.look.panes()
  desk.part(".actual").hidden = !panes.length
  desk.part(".actual").setAttribute("aria-pressed", desk.look.isActual())
  desk.part(".alone").hidden = panes.length < 2 || swiped
  desk.part(".alone").setAttribute("aria-pressed", !desk.look.together)
  desk.part(".swiping").hidden = !swipePair(stage)
  desk.part(".swiping").setAttribute("aria-pressed", swiped)
  desk.part(".scale").textContent = desk.look.scaleWords()
}

function drawProgress(desk) {
  const waiting = desk.outbox.entries.length
  const status = desk.part(".status")
  const trouble = desk.data.trouble
  const saved = desk.outbox.saved ? "all saved" : ""
  drawRefused(desk.part(".refused"), desk.outbox, (id) => desk.known.get(id)?.name ?? "a case")
  const onTheirWay = waiting ? `${waiting} on the way to the server, kept in this browser` : ""
  status.textContent = [trouble, desk.said, onTheirWay || saved].filter(Boolean).join(" · ")
  status.classList.toggle("trouble", Boolean(trouble))
  desk.root.dataset.waiting = waiting
  desk.part(".progress").textContent = desk.data.total ? `${desk.data.done} of ${desk.data.total}` : ""
  desk.said = ""
}

// What the reviewer said beside what the judge says, in words.
function compared(one) {
  const judge = one.verdict?.label ?? "no label"
  if (judge === one.said.label) return `You and the judge say ${judge}.`
  return `You say ${one.said.label}, the judge says ${judge}. Another label revises yours.`
}
