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

// ignoredMembers lists the members of a tool's JSON that are not compared: the name, and members
// that can differ each time the server starts. Unknown members are compared, because a client may
// use them. For example, a client that ignores case reads Description as description.
var ignoredMembers = []string{"name", "_meta", "icons"}

// Definition is a server's definition of a tool.
type Definition struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`

	// Text is the tool's JSON in canonical form: without the ignored members, without white space,
	// and with members sorted by name. Identical definitions have the same Text.
	Text json.RawMessage `json:"definition"`
}

// Read returns the definition of a tool, given as an element of a tool list. The element must be
// strict JSON.
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

// canonical returns the JSON value without white space and with the members of objects sorted by
// name. It does not change numbers.
func canonical(value []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.Decode(&v) != nil || e.Encode(v) != nil {
		return value // not strict JSON; leave the text unchanged, so that only identical definitions are equal
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hash returns the SHA-256 of the definition's text in hexadecimal.
func (d Definition) Hash() string { return audit.HashOf([]byte(d.Text)) }

// checkSize returns an error if the definition is larger than maxText.
func (d Definition) checkSize() error {
	if len(d.Text) > maxText {
		return fmt.Errorf("the definition of %s.%s has %d bytes; the limit is %d", d.Server, d.Tool, len(d.Text), maxText)
	}
	return nil
}

// Limits on the definitions that a server can add to a store.
const (
	maxPins = 5000     // maximum number of tools per server
	maxText = 1 << 20  // maximum size of one definition in bytes
	maxAll  = 16 << 20 // maximum total size of a server's definitions in bytes
	maxName = 128      // maximum size of a tool name in bytes; tools with longer names cannot be called
	maxTold = 3        // maximum number of errors about definitions to report individually
)
