// Scores from items, as the metrics compute them on the server; a browser test holds the two together.

const SCORES = {
  // VIEScore: O = sqrt(min(SC) * min(PQ)) / 10
  viescore: (items) => {
    const lowest = (group) => Math.min(...items.filter((i) => i.group === group).map((i) => i.value))
    return Math.sqrt(lowest("SC") * lowest("PQ")) / 10
  },
}

function correctedItems(verdict, corrections) {
  return verdict.items.map((item) => (item.key in corrections ? { ...item, value: corrections[item.key] } : item))
}

function correctedScore(verdict, corrections) {
  const score = SCORES[verdict.score_rule](correctedItems(verdict, corrections))
  return verdict.strict && score < 1 ? 0 : score
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
