package callclass

import "github.com/petrigate/petrigate/gate"

// The schema of a tool says which arguments it takes, not which an agent sends. A call
// with another one can break a claim, but nothing is possible because of it.

// lacking is an argument that calls of the class have and the schema of the tool does not
// list; empty if all are listed.
func (b *Enumerator) lacking(s *Class, f *form) string {
	if b.lacks == nil {
		return ""
	}
	var fields []gate.Field
	for _, d := range s.Data {
		if d.Has != Lacks && !d.Field.Result {
			fields = append(fields, d.Field)
		}
	}
	for _, v := range f.fields {
		if v.field != "" {
			fields = append(fields, gate.Field{Path: v.field})
		}
	}
	for _, of := range b.sums(s) {
		fields = append(fields, of.field)
	}
	for _, field := range fields {
		if argument := b.lacks(s.Tool, field); argument != "" {
			return argument
		}
	}
	return ""
}
