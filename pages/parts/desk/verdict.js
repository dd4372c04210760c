// The judge's verdict: score, label, sub-scores that can be corrected, reasons.

function drawVerdict(section, verdict, corrections, onCorrect) {
  section.replaceChildren()
  if (!verdict) return
  section.append(headline(verdict))
  if (verdict.problem) section.append(element("p", "trouble", `${verdict.status_words}: ${verdict.problem}`))
  for (const flag of verdict.flags) section.append(element("p", "flag", flag))
  let group = null
  for (const item of verdict.items) {
    if (item.group !== group) section.append(element("div", "group", item.group_words))
    group = item.group
    section.append(subScore(item, corrections, onCorrect))
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
  slider.oninput = () => {
    if (Number(slider.value) === item.value) delete corrections[item.key]
    else corrections[item.key] = Number(slider.value)
    show()
    onCorrect()
  }
  reset.onclick = () => {
    delete corrections[item.key]
    show()
    onCorrect()
  }
  show()
  row.append(element("span", "name", item.text), slider, output, reset, bar)
  return row
}

// The corrected score beside the raw one, at once.
function showCorrected(section, verdict, corrections) {
  const line = section.querySelector(".corrected")
  line.replaceChildren()
  if (!Object.keys(corrections).length) return
  const score = correctedScore(verdict, corrections)
  const label = labelOf(score, verdict.threshold)
  line.append(element("span", "", `corrected: ${shownScore(score, verdict.threshold)} `))
  if (label) line.append(element("span", `label ${label}`, label))
}
