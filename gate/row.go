package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// follow puts the net back to its start, if the call is another than the one before
// that it counted: that is so once the call is admitted.
func (f *finding) follow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.anew = f.net.anew(f.data), true
	}
}

// anew returns the net at its start. Calls in flight settle without effect, but those
// that spoil evidence are still under way.
func (n *net) anew(d *NetData) *NetData {
	fresh := &NetData{Active: d.Active, Marking: n.start, Shadow: d.Shadow}
	netstate.SetSpoilers(fresh, d.Spoilers())
	return fresh
}

// count remembers the call of a net that counts equal calls in a row.
func (m *move) count(f *finding, row string) {
	if !f.forbids() {
		row = ""
	}
	netstate.SetRow(m.data, row)
}
