//go:build race

package proxy_test

// underRace says that the race detector looks on. It takes memory of its own, and
// time: what has one exchange after the other is not tried in every way there.
const underRace = true
