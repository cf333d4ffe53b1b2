package callclass

import "github.com/petrigate/petrigate/gate"

// An Overlap is a pair of maps that read the same field and can match the same call.
type Overlap struct {
	First, Second gate.Map
	Text          string // a string that both maps match
}

// maxReaderOverlaps limits the number of reported overlaps between two maps with readers, such as
// readers of shell commands. For almost any two commands, a script can run both, so the number
// could otherwise be very large.
const maxReaderOverlaps = 200

// Overlaps finds pairs of maps that read the same field and can match the same text. The second
// result is true if there may be further pairs because the search was stopped or reached a limit.
func Overlaps(p *gate.Policy, stop func() bool) (found []Overlap, more bool) {
	o := overlapSearch{stop: stop}
	o.look(p.Maps())
	for _, n := range p.Nets() {
		if n.Labels == nil {
			o.look(n.Maps)
		}
	}
	return o.found, o.more
}

// An overlapSearch holds the state of the search for overlaps.
type overlapSearch struct {
	found []Overlap
	more  bool
	read  int // number of overlaps between two maps with readers
	stop  func() bool
}

func (o *overlapSearch) look(maps []gate.Map) {
	var patterns []pattern
	for _, m := range newMappings(maps, -1) {
		if o.more = o.more || o.stop(); o.stop() {
			return
		}
		p := newPattern(m)
		for i := range patterns {
			o.try(&patterns[i], &p)
		}
		patterns = append(patterns, p)
	}
}

// try searches for a string that both patterns match.
func (o *overlapSearch) try(a, b *pattern) {
	read := a.Reader != nil && b.Reader != nil
	switch {
	case a.Tool != b.Tool || a.Field != b.Field || a.As == b.As:
		return
	case read && o.read == maxReaderOverlaps:
		o.more = true
		return
	}
	if text, ok := witness([]pattern{*a, *b}, 3); ok {
		o.found = append(o.found, Overlap{*a.Map, *b.Map, text})
		if read {
			o.read++
		}
	}
}
