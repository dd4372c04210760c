// Keys. They are dead while somebody types, with a modifier, while a dialog is open, and a held key counts once,
// except where holding means going on: moving, zooming, stepping.
//
// `actions` has one function for each key, named as the browser names it in small letters; Shift is part of the name
// for arrows ("shift+arrowup"). `number` is called with 1 to 9, `letter` with a letter that came with Shift. A function
// that gives false leaves the key to the browser.

const TYPING = /^(TEXTAREA|SELECT)$/
const GOES_ON = /^(shift\+)?arrow|^[+=\-,.]$/
const OF_A_RANGE = /^(arrow|home|end|page)/
const DIALOG = "[role=dialog][data-testid=stDialog], dialog[open]"
const PRESSES = /^(enter| )$/

function isTyping(target) {
  if (!target) return false
  return target.isContentEditable || TYPING.test(target.tagName) || (target.tagName === "INPUT" && target.type !== "range")
}

function isModified(event) {
  if (/^[[\]]$/.test(event.key) && event.getModifierState("AltGraph")) return false // brackets on a German keyboard
  return event.ctrlKey || event.metaKey || event.altKey
}

function keyName(event) {
  const key = event.key.toLowerCase()
  return event.shiftKey && /^([a-z]|arrow.*)$/.test(key) ? `shift+${key}` : key
}

function actionOf(actions, key) {
  if (/^[1-9]$/.test(key)) return () => actions.number(Number(key))
  if (/^shift\+[a-z]$/.test(key)) return () => actions.letter(key.at(-1))
  return actions[key]
}

function listenForKeys(root, actions) {
  const onKey = (event) => {
    if (!root.isConnected || isModified(event) || event.isComposing) return
    const target = event.composedPath()[0]
    if (event.key === "Escape" && isTyping(target)) return target.blur()
    if (isTyping(target) || root.querySelector("dialog[open]") || document.querySelector(DIALOG)) return
    const key = keyName(event)
    if (PRESSES.test(key) && target.closest?.("button, a, summary")) {
      if (event.repeat) event.preventDefault() // a held Enter would press the button again and again
      return
    }
    if (event.repeat && !GOES_ON.test(key)) return
    if (OF_A_RANGE.test(key) && target.tagName === "INPUT") return
    const action = actionOf(actions, key)
    if (!action || action() === false) return
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener("keydown", onKey, true)
  return () => window.removeEventListener("keydown", onKey, true)
}
