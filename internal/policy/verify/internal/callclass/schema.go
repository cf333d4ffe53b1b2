package callclass

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A tool's schema lists the arguments that the tool accepts. An agent may send others, but the tool
// might reject the call. Calls with unlisted arguments are therefore not used to refute a claim, or
// to show that some call is possible. A claim that only such calls violate is neither proved nor
// refuted.

// unlistedArg returns an argument of the class's calls that the tool's schema does not list, or "" if
// it lists all of them.
func (b *Enumerator) unlistedArg(s *Class, f *form) string {
	if b.lacks == nil {
		return ""
	}
	data := list.Filter(s.Data, func(d Datum) bool { return d.Has != Lacks && !d.Field.Result })
	fields := list.Map(data, func(d Datum) gate.Field { return d.Field })
	named := list.Filter(f.fields, func(v value) bool { return v.field != "" })
	fields = append(fields, list.Map(named, func(v value) gate.Field { return gate.Field{Path: v.field} })...)
	fields = append(fields, list.Map(b.sums(s), func(of sum) gate.Field { return of.field })...)
	for _, field := range fields {
		if argument := b.lacks(s.Tool, field); argument != "" {
			return argument
		}
	}
	return ""
}
