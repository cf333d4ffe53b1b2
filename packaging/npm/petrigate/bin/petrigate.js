#!/usr/bin/env node
// Runs the petrigate of the package for this platform. npm installs that package with this
// one (optionalDependencies); nothing is downloaded here.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

function program() {
  const name = `@petrigate/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "petrigate.exe" : "petrigate";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    console.error(
      `petrigate: the package ${name} is not installed. Either there is no petrigate for this platform, or npm ` +
        "left out optional packages (--omit=optional, --no-optional): install again without that.",
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });

// A terminal sends what its keys mean to both of us; of the rest only this process hears.
// process.stdin is left alone: Node would make what petrigate reads unable to block.
const atTerminal = [0, 1, 2].some(isatty);
const fromKeys = ["SIGINT", "SIGQUIT"];
for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
  if (process.platform === "win32" && signal === "SIGQUIT") continue;
  process.on(signal, () => {
    if (!(atTerminal && fromKeys.includes(signal))) child.kill(signal);
  });
}

child.on("error", (error) => {
  console.error(`petrigate: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
