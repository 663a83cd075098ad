(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // Strategies: lit where the pointer or the focus is, hidden by choice. The fragment keeps the choice by labels.
  const HIDE = "&hide=";
  const drawn = all("svg [data-strategy]");
  const parts = all("main [data-strategy]:not(button, svg *)");
  const rows = parts.filter((part) => part.tagName === "TR");
  const chips = all("button[data-strategy]");
  const labels = new Map(chips.map((chip) => [chip.dataset.strategy, chip.textContent]));
  const links = all('a[href^="#"]').map((link) => [link, link.hash]);
  const hidden = new Set();
  let lit = null;

  const light = (strategy) => {
    if (strategy === lit) return;
    lit = strategy;
    for (const part of drawn) part.classList.toggle("faded", lit !== null && part.dataset.strategy !== lit);
    for (const row of rows) row.classList.toggle("lit", row.dataset.strategy === lit);
  };
  const chosen = () => {
    const names = [...hidden].map((strategy) => encodeURIComponent(labels.get(strategy)));
    return names.length ? HIDE + names.join(",") : "";
  };
  const MOST_NAMED = 8;
  const toldHidden = () => {
    const names = [...hidden].flatMap((strategy, place) => {
      const name = document.createElement("code"); // sets its text apart, whatever it contains
      name.textContent = labels.get(strategy);
      return place ? [", ", name] : [name];
    });
    const who = hidden.size > MOST_NAMED ? [`${hidden.size} of ${labels.size} strategies`] : names;
    return ["Hidden in charts and tables: ", ...who, ". Sentences are about all strategies."];
  };
  const showChosen = () => {
    for (const part of drawn) {
      part.classList.toggle("name" in part.dataset ? "struck" : "off", hidden.has(part.dataset.strategy));
    }
    for (const part of parts) part.hidden = hidden.has(part.dataset.strategy);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.strategy)));
    for (const [link, anchor] of links) link.hash = anchor + chosen();
    for (const line of all(".unseen")) line.replaceChildren(...(hidden.size ? toldHidden() : []));
  };
  const choose = (strategies) => {
    hidden.clear();
    for (const strategy of strategies) hidden.add(strategy);
    showChosen();
    const fragment = location.hash.slice(1).split(HIDE)[0] + chosen();
    history.replaceState(null, "", location.href.split("#")[0] + (fragment && `#${fragment}`));
  };
  const toggle = (strategy) => {
    choose(hidden.has(strategy) ? [...hidden].filter((other) => other !== strategy) : [...hidden, strategy]);
  };
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return "";
    }
  };
  const reveal = (anchor) => {
    const target = document.getElementById(decoded(anchor));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (hidden.size) target?.scrollIntoView(); // a browser finds no element of such a fragment
  };
  const read = () => {
    const [anchor, names = ""] = location.hash.slice(1).split(HIDE);
    const unwanted = new Set(names.split(",").map(decoded));
    hidden.clear();
    for (const [strategy, label] of labels) if (unwanted.has(label)) hidden.add(strategy);
    showChosen();
    reveal(anchor);
  };
  const under = (event) => event.target.closest?.("[data-strategy]")?.dataset.strategy ?? null;

  document.addEventListener("mouseover", (event) => light(under(event)));
  document.addEventListener("focusin", (event) => light(under(event)));
  document.addEventListener("click", (event) => {
    const name = event.target.closest("svg [data-name], button[data-strategy]");
    if (name) toggle(name.dataset.strategy);
    const button = event.target.closest("button[data-choose]");
    if (button) choose(button.dataset.choose === "all" ? [] : labels.keys());
    const link = event.target.closest('a[href^="#"]');
    if (link) reveal(link.hash.slice(1).split(HIDE)[0]);
  });
  addEventListener("hashchange", read);
  for (const bar of all(".chips")) bar.hidden = false;
  read();

  // Time: all charts over time of a scenario show the same part of it.
  const DEEPEST = 50; // times
  const TICK_PT = 62; // between two numbers of an axis
  const MOST_POINTS = 3000; // of one series at a time
  const CLICK_PT = 4; // the pointer moves less in a click
  const POINT = /(-?[\d.]+) (-?[\d.]+)/g; // of a path

  const add = (parent, name, attributes) => {
    const made = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const point = (svg, event) =>
    new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const number = (value) => String(Number(value.toPrecision(6)));
  const roundStep = (span, most) => {
    const power = 10 ** Math.floor(Math.log10(span / most));
    return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => span / step <= most);
  };

  // What stands at times: elements with the attribute that says where, and its value for the whole time.
  const places = (axes) => {
    const found = [];
    for (const part of [...all("[data-over-time]", axes), ...all(".hints", axes.ownerSVGElement)]) {
      for (const mark of all("use", part)) {
        const isArea = Number(mark.getAttribute("x")) === 0; // its places are in its definition
        found.push(isArea ? [document.getElementById(mark.href.baseVal.slice(1)), "d"] : [mark, "x"]);
      }
      for (const path of all("path", part)) if (!path.closest("defs")) found.push([path, "d"]);
      for (const circle of all("circle", part)) found.push([circle, "cx"]);
    }
    return found.map(([element, name]) => [element, name, element.getAttribute(name)]);
  };

  // Long series are drawn in steps; every point of them is packed, as differences between neighbours.
  const unpacked = async (path) => {
    const [ticks, text] = path.dataset.points.split("|");
    const packed = new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
    const steps = new Int32Array(await new Response(stream).arrayBuffer());
    const points = [];
    let [time, height] = [0, 0];
    for (let place = 0; place < steps.length / 2; place++) {
      time += steps[place];
      height += steps[steps.length / 2 + place];
      points.push([time / ticks, height / 20]); // in shares of the whole time, and typographic points
    }
    return points;
  };
  const pathOf = (points, first, last, at) => {
    let start = points.findIndex(([time]) => time >= first) - 1;
    start = Math.max(start === -2 ? points.length - 1 : start, 0);
    const past = points.findIndex(([time]) => time > last);
    const end = past === -1 ? points.length : past + 1;
    if (end - start > MOST_POINTS) return null;
    let path = "";
    for (let place = start; place < end; place++) {
      const [time, height] = points[place];
      const isAfterGap = place === start || points[place - 1][1] === 0;
      if (height) path += `${isAfterGap ? "M" : " "}${at(time)} ${height}`;
    }
    return path;
  };

  const panelOf = (axes, index) => {
    const [left, right, end] = axes.dataset.time.split("|", 3).map(Number);
    const svg = axes.ownerSVGElement;
    const id = `part-of-time-${index}`;
    const { height } = svg.viewBox.baseVal;
    add(add(svg, "clipPath", { id }), "rect", { x: left, y: 0, width: right - left, height });
    const panel = all("[data-time]", svg).indexOf(axes);
    const series = all(`.every-point[data-panel="${panel}"]`, svg).map((path) => ({ path, points: null }));
    for (const strategy of new Set(series.map(({ path }) => path.dataset.strategy))) {
      const outlines = all(`[data-over-time="outline"][data-strategy="${strategy}"]`, axes);
      series.filter(({ path }) => path.dataset.strategy === strategy).forEach((one, place) => {
        one.outline = outlines[place];
      });
    }
    const label = all("text", axes).find((text) => /^scenario time \(.*;/.test(text.textContent));
    const labelText = label?.textContent;
    const clipped = [...all("[data-over-time]", axes), ...all(".hints, .every-point", svg)];
    let isUnpacking = false;
    const moved = places(axes);
    const ticks = all(".xtick", axes);
    let own = [];

    const showTicks = (from, to, at) => {
      for (const tick of own) tick.remove();
      own = [];
      const isWhole = from === 0 && to === end;
      for (const tick of ticks) tick.classList.toggle("off", !isWhole);
      if (isWhole || !ticks.length) return;
      const step = roundStep(to - from, Math.max(3, Math.floor((right - left) / TICK_PT)));
      for (let count = Math.ceil(from / step - 1e-6); count * step <= to + step * 1e-6; count++) {
        const tick = ticks[0].cloneNode(true);
        tick.classList.remove("off");
        for (const definition of all("defs", tick)) definition.remove();
        for (const part of all("use, text", tick)) part.setAttribute("x", at(count * step));
        for (const text of all("text", tick)) text.textContent = number(count * step);
        ticks[0].before(tick);
        own.push(tick);
      }
    };
    const show = (from, to) => {
      const scale = end / (to - from);
      const offset = left - scale * (left + ((right - left) * from) / end);
      const moveTo = (x) => (scale * x + offset).toFixed(2);
      const isWhole = from === 0 && to === end;
      for (const [element, name, whole] of moved) {
        const moves = () =>
          name === "d" ? whole.replace(POINT, (_, x, y) => `${moveTo(x)} ${y}`) : moveTo(whole);
        element.setAttribute(name, isWhole ? whole : moves());
      }
      for (const part of clipped) {
        if (isWhole) part.removeAttribute("clip-path");
        else part.setAttribute("clip-path", `url(#${id})`);
      }
      const at = (time) => moveTo(left + ((right - left) * time) / end);
      showTicks(from, to, at);
      for (const { path, points, outline } of series) {
        const whole = isWhole || !points ? null : pathOf(points, from / end, to / end, (share) => at(share * end));
        path.setAttribute("d", whole ?? "");
        outline.style.display = whole === null ? "" : "none";
      }
      if (!label) return;
      const isInSteps = !series.length || series.some(({ outline }) => outline.style.display === "");
      label.textContent = isInSteps ? labelText : `${labelText.split(";")[0]})`;
    };
    // Unpacked when they are needed for the first time; resolves to whether there was anything to do.
    const unpack = async () => {
      if (isUnpacking || !series.length) return false;
      isUnpacking = true;
      for (const one of series) one.points = await unpacked(one.path);
      return true;
    };
    const covers = ({ x, y }) => {
      const box = axes.firstElementChild.getBBox();
      return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    };
    const shareOf = ({ x }) => clamp((x - left) / (right - left), 0, 1);
    return { axes, svg, covers, shareOf, show, unpack };
  };

  const zoomable = (panels) => {
    const [, , last, unit] = panels[0].axes.dataset.time.split("|");
    const end = Number(last);
    const bars = [];
    let [from, to, isDue] = [0, end, false];

    const draw = () => {
      isDue = false;
      for (const panel of panels) {
        panel.show(from, to);
        if (to - from < end) panel.unpack().then((isNew) => isNew && panel.show(from, to));
      }
      for (const bar of bars) bar.update();
    };
    const show = (start, length) => {
      const span = clamp(length, end / DEEPEST, end);
      from = clamp(start, 0, end - span);
      to = span === end ? end : from + span;
      if (!isDue) requestAnimationFrame(draw);
      isDue = true;
    };
    const around = (share, factor) => {
      const length = clamp((to - from) * factor, end / DEEPEST, end);
      show(from + share * (to - from - length), length);
    };
    const actions = [
      ["+", "Show less time", () => around(0.5, 0.5), () => to - from <= (end / DEEPEST) * 1.001],
      ["\u2212", "Show more time", () => around(0.5, 2), () => to - from >= end],
      ["\u2039", "Earlier", () => show(from - (to - from) / 2, to - from), () => from <= 0],
      ["\u203a", "Later", () => show(from + (to - from) / 2, to - from), () => to >= end * 0.9999],
      ["Whole time", "Show the whole time", () => show(0, end), () => to - from >= end],
    ];
    const addBar = (figure) => {
      const bar = document.createElement("div");
      bar.className = "zoom";
      bar.setAttribute("role", "group");
      bar.setAttribute("aria-label", "Part of the time that is shown");
      const buttons = actions.map(([text, label, act]) => {
        const button = bar.appendChild(document.createElement("button"));
        button.type = "button";
        button.textContent = text;
        button.setAttribute("aria-label", label);
        button.addEventListener("click", act);
        return button;
      });
      const said = bar.appendChild(document.createElement("span"));
      const update = () => {
        actions.forEach(([, , , isUseless], place) => (buttons[place].disabled = isUseless()));
        const decimals = Math.max(0, 2 - Math.floor(Math.log10(to - from)));
        const [start, stop] = [from, to].map((time) => number(Number(time.toFixed(decimals))));
        said.textContent = to - from >= end ? "or drag over the chart" : `${start} to ${stop} ${unit}`;
      };
      update();
      bars.push({ update });
      figure.querySelector(".chart").before(bar);
    };

    const follow = (svg) => {
      const own = panels.filter((panel) => panel.svg === svg);
      const panelAt = (event) => own.find((panel) => panel.covers(point(svg, event)));
      svg.addEventListener("mousedown", (event) => {
        const panel = panelAt(event);
        if (!panel || event.button !== 0) return;
        event.preventDefault(); // no text is selected on the way
        const start = point(svg, event);
        const brush = add(svg, "rect", { class: "brush", y: 0, height: svg.viewBox.baseVal.height });
        const ends = (other) => [start.x, point(svg, other).x].sort((a, b) => a - b);
        const stretch = (moved) => {
          const [low, high] = ends(moved);
          brush.setAttribute("x", low);
          brush.setAttribute("width", high - low);
        };
        const finish = (moved) => {
          removeEventListener("mousemove", stretch);
          brush.remove();
          const [low, high] = ends(moved);
          if (high - low < CLICK_PT) return;
          const [first, second] = [low, high].map((x) => from + panel.shareOf({ x }) * (to - from));
          show(first, second - first);
        };
        addEventListener("mousemove", stretch);
        addEventListener("mouseup", finish, { once: true });
      });
      svg.addEventListener("dblclick", (event) => panelAt(event) && show(0, end));
      svg.addEventListener(
        "wheel",
        (event) => {
          const panel = event.ctrlKey && panelAt(event); // without the key the page scrolls
          if (!panel) return;
          event.preventDefault();
          around(panel.shareOf(point(svg, event)), event.deltaY > 0 ? 1.25 : 0.8);
        },
        { passive: false },
      );
    };
    for (const figure of new Set(panels.map((panel) => panel.svg.closest("figure")))) addBar(figure);
    for (const svg of new Set(panels.map((panel) => panel.svg))) follow(svg);
  };
  let panelsCount = 0;
  for (const section of all("section")) {
    const panels = all("svg [data-time]", section).map((axes) => panelOf(axes, panelsCount++));
    if (panels.length) zoomable(panels);
  }

  // Folded parts, all at once.
  for (const button of all(".every-part")) {
    const folded = all("details", button.closest("section"));
    button.hidden = false;
    button.addEventListener("click", () => {
      const isOpen = folded.every((part) => part.open);
      for (const part of folded) part.open = !isOpen;
    });
    const name = () => (button.textContent = folded.every((part) => part.open) ? "Fold all parts" : "Open all parts");
    for (const part of folded) part.addEventListener("toggle", name);
  }

  // What scrolls can be reached by keyboard.
  const scrolls = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const isCut = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (isCut) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const part of all(".wide, pre, .chart, .contents ul, .chips")) scrolls.observe(part);

  // Tables by a column.
  const value = (row, place) => {
    const cell = row.cells[place];
    return cell && "value" in cell.dataset ? Number(cell.dataset.value) : null;
  };
  const compare = (place, sign) => (a, b) => {
    const [x, y] = [value(a, place), value(b, place)];
    if (x === null && y === null) return sign * a.cells[place].textContent.localeCompare(b.cells[place].textContent);
    if (x === null || y === null) return x === null ? 1 : -1;
    return sign * (x - y);
  };
  for (const table of all("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head) => {
      const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare(head.cellIndex, order === "ascending" ? 1 : -1)));
    };
    for (const head of heads) {
      head.tabIndex = 0;
      head.title = "Sort by this column";
      head.addEventListener("click", () => sort(head));
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort(head);
      });
    }
  }
})();
