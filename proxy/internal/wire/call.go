package wire

import (
	"strconv"
	"unicode"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxName is the maximum length of a tool name in bytes.
const maxName = 512

// A Call holds the params of one tools/call. Its byte slices refer to the message and must not be
// changed.
type Call struct {
	Name           string
	Arguments      []byte // object; nil: absent, which means {}
	Meta           []byte // object; nil: absent
	Task           []byte // object; nil: absent
	InputResponses []byte // object; nil: absent
	RequestState   string
	HasState       bool // requestState is present, possibly empty

	params []byte
	index  index
}

// Reduced returns the parts of c that are still needed once it is sent: the tool's name, and
// whether the call asked for a task. It does not refer to the message.
func (c Call) Reduced() Call {
	left := Call{Name: c.Name, HasState: c.HasState}
	if c.Task != nil {
		left.Task = []byte(`{}`)
	}
	return left
}

// Source returns the params as received.
func (c Call) Source() []byte { return c.params }

// ParseCall reads the params of a tools/call message that [Parse] returned.
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

// ParseRequest reads the params like [ParseCall], for a message of any other method, whose name and
// params can be absent.
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

// take stores one member and reports whether its type is right.
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

// invalidName returns why name cannot be a tool name, or an empty string.
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
