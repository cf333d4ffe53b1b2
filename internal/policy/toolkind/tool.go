package toolkind

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A ListedTool is a tool as described in its server's tool list.
type ListedTool struct {
	Name        string // name on the server
	Schema      json.RawMessage
	Annotations json.RawMessage
}

// A Guess describes what a tool probably does.
type Guess struct {
	Kind   Kind
	Why    string // short reason for Kind, for use in a comment
	Fields Fields
}

// Fields classifies a tool's arguments by name. Files and Amounts include optional arguments; all
// other fields contain only required arguments.
type Fields struct {
	Paths   []string // arguments that contain file paths
	Files   []string // arguments that contain file paths, including optional ones and lists, written as in a map statement: path, paths, $.files[*].path
	Same    []string // arguments that identify a thing, such as an ID or a path
	URLs    []string
	Amounts []string // numeric arguments that contain sums of money
}

// Classify guesses what a tool does. server is the well-known server that lists the tool, or nil.
func Classify(t ListedTool, server *Server) Guess {
	g := Guess{Kind: KindByName(t.Name), Why: "by its name", Fields: fieldsOf(t.Schema)}
	known := false
	if server != nil {
		var k Kind
		if k, known = server.Kinds[t.Name]; known {
			g.Kind, g.Why = k, "as "+server.Name+" is known"
		}
	}
	hasCode := hasField(t.Schema, codeWords)
	switch {
	case known:
	case g.Kind < Run && g.Kind != Destroy && hasCode:
		g.Kind, g.Why = Run, "its argument is code"
	case g.Kind == Read && len(g.Fields.URLs) > 0:
		g.Kind, g.Why = Outside, "it reads an address"
	}
	if !known || !server.NoHints {
		g.applyHints(t.Annotations, known)
	}
	return g
}

// applyHints applies the hints that make the guess more cautious. It applies a readOnlyHint of true
// only if the kind is unclear. If known is true, the tool is in the list of well-known servers, and
// applyHints ignores some hints.
func (g *Guess) applyHints(annotations json.RawMessage, known bool) {
	var hints struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	if json.Unmarshal(annotations, &hints) != nil {
		return // no hints, or invalid ones
	}
	yes := func(b *bool) bool { return b != nil && *b }
	if yes(hints.Destructive) && g.Kind < Send && (!known || g.Kind.Reads()) {
		g.Kind, g.Why = Destroy, "destructiveHint"
	}
	if yes(hints.ReadOnly) && g.Kind == Unclear && !yes(hints.Destructive) {
		g.Kind, g.Why = Read, "readOnlyHint"
	}
	if hints.ReadOnly != nil && !*hints.ReadOnly && g.Kind.Reads() {
		g.Kind, g.Why = Unclear, "readOnlyHint is false"
	}
	switch {
	case !yes(hints.OpenWorld) || known:
	case g.Kind == Read:
		g.Kind, g.Why = Outside, "openWorldHint"
	case g.Kind == Write || g.Kind == Edit:
		g.Kind, g.Why = Send, "openWorldHint"
	}
}

// A schema contains the relevant parts of a tool's argument schema.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func readSchema(raw json.RawMessage) (s schema) {
	if json.Unmarshal(onlyMembers(raw, "properties", "required"), &s) != nil {
		return schema{}
	}
	return s
}

// IsAmount reports whether a field with the given name probably contains a sum of money.
func IsAmount(field string) bool {
	words := Words(field)
	return len(words) > 0 && slices.Contains(amountWords, words[len(words)-1])
}

// hasField reports whether any argument has one of the given names, ignoring case.
func hasField(raw json.RawMessage, names []string) bool {
	for field := range readSchema(raw).Properties {
		if slices.Contains(names, strings.ToLower(field)) {
			return true
		}
	}
	return false
}

func fieldsOf(raw json.RawMessage) (f Fields) {
	f.Files = filesOf(raw)
	s := readSchema(raw)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		words := Words(name)
		if !IsPlain(name) || len(words) == 0 {
			continue
		}
		last := words[len(words)-1]
		kind := strings.Trim(string(readProperty(s.Properties[name]).Type), `"`)
		required := slices.Contains(s.Required, name)
		switch {
		case (kind == "number" || kind == "integer") && IsAmount(name):
			f.Amounts = append(f.Amounts, name)
		case !required || kind != "string" && kind != "number" && kind != "integer":
		case kind == "string" && (slices.Contains(pathWords, last) || slices.Contains(pathWords, words[0])):
			f.Paths, f.Same = append(f.Paths, name), append(f.Same, name)
		case kind == "string" && slices.Contains(urlWords, last):
			f.URLs, f.Same = append(f.URLs, name), append(f.Same, name)
		case slices.Contains(sameWords, last):
			f.Same = append(f.Same, name)
		}
	}
	return f
}
