package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// follow resets the net to its initial state if the call differs from the last one that the net
// counted. The reset takes effect when the call is admitted.
func (f *finding) follow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.anew = f.net.anew(f.data), true
	}
}

// anew returns the net in its initial state. Calls in flight will settle without effect, but those
// that spoil evidence continue to do so.
func (n *net) anew(d *NetData) *NetData {
	fresh := &NetData{Active: d.Active, Marking: n.start, Shadow: d.Shadow}
	netstate.SetSpoilers(fresh, d.Spoilers())
	return fresh
}

// count records the call in a net that counts equal calls in a row.
func (m *move) count(f *finding, row string) {
	if !f.forbids() {
		row = ""
	}
	netstate.SetRow(m.data, row)
}
