// Package e2e drives the petrigate binary as a black box, between real clients
// and real servers: what a client sees through it is what it sees without it.
//
// The servers and the TypeScript SDK come from npm, pinned by
// testdata/package-lock.json, and are kept in the user's cache directory. Where
// they cannot be had the tests are skipped, unless PETRIGATE_E2E is "required".
package e2e
