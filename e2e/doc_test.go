// Package e2e drives the petrigate binary as a black box, between real clients
// and real servers: what a client sees through it is what it sees without it.
//
// The servers, the TypeScript SDK and the library of an editor come from npm, pinned by
// testdata/package-lock.json, and are kept in the user's cache directory. The
// tests run where PETRIGATE_E2E is set: to "required", and they fail where the
// packages cannot be had; to anything else, and they are skipped then.
package e2e
