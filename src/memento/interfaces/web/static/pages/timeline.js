// Draws, for each claim and memory of a history, when it was true and since when it is known, and lets a reader move through both.
const DAY = 86400;
const SVG = "http://www.w3.org/2000/svg";
const format = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const show = (second) => format.format(new Date(second * 1000));

function rectangle(className, from, to, y, height, scale) {
  const shape = document.createElementNS(SVG, "rect");
  const [x, end] = [scale(from), scale(to)];
  for (const [name, value] of Object.entries({ class: className, x, y, width: Math.max(end - x, 3), height })) shape.setAttribute(name, value);
  return shape;
}

// What was true at one instant, as it was believed at another: the rule of the query library/as_of.
function holds(row, instant, known) {
  if (known < row.learned) return false;
  const ended = row.retired === undefined || row.retired <= known;
  if (row.state === "corrected" && ended) return false;
  return row.from <= instant && !(ended && row.until !== undefined && row.until <= instant);
}

function read(item) {
  const number = (name) => (item.dataset[name] === undefined ? undefined : Number(item.dataset[name]));
  const relation = item.querySelector(".relation")?.textContent ?? "";
  return { item, relation, isEvent: "event" in item.dataset, state: item.dataset.state, from: number("from"), until: number("until"), learned: number("learned"), retired: number("retired") };
}

// Puts the rows that hold into one list, and the others into the folded one below it.
function fold(rows, now, past) {
  const order = (one, other) => one.relation.localeCompare(other.relation) || one.from - other.from;
  const over = past.querySelector(".over");
  return () => {
    if (rows.some((row) => row.isOn !== (row.item.parentElement === now))) {
      rows.sort(order);
      now.replaceChildren(...rows.filter((row) => row.isOn).map((row) => row.item));
      over.replaceChildren(...rows.filter((row) => !row.isOn).map((row) => row.item));
    }
    past.querySelector("small").textContent = over.childElementCount;
    past.hidden = !over.childElementCount;
  };
}

function draw(axes) {
  axes.dataset.drawn = "";
  const now = Date.now() / 1000;
  const rows = [...axes.querySelectorAll(".history li")].map(read);
  if (!rows.length) return;
  const folds = [...axes.querySelectorAll("details.past")].map((past) => {
    const list = past.previousElementSibling;
    return fold(rows.filter((row) => list.contains(row.item) || past.contains(row.item)), list, past);
  });
  const instants = rows.flatMap((row) => [row.from, row.until, row.learned, row.retired]).filter((one) => one !== undefined);
  const first = Math.min(...instants) - DAY;
  const latest = Math.max(now, ...instants);
  const last = latest + DAY; // so that what began today has a width
  const tell = (second) => show(Math.min(second, latest)); // tomorrow is in no memory
  const scale = (second) => (1000 * (second - first)) / (last - first);
  const second = (place) => first + (place / 1000) * (last - first);

  for (const row of rows) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "axis");
    svg.setAttribute("viewBox", "0 0 1000 20");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true"); // the dates are beside it as text
    svg.append(
      rectangle("rail", first, last, 3, 9, scale),
      rectangle("true", row.from, row.isEvent ? row.from : (row.until ?? last), 3, 9, scale),
      rectangle("known", row.learned, row.state === "corrected" ? (row.retired ?? last) : last, 14, 4, scale),
    );
    row.cursor = document.createElementNS(SVG, "line");
    row.cursor.setAttribute("class", "cursor");
    row.cursor.setAttribute("y1", 0);
    row.cursor.setAttribute("y2", 13);
    row.knownCursor = row.cursor.cloneNode();
    row.knownCursor.setAttribute("y1", 13);
    row.knownCursor.setAttribute("y2", 20);
    svg.append(row.cursor, row.knownCursor);
    row.item.append(svg);
  }
  const scrub = axes.querySelector(".scrub");
  const ticks = document.createElement("div");
  ticks.className = "ticks";
  for (const day of new Set([0, 333, 667, 1000].map((place) => tell(second(place))))) {
    const tick = document.createElement("span");
    tick.textContent = day;
    ticks.append(tick);
  }
  scrub.append(ticks);

  const [trueAt, knownAt] = scrub.querySelectorAll("input");
  const [trueText, knownText] = scrub.querySelectorAll("output");
  const count = scrub.querySelector(".count");
  trueAt.value = knownAt.value = Math.ceil(scale(now));
  const update = () => {
    const instant = second(Number(trueAt.value));
    const known = second(Number(knownAt.value));
    let holding = 0;
    for (const row of rows) {
      row.isOn = holds(row, instant, known);
      holding += row.isOn;
      row.item.classList.toggle("is-off", !row.isOn);
      for (const [cursor, at] of [[row.cursor, instant], [row.knownCursor, known]]) {
        cursor.setAttribute("x1", scale(at));
        cursor.setAttribute("x2", scale(at));
      }
    }
    for (const sort of folds) sort();
    trueText.textContent = tell(instant);
    knownText.textContent = tell(known);
    trueAt.setAttribute("aria-valuetext", tell(instant));
    knownAt.setAttribute("aria-valuetext", tell(known));
    count.textContent = `${holding} of ${rows.length} held on ${tell(instant)}, as known on ${tell(known)}.`;
  };
  scrub.addEventListener("input", update);
  scrub.hidden = false;
  update();
}

// Again when a button has changed something, and the page was loaded anew.
const drawAll = () => document.querySelectorAll(".axes:not([data-drawn])").forEach(draw);
document.addEventListener("htmx:afterSettle", drawAll);
drawAll();
