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
}

// ParseCall reads the params of a message that [Parse] returned, whose method
// is tools/call.
func ParseCall(m Message) (Call, *Fault) {
	c := Call{params: m.Params}
	bad := ""
	rawjson.Members(m.Params, func(key, value []byte, _ int) bool {
		if !c.take(key, value) {
			bad = strconv.QuoteToASCII(string(key)) + " is of the wrong type"
		}
		return bad == ""
	})
	if bad == "" {
		bad = invalidName(c.Name)
	}
	if bad != "" {
		return Call{}, invalidParams(m.ID, bad)
	}
	return c, nil
}

// take keeps one member and reports whether its type is right.
func (c *Call) take(key, value []byte) (ok bool) {
	switch string(key) {
	case "name":
		c.Name, ok = rawjson.String(value)
		return ok
	case "arguments":
		c.Arguments = value
	case "_meta":
		c.Meta = value
	case "task":
		c.Task = value
	case "inputResponses":
		c.InputResponses = value
	case "requestState":
		c.RequestState, c.HasState = rawjson.String(value)
		return c.HasState
	default:
		return true
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
