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

// A figure, and a promise that is kept once it is painted or known to be broken.
function figure(picture, caption, onZoom) {
  const made = element("figure")
  if (picture.problem) {
    made.append(missing(picture.problem), element("figcaption", "", caption))
    return { made, painted: Promise.resolve() }
  }
  if (picture.video) return videoFigure(made, picture, caption)
  const image = element("img")
  image.alt = picture.alt
  image.src = picture.url
  image.onclick = () => onZoom(picture)
  made.append(image)
  if (caption) made.append(element("figcaption", "", caption))
  const painted = image.decode().catch(() => image.replaceWith(missing("This picture could not be loaded.")))
  return { made, painted }
}

function videoFigure(made, picture, caption) {
  const video = element("video")
  Object.assign(video, { src: picture.url, controls: true, loop: true, muted: true, autoplay: true, playsInline: true })
  video.setAttribute("aria-label", picture.alt)
  made.append(video)
  if (caption) made.append(element("figcaption", "", caption))
  const painted = new Promise((done) => {
    video.onloadeddata = done
    video.onerror = () => done(video.replaceWith(missing("This video could not be played.")))
  })
  return { made, painted }
}

// The entries of a list of texts and pictures, numbered as the judge was shown them.
function entries(title, parts, onZoom, painted) {
  return parts.map((part, index) => {
    const entry = element("div", "entry")
    entry.append(element("b", "", parts.length > 1 || title === "context" ? `${title} ${index + 1}` : title))
    if (part.text !== undefined) entry.append(element("span", "", part.text))
    else {
      const drawn = figure(part, "", onZoom)
      entry.append(drawn.made)
      painted.push(drawn.painted)
    }
    return entry
  })
}

// Show a case's pictures; gives a promise that is kept when all of them are on the screen.
function paintPictures(stage, shown, onZoom) {
  const inputs = element("div", "column inputs")
  const results = element("div", "column results")
  const painted = []
  for (const [column, pictures] of [[inputs, shown.inputs], [results, shown.results]]) {
    for (const picture of pictures) {
      const drawn = figure(picture, shown.inputs.length ? picture.alt : "", onZoom)
      column.append(drawn.made)
      painted.push(drawn.painted)
    }
  }
  inputs.classList.toggle("many", shown.inputs.length > 3)
  for (const text of shown.output_texts) results.append(element("div", "group", "answer"), element("div", "output-text", text))
  if (!results.childElementCount) results.append(missing("This case has no result."))
  const context = element("div", "column context")
  context.append(...entries("expected", shown.expected, onZoom, painted), ...entries("context", shown.context, onZoom, painted))
  stage.replaceChildren(...[inputs, results, context].filter((column) => column.childElementCount))
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  return Promise.all(painted).then(frames)
}

function zoomInto(dialog, picture) {
  const image = dialog.querySelector("img")
  image.src = picture.original
  image.alt = picture.alt
  image.onclick = () => dialog.close()
  dialog.showModal()
}
