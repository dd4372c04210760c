// What people said of a case, for the lead who decides: everybody's label, tags and comment, one below the other.

function drawPeople(section, people, tags) {
  section.hidden = !people.length
  section.replaceChildren(...people.map((said) => person(said, tags)))
}

function person(said, tags) {
  const line = element("div", "person")
  const how = said.blind ? "blind" : "verdict seen"
  line.append(element("b", "", said.reviewer), element("span", `label ${said.label}`, said.label), element("small", "", how))
  if (said.tags.length) line.append(element("span", "wrong", said.tags.map((tag) => tags[tag] ?? tag).join(", ")))
  if (said.comment) line.append(element("p", "", said.comment))
  return line
}
