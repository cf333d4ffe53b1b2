package proxytest

import (
	"os"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
)

// A Leg is one of the four ways to connect a client. It combines a transport with a family of
// protocol revisions. A rule that applied only to some legs would be a security hole, so most test
// cases run on all legs; see [EachLeg].
type Leg struct {
	Name         string
	HTTP, Modern bool
}

// Legs returns the four legs.
func Legs() []Leg {
	return []Leg{{"stdio", false, false}, {"http", true, false}, {"http-modern", true, true}, {"stdio-modern", false, true}}
}

// EachLeg runs f on each [Leg]. Under the race detector, it uses only two legs to save time, except
// in .ci/soak. The two legs cover both transports and both revision families.
func EachLeg(t *testing.T, f func(t *testing.T, l Leg)) {
	all := Legs()
	if soak.Race && os.Getenv(soak.Variable) == "" {
		all = []Leg{all[1], all[3]}
	}
	runLegs(t, all, f)
}

func runLegs(t *testing.T, legs []Leg, f func(t *testing.T, l Leg)) {
	for _, l := range legs {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel() // the subtests share no state and mostly wait, so they can run at the same time
			f(t, l)
		})
	}
}

// LegacyLegs runs f on each [Leg] that has an initialize handshake.
func LegacyLegs(t *testing.T, f func(t *testing.T, l Leg)) { runLegs(t, Legs()[:2], f) }

// ModernLegs runs f on each [Leg] that uses revision 2026-07-28.
func ModernLegs(t *testing.T, f func(t *testing.T, l Leg)) { runLegs(t, Legs()[2:], f) }

// EachEra runs f twice on each [Leg], with a legacy and with a modern upstream.
func EachEra(t *testing.T, f func(t *testing.T, l Leg, era testserver.Revisions)) {
	EachLeg(t, func(t *testing.T, l Leg) {
		for name, era := range map[string]testserver.Revisions{"legacy": testserver.Legacy, "modern": testserver.Modern} {
			t.Run(name, func(t *testing.T) { f(t, l, era) })
		}
	})
}

// TaskLegs runs f on each [Leg], with a client that supports tasks.
func TaskLegs(t *testing.T, s func(t *testing.T) Setup, f func(t *testing.T, s *Site, c *Client)) {
	EachLeg(t, func(t *testing.T, l Leg) {
		st := StartWithTasks(t, s(t))
		f(t, st, st.Connect(l, CanTasks))
	})
}
