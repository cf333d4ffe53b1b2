package toolkind

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// targetWords denote the destination of a file operation.
var targetWords = []string{"destination", "dest", "dst"}

// filesOf returns the sorted arguments that name files. They have the form used in map statements,
// for example "path" or "$.files[*].path".
func filesOf(raw json.RawMessage) (files []string) {
	for name, p := range readProperties(raw) {
		if !IsPlain(name) {
			continue
		}
		if namesFile(name) && (p.mayBe("string") || p.listsTexts()) {
			files = append(files, name)
		}
		for member, m := range p.members() {
			if IsPlain(member) && namesFile(member) && (m.mayBe("string") || m.listsTexts()) {
				files = append(files, "$."+name+"[*]."+member)
			}
		}
	}
	slices.Sort(files)
	return files
}

// namesFile reports whether an argument with this name probably names one or more files.
func namesFile(name string) bool {
	words := Words(name)
	return len(words) > 0 && (isFile(words[0]) || isFile(words[len(words)-1]))
}

func isFile(word string) bool {
	single := strings.TrimSuffix(word, "s")
	if strings.HasSuffix(word, "ies") {
		single = strings.TrimSuffix(word, "ies") + "y"
	}
	return slices.ContainsFunc([]string{word, single}, func(w string) bool {
		return slices.Contains(pathWords, w) || slices.Contains(targetWords, w)
	})
}

// A property contains the relevant parts of an argument's schema.
type property struct {
	Type       json.RawMessage            `json:"type"` // name of a type, or a list of such names
	Items      json.RawMessage            `json:"items"`
	Properties map[string]json.RawMessage `json:"properties"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
}

func readProperty(raw json.RawMessage) (p property) {
	if json.Unmarshal(onlyMembers(raw, "type", "items", "properties", "anyOf", "oneOf"), &p) != nil {
		return property{}
	}
	return p
}

// onlyMembers returns the object with only the given members. encoding/json alone would also accept
// "Properties" for "properties", but "Properties" has no meaning in a schema.
func onlyMembers(raw json.RawMessage, words ...string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !slices.Contains(words, name) })
	left, _ := json.Marshal(all) //nolint:errchkjson // values that were decoded from JSON can be encoded
	return left
}

func readProperties(raw json.RawMessage) map[string]property {
	all := map[string]property{}
	for name, p := range readProperty(raw).Properties {
		all[name] = readProperty(p)
	}
	return all
}

// forms returns the property, followed by its alternatives under anyOf and oneOf.
func (p *property) forms() []property {
	return append([]property{*p}, list.Map(slices.Concat(p.AnyOf, p.OneOf), readProperty)...)
}

// mayBe reports whether the argument may be of the given type.
func (p *property) mayBe(kind string) bool {
	return slices.ContainsFunc(p.forms(), func(f property) bool { return f.is(kind) })
}

func (p *property) is(kind string) bool {
	var one string
	if json.Unmarshal(p.Type, &one) == nil {
		return one == kind
	}
	var several []string
	return json.Unmarshal(p.Type, &several) == nil && slices.Contains(several, kind)
}

// listsTexts reports whether the argument may be a list of strings, or a list without a specified
// element type.
func (p *property) listsTexts() bool {
	return slices.ContainsFunc(p.forms(), func(f property) bool {
		items := readProperty(f.Items)
		return f.is("array") && (items.mayBe("string") || len(items.Type) == 0 && len(items.forms()) == 1 && items.Properties == nil)
	})
}

// members returns the properties of the list elements if the argument may be a list of objects.
func (p *property) members() map[string]property {
	all := map[string]property{}
	for _, f := range p.forms() {
		if f.is("array") {
			maps.Copy(all, readProperties(f.Items))
		}
	}
	return all
}
