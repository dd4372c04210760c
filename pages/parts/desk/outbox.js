// The outbox: what has been decided and what the server has not said it holds.
//
// Every entry has a token made here. It is written to localStorage before it is sent and removed only when the server
// has committed it, so it outlives a lost connection, a closed tab and a restarted server; it is sent again until then,
// and the server takes each token once. One entry, one key: two tabs of one person do not disturb each other.

const RESEND_MS = 4000

// crypto.randomUUID exists only on https and localhost; a desk on a plain address in the office needs tokens too.
function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

function keepStored(key, entry) {
  try {
    localStorage.setItem(key, JSON.stringify(entry))
  } catch (error) {
    console.warn("Second Look: this browser keeps nothing, an unsaved review would be lost with the tab.", error)
  }
}

class Outbox {
  constructor(owner, send) {
    this.prefix = `second-look/outbox/${owner}/`
    this.refusedPrefix = `second-look/refused/${owner}/`
    this.send = send
    this.entries = this.readStored(this.prefix)
    this.refused = this.readStored(this.refusedPrefix)
    this.round = 0
    this.saved = 0
    this.timer = setInterval(() => this.entries.length && this.sendAll(), RESEND_MS)
  }

  readStored(prefix) {
    const found = []
    for (let i = 0; i < localStorage.length; i++) {
      const key = localStorage.key(i)
      if (key.startsWith(prefix)) found.push(JSON.parse(localStorage.getItem(key)))
    }
    return found.sort((a, b) => a.place - b.place)
  }

  add(entry) {
    // Its place is counted, not timed: a clock that is set back must not put an undo before what it undoes.
    this.place = 1 + Math.max(this.place ?? 0, ...this.entries.map((one) => one.place))
    const whole = { ...entry, token: newToken(), place: this.place, decided: new Date().toISOString() }
    keepStored(this.prefix + whole.token, whole)
    this.entries.push(whole)
    this.sendAll()
    return whole.token
  }

  // State, not a trigger: rapid triggers are merged and some are lost. `round` makes each sending a change.
  sendAll() {
    this.round += 1
    this.send("outbox", { round: this.round, entries: this.entries })
  }

  settle(tokens) {
    const settled = new Set(tokens)
    for (const entry of this.entries) {
      if (!settled.has(entry.token)) continue
      localStorage.removeItem(this.prefix + entry.token)
      this.saved += 1
    }
    this.entries = this.entries.filter((entry) => !settled.has(entry.token))
  }

  // What the server refuses is kept, apart and with the reason, until the person has read it.
  refuse(reasons) {
    for (const entry of this.entries.filter((one) => one.token in reasons)) {
      const refused = { ...entry, reason: reasons[entry.token] }
      this.refused.push(refused)
      keepStored(this.refusedPrefix + entry.token, refused)
      localStorage.removeItem(this.prefix + entry.token)
    }
    this.entries = this.entries.filter((one) => !(one.token in reasons))
  }

  dismiss(entry) {
    localStorage.removeItem(this.refusedPrefix + entry.token)
    this.refused = this.refused.filter((one) => one !== entry)
  }

  close() {
    clearInterval(this.timer)
  }
}

// What the server refused, until the person has read it.
function drawRefused(list, outbox, nameOf) {
  const line = (entry) => {
    const said = `Not saved (${entry.label ?? "undo"}, ${nameOf(entry.case_id)}): ${entry.reason} `
    const dismiss = element("button", "", "Dismiss")
    dismiss.type = "button"
    dismiss.onclick = () => {
      outbox.dismiss(entry)
      drawRefused(list, outbox, nameOf)
    }
    const made = element("p", "trouble", said)
    made.append(dismiss)
    return made
  }
  list.replaceChildren(...outbox.refused.map(line))
}
