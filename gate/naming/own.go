package naming

import (
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// Own computes the names of calls for a net that does not use the policy's labels. If Mapper is
// set, Mapper returns the names. Otherwise, a call has its physical names (see [toolnet.Call]) and
// the names that the net's own map statements give it (see [toolnet.Map]).
type Own struct {
	Mapper   func(toolnet.Call) []toolnet.Name
	Maps     *Mapping // the net's own maps; nil if it has none
	First    bool     // whether to use only the first matching map
	Patterns []Pattern
}

// Adds reports whether the net can give calls names that the policy does not give.
func (o *Own) Adds() bool { return o.Mapper != nil || o.Maps != nil }

// Labels returns the names of a call with the given physical names. ok is false if Mapper panicked.
func (o *Own) Labels(c *toolnet.Call, tools []Label) (ls []Label, ok bool) {
	switch {
	case o.Mapper != nil:
		if ls, ok = o.mapped(c); !ok {
			return nil, false
		}
	case o.Maps != nil:
		ls = o.Maps.labels(c, tools, o.First)
	default:
		ls = tools
	}
	return WithPatterns(slices.Clip(ls), o.Patterns), true
}

// Why is like [Naming.Why], but for the net's own names. It ignores Mapper.
func (o *Own) Why(c *toolnet.Call, tools []Label, name string) (toolnet.Doubt, toolnet.Found) {
	return o.Maps.gives(c, tools, name)
}

// mapped returns the labels that Mapper gives to the call. ok is false if Mapper panicked.
func (o *Own) mapped(c *toolnet.Call) (ls []Label, ok bool) {
	defer func() {
		if recover() != nil {
			ls, ok = nil, false
		}
	}()
	for _, name := range o.Mapper(*c) {
		ls = Add(ls, Label{Text: name.Text, From: FromMap, Certain: name.Certain, Weak: name.Weak})
	}
	return ls, true
}

// CanGive is like [Naming.CanGive], but for the net's own names. It ignores Mapper.
func (o *Own) CanGive(tools []Label, u *toolnet.Tool, certain bool) bool {
	return slices.ContainsFunc(tools, func(tool Label) bool { return o.Maps.canGive(tool.Text, u, certain) })
}
