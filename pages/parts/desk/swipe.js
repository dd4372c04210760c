// Swipe: the result laid over the first input, both fitted into the same box, with a divider to drag.

// The input and the result that can be laid over each other; nothing if either is missing, broken or a video.
function swipePair(stage) {
  const input = stage.querySelector(".inputs img.pane")
  const result = stage.querySelector(".results img.pane")
  return input && result && { input, result }
}

// Lay them over each other, or put them back; gives a promise that is kept when it is done.
async function toggleSwipe(stage) {
  const shown = stage.querySelector(".swipe")
  if (shown) return shown.remove()
  const pair = swipePair(stage)
  if (!pair) return
  const made = swipeFigure(pair.input, pair.result)
  await Promise.all([...made.querySelectorAll("img")].map((image) => image.decode().catch(() => {})))
  if (!pair.result.isConnected || stage.querySelector(".swipe")) return // another case came, or the key came twice
  stage.append(made)
  made.querySelector("input").focus({ preventScroll: true })
}

function swipeFigure(input, result) {
  const made = element("figure", "swipe")
  const divider = element("input", "divider")
  Object.assign(divider, { type: "range", min: 0, max: 100, step: 1, value: 50 })
  divider.setAttribute("aria-label", `Divider: ${input.alt} to the left of it, ${result.alt} to the right`)
  divider.oninput = () => made.style.setProperty("--at", divider.value)
  made.append(swipeLayer(input, "under"), swipeLayer(result, "over"), divider)
  return made
}

function swipeLayer(image, side) {
  const layer = element("div", `layer ${side}`)
  const copy = image.cloneNode()
  copy.removeAttribute("style")
  layer.append(copy, element("span", "side-name", image.alt))
  return layer
}
