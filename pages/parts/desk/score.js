// Scores from items, as the metrics compute them on the server; a browser test holds the two together.
// An item has a value (a sub-score) or an answer that is right when it is the expected one; a missing answer is not.

const isRight = (item) => item.answer !== null && item.answer === item.expected
const shareRight = (items) => items.filter(isRight).length / items.length

const SCORES = {
  // Imported verdicts: how their judge came to its score is not known
  given: () => null,
  // VIEScore: O = sqrt(min(SC) * min(PQ)) / 10
  viescore: (items) => {
    const lowest = (group) => Math.min(...items.filter((i) => i.group === group).map((i) => i.value))
    return Math.sqrt(lowest("SC") * lowest("PQ")) / 10
  },
  // Gecko, contextual recall: the share answered right
  share: (items) => (items.length ? shareRight(items) : 0),
  // Image-text match: enough elements answered, and no contradiction
  coverage: (items, rule) => {
    const elements = items.filter((i) => i.kind === "element")
    const contradicted = items.some((i) => i.kind === "contradiction" && !isRight(i))
    if (!elements.length || contradicted) return 0
    const share = shareRight(elements)
    return Number(rule.compare === "above" ? share > rule.coverage : share >= rule.coverage)
  },
}

function correctedItem(item, corrections) {
  if (!(item.key in corrections)) return item
  const corrected = corrections[item.key]
  return item.kind === "sub_score" ? { ...item, value: corrected } : { ...item, answer: corrected }
}

function correctedScore(verdict, corrections) {
  const items = verdict.items.map((item) => correctedItem(item, corrections))
  const score = SCORES[verdict.score_rule.name](items, verdict.score_rule)
  return verdict.strict && score !== null && score < 1 ? 0 : score
}

function labelOf(score, threshold) {
  if (score === null || threshold === null) return null
  return score >= threshold ? "usable" : "badcase"
}

// As many digits as it takes not to show a failed score as equal to its threshold.
function shownScore(score, threshold) {
  for (let digits = 2; digits < 18; digits++) {
    const text = score.toFixed(digits)
    if (threshold === null || labelOf(Number(text), threshold) === labelOf(score, threshold)) return text
  }
  return String(score)
}
