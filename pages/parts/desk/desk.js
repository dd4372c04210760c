// The desk itself: which case is shown, what a decision does, and what the server has said.

class Desk {
  constructor(root, data, send) {
    this.root = root
    this.data = data
    this.send = send
    this.queue = []
    this.known = new Map() // case id -> the case with what the reviewer has done to it; the server may send it again
    this.decided = new Decided()
    this.returned = [] // taken back and to be labelled again, before whatever the server offers
    this.skipped = []
    this.current = null
    this.stage = "label" // or "reveal": labelled blind, now looking at the verdict; or "past": gone back to
    this.open = null // while somebody looks back: the case that waits, and its stage
    this.painted = false
    this.outbox = new Outbox(`${data.workspace}/${data.reviewer}`, (name, value) => this.send(name, value))
    root.dataset.mode = data.mode
    this.look = new Look(this.part(".stage"), () => drawTools(this))
    this.film = new Film(this.part(".film"))
    this.wire()
    root.focus({ preventScroll: true }) // a box that was just used above would swallow the keys
    if (this.outbox.entries.length) this.outbox.sendAll()
  }

  part(selector) {
    return this.root.querySelector(selector)
  }

  wire() {
    for (const [selector, act] of Object.entries(buttonActions(this))) this.part(selector).onclick = act
    this.root.onclick = (event) => this.giveKeysBack(event)
    this.stopKeys = listenForKeys(this.root, keyActions(this))
  }

  // A button that was clicked with the mouse does not keep the focus: Space and Enter would press it again.
  giveKeysBack(event) {
    if (event.detail && event.target.closest("button")) this.root.focus({ preventScroll: true })
  }

  // What the server says now: the next cases, which entries it holds, which verdicts may be seen.
  receive(data, send) {
    this.data = data
    this.send = send
    this.outbox.settle(data.settled)
    this.outbox.refuse(data.refused)
    this.offerTags(data.tags)
    const offered = data.cases.map((one) => this.remembered(one))
    this.queue = [...new Set([...this.returned, ...offered])].filter((one) => !this.decided.has(one))
    const open = this.open ? this.open.one : this.current
    if (open) this.queue = [open, ...this.queue.filter((one) => one.id !== open.id)]
    if (!this.current) this.showNext()
    else if (this.stage !== "label") this.reveal()
    this.queue.slice(1, 6).forEach((one) => [...one.inputs, ...one.results].forEach(warm))
    drawProgress(this)
  }

  // The case as it is held here, with the server's newest facts; after a change of the case it is a new one.
  remembered(fresh) {
    const held = this.known.get(fresh.id)
    if (held?.revision !== fresh.revision) {
      this.known.set(fresh.id, fresh)
      if (held) this.decided.remove(fresh.id)
      return fresh
    }
    const { inputs, results, expected, context, has_verdict, draw_id } = fresh
    return Object.assign(held, { inputs, results, expected, context, has_verdict, draw_id }, fresh.verdict && { verdict: fresh.verdict })
  }

  showNext() {
    this.current = null
    this.open = null
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
    drawCase(this, one)
    drawJudge(this)
    drawDecision(this)
    const painting = paintPictures(this.part(".stage"), one, (picture) => openOriginal(this.part(".zoom"), picture))
    this.painting = painting
    painting.then(() => {
      if (this.painting !== painting) return
      this.painted = true
      this.shownAt = performance.now()
      this.root.dataset.painted = one.id
      drawTools(this)
    })
    this.part(".stage").classList.remove("zoomed")
    this.film.take([...this.part(".stage").querySelectorAll("video.pane")])
    drawProgress(this)
  }

  showNothing() {
    this.painted = false
    this.painting = null
    // A full window, all of it decided: the reviewer was faster than the server, more cases are on their way.
    const more = this.data.cases.length >= this.data.window
    this.root.dataset.painted = more ? "" : "nothing"
    this.part(".side").hidden = !this.decided.size
    const said = more
      ? "The next cases are on their way."
      : this.data.held
      ? `Other people are looking at the last ${this.data.held} cases here; those that they leave come back.`
      : this.data.adjudicates
      ? "Nothing is left to decide here: where people differed, somebody has decided."
      : this.data.total
      ? "You have looked at every case here. Z takes the last decision back."
      : "There are no cases here yet. Add some on the Cases page."
    this.part(".stage").replaceChildren(element("div", "nothing", said))
    for (const name of [".case-name", ".generator", ".prompt", ".question"]) this.part(name).textContent = ""
    this.part(".verdict").replaceChildren()
    this.part(".people").hidden = true
    this.film.take([])
    drawTools(this)
    drawDecision(this)
    drawProgress(this)
  }

  swipe() {
    const stage = this.part(".stage")
    if (!swipePair(stage)) return this.say("A swipe needs an input picture and a result picture.")
    toggleSwipe(stage).then(() => this.look.drawAll())
  }

  offerTags(tags) {
    const words = JSON.stringify(tags)
    if (words === this.tagWords) return
    this.tagWords = words
    drawTags(this.part(".tags"), tags, (tag) => this.toggleTag(tag))
    if (this.current) showTags(this.part(".tags"), this.current.tags)
  }

  toggleTag(tag) {
    if (!this.current) return
    const { tags } = this.current
    tags.has(tag) ? tags.delete(tag) : tags.add(tag)
    showTags(this.part(".tags"), tags)
  }

  decide(label) {
    if (!this.mayDecide()) return
    const one = this.current
    const first = this.stage === "label"
    if (this.stage === "past") return this.revise(one, label)
    this.enter(one, label)
    if (first && this.data.reveal && one.has_verdict && !one.seenVerdict) {
      this.stage = "reveal"
      drawJudge(this)
      drawDecision(this)
      return
    }
    this.showFollowing()
  }

  // Another label, or other tags, on a case gone back to: one more review, and the case stays on the screen.
  revise(one, label) {
    if (saysTheSame(one.said, saying(one, label, this.part(".comment").value))) return this.say("You have said that already.")
    this.enter(one, label)
    drawDecision(this)
    this.say(`Revised: ${one.name}.`)
  }

  keep() {
    if (!this.mayKeep()) return
    if (this.stage === "past") return this.returnToOpen()
    this.enter(this.current, this.current.said.label)
    this.showFollowing()
  }

  mayKeep() {
    return this.stage === "past" || (this.stage === "reveal" && Boolean(this.current.verdict))
  }

  mayDecide() {
    if (!this.current || !this.root.isConnected) return false
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
      kind: this.data.adjudicates ? "adjudication" : "review",
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
    one.comment = this.part(".comment").value
    this.decided.add(one, token, saying(one, label, one.comment))
    this.returned = this.returned.filter((other) => other.id !== one.id)
    drawProgress(this)
  }

  // The server has the label and has sent the verdict.
  reveal() {
    const verdict = this.data.revealed[this.current.id]
    if (!verdict || this.current.verdict) return
    this.current.verdict = verdict
    this.current.seenVerdict = true
    drawJudge(this)
    drawDecision(this)
  }

  showFollowing() {
    this.queue = this.queue.filter((one) => !this.decided.has(one))
    this.showNext()
  }

  skip() {
    if (!this.current || this.stage !== "label") return
    const one = this.current
    one.comment = this.part(".comment").value
    this.skipped = [...this.skipped.filter((id) => id !== one.id), one.id]
    this.send("skipped", this.skipped)
    this.returned = this.returned.filter((other) => other.id !== one.id)
    this.queue = [...this.queue.filter((other) => other.id !== one.id), one]
    this.say(`Skipped ${one.name}; it comes back at the end.`)
    this.showNext()
  }

  // Take back all that was said of the case gone back to, else of the last one, and show it again.
  undo() {
    const one = this.stage === "past" ? this.current : this.decided.last()
    if (!one) return
    this.leave()
    for (const token of this.decided.remove(one.id)) {
      this.outbox.add({ kind: "undo", reviewer: this.data.reviewer, undoes: token, case_id: one.id })
    }
    this.returned = [one, ...this.returned]
    this.queue = [one, ...this.queue.filter((other) => other.id !== one.id)]
    this.open = null
    this.stage = "label"
    this.show(one)
    this.say(`Taken back: ${one.name}.`)
  }

  goBack() {
    const one = this.decided.before(this.current)
    if (!one) return this.say(this.decided.size ? "This is the first one you decided here." : "You have decided nothing here yet.")
    this.leave()
    this.open ??= { one: this.current, stage: this.stage }
    this.goTo(one)
  }

  goForward() {
    if (this.stage !== "past") return this.say("This is the open case.")
    const one = this.decided.after(this.current)
    if (!one || one === this.open.one) return this.returnToOpen()
    this.leave()
    this.goTo(one)
  }

  goTo(one) {
    this.stage = "past"
    this.show(one)
    this.reveal()
  }

  returnToOpen() {
    this.leave()
    const { one, stage } = this.open
    if (stage !== "reveal" || !this.decided.has(one)) return this.showFollowing()
    this.open = null
    this.stage = stage
    this.show(one)
    this.reveal()
  }

  // What was typed into a case that is still to be decided is kept; a case gone back to stays as it was said.
  leave() {
    if (this.stage === "past") restore(this.current)
    else if (this.current) this.current.comment = this.part(".comment").value
  }

  toggleKeys() {
    const keys = this.part(".keys")
    keys.hidden = !keys.hidden
    this.part(".help").setAttribute("aria-expanded", !keys.hidden)
  }

  say(text) {
    this.said = text
    drawProgress(this)
  }

  close() {
    this.stopKeys()
    this.look.close()
    this.outbox.close()
  }
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
    // Streamlit calls this not only when the desk leaves the page, but also for an update that a newer one overtook.
    if (desk.root.isConnected) return
    desk.close()
    desks.delete(parentElement)
  }
}
