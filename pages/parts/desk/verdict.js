// The judge's verdict: score, label, items that can be corrected, reasons.

function drawVerdict(section, verdict, corrections, onCorrect) {
  section.replaceChildren()
  if (!verdict) return
  section.append(headline(verdict))
  if (verdict.problem) section.append(element("p", "trouble", `${verdict.status_words}: ${verdict.problem}`))
  for (const flag of verdict.flags) section.append(element("p", "flag", flag))
  let group = null
  let number = 0
  for (const item of verdict.items) {
    if (item.group !== group && item.group_words) section.append(element("div", "group", item.group_words))
    group = item.group
    const draw = item.kind === "sub_score" ? subScore : answer
    section.append(draw(item, corrections, onCorrect, item.kind === "sub_score" ? 0 : ++number))
  }
  if (verdict.reason) section.append(element("div", "reason", verdict.reason))
  showCorrected(section, verdict, corrections)
}

function headline(verdict) {
  const line = element("div", "headline")
  line.append(element("span", "", "Judge"))
  if (verdict.score !== null) line.append(element("span", "score", shownScore(verdict.score, verdict.threshold)))
  if (verdict.label) line.append(element("span", `label ${verdict.label}`, verdict.label))
  const limit = verdict.threshold === null ? "score only, no threshold" : `threshold ${verdict.threshold}`
  line.append(element("span", "", limit), element("span", "corrected"))
  return line
}

function subScore(item, corrections, onCorrect) {
  const row = element("div", "item")
  const slider = element("input")
  const reset = element("button", "reset", "↺")
  const output = element("output")
  Object.assign(slider, { type: "range", min: item.low, max: item.high, step: 0.5 })
  slider.setAttribute("aria-label", `${item.text}, the judge says ${item.value}`)
  reset.type = "button"
  reset.title = `back to the judge's ${item.value}`
  const bar = element("div", "bar")
  const filled = element("i")
  filled.style.width = `${(100 * (item.value - item.low)) / (item.high - item.low)}%`
  bar.append(filled)
  const show = () => {
    const value = corrections[item.key] ?? item.value
    slider.value = value
    output.textContent = value
    row.classList.toggle("changed", item.key in corrections)
  }
  const correct = (value) => {
    if (value === item.value) delete corrections[item.key]
    else corrections[item.key] = value
    show()
    onCorrect()
  }
  slider.oninput = () => correct(Number(slider.value))
  reset.onclick = () => correct(item.value)
  row.shift = (by) => correct(Math.min(item.high, Math.max(item.low, Number(slider.value) + by * slider.step)))
  show()
  row.append(element("span", "name", item.text), slider, output, reset, bar)
  return row
}

// A question, element or statement with its answer; a click or its number moves it to the next choice.
function answer(item, corrections, onCorrect, number) {
  const row = element("button", "answer")
  row.type = "button"
  row.dataset.number = number
  const mark = element("span", "mark")
  const given = element("span", "given")
  const text = element("span", "name", item.text)
  if (item.node) text.append(element("small", "", ` (context ${item.node})`))
  const words = (letter) => item.choices.find((choice) => choice.toLowerCase().startsWith(letter)) ?? letter
  const show = () => {
    const said = correctedItem(item, corrections).answer
    mark.textContent = said === item.expected ? "✓" : said === null ? "?" : "✗"
    given.textContent = said === null ? "missing" : words(said)
    row.classList.toggle("changed", item.key in corrections)
    const judge = item.answer === null ? "gave no answer" : `says ${words(item.answer)}`
    row.title = `The judge ${judge}; right would be ${words(item.expected)}. Click or press ${number} to change.`
    row.setAttribute("aria-label", `${number}: ${item.text} ${given.textContent}. The judge ${judge}.`)
  }
  row.shift = (by) => {
    const next = nextChoice(item, correctedItem(item, corrections).answer, by)
    if (next === item.answer) delete corrections[item.key]
    else corrections[item.key] = next
    show()
    onCorrect()
  }
  row.onclick = () => row.shift(1)
  show()
  row.append(element("kbd", "", number <= 9 ? String(number) : ""), mark, text, given)
  return row
}

function nextChoice(item, said, by) {
  const answers = item.choices.map((choice) => (item.choices.length === 2 ? choice : choice.trim()[0].toLowerCase()))
  const at = answers.indexOf(said) // -1 for a missing answer: before the first, or after the last
  return answers[(Math.max(at, by < 0 ? 0 : -1) + by + answers.length) % answers.length]
}

// The row that the arrow keys are about: move it down or up, or change what it says. False where there is no row.
function selectRow(section, by) {
  const rows = [...section.querySelectorAll(".item, .answer")]
  if (!rows.length) return false
  const at = rows.findIndex((row) => row.hasAttribute("aria-current"))
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]
  if (at >= 0) rows[at].removeAttribute("aria-current")
  row.setAttribute("aria-current", "true")
  row.scrollIntoView({ block: "nearest" })
}

function shiftRow(section, by) {
  const row = section.querySelector("[aria-current]")
  if (!row) return false
  row.shift(by)
}

// The corrected score beside the raw one, at once.
function showCorrected(section, verdict, corrections) {
  const line = section.querySelector(".corrected")
  line.replaceChildren()
  if (!Object.keys(corrections).length) return
  const score = correctedScore(verdict, corrections)
  if (score === null) return
  const label = labelOf(score, verdict.threshold)
  line.append(element("span", "", `corrected: ${shownScore(score, verdict.threshold)} `))
  if (label) line.append(element("span", `label ${label}`, label))
}
