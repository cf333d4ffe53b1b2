package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// sameNet is sequenceNet with a key.
func sameNet(before, after, field string) gate.Net {
	n := sequenceNet(before, after)
	n.Key = []gate.Field{{Path: field}}
	n.Reason = after + " {key} requires a successful " + before + " of {key} first."
	return n
}

func TestKeySmoke(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, sameNet("backup", "delete", "path"))
	p.success(`backup {"path":"notes.txt"}`)
	r := p.refuse(`delete {"path":"prod.db"}`, gate.KindBlocked, sameNet("backup", "delete", "path").Name)
	t.Log(r.Text, p.Status())
	p.success(`delete {"path":"notes.txt"}`)
	t.Log(p.Status())
	r = p.refuse(`delete {}`, gate.KindBlocked, sameNet("backup", "delete", "path").Name)
	t.Log(r.Text)
}

// values is a reader that reads the argument "v" of a call.
type values struct{}

func (*values) Value(c *gate.Call, number int) ([]byte, bool) {
	if number < 0 {
		panic("beyond me")
	}
	return c.Args, number == 0
}
