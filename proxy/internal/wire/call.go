package wire

import (
	"strconv"
	"unicode"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxName is the most bytes that the name of a tool has.
const maxName = 512

// A Call is the params of one tools/call. Its byte slices are source bytes and
// must not be changed.
type Call struct {
	Name           string
	Arguments      []byte // an object; nil: absent, which means {}
	Meta           []byte // an object; nil: absent
	Task           []byte // an object; nil: absent
	InputResponses []byte // an object; nil: absent
	RequestState   string
	HasState       bool // there was a requestState, be it empty

	params []byte
	index  index
}

// Sent is what is left of c once it is on its way to an upstream: whom it is for,
// and whether it asked for a task. It holds nothing of the message that c came in.
func (c Call) Sent() Call {
	left := Call{Name: c.Name, HasState: c.HasState}
	if c.Task != nil {
		left.Task = []byte(`{}`)
	}
	return left
}

// Source is the params as they came.
func (c Call) Source() []byte { return c.params }

// ParseCall reads the params of a message that [Parse] returned, whose method
// is tools/call.
func ParseCall(m Message) (Call, *Fault) {
	c, fault := ParseRequest(m)
	if fault != nil {
		return Call{}, fault
	}
	if bad := invalidName(c.Name); bad != "" {
		return Call{}, invalidParams(m.ID, bad)
	}
	return c, nil
}

// ParseRequest is [ParseCall] for a message of any other method, which may
// have no name, and no params.
func ParseRequest(m Message) (Call, *Fault) {
	c := Call{params: m.Params, index: m.index}
	if m.Params == nil {
		c.params, c.index.end = []byte(`{}`), 1
	}
	for _, f := range c.index.fields[:c.index.n] {
		if !c.take(f.name, m.Params[f.at:f.end:f.end]) {
			return Call{}, invalidParams(m.ID, strconv.Quote(fieldKeys[f.name])+" is of the wrong type")
		}
	}
	return c, nil
}

// take keeps one member and reports whether its type is right.
func (c *Call) take(name fieldName, value []byte) (ok bool) {
	switch name {
	case fieldTool:
		c.Name, ok = rawjson.String(value)
		return ok
	case fieldState:
		c.RequestState, c.HasState = rawjson.String(value)
		return c.HasState
	case fieldArguments:
		c.Arguments = value
	case fieldMeta:
		c.Meta = value
	case fieldTask:
		c.Task = value
	case fieldResponses:
		c.InputResponses = value
	}
	return value[0] == '{'
}

// invalidName is the reason why name cannot be that of a tool, or empty.
func invalidName(name string) string {
	switch {
	case name == "":
		return `"name" is missing or empty`
	case len(name) > maxName:
		return `"name" is longer than ` + strconv.Itoa(maxName) + " bytes"
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return `"name" has a control character`
		}
	}
	return ""
}
