// Every button and every key of the desk, and what it does.

function buttonActions(desk) {
  return {
    ".usable": () => desk.decide("usable"),
    ".badcase": () => desk.decide("badcase"),
    ".unsure": () => desk.decide("unsure"),
    ".keep": () => desk.keep(),
    ".skip": () => desk.skip(),
    ".undo": () => desk.undo(),
    ".help": () => desk.toggleKeys(),
    ".back": () => desk.goBack(),
    ".forward": () => desk.goForward(),
    ".actual": () => desk.look.toggleActual(),
    ".alone": () => desk.look.toggleTogether(),
    ".swiping": () => desk.swipe(),
  }
}

function keyActions(desk) {
  const { look, film } = desk
  const verdict = desk.part(".verdict")
  const press = (selector) => desk.part(selector)?.click()
  return {
    u: () => desk.decide("usable"),
    b: () => desk.decide("badcase"),
    n: () => desk.data.adjudicates || desk.decide("unsure"),
    enter: () => desk.keep(),
    s: () => desk.skip(),
    z: () => desk.data.adjudicates || desk.undo(),
    "[": () => desk.goBack(),
    "]": () => desk.goForward(),
    m: () => desk.part(".comment").focus(),
    "?": () => desk.toggleKeys(),
    escape: () => !desk.part(".keys").hidden && desk.toggleKeys(),
    number: (number) => press(`.answer[data-number="${number}"]`),
    letter: (letter) => press(`.tags [data-letter="${letter}"]`),
    arrowdown: () => selectRow(verdict, 1),
    arrowup: () => selectRow(verdict, -1),
    arrowright: () => shiftRow(verdict, 1),
    arrowleft: () => shiftRow(verdict, -1),
    f: () => look.toggleActual(),
    t: () => look.toggleTogether(),
    w: () => desk.swipe(),
    0: () => look.fit(),
    "+": () => look.zoomByKey(1),
    "=": () => look.zoomByKey(1),
    "-": () => look.zoomByKey(-1),
    "shift+arrowright": () => look.panByKey(1, 0),
    "shift+arrowleft": () => look.panByKey(-1, 0),
    "shift+arrowdown": () => look.panByKey(0, 1),
    "shift+arrowup": () => look.panByKey(0, -1),
    " ": () => film.toggle(),
    ",": () => film.step(-1),
    ".": () => film.step(1),
  }
}
