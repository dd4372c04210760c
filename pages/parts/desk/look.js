// Looking closely: wheel, drag and pinch, 1:1, all pictures together or one alone.
//
// A view is told in terms of the picture, so that pictures of any size can share it: `u`, `v` (0 to 1) is the point of
// the picture in the middle; `factor` counts in a unit: "fit" is the size at rest, "pixel" is one pixel of the original
// per CSS pixel. A picture without a view is at rest; a new case has new pictures, so it begins at rest.

const FIT = Object.freeze({ unit: "fit", factor: 1, u: 0.5, v: 0.5 })
const CLOSEST = 16
const KEY_STEP = 1.25
const PAN_STEP = 60

const clamp = (number, low, high) => Math.min(high, Math.max(low, number))
const zoomOf = (view, size) => (view.unit === "pixel" ? view.factor / size.scale : view.factor)
const isActual = (view) => view.unit === "pixel" && Math.abs(view.factor - 1) < 0.001

// The size at rest of what a pane shows, in CSS pixels; `scale` is CSS pixels per pixel. Nothing while it has no picture.
function fitted(pane) {
  const width = pane.naturalWidth || pane.videoWidth
  const height = pane.naturalHeight || pane.videoHeight
  if (!width || !pane.offsetWidth) return null
  const scale = Math.min(pane.offsetWidth / width, pane.offsetHeight / height)
  return { width: width * scale, height: height * scale, scale, natural: width }
}

// How far the middle may wander: an enlarged picture always covers the place where it was at rest.
function bounded(middle, zoom) {
  const reach = Math.max(0, 0.5 - 0.5 / zoom)
  return clamp(middle, 0.5 - reach, 0.5 + reach)
}

function wheelFactor(event) {
  const unit = event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.002
  return 2 ** (-event.deltaY * unit * (event.ctrlKey ? 10 : 1)) // with Ctrl it is a trackpad's pinch, in small numbers
}

// The middle of the fingers that are down, and how far apart they are.
function gesture(points) {
  const [one, two = one] = points
  return { x: (one.x + two.x) / 2, y: (one.y + two.y) / 2, spread: Math.hypot(one.x - two.x, one.y - two.y) || 1 }
}

class Look {
  constructor(stage, onChange) {
    this.stage = stage
    this.onChange = onChange
    this.together = true
    this.views = new WeakMap()
    this.fingers = new Map()
    this.at = null // the picture that the pointer was last on, and where
    this.wire()
  }

  wire() {
    const on = (name, act) =>
      this.stage.addEventListener(name, (event) => {
        const pane = event.target.closest("figure")?.querySelector(".pane")
        if (pane) act(event, pane)
      }, { passive: false })
    on("wheel", (event, pane) => {
      event.preventDefault()
      this.zoom(pane, wheelFactor(event), { x: event.clientX, y: event.clientY })
    })
    on("pointerdown", (event) => {
      if (event.button !== 0 || event.target.matches(".divider")) return
      event.target.setPointerCapture(event.pointerId)
      this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    })
    on("pointermove", (event, pane) => this.pointerMoved(event, pane))
    on("dblclick", (_, pane) => this.set(pane, FIT))
    for (const end of ["pointerup", "pointercancel"]) {
      this.stage.addEventListener(end, (event) => this.fingers.delete(event.pointerId))
    }
    this.resized = new ResizeObserver(() => this.panes().forEach((pane) => this.draw(pane)))
    this.resized.observe(this.stage)
  }

  pointerMoved(event, pane) {
    const point = { x: event.clientX, y: event.clientY }
    this.at = { pane, ...point }
    if (!event.buttons) this.fingers.delete(event.pointerId) // it was let go where nobody saw it
    if (!this.fingers.has(event.pointerId)) return
    const before = gesture(this.fingers.values())
    this.fingers.set(event.pointerId, point)
    const after = gesture(this.fingers.values())
    this.pan(pane, after.x - before.x, after.y - before.y)
    if (this.fingers.size > 1) this.zoom(pane, after.spread / before.spread, after)
  }

  // What can be looked at closely: the two layers of a swipe, else the inputs and results.
  panes() {
    const swiped = [...this.stage.querySelectorAll(".swipe .pane")]
    return swiped.length ? swiped : [...this.stage.querySelectorAll(".pane")]
  }

  // The picture that keys are about: under the pointer, else the last, which is a result.
  active() {
    const panes = this.panes()
    return panes.includes(this.at?.pane) ? this.at.pane : panes.at(-1)
  }

  viewOf(pane) {
    return this.views.get(pane) ?? FIT
  }

  // The middle that keeps what is under a point of the screen where it is while the zoom changes.
  middle(pane, size, then, point) {
    const view = this.viewOf(pane)
    const now = zoomOf(view, size)
    const [u, v] = [bounded(view.u, now), bounded(view.v, now)]
    if (!point) return { u, v }
    const box = pane.getBoundingClientRect()
    const along = (at, low, high, length) => clamp(0.5 + (at - (low + high) / 2) / (length * now), 0, 1)
    const pointU = along(point.x, box.left, box.right, size.width)
    const pointV = along(point.y, box.top, box.bottom, size.height)
    return { u: bounded(pointU - ((pointU - u) * now) / then, then), v: bounded(pointV - ((pointV - v) * now) / then, then) }
  }

  zoom(pane, by, point) {
    const size = fitted(pane)
    if (!size) return
    const view = this.viewOf(pane)
    const now = zoomOf(view, size)
    const then = clamp(now * by, Math.min(1, now), CLOSEST * Math.max(1, 1 / size.scale))
    if (Math.abs(then - 1) < 0.001) return this.set(pane, FIT)
    this.set(pane, { unit: view.unit, factor: (view.factor * then) / now, ...this.middle(pane, size, then, point) })
  }

  zoomByKey(direction) {
    const pane = this.active()
    if (pane) this.zoom(pane, KEY_STEP ** direction, this.pointOn(pane))
  }

  pan(pane, x, y) {
    const size = fitted(pane)
    if (!size) return
    const view = this.viewOf(pane)
    const zoom = zoomOf(view, size)
    const u = bounded(bounded(view.u, zoom) - x / (size.width * zoom), zoom)
    const v = bounded(bounded(view.v, zoom) - y / (size.height * zoom), zoom)
    if (u !== view.u || v !== view.v) this.set(pane, { ...view, u, v })
  }

  panByKey(x, y) {
    const pane = this.active()
    if (pane) this.pan(pane, -x * PAN_STEP, -y * PAN_STEP)
  }

  toggleActual() {
    const pane = this.active()
    const size = pane && fitted(pane)
    if (!size) return
    if (isActual(this.viewOf(pane))) return this.set(pane, FIT)
    this.set(pane, { unit: "pixel", factor: 1, ...this.middle(pane, size, 1 / size.scale, this.pointOn(pane)) })
  }

  toggleTogether() {
    this.together = !this.together
    const pane = this.active()
    if (pane) this.set(pane, this.viewOf(pane))
  }

  fit() {
    for (const pane of this.panes()) this.views.delete(pane)
    this.drawAll()
  }

  pointOn(pane) {
    return this.at?.pane === pane ? this.at : null
  }

  set(pane, view) {
    const panes = this.panes()
    const swiped = pane.closest(".swipe")
    for (const one of this.together || swiped ? panes : [pane]) this.views.set(one, view)
    this.drawAll()
  }

  drawAll() {
    const panes = this.panes()
    panes.forEach((pane) => this.draw(pane))
    this.stage.classList.toggle("zoomed", panes.some((pane) => this.viewOf(pane) !== FIT))
    this.onChange()
  }

  draw(pane) {
    const view = this.viewOf(pane)
    const size = view !== FIT && fitted(pane)
    if (!size) return pane.style.removeProperty("transform")
    const zoom = zoomOf(view, size)
    const x = (0.5 - bounded(view.u, zoom)) * size.width * zoom
    const y = (0.5 - bounded(view.v, zoom)) * size.height * zoom
    pane.style.transform = `translate(${x}px, ${y}px) scale(${zoom})`
    const needed = size.width * zoom * devicePixelRatio
    if (pane.dataset.original && (view.unit === "pixel" || needed > size.natural)) this.sharpen(pane)
  }

  // Put the original in the place of its screen-size copy, decoded before, so that nothing flickers.
  async sharpen(pane) {
    const whole = new Image()
    whole.src = pane.dataset.original
    delete pane.dataset.original
    try {
      await whole.decode()
    } catch {
      return // the copy stays
    }
    pane.decoding = "sync"
    pane.src = whole.src
    await pane.decode().catch(() => {})
    this.drawAll()
  }

  // Pixels of the screen per pixel of the picture, in words; nothing at rest.
  scaleWords() {
    const pane = this.active()
    const size = pane && this.viewOf(pane) !== FIT && fitted(pane)
    return size ? `${Math.round(100 * zoomOf(this.viewOf(pane), size) * size.scale)} %` : ""
  }

  isActual() {
    const pane = this.active()
    return Boolean(pane) && isActual(this.viewOf(pane))
  }

  close() {
    this.resized.disconnect()
  }
}
