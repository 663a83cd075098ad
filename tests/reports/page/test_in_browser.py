"""The page as its readers use it, in a headless Chromium."""

import base64
import json
import re
import shutil
import zipfile

import pytest
from result_builder import build_results
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from bench.engines import runtime
from bench.errors import MissingRuntimeError
from bench.results.folders import load_runs
from reports.charts.registry import CHARTS
from reports.charts.theme import DARK, LIGHT
from reports.page.render import render

pytestmark = pytest.mark.browser
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    needs = "Chromium and its driver (on Debian: chromium, chromium-driver)"
    pytest.skip(f"the page was not tested in a browser: needs {needs}", allow_module_level=True)

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
AXE_CORE = "org.webjars.npm:axe-core:4.6.3"
WIDE, PHONE = (1400, 900), (420, 800)
WAIT_S = 60.0
# Elements of a strategy that a reader sees, without its names beside charts and its button.
SEEN = """
return [...document.querySelectorAll("[data-strategy]:not(button):not([data-name])")]
  .filter(part => part.dataset.strategy === arguments[0] && part.getClientRects().length).length
"""
OPEN_ALL = "for (const part of document.querySelectorAll('details')) part.open = true"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One Chromium for all of these tests, with a new profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory, runs):
    """Where a report on four strategies over 60 minutes lies."""
    return render(runs, tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture
def page(browser, address):
    """The page as it opens on a wide screen in light colours."""
    return opened(browser, address)


@pytest.fixture(scope="module")
def axe():
    """The script of axe-core, which finds faults that keep people from using a page."""
    try:
        (jar,) = runtime.resolved((AXE_CORE,))
    except MissingRuntimeError as error:
        pytest.skip(f"the page was not tested with axe-core, which cannot be had: {error}")
    with zipfile.ZipFile(jar) as files:
        (script,) = (name for name in files.namelist() if name.endswith("/axe.min.js"))
        return files.read(script).decode()


def opened(browser, address, size=WIDE, scheme="light"):
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    media(browser, "screen", scheme)
    browser.get("about:blank")  # another fragment alone would not open the page again
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    return browser


def media(browser, kind, scheme="light"):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})


def seen(page, strategy):
    return page.execute_script(SEEN, strategy)


def press(page, name, within="body"):
    """Press the button of this text or label."""
    buttons = page.find_elements(By.CSS_SELECTOR, f"{within} button")
    (button,) = (it for it in buttons if name in (it.text, it.get_attribute("aria-label")))
    button.click()
    settled(page)


def settled(page):
    """Wait until what was asked for is drawn."""
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def plot(page, chart):
    """Left, top, right and bottom edge of the plot of a chart, scrolled to the middle of the screen."""
    return page.execute_script(
        """
        const axes = document.querySelector(`#${arguments[0]} [data-time]`).firstElementChild;
        axes.scrollIntoView({ block: "center" });
        const box = axes.getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom];
        """,
        chart,
    )


def drag(page, start, end):
    actions = ActionBuilder(page)
    (x, y), (last_x, last_y) = (map(round, place) for place in (start, end))
    actions.pointer_action.move_to_location(x, y).pointer_down().move_to_location(last_x, last_y).pointer_up()
    actions.perform()
    settled(page)


def time_shown(page, chart):
    """Both ends, in minutes."""
    text = page.find_element(By.CSS_SELECTOR, f"#{chart} .zoom span").text
    return [float(edge) for edge in re.fullmatch(r"(\S+) to (\S+) minutes", text).groups()]


def ticks(page, chart):
    texts = page.find_elements(By.CSS_SELECTOR, f"#{chart} [data-time] .xtick:not(.off) text")
    return [float(text.text) for text in texts]


def places(page, chart):
    """Everything in a chart that stands somewhere."""
    return page.execute_script(
        """
        const names = ["d", "x", "cx"];
        return [...document.querySelectorAll(`#${arguments[0]} svg *`)]
          .filter(part => !part.closest("clipPath"))
          .map(part => names.map(name => part.getAttribute(name)).join());
        """,
        chart,
    )


def column(page, table, place):
    cells = page.find_elements(By.CSS_SELECTOR, f"{table} tbody tr td:nth-child({place})")
    return [float(cell.get_attribute("data-value")) for cell in cells]


def background(page, selector):
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    name = "fill" if selector.endswith("path") else "backgroundColor"
    numbers = re.findall(r"\d+", page.execute_script(script, selector, name))[:3]
    return "#" + "".join(f"{int(number):02x}" for number in numbers)


def test_a_point_under_the_pointer_says_what_it_is_and_its_strategy_stands_out(page):
    plot(page, "latency")
    points = page.find_elements(By.CSS_SELECTOR, "#latency .hints:last-of-type circle")
    wanted = points[len(points) // 2]
    ActionChains(page).move_to_element(wanted).perform()
    hovered = page.find_element(By.CSS_SELECTOR, "#latency circle:hover")
    title = hovered.find_element(By.TAG_NAME, "title").get_attribute("textContent")
    assert re.match(r"every-60min, \d+ min: \d", title)
    assert hovered.value_of_css_property("stroke") != "none"
    faded = page.find_elements(By.CSS_SELECTOR, ".faded")
    assert {part.get_attribute("data-strategy") for part in faded} == {"0", "1", "2"}


def test_a_strategy_is_chosen_once_for_all_charts_and_tables(page):
    page.execute_script(OPEN_ALL)
    before = [seen(page, strategy) for strategy in "0123"]
    assert min(before) > 30
    press(page, "every-1min", ".chips")
    assert [seen(page, strategy) for strategy in "0123"] == [before[0], 0, *before[2:]]
    assert "Hidden in charts and tables: every-1min." in page.find_element(By.CLASS_NAME, "unseen").text
    press(page, "None", ".chips")
    assert [seen(page, strategy) for strategy in "0123"] == [0, 0, 0, 0]
    press(page, "every-10min", ".chips")
    assert [seen(page, strategy) for strategy in "0123"] == [0, 0, before[2], 0]
    press(page, "All", ".chips")
    assert [seen(page, strategy) for strategy in "0123"] == before
    assert page.find_element(By.CLASS_NAME, "unseen").text == ""


def test_a_link_keeps_the_choice_and_leads_to_its_place(page, address):
    press(page, "every-1min", ".chips")
    press(page, "never", ".chips")
    assert page.current_url == f"{address}#&hide=every-1min,never"
    page.find_element(By.LINK_TEXT, "Charts").click()
    assert page.current_url == f"{address}#charts&hide=every-1min,never"
    top = "return document.getElementById('charts').getBoundingClientRect().top"
    assert 0 <= page.execute_script(top) < 200
    opened(page, f"{address}#each&hide=every-10min,of%20another%20page,%")
    assert seen(page, "2") == 0 < seen(page, "1")
    assert page.find_element(By.ID, "each").get_attribute("open")
    press(page, "All", ".chips")
    assert page.current_url == f"{address}#each"


def test_a_fragment_that_is_no_encoded_text_is_ignored(page, address):
    opened(page, f"{address}#50%")
    press(page, "every-1min", ".chips")
    assert seen(page, "1") == 0
    assert page.get_log("browser") == []


def test_a_drag_over_a_chart_enlarges_that_time_in_all_charts(page):
    whole = {chart: (ticks(page, chart), places(page, chart)) for chart in ("latency", "files")}
    left, top, right, bottom = plot(page, "latency")
    drag(page, (left + (right - left) / 4, top + 50), (left + (right - left) * 3 / 4, bottom - 50))
    for chart, (ticks_of_all, places_of_all) in whole.items():
        assert time_shown(page, chart) == pytest.approx([15, 45], abs=0.2)
        own = ticks(page, chart)
        assert 15 < min(own) < max(own) < 45
        assert len(own) >= 5
        assert set(own) != set(ticks_of_all)
        assert places(page, chart) != places_of_all
    points = page.find_elements(By.CSS_SELECTOR, "#files circle")
    of_20_min = [it for it in points if ", 20 min: " in it.get_attribute("textContent")]
    axes = page.find_element(By.CSS_SELECTOR, "#files [data-time]").get_attribute("data-time")
    first, last = map(float, axes.split("|")[:2])
    place = first + (last - first) * (20 - 15) / (45 - 15)
    assert [float(it.get_attribute("cx")) for it in of_20_min] == pytest.approx([place] * 4, abs=3)
    press(page, "Show the whole time", "#files")
    for chart, (ticks_of_all, places_of_all) in whole.items():
        assert ticks(page, chart) == ticks_of_all
        assert places(page, chart) == places_of_all


def test_nothing_is_drawn_beside_the_part_of_time_that_is_shown(page):
    left, top, right, bottom = plot(page, "files")
    drag(page, (left + (right - left) / 3, top + 50), (left + (right - left) * 2 / 3, bottom - 50))
    hits = """
    const [low, high, top, bottom] = arguments;
    let found = 0;
    for (let x = low; x < high; x += 3) for (let y = top; y < bottom; y += 3)
      if (document.elementsFromPoint(x, y).some(part => part.closest("[data-over-time], .hints"))) found++;
    return found;
    """
    assert page.execute_script(hits, left + 3, left + 60, top, bottom) > 0
    assert page.execute_script(hits, left - 60, left - 3, top, bottom) == 0


def test_a_part_of_a_long_series_is_drawn_point_by_point(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("reports.page.content.CHARTS", [chart for chart in CHARTS if chart.id == "latency"])
    results = build_results(tmp_path / "results", {"every-1min": 1, "every-60min": 60}, 1, 5_100)
    page = opened(browser, render(load_runs(results), tmp_path / "report").as_uri())
    shown = """
    const drawn = selector => [...document.querySelectorAll(`#latency ${selector}`)]
      .filter(part => part.getClientRects().length);
    const lengths = drawn(".every-point").map(path => (path.getAttribute("d") ?? "").split(" ").length);
    return [drawn('[data-over-time="outline"]').length, lengths.filter(length => length > 100).length];
    """
    axis = "//*[@id='latency']//*[name()='text' and starts-with(., 'scenario time')]"
    assert "lowest to highest of each" in page.find_element(By.XPATH, axis).text
    assert page.execute_script(shown) == [3, 0]  # two lines, and the compactions of one
    for _ in range(4):
        press(page, "Show less time", "#latency")
    WebDriverWait(page, WAIT_S).until(lambda it: it.execute_script(shown) == [0, 3])
    assert page.find_element(By.XPATH, axis).text == "scenario time (hours)"
    press(page, "Show the whole time", "#latency")
    assert page.execute_script(shown) == [3, 0]
    assert "lowest to highest of each" in page.find_element(By.XPATH, axis).text


def test_the_time_that_is_shown_follows_keys_and_the_wheel_with_a_key(page):
    plot(page, "latency")
    closer = page.find_element(By.CSS_SELECTOR, '#latency button[aria-label="Show less time"]')
    closer.send_keys(Keys.ENTER)
    settled(page)
    assert time_shown(page, "files") == [15, 45]
    page.find_element(By.CSS_SELECTOR, '#latency button[aria-label="Later"]').send_keys(Keys.SPACE)
    settled(page)
    assert time_shown(page, "latency") == [30, 60]
    _, top, right, bottom = plot(page, "latency")
    origin = ScrollOrigin.from_viewport(int(right), int(top + bottom) // 2)
    scrolled = ActionChains(page).key_down(Keys.CONTROL).scroll_from_origin(origin, 0, -100)
    scrolled.key_up(Keys.CONTROL).perform()
    settled(page)
    assert time_shown(page, "latency") == pytest.approx([36, 60], abs=0.1)
    before = page.execute_script("return scrollY")
    ActionChains(page).scroll_from_origin(origin, 0, 100).perform()
    WebDriverWait(page, WAIT_S).until(lambda it: it.execute_script("return scrollY") > before)
    assert time_shown(page, "latency") == pytest.approx([36, 60], abs=0.1)


def test_a_table_is_sorted_by_the_column_that_is_clicked(page):
    heads = page.find_elements(By.CSS_SELECTOR, "table.summary th")
    place = next(n for n, head in enumerate(heads, 1) if n > 1 and "numeric" not in head.text)
    before = column(page, "table.summary", place)
    heads[place - 1].click()
    assert column(page, "table.summary", place) == sorted(before)
    assert heads[place - 1].get_attribute("aria-sort") == "ascending"
    heads[place - 1].send_keys(Keys.ENTER)
    assert column(page, "table.summary", place) == sorted(before, reverse=True)
    assert sorted(before) != sorted(before, reverse=True)


def test_parts_are_folded_and_opened_one_by_one_or_all_at_once(page):
    count = "return [...document.querySelectorAll('main details')].filter(part => part.open).length"
    parts = len(page.find_elements(By.CSS_SELECTOR, "main details"))
    assert page.execute_script(count) == 0 < parts
    page.find_element(By.CSS_SELECTOR, "#metrics > summary").click()
    assert page.execute_script(count) == 1
    assert page.find_element(By.CSS_SELECTOR, "#metrics table").is_displayed()
    press(page, "Open all parts")
    assert page.execute_script(count) == parts
    press(page, "Fold all parts")
    assert page.execute_script(count) == 0


def test_print_has_open_parts_and_names_folded_ones(page):
    def printed():
        return base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])

    def note(part):
        script = "return getComputedStyle(document.querySelector(arguments[0]), '::after').content"
        return page.execute_script(script, f"{part} > summary")

    page.find_element(By.CSS_SELECTOR, "#metrics > summary").click()
    media(page, "print")
    assert "left out of this print" in note("#queries")
    assert page.find_element(By.CSS_SELECTOR, "#queries > summary").is_displayed()
    assert note("#metrics") == "none"
    assert page.find_element(By.CSS_SELECTOR, "#metrics table").is_displayed()
    assert not page.find_element(By.CLASS_NAME, "contents").is_displayed()
    assert not any(button.is_displayed() for button in page.find_elements(By.TAG_NAME, "button"))
    some = printed()
    assert some.startswith(b"%PDF")
    assert pages_of(some) >= 3
    page.execute_script(OPEN_ALL)
    assert pages_of(printed()) > pages_of(some)


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_a_phone_shows_all_and_says_where_it_scrolls(browser, address):
    page = opened(browser, address, PHONE)
    page.execute_script(OPEN_ALL)
    assert page.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]
    script = """
    const bar = document.querySelector(arguments[0]);
    return [bar.scrollWidth > bar.clientWidth, getComputedStyle(bar).backgroundImage, bar.tabIndex];
    """
    is_cut, image, tab_index = page.execute_script(script, ".contents ul")
    assert is_cut
    assert image.count("linear-gradient") == 2
    assert tab_index == 0
    assert page.find_element(By.CSS_SELECTOR, ".chips button").is_displayed()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_page_and_charts_have_the_colours_of_the_reader(browser, address, theme):
    page = opened(browser, address, scheme=theme.name)
    assert background(page, "html") == theme.background
    assert background(page, "#latency svg path") == theme.background
    media(page, "print", theme.name)
    assert background(page, "#latency svg path") == LIGHT.background


def test_page_asks_for_nothing_and_complains_of_nothing(page, address):
    page.execute_script(OPEN_ALL)
    press(page, "every-1min", ".chips")
    press(page, "Show less time", "#latency")
    page.find_element(By.CSS_SELECTOR, "table.summary th").click()
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [it["params"]["request"]["url"] for it in events if it["method"] == "Network.requestWillBeSent"]
    assert asked == [address]
    assert page.get_log("browser") == []


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (WIDE, "dark"), (PHONE, "light")])
def test_axe_finds_nothing(browser, address, axe, size, scheme):
    page = opened(browser, address, size, scheme)
    for state in ("as it opens", "as it is used"):
        if state == "as it is used":
            page.execute_script(OPEN_ALL)
            press(page, "every-1min", ".chips")
            press(page, "Show less time", "#latency")
        page.execute_script(axe)
        found = page.execute_async_script("axe.run().then(arguments[0])")
        violations = [(it["id"], [node["html"] for node in it["nodes"]][:3]) for it in found["violations"]]
        assert violations == [], state
        assert len(found["passes"]) > 10
