package gate

import "github.com/petrigate/petrigate/gate/internal/netstate"

// restartRow resets the net to its initial state if the call differs from the last one that the net
// counted. The reset takes effect when the call is admitted.
func (f *finding) restartRow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.restarts = f.net.reset(f.data), true
	}
}

// recordRow records the call in a net that counts equal calls in a row.
func (m *move) recordRow(f *finding, row string) {
	if !f.hasGating() {
		row = ""
	}
	netstate.SetRow(m.data, row)
}
