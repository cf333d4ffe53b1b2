package toolpin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// members are what a model or a client goes by, but for the name. The others, such as _meta
// and icons, may differ from start to start. Read-only.
var members = []string{"annotations", "description", "execution", "inputSchema", "outputSchema", "title"}

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
	text := rawjson.Object{}
	for _, key := range members {
		if value, ok := rawjson.Member(object, key); ok {
			text = text.Raw(key, canonical(value))
		}
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
