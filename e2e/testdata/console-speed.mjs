// Measures how long the console of a running petrigate takes from a click to the painted change,
// in a real browser.
//
// Standard input is one JSON object: "url" of the MCP endpoint, "binary" and "env" of
// petrigate, "browser" to start, "calls" and "questions" to make first, "net" to step through,
// "runs" of each interaction. Standard output is one JSON object a line: "name" of the
// interaction, "ms", one number for each run, "server", those of them that the browser waited
// for the answer (of pages), and "elements" of the page.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { connect } from './agent.mjs';

const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
const { chromium } = require('playwright-core');
const job = JSON.parse(await text(process.stdin));
const petrigate = (...args) => execFileSync(job.binary, args, { env: job.env, encoding: 'utf8' }).trim();

const agent = () => connect(job.url, 'speed');

// times calls do(n) for n below count, width of them at once.
const times = async (count, width, act) => {
  let next = 0;
  await Promise.all(Array.from({ length: width }, async () => { while (next < count) await act(next++); }));
};

const first = await agent();
await times(job.calls, 8, (n) => first.call(n % 3 ? 'delete' : 'list_files', { path: 'path ' + n }));
const others = await Promise.all(Array.from({ length: Math.ceil(job.questions / 25) }, agent));
await times(job.questions, 50, (n) => others[n % others.length].call('deploy', { version: '1.0.' + n, note: 'x'.repeat(200) }));

const browser = await chromium.launch({ executablePath: job.browser, args: ['--no-sandbox', '--disable-gpu', '--disable-component-update', '--disable-background-networking'] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
// Each document notes when it was painted first, and the time of the last click or key before.
// A change of the page is noted when it is painted, and the last event of the proxy.
await page.addInitScript(() => {
  const now = () => performance.timeOrigin + performance.now();
  const painted = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
  for (const kind of ['click', 'input']) addEventListener(kind, () => sessionStorage.setItem('acted', now()), { capture: true });
  const Events = window.EventSource;
  window.EventSource = class extends Events {
    constructor(...of) {
      super(...of);
      super.addEventListener('activity', () => { window.heard = now(); });
    }
  };
  addEventListener('DOMContentLoaded', () => {
    painted(() => { window.painted = now(); });
    const main = document.querySelector('main') ?? document.body;
    new MutationObserver((records) => {
      const whole = records.some((r) => r.target === main); // another page is shown in its place
      painted(() => {
        window.changed = now();
        if (whole) window.painted = window.changed;
      });
    }).observe(main, { childList: true, subtree: true });
  });
});
const address = petrigate('open', '--print');
const home = new URL(address).origin;
await page.goto(address);
await page.waitForURL('**/inbox');
await page.waitForFunction(() => window.painted);

const tell = (name, ms, more = {}) => process.stdout.write(JSON.stringify({ name, ms, ...more }) + '\n');
let servers = []; // ms from the request to the end of the answer
const all = async (name, run) => {
  const ms = [];
  servers = [];
  for (let n = 0; n <= job.runs; n++) {
    const one = await run(n);
    if (n > 0) ms.push(one); // the first one warms up
  }
  tell(name, ms, { server: servers, elements: await page.evaluate(() => document.querySelectorAll('*').length) });
};
// leads measures an action that shows another page, as a document or in place of the last one.
const leads = async (act) => {
  await page.evaluate(() => { window.painted = 0; sessionStorage.setItem('acted', 1e15); performance.clearResourceTimings(); });
  await act();
  await page.waitForFunction(() => window.painted > Number(sessionStorage.getItem('acted')));
  const [ms, server] = await page.evaluate(() => {
    const acted = Number(sessionStorage.getItem('acted'));
    const asked = performance.getEntriesByType('resource').filter((r) => r.initiatorType === 'xmlhttprequest' && performance.timeOrigin + r.startTime >= acted)[0];
    const loaded = asked ?? performance.getEntriesByType('navigation')[0];
    return [window.painted - acted, loaded.responseEnd - loaded.startTime];
  });
  servers.push(server);
  return ms;
};
const go = async (path) => {
  await page.goto(home + path);
  await page.waitForFunction(() => window.painted);
};

await all('a page with little on it', async () => {
  await go('/tools');
  return leads(() => page.getByRole('link', { name: 'Health' }).first().click());
});
await go('/activity');
await all('filter the activity', (n) => leads(async () => {
  await page.fill('input[name=q]', n % 2 ? 'delete' : 'list_files');
  await page.click('button:has-text("Filter")');
}));
await go('/activity');
await all('page through the activity', (n) => leads(() => page.getByRole('link', { name: /older/i }).first().click()));
await go('/activity');
await all('a live row of the activity', async (n) => {
  await page.evaluate(() => { window.heard = window.changed = 0; });
  await first.call('delete', { path: 'live ' + n });
  await page.waitForFunction(() => window.heard && window.changed > window.heard);
  return page.evaluate(() => window.changed - window.heard);
});
if (job.questions > 0) {
  await go('/inbox');
  await all('approve one in the inbox', async (n) => {
    await page.locator('article.card.pending button.approve:enabled').first().waitFor();
    return leads(() => page.locator('article.card.pending button.approve:enabled').first().click());
  });
  await all('page through the inbox', async () => {
    await go('/inbox'); // the last page leads on to none
    return leads(() => page.getByRole('link', { name: 'Next', exact: true }).click());
  });
}
await go('/sessions');
const own = await page.locator('#sessionlist tbody a.mono').last().textContent(); // the first session
await all('open a net of the list', async () => {
  await go('/nets?session=' + own);
  return leads(() => page.locator('#netlist a').nth(30).click());
});
await go('/nets?session=' + own + '&net=' + encodeURIComponent(job.net));
await page.locator('#when').focus();
await all('step through the history of a net', async () => {
  await page.evaluate(() => { window.changed = 0; sessionStorage.setItem('acted', 1e15); });
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => window.changed > Number(sessionStorage.getItem('acted')));
  return page.evaluate(() => window.changed - Number(sessionStorage.getItem('acted')));
});
await go('/sessions');
await all('open a session', async () => {
  await go('/sessions');
  return leads(() => page.locator('#sessionlist tbody a').first().click());
});
await browser.close();
