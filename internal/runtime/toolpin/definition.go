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

// left are the members that do not count: the name, and what may differ from start to start. Others do, also
// those that nobody knows: a reader that minds no case takes Description for the description. Read-only.
var left = []string{"name", "_meta", "icons"}

// A Definition is what a server says of one of its tools.
type Definition struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`

	// Text is the object of the tool with the members that count, in the order of their
	// names and without white space: two that say the same are equal.
	Text json.RawMessage `json:"definition"`
}

// Read reads the definition of a tool from the element of a list of tools, which must be
// strict JSON.
func Read(server, tool string, object []byte) Definition {
	said := map[string][]byte{}
	rawjson.Members(object, func(key, value []byte, _ int) bool {
		if !slices.Contains(left, string(key)) {
			said[string(key)] = value
		}
		return true
	})
	text := rawjson.Object{}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		text = text.Raw(key, canonical(said[key]))
	}
	return Definition{Server: server, Tool: tool, Text: text.Bytes()}
}

// canonical writes a value with its members in the order of their names. Numbers stay as
// they are written.
func canonical(value []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.Decode(&v) != nil || e.Encode(v) != nil {
		return value // it is no strict JSON, and equal to nothing else
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hash is the SHA-256 of the text.
func (d Definition) Hash() string {
	sum := sha256.Sum256(d.Text)
	return hex.EncodeToString(sum[:])
}

// small reports why the definition is too large to be kept.
func (d Definition) small() error {
	if len(d.Text) > maxText {
		return fmt.Errorf("the definition of %s.%s has %d bytes, and at most %d are kept", d.Server, d.Tool, len(d.Text), maxText)
	}
	return nil
}
