package callclass

import "github.com/petrigate/petrigate/gate"

// An Overlap is two maps of one field that can match one call.
type Overlap struct {
	First, Second gate.Map
	Text          string // that both match
}

// Overlaps finds maps of one field that one text can match; fewer where stop says so.
func Overlaps(p *gate.Policy, stop func() bool) []Overlap {
	out := overlapping(p.Maps(), stop)
	for _, n := range p.Nets() {
		if n.Labels == nil {
			out = append(out, overlapping(n.Maps, stop)...)
		}
	}
	return out
}

func overlapping(maps []gate.Map, stop func() bool) []Overlap {
	var out []Overlap
	patterns := make([]pattern, len(maps))
	for i := range maps {
		if stop() {
			return out
		}
		patterns[i] = newPattern(&maps[i])
		for j := range maps[:i] {
			a, b := &maps[j], &maps[i]
			if a.Tool != b.Tool || a.Field != b.Field || a.As == b.As {
				continue
			}
			if text, ok := witness([]pattern{patterns[j], patterns[i]}, 3); ok {
				out = append(out, Overlap{*a, *b, text})
			}
		}
	}
	return out
}
