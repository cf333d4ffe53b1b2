// Package e2e tests the petrigate binary as a black box between real clients and real servers. A
// client must see the same through petrigate as without it.
//
// The servers, the TypeScript SDK and the library of an editor are npm packages.
// testdata/package-lock.json pins their versions, and they are cached in the user's cache
// directory. The tests run only if PETRIGATE_E2E is set. If its value is "required" and the
// packages are not available, the tests fail; with any other value, they are then skipped.
package e2e
