// Opens pages of `diffgp explore` in Chromium and compares what they say with `diffgp predict`.
// usage: node check.mjs CHROMIUM FOLDER [--screenshots]
// FOLDER holds a folder per case: page.html, sampled.json and drift.json of `diffgp predict --json`, case.json.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, folder, ...options] = process.argv.slice(2);
const screenshots = options.includes("--screenshots");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WIDTHS = [390, 1400, 2560];
/** Rows whose numbers are compared. */
const ROWS = 4;
/** A slider's answer is on the screen after so many milliseconds, in the middle of the moves of a round. */
const QUICK = 50;
/** While pictures are computed the page answers again after so many milliseconds, in 95 of 100 cases. */
const ALIVE = 50;
/** Rounds of a measurement, the best of which counts: other programs may be running. */
const ROUNDS = 6;
/** Milliseconds to wait for what takes no second on a machine of its own. */
const PATIENCE = 60_000;

class Failed extends Error {}

function ensure(holds, what) {
  if (!holds) throw new Failed(what);
}

/** Opens a page and listens to all that it must not do. */
async function open(context, path) {
  const page = await context.newPage();
  const [requests, complaints] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  const address = String(pathToFileURL(path));
  await page.goto(address);
  await page.waitForSelector("#answer", { timeout: PATIENCE });
  const quiet = () => {
    const others = requests.filter((url) => url !== address && !url.startsWith("data:"));
    ensure(others.length === 0, `the page asked for ${others.join(", ")}`);
    ensure(complaints.length === 0, `the console says ${complaints.join("; ")}`);
  };
  return { page, quiet };
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Every number of the answer as it stands in the page. */
const said = (page) => page.$$eval("[data-what], [data-class]", (places) =>
  places.map((place) => ({
    output: place.closest("[data-output]")?.dataset.output ?? null,
    what: place.dataset.what ?? place.dataset.class,
    exact: place.dataset.exact,
  })));

/** Singles have the same bits when they are the same number and zeros have the same sign. */
const sameBits = (a, b) => Object.is(Math.fround(a), Math.fround(b));

/** What `predict` wrote for a row, by the names that the page gives. */
function expected(predicted, row) {
  if (predicted.probability) return new Map([["1", predicted.probability[row]]]);
  if (predicted.probabilities) return new Map(predicted.probabilities.map((column, index) => [String(index), column.probability[row]]));
  const outputs = predicted.outputs ?? [predicted];
  return new Map(outputs.flatMap((column, output) =>
    ["mean", "low_90", "high_90"].map((what) => [`${output} ${what}`, column[what][row]])));
}

async function compareRows(page, predicted, rows) {
  let compared = 0;
  for (let step = 0; step < Math.min(ROWS, rows); step++) {
    await page.click('button[aria-label="the next row"]');
    await frames(page);
    const row = await page.evaluate(() => window.diffgp.state.values.key);
    const wanted = expected(predicted, row);
    for (const { output, what, exact } of await said(page)) {
      const name = output === null ? what : `${output} ${what}`;
      if (!wanted.has(name)) continue;
      ensure(sameBits(Number(exact), wanted.get(name)), `row ${row}, ${name}: the page says ${exact}, predict ${wanted.get(name)}`);
      compared++;
    }
  }
  ensure(compared >= Math.min(ROWS, rows), `only ${compared} numbers were compared`);
  return compared;
}

async function slide(page) {
  const before = JSON.stringify(await said(page));
  await page.focus("#input-0");
  for (let press = 0; press < 8; press++) await page.keyboard.press("ArrowRight");
  await frames(page);
  ensure(JSON.stringify(await said(page)) !== before, "the slider changed nothing");
  // To its end, which lies beyond what training has seen.
  await page.keyboard.press("End");
  await frames(page);
  const warning = await page.textContent("#answer .outside");
  ensure(warning.includes("outside what the model has seen"), `no warning out of range: ${warning}`);
  ensure((await page.$$(".is-outside")).length === 1, "not the one input is marked that is out of range");
}

async function play(page) {
  await page.waitForFunction(() => document.querySelector("#flow canvas").getAttribute("aria-label").includes("points"), null, { timeout: PATIENCE });
  const drawn = () => page.$eval("#flow canvas", (canvas) => canvas.toDataURL());
  const beginning = await drawn();
  await page.click("#flow-play");
  await page.waitForFunction(() => Number(document.getElementById("flow-time").value) > 20, null, { timeout: PATIENCE });
  await page.click("#flow-play");
  const paused = await page.inputValue("#flow-time");
  await page.waitForTimeout(100);
  ensure((await page.inputValue("#flow-time")) === paused, "the flow did not pause");
  await page.focus("#flow-time");
  await page.keyboard.press("End");
  const picture = await page.getAttribute("#flow canvas", "aria-label");
  ensure(/flow time (\S+) of \1/.test(picture), `scrubbing to the end shows ${picture}`);
  ensure((await drawn()) !== beginning, "the picture of the flow stays as it is");
}

/** Names are text: all of them can be read, none became an element or ran. */
async function names(page, wanted) {
  const text = await page.evaluate(() => document.body.textContent + [...document.querySelectorAll("[title]")].map((place) => place.title).join(" "));
  for (const name of wanted) ensure(text.includes(name), `the name ${name.slice(0, 80)} is not in the page`);
  ensure((await page.$$("#page img, #page script, #page iframe, #page b")).length === 0, "a name became an element");
  ensure(!(await page.evaluate(() => "hit" in window)), "a name ran");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  ensure(wide <= 0, `the page is ${wide} pixels wider than the window`);
}

/** The value below which this share of the values lies. */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.min(Math.floor(share * values.length), values.length - 1)];
}

/** The smallest result of some rounds; there are no more once one is good enough. */
async function bestOf(measure, enough) {
  let best = Infinity;
  for (let round = 0; round < ROUNDS && best > enough; round++) best = Math.min(best, await measure());
  return best;
}

/** Milliseconds from the event of a slider until the frame that shows its answer is drawn: the middle of 20 moves. */
async function answerTime(page) {
  const times = await page.evaluate(async () => {
    const [range, measured] = [document.getElementById("input-1") ?? document.getElementById("input-0"), []];
    for (let move = 0; move < 20; move++) {
      range.value = 100 + 5 * move;
      const before = performance.now();
      range.dispatchEvent(new Event("input"));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      measured.push(performance.now() - before);
    }
    return measured;
  });
  return quantile(times, 0.5);
}

/** For how long the page did not answer at a time while its pictures were computed, in 95 of 100 cases. */
async function pause(page) {
  const times = await page.evaluate(async () => {
    document.getElementById("input-0").dispatchEvent(new Event("input"));
    const measured = [];
    let before = performance.now();
    const end = before + 1000;
    while (before < end && (measured.length < 5 || !window.diffgp.isIdle())) {
      await new Promise((done) => setTimeout(done, 0));
      measured.push(performance.now() - before);
      before = performance.now();
    }
    return measured;
  });
  return quantile(times, 0.95);
}

async function speed(page) {
  const answered = await bestOf(() => answerTime(page), QUICK);
  ensure(answered <= QUICK, `a slider's answer takes ${answered.toFixed(1)} ms; expected at most ${QUICK}`);
  const paused = await bestOf(() => pause(page), ALIVE);
  ensure(paused <= ALIVE, `the page does not answer for ${paused.toFixed(1)} ms; expected at most ${ALIVE}`);
  return `, answers in ${answered.toFixed(1)} ms, pauses of ${paused.toFixed(1)} ms`;
}

/** Everything that can be used or seen has a name for those who hear the page. */
async function named(page) {
  const without = await page.$$eval("#page button, #page input, #page select, #page canvas", (parts) => parts
    .filter((part) => !(part.getAttribute("aria-label") || part.textContent && part.tagName === "BUTTON" || part.labels?.length > 0))
    .map((part) => part.outerHTML.slice(0, 100)));
  ensure(without.length === 0, `without a name: ${without.join(", ")}`);
}

const idle = (page) => page.waitForFunction(() => window.diffgp.isIdle(), null, { timeout: PATIENCE });

async function check(context, name) {
  const inFolder = (file) => join(folder, name, file);
  const read = (file) => JSON.parse(readFileSync(inFolder(file)));
  const facts = read("case.json");
  const { page, quiet } = await open(context, inFolder("page.html"));
  let compared = 0;
  const flows = (await page.$("#paths")) !== null;
  ensure(flows === facts.flow, `a flow: ${flows}`);
  if (flows) {
    await page.selectOption("#paths", { label: "none: quick, ignores chance" });
    await frames(page);
    compared += await compareRows(page, read("drift.json"), facts.rows);
    await page.selectOption("#paths", { label: "32" });
    await frames(page);
  }
  compared += await compareRows(page, read("sampled.json"), facts.rows);
  await slide(page);
  if (flows) await play(page);
  await names(page, facts.names);
  let timed = "";
  if (facts.timed) {
    await page.click('button[aria-label="the next row"]');
    timed = await speed(page);
  }
  // The rest is the same with fewer paths.
  if (flows) await page.selectOption("#paths", { label: "4" });
  await frames(page);
  await idle(page);
  await page.click("#rows .worst button");
  await frames(page);
  await named(page);
  quiet();
  await page.close();
  console.log(`${name}: ${compared} numbers have the bits of predict${timed}`);
}

/** A page without rows: its parts say so, and the others work. */
async function withoutRows(context, name) {
  const { page, quiet } = await open(context, join(folder, name, "bare.html"));
  await slide(page);
  await idle(page);
  ensure((await page.textContent("#rows")).includes("no rows"), "it does not say that there are no rows");
  await named(page);
  quiet();
  await page.close();
}

/** A page whose facts are what a file cannot hold: names of 10,000 letters. */
async function longNames(context, name) {
  const html = readFileSync(join(folder, name, "page.html"), "utf8");
  const [before, rest] = html.split('<script type="application/json" id="facts">');
  const end = rest.indexOf("</script>");
  const facts = JSON.parse(rest.slice(0, end));
  const long = `<b>${"W".repeat(9_996)}`;
  facts.inputs[0].name = facts.targets[0].name = facts.title = long;
  const path = join(folder, name, "long.html");
  writeFileSync(path, `${before}<script type="application/json" id="facts">${JSON.stringify(facts).replaceAll("<", "\\u003c")}${rest.slice(end)}`);
  for (const width of WIDTHS) {
    const { page, quiet } = await open(context, path);
    await page.setViewportSize({ width, height: 900 });
    await idle(page);
    await names(page, [long]);
    quiet();
    await page.close();
  }
  console.log(`${name}: names of 10,000 letters are text`);
}

async function photograph(browser, name) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 1000 } });
      const { page } = await open(context, join(folder, name, "page.html"));
      await idle(page);
      await page.evaluate(() => {
        const scrub = document.getElementById("flow-time");
        if (!scrub) return;
        scrub.value = 1000;
        scrub.dispatchEvent(new Event("input"));
      });
      await page.screenshot({ path: join(folder, name, `${width}-${colorScheme}.png`), fullPage: true });
      await context.close();
    }
  }
}

const profile = mkdtempSync(join(tmpdir(), "diffgp-browser-"));
let failed = 0;
// A profile of its own, removed afterwards.
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 120_000, env: { ...process.env, HOME: profile } });
try {
  const cases = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
  for (const name of cases) {
    const context = await browser.newContext();
    const start = performance.now();
    try {
      await check(context, name);
      if (existsSync(join(folder, name, "bare.html"))) await withoutRows(context, name);
      if (name === "hostile") await longNames(context, name);
      console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
      if (screenshots) await photograph(browser, name);
    } catch (error) {
      failed++;
      console.error(`${name}: ${error instanceof Failed ? error.message : error.stack}`);
    }
    await context.close();
  }
  if (cases.length === 0) throw new Error(`no cases in ${folder}`);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;
