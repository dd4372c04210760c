// The desk itself: which case is shown, what a decision does, and what the server has said.

class Desk {
  constructor(root, data, send) {
    this.root = root
    this.data = data
    this.send = send
    this.queue = []
    this.known = new Map() // case id -> the case with what the reviewer has done to it; the server may send it again
    this.decided = new Map() // case id -> tokens of the entries that were made for it here
    this.history = [] // what can be taken back, last one last
    this.returned = [] // taken back and to be labelled again, before whatever the server offers
    this.skipped = []
    this.current = null
    this.stage = "label" // or "reveal": labelled blind, now looking at the verdict
    this.painted = false
    this.outbox = new Outbox(`${data.workspace}/${data.reviewer}`, (name, value) => this.send(name, value))
    root.dataset.mode = data.mode
    this.drawTags()
    this.wire()
    root.focus({ preventScroll: true }) // a box that was just used above would swallow the keys
    if (this.outbox.entries.length) this.outbox.sendAll()
  }

  part(selector) {
    return this.root.querySelector(selector)
  }

  wire() {
    for (const button of this.root.querySelectorAll("[data-label]")) {
      button.onclick = () => this.decide(button.dataset.label)
    }
    this.part(".keep").onclick = () => this.keep()
    this.part(".skip").onclick = () => this.skip()
    this.part(".undo").onclick = () => this.undo()
    this.part(".help").onclick = () => this.toggleKeys()
    this.stopKeys = listenForKeys({
      u: () => this.decide("usable"),
      b: () => this.decide("badcase"),
      n: () => this.decide("unsure"),
      enter: () => this.keep(),
      s: () => this.skip(),
      z: () => this.undo(),
      m: () => this.part(".comment").focus(),
      "?": () => this.toggleKeys(),
      flip: (number) => this.part(`.answer[data-number="${number}"]`)?.click(),
    })
  }

  // What the server says now: the next cases, which entries it holds, which verdicts may be seen.
  receive(data, send) {
    this.data = data
    this.send = send
    this.outbox.settle(data.settled)
    this.outbox.refuse(data.refused)
    const offered = data.cases.map((one) => this.remembered(one))
    this.queue = [...new Set([...this.returned, ...offered])].filter((one) => !this.decided.has(one.id))
    if (this.current) {
      this.queue = [this.current, ...this.queue.filter((one) => one.id !== this.current.id)]
      if (this.stage === "reveal") this.reveal()
    } else this.showNext()
    this.queue.slice(1, 6).forEach((one) => [...one.inputs, ...one.results].forEach(warm))
    this.drawProgress()
  }

  // The case as it is held here, with the server's newest facts; after a change of the case it is a new one.
  remembered(fresh) {
    const held = this.known.get(fresh.id)
    if (held?.revision !== fresh.revision) {
      this.known.set(fresh.id, fresh)
      if (held) this.decided.delete(fresh.id)
      return fresh
    }
    const { inputs, results, expected, context, has_verdict, draw_id } = fresh
    return Object.assign(held, { inputs, results, expected, context, has_verdict, draw_id }, fresh.verdict && { verdict: fresh.verdict })
  }

  showNext() {
    this.current = null
    this.stage = "label"
    const next = this.queue[0]
    if (!next) return this.showNothing()
    this.show(next)
  }

  show(one) {
    this.current = one
    one.corrections ??= { ...one.mine?.items }
    one.tags ??= new Set(one.mine?.tags ?? [])
    one.seenVerdict ||= Boolean(one.verdict)
    this.painted = false
    this.root.dataset.painted = ""
    this.part(".side").hidden = false
    this.part(".case-name").textContent = one.name
    this.part(".generator").textContent = one.generator
    this.part(".prompt").textContent = one.prompt
    this.part(".comment").value = one.comment ?? one.mine?.comment ?? ""
    this.part(".question").textContent = this.data.question
    this.drawJudge()
    this.drawDecision()
    for (const button of this.root.querySelectorAll(".tags button")) {
      button.setAttribute("aria-pressed", one.tags.has(button.dataset.tag))
    }
    this.part(".scroll").scrollTop = 0
    paintPictures(this.part(".stage"), one, (picture) => zoomInto(this.part(".zoom"), picture)).then(() => {
      if (this.current?.id !== one.id) return
      this.painted = true
      this.shownAt = performance.now()
      this.root.dataset.painted = one.id
    })
    this.drawProgress()
  }

  showNothing() {
    this.painted = false
    // A full window, all of it decided: the reviewer was faster than the server, more cases are on their way.
    const more = this.data.cases.length >= this.data.window
    this.root.dataset.painted = more ? "" : "nothing"
    this.part(".side").hidden = !this.history.length
    const said = more
      ? "The next cases are on their way."
      : this.data.total
      ? "You have looked at every case here. Z takes the last decision back."
      : "There are no cases here yet. Add some on the Cases page."
    this.part(".stage").replaceChildren(element("div", "nothing", said))
    for (const name of [".case-name", ".generator", ".prompt", ".question"]) this.part(name).textContent = ""
    this.part(".verdict").replaceChildren()
    this.drawDecision()
    this.drawProgress()
  }

  drawJudge() {
    const one = this.current
    const section = this.part(".verdict")
    if (one.verdict) {
      const redrawn = () => showCorrected(section, one.verdict, one.corrections)
      return drawVerdict(section, one.verdict, one.corrections, redrawn)
    }
    const said = this.data.has_run && !one.has_verdict
      ? "This run has no verdict on this case yet: your label will measure it when it comes."
      : this.data.has_run
      ? this.stage === "reveal" ? "Saving your label; then the verdict appears." : "The judge's verdict is hidden: label first."
      : "No run is chosen: your label will measure whatever judge comes."
    section.replaceChildren(element("div", "hidden-verdict", said))
  }

  drawDecision() {
    const label = this.stage === "reveal" ? this.current.label : this.current?.mine?.label
    for (const button of this.root.querySelectorAll("[data-label]")) {
      button.disabled = !this.current
      button.setAttribute("aria-pressed", button.dataset.label === label)
    }
    this.part(".keep-row").hidden = this.stage !== "reveal" || !this.current.verdict
    if (this.stage === "reveal") this.part(".compared").textContent = compared(this.current)
    this.part(".skip").disabled = !this.current || this.stage === "reveal"
    this.part(".undo").disabled = !this.history.length
  }

  drawTags() {
    for (const [tag, words] of Object.entries(this.data.tags)) {
      const button = element("button", "", words)
      button.type = "button"
      button.dataset.tag = tag
      button.onclick = () => {
        const { tags } = this.current
        tags.has(tag) ? tags.delete(tag) : tags.add(tag)
        button.setAttribute("aria-pressed", tags.has(tag))
      }
      this.part(".tags").append(button)
    }
  }

  decide(label) {
    if (!this.mayDecide()) return
    const one = this.current
    const first = this.stage === "label"
    one.label = label
    this.enter(one, label)
    if (first && this.data.reveal && one.has_verdict && !one.seenVerdict) {
      this.stage = "reveal"
      this.drawJudge()
      this.drawDecision()
      return
    }
    this.showFollowing()
  }

  keep() {
    if (this.stage !== "reveal" || !this.current.verdict) return
    this.enter(this.current, this.current.label)
    this.showFollowing()
  }

  mayDecide() {
    if (!this.current) return false
    if (!isStillMe(this.data.reviewer_name)) {
      this.say("Another name is being used here; wait a moment or reload the page.")
      return false
    }
    if (!this.painted) this.say("Not yet: the picture is not on the screen.")
    return this.painted && !(this.stage === "reveal" && !this.current.verdict)
  }

  // Put a review into the outbox.
  enter(one, label) {
    const token = this.outbox.add({
      kind: "review",
      reviewer: this.data.reviewer,
      case_id: one.id,
      revision: one.revision,
      draw_id: one.draw_id,
      run_id: this.data.run_id,
      criterion: this.data.criterion,
      label,
      items: one.seenVerdict ? { ...one.corrections } : {},
      tags: [...one.tags],
      comment: this.part(".comment").value.trim(),
      blind: !one.seenVerdict,
      dwell_ms: Math.round(performance.now() - this.shownAt),
    })
    if (!this.decided.has(one.id)) this.history.push(one)
    this.returned = this.returned.filter((other) => other.id !== one.id)
    this.decided.set(one.id, [...(this.decided.get(one.id) ?? []), token])
    one.comment = this.part(".comment").value
    this.drawProgress()
  }

  // The server has the blind label and has sent the verdict.
  reveal() {
    const verdict = this.data.revealed[this.current.id]
    if (!verdict || this.current.verdict) return
    this.current.verdict = verdict
    this.current.seenVerdict = true
    this.drawJudge()
    this.drawDecision()
  }

  showFollowing() {
    this.queue = this.queue.filter((one) => !this.decided.has(one.id))
    this.showNext()
  }

  skip() {
    if (!this.current || this.stage === "reveal") return
    const one = this.current
    one.comment = this.part(".comment").value
    this.skipped = [...this.skipped.filter((id) => id !== one.id), one.id]
    this.send("skipped", this.skipped)
    this.returned = this.returned.filter((other) => other.id !== one.id)
    this.queue = [...this.queue.filter((other) => other.id !== one.id), one]
    this.say(`Skipped ${one.name}; it comes back at the end.`)
    this.showNext()
  }

  // Take back all that was said of the last case, and show it again.
  undo() {
    const one = this.history.pop()
    if (!one) return
    for (const token of this.decided.get(one.id).reverse()) {
      this.outbox.add({ kind: "undo", reviewer: this.data.reviewer, undoes: token, case_id: one.id })
    }
    this.decided.delete(one.id)
    this.returned = [one, ...this.returned]
    this.queue = [one, ...this.queue.filter((other) => other.id !== one.id)]
    this.stage = "label"
    this.show(one)
    this.say(`Taken back: ${one.name}.`)
  }

  toggleKeys() {
    const keys = this.part(".keys")
    keys.hidden = !keys.hidden
    this.part(".help").setAttribute("aria-expanded", !keys.hidden)
  }

  say(text) {
    this.said = text
    this.drawProgress()
  }

  drawProgress() {
    const waiting = this.outbox.entries.length
    const status = this.part(".status")
    const trouble = this.data.trouble
    const saved = this.outbox.saved ? "all saved" : ""
    this.drawRefused()
    const onTheirWay = waiting ? `${waiting} on the way to the server, kept in this browser` : ""
    status.textContent = [trouble, this.said, onTheirWay || saved].filter(Boolean).join(" · ")
    status.classList.toggle("trouble", Boolean(trouble))
    this.root.dataset.waiting = waiting
    this.part(".progress").textContent = this.data.total ? `${this.data.done} of ${this.data.total}` : ""
    this.said = ""
  }

  drawRefused() {
    const list = this.part(".refused")
    list.replaceChildren(
      ...this.outbox.refused.map((entry) => {
        const line = element("p", "trouble", `Not saved (${entry.label ?? "undo"}, ${this.known.get(entry.case_id)?.name ?? "a case"}): ${entry.reason} `)
        const dismiss = element("button", "", "Dismiss")
        dismiss.type = "button"
        dismiss.onclick = () => {
          this.outbox.refused = this.outbox.refused.filter((one) => one !== entry)
          this.drawRefused()
        }
        line.append(dismiss)
        return line
      }),
    )
  }

  close() {
    this.stopKeys()
    this.outbox.close()
  }
}

// What the reviewer said beside what the judge says, in words.
function compared(one) {
  const judge = one.verdict?.label ?? "no label"
  if (judge === one.label) return `You and the judge say ${judge}.`
  return `You say ${one.label}, the judge says ${judge}. Another label revises yours.`
}

// The name that this tab works under (see guard.py); without one nothing is known against it.
function isStillMe(name) {
  const mine = sessionStorage.getItem("second_look_reviewer")
  return mine === null || mine === name
}

const desks = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let desk = desks.get(parentElement)
  if (!desk) {
    desk = new Desk(parentElement.querySelector(".desk"), data, setStateValue)
    desks.set(parentElement, desk)
  }
  desk.receive(data, setStateValue)
  return () => {
    desk.close()
    desks.delete(parentElement)
  }
}
