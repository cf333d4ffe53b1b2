package callclass

import (
	"fmt"
	"slices"
	"strings"
)

// Reasons name what makes an answer unknown, and where that was written.

// Doubt is why an answer that needs the call is none. Where it depends on
// whether there is a tool, that is named.
func (b *Enumerator) Doubt(s *Class, tool string) (why, supposed string) {
	if !s.Doubtful {
		return tool + s.Tool, s.Tool
	}
	var names []string
	for _, l := range s.labels {
		if l.glob == 0 && l.from&fromTool == 0 {
			names = append(names, l.text+b.mappedAt(s.Tool, l.text))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("no arguments of %s are known that match none of the maps", s.Tool), ""
	}
	return fmt.Sprintf("no arguments of %s are known that are %s and nothing else that matters here", s.Tool, enumerated(names)), ""
}

// mappedAt is where a map gives the name to calls of the tool; empty where none does.
func (b *Enumerator) mappedAt(tool, name string) string {
	for _, m := range b.naming.maps {
		if m.Tool == tool && m.As == name && m.Rule.Line > 0 {
			return fmt.Sprintf(" (%s:%d)", m.Rule.File, m.Rule.Line)
		}
	}
	return ""
}

// tooMany is why not all calls of the tool were looked at as far as the atoms go.
func (o *openTool) tooMany(atoms []int) string {
	var names []string
	for i := range o.fields {
		f := &o.fields[i]
		for _, a := range atoms {
			if a < f.first || a >= f.first+f.size() {
				continue
			}
			name := "actions"
			if f.ps != nil {
				name = f.ps[a-f.first].As
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return fmt.Sprintf("the calls of %s can have these names together in more ways than were tried: %s", o.name, enumerated(names))
}

// atoms are all of the tool.
func (o *openTool) atoms() []int {
	var all []int
	for i := range o.fields {
		for a := range o.fields[i].size() {
			all = append(all, o.fields[i].first+a)
		}
	}
	return all
}

// enumerated are names in a sentence, the first of them where they are many.
func enumerated(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
