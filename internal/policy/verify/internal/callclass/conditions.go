package callclass

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// conditionsOf returns the conditions that apply to a tool, or nil if no condition does. Results
// are cached.
func (b *Enumerator) conditionsOf(tools []naming.Label) *conditionSet {
	tool := tools[0].Text
	if w, known := b.conditions[tool]; known {
		return w
	}
	w := &conditionSet{found: make(map[string][]gate.Found)}
	w.maps = list.Filter(b.maps, func(m *mapping) bool { return m.Reader != nil && m.Field == "" && m.appliesTo(tools) })
	if len(w.maps) == 0 {
		w = nil
	} else {
		w.samples = samples(w.sources(), b.fields(tools))
	}
	b.conditions[tool] = w
	return w
}

// sources returns the source texts of the conditions.
func (w *conditionSet) sources() []string {
	return list.Map(w.maps, func(m *mapping) string { return m.Source })
}

// Limits on the sample arguments.
const (
	maxMembers = 4
	maxSampled = 512
)

var (
	member = regexp.MustCompile(`\bargs((?:\.\??[A-Za-z_]\w*)+)(\()?`)
	number = regexp.MustCompile(`-?\b\d+(?:\.\d+)?\b`)
	quote  = regexp.MustCompile(`"[^"\\]*"|'[^'\\]*'`)
)

// expression returns the expression of a condition without the quotes that may surround it in a
// rule.
func expression(source string) string {
	text := strings.TrimPrefix(source, "when ")
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		return inner
	}
	return text
}

// samples returns sample arguments for the given conditions. Each sample sets some of the arguments
// used in the conditions, except those in fields. The values are constants from the conditions,
// values close to these constants, a few fixed values such as 0 and true, and the values given by
// the caller. The first sample is empty.
func samples(conditions, fields []string, more ...any) []map[string]any {
	var members []string
	values := append(more, "", 0, true, false, []any{})
	for _, source := range conditions {
		source = expression(source)
		for _, m := range member.FindAllStringSubmatch(source, -1) {
			path := strings.ReplaceAll(m[1][1:], "?", "")
			if m[2] != "" { // the path ends with a function call, so remove the function's name
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

// Extend returns variants of the given arguments. Each variant has additional members that the
// conditions use.
func Extend(args string, conditions []string) []string {
	base := make(object)
	if args != "" && json.Unmarshal([]byte(args), &base) != nil {
		return nil
	}
	var all []string
	for _, sample := range samples(conditions, nil)[1:] {
		if with, ok := base.merge(sample); ok {
			all = append(all, with.text())
		}
	}
	return all
}

// AddNumber adds a member to the arguments and returns the result. The member has the given number
// as its value and a name without a known meaning. AddNumber returns nil if args is not a JSON
// object, or if all names that it tries are in use.
func AddNumber(args string, number int) []string {
	base := make(object)
	if args != "" && json.Unmarshal([]byte(args), &base) != nil {
		return nil
	}
	for _, key := range []string{"n", "attempt", "_"} {
		if with, ok := base.merge(map[string]any{key: number}); ok {
			return []string{with.text()}
		}
	}
	return nil
}

// literals returns the constants in an expression, and values close to them.
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

// certainIfHolds reports whether every call that satisfies condition m is certain to have m's
// label.
func (b *Enumerator) certainIfHolds(m *mapping) bool {
	if m.Field != "" {
		return false
	}
	if vouches, known := b.certainConditions[m]; known {
		return vouches
	}
	all := true // assumed if no sample satisfies the condition
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

// agree reports whether the conditions give the arguments the same labels as f, which describes the
// calls of a class. If the properties of a label make a difference, they must be the same, too.
func (b *Enumerator) agree(w *conditionSet, f *form, args string) bool {
	found := w.read(f.tools[0].Text, args)
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

// read evaluates the conditions for the arguments and returns their results in order. Results are
// cached.
func (w *conditionSet) read(tool, args string) []gate.Found {
	if found, ok := w.found[args]; ok {
		return found
	}
	c := &gate.Call{Tool: tool, Args: []byte(cmp.Or(args, "{}"))}
	found := list.Map(w.maps, func(m *mapping) gate.Found { return m.Reader.Read(c, "").Finds(m.Pattern) })
	w.found[args] = found
	return found
}
