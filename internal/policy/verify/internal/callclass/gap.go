package callclass

import (
	"fmt"
	"slices"
)

// A gap is what was left out of the calls of a tool; of all where tool is empty.
type gap struct{ tool, text string }

func (b *Enumerator) leaveOut(tool, format string, args ...any) {
	if g := (gap{tool, fmt.Sprintf(format, args...)}); !slices.Contains(b.gaps, g) {
		b.gaps = append(b.gaps, g)
	}
}

// Gap is why nothing is proved of the nets, or of the calls that a question is
// about; empty where nothing was left out that could matter.
func (b *Enumerator) Gap(nets []int, tag func(*Class) uint8) string {
	for _, g := range b.gaps {
		if g.tool == "" {
			return g.text
		}
		for _, s := range b.classes { // what makes others known may be among what was left out
			if s.Tool != g.tool {
				continue
			}
			if tag != nil && tag(s) != 0 || slices.ContainsFunc(s.Effects, func(t Effect) bool { return slices.Contains(nets, t.Net) }) {
				return g.text
			}
		}
	}
	_, gap := b.Kinds(nets, tag)
	return gap
}

// AnyGap is why a name that no call has may have one.
func (b *Enumerator) AnyGap() string {
	if len(b.gaps) == 0 {
		return ""
	}
	return b.gaps[0].text
}

// AllGaps are the reasons why not all calls were looked at, in the order in which
// they were met.
func (b *Enumerator) AllGaps() []string {
	var out []string
	for _, g := range b.gaps {
		out = append(out, g.text)
	}
	for _, text := range b.overflows {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
