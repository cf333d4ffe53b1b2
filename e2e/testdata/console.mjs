// Drives the console of a running petrigate in a real browser.
//
// Standard input is one JSON object: "url" of the MCP endpoint, "binary" and "env" of
// petrigate, "browser" to start, "shots": a directory for pictures; absent: none.
// Standard output is one JSON object a line: "name" of what was tried, and "error" where it
// is not as it should be.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import assert from 'node:assert/strict';
import { connect } from './agent.mjs';
import { start, end, within } from './browser.mjs';

const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
const { chromium } = require('playwright-core');
const axe = require.resolve('axe-core');
const job = JSON.parse(await text(process.stdin));
const patience = 40_000;

const { call } = await connect(job.url, 'e2e');
const petrigate = (...args) => execFileSync(job.binary, args, { env: job.env, encoding: 'utf8' }).trim();

// Each trial has a browser of its own, but for those that only look at one page after the other.
let browser;
const launch = async (options) => {
  const started = await start(chromium, job.browser, { viewport: { width: 1280, height: 900 }, ...options }, ['--host-resolver-rules=MAP evil.example 127.0.0.1']);
  browser = started.browser;
  return started.page;
};
const quit = async () => {
  const old = browser;
  browser = undefined;
  await end(old);
};

// open lets a new browser in. What it asks for elsewhere, and what its console says, is noted.
const open = async (options = {}) => {
  const page = await launch(options);
  page.setDefaultTimeout(patience);
  page.said = [];
  page.strangers = [];
  page.on('console', (m) => { if (m.type() === 'error' && !/401/.test(m.text())) page.said.push(m.text()); });
  page.on('pageerror', (e) => page.said.push(String(e)));
  page.on('dialog', (d) => { page.said.push('dialog: ' + d.message()); d.dismiss(); });
  page.on('request', (r) => { if (!['127.0.0.1', 'localhost'].includes(new URL(r.url()).hostname)) page.strangers.push(r.url()); });
  const address = petrigate('open', '--print');
  page.home = new URL(address).origin;
  await page.goto(address);
  if (options.javaScriptEnabled === false) {
    await page.fill('#code', address.split('#')[1]);
    await page.click('button:has-text("Sign in")');
  }
  await page.waitForURL('**/inbox');
  return page;
};

let began = Date.now();
const tell = (line) => process.stdout.write(JSON.stringify({ ...line, seconds: (Date.now() - began) / 1000 }) + '\n');
const trials = async (options, all) => {
  let page;
  for (const [name, f] of all) {
    began = Date.now();
    try {
      page ??= await open(options);
      await within(2 * patience, name, f(page));
      assert.deepEqual(page.said.splice(0), [], 'the console of the browser');
      assert.deepEqual(page.strangers.splice(0), [], 'requests that leave this machine');
      tell({ name });
    } catch (e) {
      tell({ name, error: String(e.stack ?? e).slice(0, 2000) });
      await quit();
      page = undefined;
    }
  }
  await quit();
};
const trial = (name, f, options) => trials(options, [[name, f]]);

// accessible checks the page that is shown with axe.
const accessible = async (page) => {
  const client = await page.context().newCDPSession(page); // past the policy of content, which lets in no script of others
  await client.send('Page.setBypassCSP', { enabled: true });
  await page.reload();
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll('button.approve:disabled').length === 0);
  await page.addScriptTag({ path: axe });
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  assert.deepEqual(found.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')), []);
};

const card = (page, tool, words) => page.locator('article.card.pending', { hasText: tool }).filter({ hasText: words });

await trial('approve', async (page) => {
  const answer = call('deploy', { to: 'approve-me', note: 'a' });
  const mine = card(page, 'deploy', 'approve-me');
  await mine.waitFor(); // it comes by itself
  await mine.getByRole('button', { name: 'Approve once' }).click();
  assert.match(await answer, /deployed/);
  await page.getByText(/is approved, once/).waitFor();
});

await trial('deny with a reason', async (page) => {
  const answer = call('deploy', { to: 'deny-me' });
  const mine = card(page, 'deploy', 'deny-me');
  await mine.waitFor();
  await mine.getByPlaceholder(/Reason/).fill('not on a Friday');
  await mine.getByRole('button', { name: 'Deny' }).click();
  assert.match(await answer, /not on a Friday/);
  await page.locator('tr', { hasText: 'not on a Friday' }).first().waitFor();
});

await trial('without scripts', async (page) => {
  const answer = call('deploy', { to: 'plain-html' });
  for (let n = 0; (await card(page, 'deploy', 'plain-html').count()) === 0; n++) {
    assert.ok(n < 1000);
    await page.goto(page.home + '/inbox');
  }
  await card(page, 'deploy', 'plain-html').getByRole('button', { name: 'Approve once' }).click();
  assert.match(await answer, /deployed/);
}, { javaScriptEnabled: false });

await trial('the keyboard alone', async (page) => {
  const answer = call('deploy', { to: 'keys-alone' });
  await card(page, 'deploy', 'keys-alone').waitFor();
  await page.keyboard.press('j');
  for (let n = 0; !(await page.evaluate(() => document.activeElement.textContent.includes('keys-alone'))); n++) {
    assert.ok(n < 100);
    await page.keyboard.press('j');
  }
  await page.locator('article:focus button.approve:enabled').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  assert.match(await answer, /deployed/);
});

await trial('a button is not armed at once', async (page) => {
  await page.evaluate(() => { // a card that comes is closed to clicks
    globalThis.early = [];
    new MutationObserver((records) => records.forEach((r) => r.addedNodes.forEach((n) => {
      n.querySelectorAll?.('form button').forEach((b) => globalThis.early.push(b.disabled));
    }))).observe(document.getElementById('questions'), { childList: true });
  });
  const answer = call('deploy', { to: 'arm-me' });
  const mine = card(page, 'deploy', 'arm-me');
  await mine.locator('button.approve:enabled').waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.early), [true, true, true, true]);
  await mine.getByRole('button', { name: 'Deny' }).click();
  await answer;
});

await trial('two tabs', async (page) => {
  const other = await page.context().newPage();
  await other.goto(page.home + '/inbox');
  const answer = call('deploy', { to: 'two-tabs' });
  const mine = card(page, 'deploy', 'two-tabs'), theirs = other.locator('article.card', { hasText: 'two-tabs' });
  await mine.waitFor();
  await theirs.waitFor();
  await mine.getByRole('button', { name: 'Approve once' }).click();
  await answer;
  await theirs.getByText('Answered elsewhere').waitFor();
  assert.equal(await theirs.locator('button:enabled').count(), 0);
});

await trial('several at once, exactly these', async (page) => {
  const answers = ['batch-a', 'batch-b', 'batch-c'].map((to) => call('deploy', { to }));
  for (const to of ['batch-a', 'batch-b', 'batch-c']) await card(page, 'deploy', to).waitFor();
  await page.goto(page.home + '/inbox');
  await card(page, 'deploy', 'batch-a').getByRole('checkbox').check();
  await card(page, 'deploy', 'batch-c').getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Approve…' }).click();
  await page.getByRole('heading', { name: 'Approve 2 calls, each once?' }).waitFor();
  assert.equal(await page.locator('.confirm h3').count(), 2);
  assert.equal(await page.locator('.confirm', { hasText: 'batch-b' }).count(), 0);
  await page.getByRole('button', { name: 'Approve these 2' }).click();
  assert.match(await answers[0], /deployed/);
  assert.match(await answers[2], /deployed/);
  await card(page, 'deploy', 'batch-b').getByRole('button', { name: 'Deny' }).click();
  assert.match(await answers[1], /denied/);
});

await trial('a rebinding page gets nothing', async (page) => {
  const response = await page.request.get(page.home + '/inbox');
  assert.equal(response.status(), 200); // the cookie is there
  const port = new URL(page.home).port;
  const stranger = await page.context().newPage();
  const got = await stranger.goto(`http://evil.example:${port}/inbox`);
  assert.equal(got.status(), 403);
  assert.doesNotMatch(await got.text(), /Inbox/);
});

await trial('another origin can neither read nor answer', async (page) => {
  const answer = call('deploy', { to: 'cross-site' });
  const mine = card(page, 'deploy', 'cross-site');
  await mine.waitFor();
  const ap = await mine.getAttribute('id');
  const stranger = await page.context().newPage();
  await stranger.route('http://evil.example/**', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>x</title>' }));
  await stranger.goto('http://evil.example/');
  const tried = await stranger.evaluate(async ({ home, ap }) => {
    const results = [];
    for (const mode of ['cors', 'no-cors']) {
      try {
        const r = await fetch(home + '/answer', { method: 'POST', mode, credentials: 'include', body: new URLSearchParams({ id: ap, decision: 'approve' }) });
        results.push(r.type + r.status);
      } catch (e) { results.push(e.name); }
    }
    try { results.push((await (await fetch(home + '/inbox', { credentials: 'include' })).text()).length); } catch (e) { results.push(e.name); }
    return results;
  }, { home: page.home, ap });
  assert.deepEqual(tried, ['TypeError', 'TypeError', 'TypeError']);
  await page.goto(page.home + '/inbox/' + ap);
  await page.locator('article.card.pending').getByRole('button', { name: 'Deny' }).click();
  assert.match(await answer, /denied/);
});

await trial('links and forms show their pages in place', async (page) => {
  await page.evaluate(() => { window.kept = true; });
  const kept = () => page.evaluate(() => window.kept === true);
  const heading = (name) => page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByRole('link', { name: 'Activity' }).click();
  await heading('Activity');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.waitForURL('**/activity');
  await page.fill('input[name=q]', 'deploy');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/activity?q=deploy*');
  await page.getByText(/\d of \d/).waitFor();
  await page.click('#pause');
  await page.waitForURL(/pause=1/);
  assert.equal(await page.textContent('#pause'), 'Resume');
  await page.goBack();
  await page.waitForURL('**/activity');
  await page.getByText(/\d of \d/).waitFor({ state: 'detached' });
  assert.equal(await page.textContent('#pause'), 'Pause');
  await page.goBack();
  await heading('Inbox');
  assert.equal(await kept(), true);

  const answer = call('deploy', { to: 'in-place' });
  await card(page, 'deploy', 'in-place').getByRole('button', { name: 'Deny' }).click();
  assert.match(await answer, /denied/);
  await page.locator('#notes .note', { hasText: 'is denied' }).waitFor();
  assert.equal(await kept(), true);
  await page.getByRole('link', { name: 'Nets' }).click();
  await page.locator('#netlist a').first().click();
  await page.locator('.drawing svg').waitFor();
  assert.equal(await page.locator('#notes .note').count(), 0);
  assert.equal(await kept(), true);
  await page.getByRole('link', { name: 'Policy' }).click(); // whose editor begins with a document
  await heading('Policy');
  assert.equal(await kept(), false);

  await page.getByRole('link', { name: 'Inbox' }).click();
  await heading('Inbox');
  const other = await page.context().newPage();
  await other.goto(page.home + '/inbox');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.locator('#login').waitFor();
  await page.getByRole('link', { name: 'Tools' }).click(); // nobody is let in any more
  await page.locator('#login').waitFor();
});

const evil = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "javascript:alert(1)", '{{constructor.constructor("alert(1)")()}}', '\u202eexe.txt\u200b', '\u001b[2J'];
await trial('hostile text stays text', async (page) => {
  const answer = call('deploy', { to: 'hostile', ...Object.fromEntries(evil.map((e, n) => [e + n, e])) });
  const mine = card(page, 'deploy', 'hostile');
  await mine.waitFor();
  const shown = await mine.locator('pre').first().textContent();
  assert.ok(shown.includes('<img src=x onerror=alert(1)>') && !shown.includes('\u202e') && !shown.includes('\u001b'));
  assert.equal(await page.locator('main img, main svg[onload], main script').count(), 0);
  for (const view of job.views) await page.goto(page.home + view);
  await page.goto(page.home + '/inbox');
  await card(page, 'deploy', 'hostile').getByRole('button', { name: 'Deny' }).click();
  await answer;
});

// On a phone the answer is at hand as soon as all that will run was shown, and not before.
await trial('a phone', async (page) => {
  const seen = (box) => box.y >= 0 && box.y + box.height <= 844;
  const short = call('deploy', { to: 'phone-short' });
  await card(page, 'deploy', 'phone-short').waitFor();
  await page.goto(page.home + '/inbox/' + await card(page, 'deploy', 'phone-short').getAttribute('id'));
  await accessible(page);
  const approve = page.locator('button.approve:enabled'), on = page.locator('button.readon:enabled');
  await approve.waitFor();
  assert.ok(seen(await approve.boundingBox()), 'Approve once is below the fold');
  await approve.click();
  assert.match(await short, /deployed/);

  const long = call('deploy', { to: 'phone-long', script: Array.from({ length: 60 }, (_, n) => 'step ' + n) });
  await page.goto(page.home + '/inbox');
  await card(page, 'deploy', 'phone-long').waitFor();
  await page.goto(page.home + '/inbox/' + await card(page, 'deploy', 'phone-long').getAttribute('id'));
  let times = 0;
  for (; times < 50; times++) {
    await page.locator('button:is(.approve, .readon):enabled:visible').first().waitFor();
    const last = await page.locator('.call pre').last().boundingBox(), bar = await page.locator('form.decide').boundingBox();
    if (await approve.isVisible()) {
      assert.ok(last.y + last.height <= bar.y, 'it can be approved before its end was shown');
      break;
    }
    assert.ok(seen(await on.boundingBox()) && seen(await page.getByRole('button', { name: 'Deny' }).boundingBox()), 'no answer is at hand');
    await on.click();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  assert.ok(times > 1, 'the end of a long text is shown at once');
  assert.ok(seen(await approve.boundingBox()));
  await approve.click();
  assert.match(await long, /deployed/);
}, { viewport: { width: 390, height: 844 } });

await trial('expiry while it is open', async (page) => {
  const answer = call('deploy', { to: 'expire-me' });
  const mine = page.locator('article.card', { hasText: 'expire-me' });
  await mine.waitFor();
  await mine.getByText('expired').or(mine.getByText('Answered elsewhere or ended')).first().waitFor();
  assert.equal(await mine.locator('button:enabled').count(), 0);
  await answer;
});

const waits = call('deploy', { to: 'a picture', version: '2.4.1', regions: ['eu-west', 'us-east'] });
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const looks = [['light', 'desktop'], ['dark', 'phone']];
if (job.shots) looks.push(['light', 'phone'], ['dark', 'desktop']);
for (const [colorScheme, size] of looks) {
  await trials({ colorScheme, viewport: sizes[size] }, job.views.map((view) => [`accessible: ${view}, ${colorScheme}, ${size}`, async (page) => {
    await page.goto(page.home + view);
    await page.waitForLoadState('load');
    await page.locator('main h1').first().waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
    await accessible(page);
    if (job.shots) await page.screenshot({ path: `${job.shots}/${view.slice(1).replaceAll('/', '-')}-${colorScheme}-${size}.png` });
  }]));
}
await waits;
process.stdout.write('', () => process.exit(0));
