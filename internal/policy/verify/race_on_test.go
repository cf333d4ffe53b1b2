//go:build race

package verify_test

// underRace says that the race detector looks on. It makes everything ten times
// as slow and has little to find here, where nothing runs at once: random tests
// try less, for without it they try all.
const underRace = true
