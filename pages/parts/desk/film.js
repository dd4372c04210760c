// Video: one frame back or forward, play and pause, the time. The videos of a case move together.

const ASSUMED_FRAME = 1 / 25
const SHORTEST_FRAME = 1 / 240

class Film {
  constructor(bar) {
    this.bar = bar
    this.videos = []
    this.sound = false
    this.part(".play").onclick = () => this.toggle()
    this.part(".frame-back").onclick = () => this.step(-1)
    this.part(".frame-on").onclick = () => this.step(1)
    this.part(".sound").onclick = () => this.toggleSound()
    this.part(".seek").oninput = (event) => this.seek(Number(event.target.value))
  }

  part(selector) {
    return this.bar.querySelector(selector)
  }

  // The videos of the case that is shown now.
  take(videos) {
    for (const video of this.videos) video.pause()
    this.keep(videos)
    for (const video of videos) {
      video.muted = !this.sound
      video.onplay = video.onpause = video.ontimeupdate = video.onseeked = () => this.draw()
      video.addEventListener("error", () => this.keep(this.videos.filter((one) => one !== video)))
      watchFrames(video, () => this.draw())
    }
    if (videos.length) this.draw()
  }

  keep(videos) {
    this.videos = videos
    this.bar.hidden = !videos.length
  }

  toggle() {
    if (!this.videos.length) return false // the key is the browser's
    const paused = this.videos[0].paused
    for (const video of this.videos) paused ? video.play().catch(() => {}) : video.pause()
  }

  step(by) {
    if (!this.videos.length) return false
    for (const video of this.videos) stepFrame(video, by)
    this.draw()
  }

  seek(share) {
    for (const video of this.videos) {
      if (!Number.isFinite(video.duration)) continue
      video.pause()
      video.currentTime = share * video.duration
    }
  }

  toggleSound() {
    this.sound = !this.sound
    for (const video of this.videos) video.muted = !this.sound
    this.draw()
  }

  draw() {
    const [video] = this.videos
    if (!video?.isConnected) return
    const { currentTime, duration, paused } = video
    const whole = Number.isFinite(duration) ? duration : 0
    this.part(".time").textContent = `${currentTime.toFixed(2)} / ${whole.toFixed(2)} s`
    this.part(".seek").value = whole ? currentTime / whole : 0
    this.part(".play").setAttribute("aria-label", paused ? "Play" : "Pause")
    this.part(".play .sign").textContent = paused ? "▶" : "❚❚"
    this.part(".sound").setAttribute("aria-pressed", this.sound)
  }
}

// Measure how long a frame lasts while the video plays, and remember which one is on the screen.
function watchFrames(video, onFrame) {
  video.frame = { lasts: ASSUMED_FRAME, measured: false, middle: null }
  if (!video.requestVideoFrameCallback) return
  let before = null
  const seen = (_, now) => {
    if (!video.isConnected) return
    const gap = before && (now.mediaTime - before.mediaTime) / (now.presentedFrames - before.presentedFrames)
    const { frame } = video
    if (gap > SHORTEST_FRAME && (!frame.measured || gap < frame.lasts)) Object.assign(frame, { lasts: gap, measured: true })
    if (!video.seeking) frame.middle = now.mediaTime + frame.lasts / 2
    before = now
    onFrame()
    video.requestVideoFrameCallback(seen)
  }
  video.requestVideoFrameCallback(seen)
}

// To the middle of the frame beside the one on the screen: no rounding of times can miss it.
function stepFrame(video, by) {
  const { frame } = video
  video.pause()
  const middle = frame.middle ?? (Math.floor(video.currentTime / frame.lasts) + 0.5) * frame.lasts
  const last = Number.isFinite(video.duration) ? video.duration - frame.lasts / 2 : Infinity
  const to = Math.max(frame.lasts / 2, Math.min(last, middle + by * frame.lasts))
  if (video.requestVideoFrameCallback) frame.middle = to // until its frame is shown; a held key counts on from here
  video.currentTime = to
}
