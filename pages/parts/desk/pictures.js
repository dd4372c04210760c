// Painting pictures, and holding the next ones ready.

const warmed = new Map()
const KEPT_WARM = 60

// A picture of a case to come is fetched and decoded before it is needed.
function warm(picture) {
  if (!picture.url || picture.video || warmed.has(picture.url)) return
  const image = new Image()
  image.src = picture.url
  image.decode().catch(() => {}) // a broken one is told when it is shown
  warmed.set(picture.url, image)
  if (warmed.size > KEPT_WARM) warmed.delete(warmed.keys().next().value)
}

function element(tag, className, text) {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text // always text: prompts and replies are never markup
  return made
}

function missing(reason) {
  return element("div", "missing", reason)
}

// A figure, and a promise that is kept once it is painted or known to be broken. With `onOpen` the picture is a button
// that opens it; without, it is a pane that can be looked at closely where it stands.
function figure(picture, caption, onOpen) {
  const made = element("figure")
  if (caption) made.dataset.caption = caption
  const under = caption ? [element("figcaption", "", caption)] : []
  if (picture.problem) {
    made.append(missing(picture.problem), ...under)
    return { made, painted: Promise.resolve() }
  }
  const drawn = picture.video ? movingPicture(picture, onOpen) : stillPicture(picture, onOpen)
  made.append(drawn.made, ...under)
  return { made, painted: drawn.painted }
}

function stillPicture(picture, onOpen) {
  const shown = element("img", onOpen ? "" : "pane")
  Object.assign(shown, { alt: picture.alt, draggable: false, src: picture.url })
  if (picture.original !== picture.url) shown.dataset.original = picture.original
  const made = onOpen ? opener(shown, () => onOpen(picture)) : shown
  const painted = shown.decode().catch(() => made.replaceWith(missing("This picture could not be loaded.")))
  return { made, painted }
}

function opener(image, onOpen) {
  const button = element("button", "open")
  button.type = "button"
  button.setAttribute("aria-label", `Open the original of ${image.alt}`)
  button.onclick = onOpen
  button.append(image)
  return button
}

function movingPicture(picture, onOpen) {
  const made = element("video", onOpen ? "" : "pane")
  Object.assign(made, { src: picture.url, loop: true, muted: true, autoplay: true, playsInline: true })
  made.controls = Boolean(onOpen) // a pane has the bar over the stage
  made.setAttribute("aria-label", picture.alt)
  const painted = new Promise((done) => {
    made.onloadeddata = done
    made.onerror = () => done(made.replaceWith(missing("This video could not be played.")))
  })
  return { made, painted }
}

// The entries of a list of texts and pictures, numbered as the judge was shown them.
function entries(title, parts, onOpen, painted) {
  return parts.map((part, index) => {
    const entry = element("div", "entry")
    entry.append(element("b", "", parts.length > 1 || title === "context" ? `${title} ${index + 1}` : title))
    if (part.text !== undefined) entry.append(element("span", "", part.text))
    else {
      const drawn = figure(part, "", onOpen)
      entry.append(drawn.made)
      painted.push(drawn.painted)
    }
    return entry
  })
}

// Show a case's pictures; gives a promise that is kept when all of them are on the screen.
function paintPictures(stage, shown, onOpen) {
  const inputs = element("div", "column inputs")
  const results = element("div", "column results")
  const painted = []
  for (const [column, pictures] of [[inputs, shown.inputs], [results, shown.results]]) {
    for (const picture of pictures) {
      const drawn = figure(picture, shown.inputs.length ? picture.alt : "")
      column.append(drawn.made)
      painted.push(drawn.painted)
    }
  }
  inputs.classList.toggle("many", shown.inputs.length > 3)
  for (const text of shown.output_texts) results.append(element("div", "group", "answer"), element("div", "output-text", text))
  if (!results.childElementCount) results.append(missing("This case has no result."))
  const context = element("div", "column context")
  context.append(...entries("expected", shown.expected, onOpen, painted), ...entries("context", shown.context, onOpen, painted))
  stage.replaceChildren(...[inputs, results, context].filter((column) => column.childElementCount))
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  return Promise.all(painted).then(frames)
}

// The original of a small picture among the texts, over everything else.
function openOriginal(dialog, picture) {
  const image = dialog.querySelector("img")
  image.src = picture.original
  image.alt = picture.alt
  image.onclick = () => dialog.close()
  dialog.showModal()
}
