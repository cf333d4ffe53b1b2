package callclass

import "github.com/petrigate/petrigate/gate"

// A mapping is a map of the policy or of a net.
type mapping struct {
	*gate.Map
	net  int   // index of the net that owns the map; -1: the policy
	same []int // reader patterns that give the same label for the same field

	readings map[readingKey]gate.Reading // cache shared by all mappings created together
}

// A readingKey identifies what a reader has read: a text, and the tool it belongs to.
type readingKey struct {
	reader     gate.Reader
	tool, text string
}

func newMappings(maps []gate.Map, net int) []*mapping {
	out, readings := make([]*mapping, len(maps)), make(map[readingKey]gate.Reading)
	for i := range maps {
		m := &mapping{Map: &maps[i], net: net, readings: readings}
		for k := range maps {
			if o := &maps[k]; m.Reader != nil && o.Tool == m.Tool && o.Glob == m.Glob && o.Field == m.Field && o.As == m.As && o.Reader == m.Reader {
				m.same = append(m.same, o.Pattern)
			}
		}
		out[i] = m
	}
	return out
}

// read returns the reader's result for the text. Results are cached.
func (m *mapping) read(text string) gate.Reading {
	key := readingKey{m.Reader, m.Tool, text}
	r, known := m.readings[key]
	if !known {
		if len(m.readings) == maxReadings {
			clear(m.readings)
		}
		r = m.Reader.Read(&gate.Call{Tool: m.Tool}, text)
		m.readings[key] = r
	}
	return r
}

// matches reports whether the text contains what the map looks for, or the reader cannot tell.
func (m *mapping) matches(text string) bool {
	if m.Reader != nil {
		return m.read(text).Finds(m.Pattern) != gate.NotFound
	}
	return m.Match(text)
}

// maxReadings bounds the cached results.
const maxReadings = 4096

// An Overlap is a pair of maps of one field that can match the same call.
type Overlap struct {
	First, Second gate.Map
	Text          string // a text that both match
}

// maxRead bounds the overlaps found between maps with readers: for two commands there is almost
// always a script that runs both.
const maxRead = 200

// Overlaps finds maps of one field that a single text can match. more is true if the search was
// stopped or reached a bound, so that there may be more.
func Overlaps(p *gate.Policy, stop func() bool) (found []Overlap, more bool) {
	o := overlaps{stop: stop}
	o.look(p.Maps())
	for _, n := range p.Nets() {
		if n.Labels == nil {
			o.look(n.Maps)
		}
	}
	return o.found, o.more
}

// overlaps holds the state of the search.
type overlaps struct {
	found []Overlap
	more  bool
	read  int // overlaps between maps with readers
	stop  func() bool
}

func (o *overlaps) look(maps []gate.Map) {
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

// try searches for a text that both patterns match.
func (o *overlaps) try(a, b *pattern) {
	read := a.Reader != nil && b.Reader != nil
	switch {
	case a.Tool != b.Tool || a.Field != b.Field || a.As == b.As:
		return
	case read && o.read == maxRead:
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
