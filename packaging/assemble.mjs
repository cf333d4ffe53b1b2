#!/usr/bin/env node
// assemble.mjs VERSION OUT OS/ARCH=PROGRAM... makes what goreleaser does not, from programs
// that are built: packages for npm, bundles for Claude Desktop, and server.json for the
// registry of MCP, which names the bundles by their sums. OS and ARCH are Go's words. Needs
// npm and zip.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const platformOf = { linux: "linux", darwin: "darwin", windows: "win32" };
const archOf = { amd64: "x64", arm64: "arm64" };
const releases = "https://github.com/petrigate/petrigate/releases/download";
const image = "ghcr.io/petrigate/petrigate";
const time = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 315532800) * 1000); // of all files: the same input, the same bundle

const read = (...path) => JSON.parse(readFileSync(join(here, ...path), "utf8"));
const write = (path, value) => writeFileSync(path, JSON.stringify(value, null, 2) + "\n");

function main([version, out, ...programs]) {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version ?? "") || !out || programs.length === 0) {
    throw new Error("usage: assemble.mjs VERSION OUT OS/ARCH=PROGRAM...");
  }
  const work = mkdtempSync(join(tmpdir(), "petrigate-assemble-"));
  try {
    mkdirSync(out, { recursive: true });
    const targets = programs.map(target);
    npm(version, resolve(out), work, targets);
    const bundles = targets.map((t) => bundle(version, resolve(out), work, t));
    write(join(out, "server.json"), listing(version, bundles));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function target(text) {
  const [, os, arch, program] = /^(\w+)\/(\w+)=(.+)$/.exec(text) ?? [];
  if (!platformOf[os] || !archOf[arch]) throw new Error(`not OS/ARCH=PROGRAM of a platform that we build for: ${text}`);
  return { os, arch, program: resolve(program), platform: platformOf[os], cpu: archOf[arch], file: os === "windows" ? "petrigate.exe" : "petrigate" };
}

// The main package depends on those of all targets, of which npm installs the one that fits.
function npm(version, out, work, targets) {
  const main = read("npm", "petrigate", "package.json");
  main.version = version;
  main.optionalDependencies = Object.fromEntries(targets.map((t) => [`@petrigate/${t.platform}-${t.cpu}`, version]));
  const dir = join(work, "npm");
  cpSync(join(here, "npm", "petrigate"), dir, { recursive: true });
  write(join(dir, "package.json"), main);
  chmodSync(join(dir, "bin", "petrigate.js"), 0o755);
  pack(dir, out);
  for (const t of targets) {
    const name = `@petrigate/${t.platform}-${t.cpu}`;
    const dir = join(work, `${t.platform}-${t.cpu}`);
    place(t, join(dir, "bin"));
    write(join(dir, "package.json"), {
      name, version,
      description: `petrigate for ${t.platform} on ${t.cpu}`,
      license: main.license, homepage: main.homepage, repository: main.repository,
      os: [t.platform], cpu: [t.cpu], files: ["bin"], preferUnplugged: true,
    });
    pack(dir, out);
  }
}

function pack(dir, out) {
  copyFileSync(join(here, "..", "LICENSE"), join(dir, "LICENSE"));
  execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: dir, stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" });
}

function place(t, dir) {
  mkdirSync(dir, { recursive: true });
  copyFileSync(t.program, join(dir, t.file));
  chmodSync(join(dir, t.file), 0o755);
}

// One bundle for each target: one with all programs would be over 100 MB.
function bundle(version, out, work, t) {
  const manifest = read("mcpb", "manifest.json");
  manifest.version = version;
  manifest.server.entry_point = `server/${t.file}`;
  manifest.compatibility.platforms = [t.platform];
  const dir = join(work, `mcpb-${t.os}-${t.arch}`);
  place(t, join(dir, "server"));
  write(join(dir, "manifest.json"), manifest);
  copyFileSync(join(here, "..", "LICENSE"), join(dir, "LICENSE"));
  const files = ["manifest.json", "LICENSE", `server/${t.file}`];
  for (const file of files) utimesSync(join(dir, file), time, time);
  const to = join(out, `petrigate_${version}_${t.os}_${t.arch}.mcpb`);
  rmSync(to, { force: true });
  execFileSync("zip", ["-X", "-q", to, ...files], { cwd: dir, stdio: "inherit", env: { ...process.env, TZ: "UTC" } });
  return to;
}

// In all kinds of packages petrigate is given its configuration alone.
function listing(version, bundles) {
  const list = read("registry", "server.json");
  const config = { description: "The configuration, with your servers and rules", format: "filepath", isRequired: true };
  const stdio = { type: "stdio" };
  list.version = version;
  list.packages = [
    {
      registryType: "npm", identifier: "petrigate", version, runtimeHint: "npx", transport: stdio,
      packageArguments: [{ type: "positional", value: "serve" }, { type: "named", name: "--config", ...config }],
    },
    {
      registryType: "oci", identifier: `${image}:${version}`, runtimeHint: "docker", transport: stdio,
      runtimeArguments: [
        { type: "named", name: "--mount", value: "type=bind,src={config},dst=/etc/petrigate/petrigate.yaml,readonly", variables: { config } },
      ],
    },
    ...bundles.map((path) => ({
      registryType: "mcpb", identifier: `${releases}/v${version}/${basename(path)}`, transport: stdio,
      fileSha256: createHash("sha256").update(readFileSync(path)).digest("hex"),
    })),
  ];
  return list;
}

main(process.argv.slice(2));
