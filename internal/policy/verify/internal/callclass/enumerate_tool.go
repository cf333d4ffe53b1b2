package callclass

import "github.com/petrigate/petrigate/gate"

// enumerateTool adds the classes of a tool, one for every combination of values of its fields. If
// there are too many, it adds some of them and defers the rest.
func (b *Enumerator) enumerateTool(tool string, also []gate.Name) {
	base := []label{{text: tool, from: fromTool, certain: true}}
	for _, a := range also {
		base = add(base, label{text: a.Text, from: fromTool, certain: a.Certain, weak: a.Weak})
	}
	var options [][]*value
	count := 1
	for _, f := range b.fields(base) {
		values, ok := b.values(f, base)
		options = append(options, append([]*value{nil}, values...))
		if count *= 1 + len(values); !ok || count > maxClassesOfTool {
			b.deferTool(tool, base)
			return
		}
	}
	eachForm(base, options, count, func(f *form) { b.add(tool, f) })
}
