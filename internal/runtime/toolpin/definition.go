package toolpin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// ignoredMembers are the tool members that are not compared: the name, and members that may differ
// each time the server starts. All other members are compared, including unknown ones, because a
// case-insensitive reader would take Description for description. The map is read-only.
var ignoredMembers = []string{"name", "_meta", "icons"}

// Definition is a server's definition of a tool.
type Definition struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`

	// Text is the tool's JSON without the ignored members. The members are sorted by name and white
	// space is left out, so that equal definitions have equal Text values.
	Text json.RawMessage `json:"definition"`
}

// Read returns the tool definition in an element of a tool list. The element must be strict JSON.
func Read(server, tool string, object []byte) Definition {
	members := map[string][]byte{}
	rawjson.Members(object, func(key, value []byte, _ int) bool {
		if !slices.Contains(ignoredMembers, string(key)) {
			members[string(key)] = value
		}
		return true
	})
	text := rawjson.Object{}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		text = text.Raw(key, canonical(members[key]))
	}
	return Definition{Server: server, Tool: tool, Text: text.Bytes()}
}

// canonical encodes a value with its members sorted by name. Numbers keep their notation.
func canonical(value []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.Decode(&v) != nil || e.Encode(v) != nil {
		return value // the JSON is not strict, so the definition is equal only to itself
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hash returns the SHA-256 of the definition's text in hex digits.
func (d Definition) Hash() string { return audit.HashOf([]byte(d.Text)) }

// checkSize returns an error if the definition is too large to keep.
func (d Definition) checkSize() error {
	if len(d.Text) > maxText {
		return fmt.Errorf("the definition of %s.%s has %d bytes; the limit is %d", d.Server, d.Tool, len(d.Text), maxText)
	}
	return nil
}

// Limits on what a server can make a store keep.
const (
	maxPins = 5000     // maximum number of tools per server
	maxText = 1 << 20  // maximum size in bytes of one definition
	maxAll  = 16 << 20 // maximum total size in bytes of a server's definitions
	maxName = 128      // maximum length in bytes of a tool name; a tool whose name is longer cannot be called
	maxTold = 3        // maximum number of definitions that an error names
)
