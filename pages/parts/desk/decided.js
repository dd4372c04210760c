// What has been decided in this sitting, in its order: to take it back, or to go back to it.

class Decided {
  constructor() {
    this.order = []
    this.tokens = new Map() // case id -> tokens of the entries that were made for it here
  }

  get size() {
    return this.order.length
  }

  has(one) {
    return this.tokens.has(one.id)
  }

  add(one, token, said) {
    if (!this.has(one)) this.order.push(one)
    this.tokens.set(one.id, [...(this.tokens.get(one.id) ?? []), token])
    one.said = said
  }

  // No longer decided; gives the tokens of what was said, the newest first.
  remove(id) {
    const tokens = this.tokens.get(id) ?? []
    this.tokens.delete(id)
    this.order = this.order.filter((one) => one.id !== id)
    return tokens.reverse()
  }

  last() {
    return this.order.at(-1)
  }

  // The one decided before this one; before the open case it is the last.
  before(one) {
    const at = this.order.indexOf(one)
    return this.order[(at < 0 ? this.order.length : at) - 1]
  }

  after(one) {
    return this.order[this.order.indexOf(one) + 1]
  }

  // "3 of 12", for the person who goes back
  place(one) {
    return `${this.order.indexOf(one) + 1} of ${this.order.length}`
  }
}

// Everything that a label says, as it goes into the outbox and as it is shown again.
function saying(one, label, comment) {
  return { label, tags: [...one.tags], comment, corrections: { ...one.corrections } }
}

function saysTheSame(one, other) {
  const plain = ({ label, tags, comment, corrections }) =>
    JSON.stringify([label, [...tags].sort(), comment.trim(), Object.entries(corrections).sort()])
  return plain(one) === plain(other)
}

// Put a case back to what was said of it.
function restore(one) {
  const { tags, comment, corrections } = one.said
  Object.assign(one, { tags: new Set(tags), comment, corrections: { ...corrections } })
}
