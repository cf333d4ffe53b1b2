package callclass

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A conditions is the maps of a tool that read a call as a whole, such as conditions.
// Of these no text can be made up; arguments are tried until they say of all
// maps what a class says. Of a class for which none do, no arguments are known.
type conditions struct {
	maps    []*mapping
	samples []map[string]any // the empty one first
	found   map[string][]gate.Found
}

// conditionsOf is that of a tool; nil where it has no such maps.
func (b *Enumerator) conditionsOf(tools []label) *conditions {
	tool := tools[0].text
	if w, known := b.conditions[tool]; known {
		return w
	}
	w := &conditions{found: make(map[string][]gate.Found)}
	var sources []string
	for _, m := range b.maps {
		if m.Reader != nil && m.Field == "" && m.appliesTo(tools) {
			w.maps, sources = append(w.maps, m), append(sources, m.Source)
		}
	}
	if len(w.maps) == 0 {
		w = nil
	} else {
		w.samples = samples(sources, b.fields(tools))
	}
	b.conditions[tool] = w
	return w
}

// sources are the texts of the conditions.
func (w *conditions) sources() (all []string) {
	for _, m := range w.maps {
		all = append(all, m.Source)
	}
	return all
}

// Bounds of what is tried.
const (
	maxMembers = 4
	maxSampled = 512
)

var (
	member = regexp.MustCompile(`\bargs((?:\.\??[A-Za-z_]\w*)+)(\()?`)
	number = regexp.MustCompile(`-?\b\d+(?:\.\d+)?\b`)
	quote  = regexp.MustCompile(`"[^"\\]*"|'[^'\\]*'`)
)

// expression is what a condition evaluates: rules have it in quotes.
func expression(source string) string {
	text := strings.TrimPrefix(source, "when ")
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		return inner
	}
	return text
}

// samples are arguments of the members that the conditions name, and of the
// values in them and next to them, and of more values. Fields that other maps read are
// left alone. The first has no members.
func samples(conditions, fields []string, more ...any) []map[string]any {
	var members []string
	values := append(more, "", 0, true, false, []any{})
	for _, source := range conditions {
		source = expression(source)
		for _, m := range member.FindAllStringSubmatch(source, -1) {
			path := strings.ReplaceAll(m[1][1:], "?", "")
			if m[2] != "" { // the last step is a function
				path = path[:max(0, strings.LastIndexByte(path, '.'))]
			}
			top, _, _ := strings.Cut(path, ".")
			if path != "" && !slices.Contains(members, path) && !slices.Contains(fields, top) {
				members = append(members, path)
			}
		}
		values = append(values, literals(source)...)
	}
	all := []map[string]any{{}}
	for _, m := range members[:min(len(members), maxMembers)] {
		for _, s := range all {
			for _, v := range values {
				if len(all) == maxSampled {
					return all
				}
				longer := clone(s)
				if put(longer, "$."+m, v) {
					all = append(all, longer)
				}
			}
		}
	}
	return all
}

// Extended are the arguments with members that the conditions name and that they
// have not yet.
func Extended(args string, conditions []string) []string {
	base := make(object)
	if args != "" && json.Unmarshal([]byte(args), &base) != nil {
		return nil
	}
	var all []string
	for _, sample := range samples(conditions, nil)[1:] {
		if with, ok := base.with(sample); ok {
			all = append(all, with.text())
		}
	}
	return all
}

// Numbered are the arguments with a number in a member that nothing is known of.
func Numbered(args string, number int) []string {
	base := make(object)
	if args != "" && json.Unmarshal([]byte(args), &base) != nil {
		return nil
	}
	for _, key := range []string{"n", "attempt", "_"} {
		if with, ok := base.with(map[string]any{key: number}); ok {
			return []string{with.text()}
		}
	}
	return nil
}

// literals are the values in a source, and those next to them.
func literals(source string) []any {
	var values []any
	for _, s := range quote.FindAllString(source, -1) {
		values = append(values, s[1:len(s)-1], s[1:len(s)-1]+"x")
	}
	for _, s := range number.FindAllString(quote.ReplaceAllString(source, ""), -1) {
		if n, err := strconv.ParseInt(s, 10, 53); err == nil {
			values = append(values, n+1, n, n-1)
		} else if f, err := strconv.ParseFloat(s, 64); err == nil {
			values = append(values, f+1, f, f-1)
		}
	}
	return values
}

// clone copies the objects, down to their members.
func clone(object map[string]any) map[string]any {
	out := maps.Clone(object)
	for key, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[key] = clone(inner)
		}
	}
	return out
}

// certainIfHolds reports whether the label of a condition that holds is certain.
func (b *Enumerator) certainIfHolds(m *mapping) bool {
	if m.Field != "" {
		return false
	}
	if vouches, known := b.certainConditions[m]; known {
		return vouches
	}
	all := true // nobody knows: it counts as one that does
	for _, sample := range samples([]string{m.Source}, nil) {
		r := m.Reader.Read(&gate.Call{Tool: m.Tool, Args: []byte(cmp.Or(object(sample).text(), "{}"))}, "")
		if r.Finds(m.Pattern) == gate.Surely {
			all = r.Only(m.same)
			break
		}
	}
	b.certainConditions[m] = all
	return all
}

// agree reports whether the maps of the whole call make of the arguments what
// the form says.
func (b *Enumerator) agree(w *conditions, f *form, args string) bool {
	found := w.read(f.tools[0].text, args)
	for i, m := range w.maps {
		h, says := f.value("").hit(m)
		matters, surely := b.certainties[m.As], found[i] == gate.Surely
		switch {
		case says != (found[i] != gate.NotFound):
			return false
		case says && (h.certain || !h.weak) && !surely:
			return false
		case surely && (h.weak && matters.evidence || !h.certain && matters.certain && b.certainIfHolds(m)):
			return false
		}
	}
	return true
}

// read is what each map finds in the arguments.
func (w *conditions) read(tool, args string) []gate.Found {
	if found, ok := w.found[args]; ok {
		return found
	}
	c := &gate.Call{Tool: tool, Args: []byte(cmp.Or(args, "{}"))}
	var found []gate.Found
	for _, m := range w.maps {
		found = append(found, m.Reader.Read(c, "").Finds(m.Pattern))
	}
	w.found[args] = found
	return found
}

// An object is arguments that are being made.
type object map[string]any

// objectOf is what the fields of the form say, and what keys read of them; ok is
// false where no texts are known that say it.
func objectOf(f *form, data presences, sums []sum) (object, bool) {
	o := make(object)
	for _, v := range f.fields {
		var content any
		switch {
		case v.field == "":
			continue
		case v.texts == nil:
			return nil, false
		case !v.weak:
			content = v.texts[0]
		case len(v.texts) == 1:
			if content = v.texts; isNumber(v.texts[0]) && reads(sums, v.field) {
				content = literal(v.texts[0])
			}
		default:
			content = v.texts[:len(v.texts)-1]
		}
		if data.lack(v.field) {
			content = map[string]any{"value": content} // which no key can read
		}
		if !put(o, v.field, content) {
			return nil, false
		}
	}
	return o, true
}

// with is the object with the members of a sample, if they are not there yet.
func (o object) with(sample map[string]any) (object, bool) {
	out := maps.Clone(o)
	for key, v := range sample {
		if _, there := out[key]; there {
			return nil, false
		}
		out[key] = v
	}
	return out, true
}

// text is the object as JSON; empty for none.
func (o object) text() string {
	if len(o) == 0 {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings, numbers and lists of them
	}
	return string(text)
}
