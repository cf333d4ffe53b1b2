package toolpin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// ignoredMembers are the members of a tool that are not compared: the name, and members that may
// differ from start to start. All other members count, including unknown ones: a reader that
// ignores case would take Description for description. Read-only.
var ignoredMembers = []string{"name", "_meta", "icons"}

// Definition is the definition of a tool by its server.
type Definition struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`

	// Text is the tool as JSON with the members that count, sorted by name and without white space,
	// so that equal definitions have equal texts.
	Text json.RawMessage `json:"definition"`
}

// Read returns the definition of a tool from an element of a list of tools. The object must be
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

// canonical encodes a value with its members sorted by name. Numbers keep their notation.
func canonical(value []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.Decode(&v) != nil || e.Encode(v) != nil {
		return value // not strict JSON: equal only to itself
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hash returns the SHA-256 of the text in hex digits.
func (d Definition) Hash() string {
	sum := sha256.Sum256(d.Text)
	return hex.EncodeToString(sum[:])
}

// checkSize returns an error if the definition is too large to be kept.
func (d Definition) checkSize() error {
	if len(d.Text) > maxText {
		return fmt.Errorf("the definition of %s.%s has %d bytes; the limit is %d", d.Server, d.Tool, len(d.Text), maxText)
	}
	return nil
}

// Limits of what a server can make a store keep.
const (
	maxPins = 5000     // per server
	maxText = 1 << 20  // bytes of one definition
	maxAll  = 16 << 20 // bytes of all definitions of one server
	maxName = 128      // bytes of the name of a tool; a tool with a longer name cannot be called
	maxTold = 3        // definitions that an error names
)
