// What is wrong with a case: a chip for each tag, with the letter that toggles it together with Shift.

const TAG_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

function drawTags(box, tags, onToggle) {
  const chips = Object.entries(tags).map(([tag, words], index) => {
    const chip = element("button", "", words)
    chip.type = "button"
    chip.dataset.tag = tag
    chip.onclick = () => onToggle(tag)
    if (index < TAG_LETTERS.length) addLetter(chip, TAG_LETTERS[index])
    return chip
  })
  box.replaceChildren(...chips)
}

function addLetter(chip, letter) {
  const key = element("kbd", "", letter)
  key.ariaHidden = "true"
  chip.append(" ", key)
  chip.dataset.letter = letter.toLowerCase()
  chip.setAttribute("aria-keyshortcuts", `Shift+${letter}`)
}

function showTags(box, chosen) {
  for (const chip of box.children) chip.setAttribute("aria-pressed", chosen.has(chip.dataset.tag))
}
