// Keys. They are dead while somebody types, with a modifier, while a dialog is open, and a held key counts once.

const TYPING = /^(TEXTAREA|SELECT)$/

function isTyping(target) {
  if (!target) return false
  return target.isContentEditable || TYPING.test(target.tagName) || (target.tagName === "INPUT" && target.type !== "range")
}

function listenForKeys(actions) {
  const onKey = (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    const target = event.composedPath()[0]
    if (event.key === "Escape" && isTyping(target)) return target.blur()
    if (isTyping(target) || document.querySelector("[role=dialog][data-testid=stDialog], dialog[open]")) return
    if (event.key === "Enter" && target instanceof HTMLButtonElement) return // the button is pressed anyway
    const action = actions[event.key.toLowerCase()] ?? (/^[1-9]$/.test(event.key) && (() => actions.flip(Number(event.key))))
    if (!action) return
    event.preventDefault()
    action()
  }
  window.addEventListener("keydown", onKey)
  return () => window.removeEventListener("keydown", onKey)
}
