package callclass

import (
	"github.com/petrigate/petrigate/gate"

	"github.com/petrigate/petrigate/gate/naming"
)

// enumerateTool adds the classes of a tool, one for every combination of values of its fields. If
// there are too many, it adds some of them and defers the rest.
func (b *Enumerator) enumerateTool(tool string, also []gate.Name) {
	base := []naming.Label{{Text: tool, From: naming.FromTool, Certain: true}}
	for _, a := range also {
		base = naming.Add(base, naming.Label{Text: a.Text, From: naming.FromTool, Certain: a.Certain, Weak: a.Weak})
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
