package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// restartRow resets the net to its initial state if the call differs from the last one that the net
// counted. The reset takes effect when the call is admitted.
func (f *finding) restartRow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.restarts = f.net.reset(f.data), true
	}
}

// reset returns the net in its initial state. Calls in flight will settle without effect, but those
// that spoil evidence continue to do so.
func (n *net) reset(d *NetData) *NetData {
	fresh := &NetData{Active: d.Active, Marking: n.start, Shadow: d.Shadow}
	netstate.SetSpoilers(fresh, d.Spoilers())
	return fresh
}

// recordRow records the call in a net that counts equal calls in a row.
func (m *move) recordRow(f *finding, row string) {
	if !f.hasGating() {
		row = ""
	}
	netstate.SetRow(m.data, row)
}
