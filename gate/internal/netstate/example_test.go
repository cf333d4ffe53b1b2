package netstate_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/internal/trie"
)

// The owner distinguishes a call in flight from other sessions' calls.
func ExampleFlight() {
	its, other := netstate.Flight{Owner: 1, Call: 7}, netstate.Flight{Owner: 2, Call: 7}
	d := netstate.NetData{Flights: []netstate.Flight{{Owner: 1, Call: 7, Name: "deploy"}}}
	fmt.Println(its.SameCall(&other), d.Waits(&its), d.Waits(&other))
	// Output: false true false
}

// A net in shadow mode decides based on the state that it would have if it blocked.
func ExampleNetData() {
	enforced := &netstate.NetData{Marking: []int{1}}
	d := netstate.NetData{Marking: []int{0}, Shadow: &netstate.ShadowData{Enforced: enforced}}
	call := netstate.Flight{Call: 7}
	fmt.Println(d.Deciding().Marking, d.Waits(&call))
	// Output: [1] false
}

// A net with a key stores the states for the values that differ from the default state.
func ExampleValues() {
	d := netstate.With(&netstate.NetData{Marking: []int{3}}, "alice", &netstate.NetData{Marking: []int{2}}, false)
	fmt.Println(d.Values.Len(), netstate.GetHashed(d.Values, trie.Hash("alice"), "alice").Marking, netstate.GetHashed(d.Values, trie.Hash("bob"), "bob"))
	// Output: 1 [2] <nil>
}
