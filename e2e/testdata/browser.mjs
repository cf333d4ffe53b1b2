// Starts browsers that hang now and then on a machine under load.

// within fails where a promise takes longer than so many ms.
export const within = (ms, what, promise) => {
  let timer;
  return Promise.race([promise, new Promise((_, no) => { timer = setTimeout(() => no(new Error(what + ' takes too long')), ms); })]).finally(() => clearTimeout(timer));
};

// start opens a page in a browser of its own. One that does not open it is started anew.
export const start = async (chromium, executablePath, options = {}, more = []) => {
  for (let n = 1; ; n++) {
    let browser;
    try {
      browser = await within(30_000, 'starting the browser', chromium.launch({
        executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-component-update', '--disable-background-networking', ...more],
      }));
      const context = await within(15_000, 'opening a window', browser.newContext(options));
      return { browser, page: await within(15_000, 'opening a page', context.newPage()) };
    } catch (e) {
      await end(browser);
      if (n === 3) throw e;
    }
  }
};

// end closes a browser, which ends with this program in any case.
export const end = async (browser) => {
  await within(10_000, 'ending the browser', browser?.close() ?? Promise.resolve()).catch(() => {});
};
