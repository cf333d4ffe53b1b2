package wire

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Hop is what changes in the params of a call on the way to an upstream.
type Hop struct {
	Name   string // of the tool there
	Modern bool   // the upstream speaks 2026-07-28 or later

	// Meta are members that a modern upstream gets in _meta, written as
	// "key":value with commas between them. Their keys must be those of
	// io.modelcontextprotocol/ that Call.AppendForward removes.
	Meta []byte

	// ProgressToken takes the place of the client's. Nil: none. Without one
	// of the client's it is not sent.
	ProgressToken []byte

	// What the upstream gets of these, whatever the client sent. Nil: none.
	Task           []byte
	InputResponses []byte
	RequestState   string
	HasState       bool
}

// AppendForward appends the params of c for the upstream behind h: the source
// bytes, but for what h says and for the members of _meta that tell about the
// hop from the client. Where nothing changes they are the source bytes.
func (c Call) AppendForward(dst []byte, h Hop) []byte {
	f := forwarder{name: c.Name, hop: h, out: splice(dst, c.params)}
	rawjson.Members(c.params, f.member)
	return f.rest()
}

type forwarder struct {
	name string // at the client
	hop  Hop
	out  splicer
	seen struct{ meta, task, responses, state bool }
}

func (f *forwarder) member(key, value []byte, at int) bool {
	switch string(key) {
	case "name":
		f.rename(value, at)
	case "_meta":
		f.seen.meta = true
		f.meta(value, at)
	case "task":
		f.seen.task = true
		f.optional(value, at, f.hop.Task)
	case "inputResponses":
		f.seen.responses = true
		f.optional(value, at, f.hop.InputResponses)
	case "requestState":
		f.seen.state = true
		f.state(value, at)
	default:
		f.out.keep(value, at)
	}
	return true
}

func (f *forwarder) rename(value []byte, at int) {
	if f.hop.Name == f.name {
		f.out.keep(value, at)
		return
	}
	f.out.begin(at)
	f.out.dst = rawjson.AppendString(f.out.dst, f.hop.Name)
	f.out.drop(value, at)
}

func (f *forwarder) state(value []byte, at int) {
	if f.hop.HasState {
		f.out.begin(at)
		f.out.dst = rawjson.AppendString(f.out.dst, f.hop.RequestState)
	}
	f.out.drop(value, at)
}

// optional replaces a value, or drops the member if there is none to put.
func (f *forwarder) optional(value []byte, at int, by []byte) {
	if by == nil {
		f.out.drop(value, at)
		return
	}
	f.out.replace(value, at, by)
}

// meta rewrites _meta, and drops it if nothing of it is left.
func (f *forwarder) meta(value []byte, at int) {
	before := f.out
	f.out.begin(at)
	inner := splice(f.out.dst, value)
	dropped := false
	rawjson.Members(value, func(k, v []byte, at int) bool {
		switch {
		case string(k) == keyProgressToken && f.hop.ProgressToken != nil:
			inner.replace(v, at, f.hop.ProgressToken)
		case string(k) == keyProgressToken || ofHop(k):
			dropped = true
			inner.drop(v, at)
		default:
			inner.keep(v, at)
		}
		return true
	})
	if f.addsMeta() {
		inner.add(f.hop.Meta)
	}
	if inner.kept == 0 && dropped {
		f.out = before
	} else {
		f.out.dst = inner.close()
	}
	f.out.drop(value, at)
}

func (f *forwarder) addsMeta() bool { return f.hop.Modern && len(f.hop.Meta) > 0 }

// rest adds what the client did not send, and ends the params.
func (f *forwarder) rest() []byte {
	if !f.seen.task && f.hop.Task != nil {
		f.out.add([]byte(`"task":`), f.hop.Task)
	}
	if !f.seen.responses && f.hop.InputResponses != nil {
		f.out.add([]byte(`"inputResponses":`), f.hop.InputResponses)
	}
	if !f.seen.state && f.hop.HasState {
		f.out.addString("requestState", f.hop.RequestState)
	}
	if !f.seen.meta && f.addsMeta() {
		f.out.add([]byte(`"_meta":{`), f.hop.Meta, []byte{'}'})
	}
	return f.out.close()
}
