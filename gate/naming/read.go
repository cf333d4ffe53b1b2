package naming

import (
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// field holds the strings in one part of a call's arguments. Maps (see [toolnet.Map]) derive names
// from them.
type field struct {
	jsonpath.Texts
	key      string
	readings []readings
}

// readings holds the results of one reader for the strings in a field.
type readings struct {
	reader toolnet.Reader
	all    []toolnet.Reading
}

// readOnce returns the field that holds the strings in part p of args. If the given fields do not
// include it yet, readOnce reads the strings and appends the field.
func readOnce(fields []field, args []byte, p place) ([]field, *field) {
	for i := range fields {
		if fields[i].key == p.key {
			return fields, &fields[i]
		}
	}
	switch {
	case p.deep:
		fields = append(fields, field{key: p.key, Texts: p.path.Texts(args)})
	case p.key == "":
		fields = append(fields, field{Texts: jsonpath.Empty()})
	default:
		fields = append(fields, field{key: p.key, Texts: jsonpath.Member(args, p.key)})
	}
	return fields, &fields[len(fields)-1]
}

// match reports whether ok returns true for any of the field's strings.
func (f *field) match(ok func(string) bool) bool { return slices.ContainsFunc(f.All(), ok) }

// read parses the field's strings with the reader r and caches the results.
func (f *field) read(c *toolnet.Call, r toolnet.Reader) []toolnet.Reading {
	for i := range f.readings {
		if f.readings[i].reader == r {
			return f.readings[i].all
		}
	}
	made := readings{reader: r}
	if f.Weak() && f.Exceeds(maxTexts, 2*maxTextBytes) {
		made.all = []toolnet.Reading{nil} // too much to read, so the result counts as an uncertain match
	} else {
		for _, s := range f.All() {
			made.all = append(made.all, readSafely(r, c, s))
		}
	}
	f.readings = append(f.readings, made)
	return made.all
}

// Limits on the input of a reader for a field that is not a single string. They bound the work per
// call; the reader itself bounds the work per string.
const (
	maxTexts     = 1000
	maxTextBytes = 64 << 10
)

// Code returns the part of a string that matches, or might match, the pattern of the map statement
// m. A long part can be shortened. The result is empty if the reader does not identify the part. ok
// is false if the reader finds no match or fails.
func Code(m *toolnet.Map, c *toolnet.Call, text string) (code string, ok bool) {
	r := readSafely(m.Reader, c, text)
	if r == nil || r.Finds(m.Pattern) == toolnet.NotFound {
		return "", false
	}
	return r.Doubt(m.Pattern).Code, true
}

// readSafely reads a string. If the reader panics, readSafely returns nil, which counts as an
// uncertain match.
func readSafely(r toolnet.Reader, c *toolnet.Call, text string) (reading toolnet.Reading) {
	defer func() {
		if recover() != nil {
			reading = nil
		}
	}()
	return r.Read(c, text)
}

// place is the part of a call that a map (see [toolnet.Map]) reads: an argument, the value at a
// path, or the whole call.
type place struct {
	key  string // key of the argument or, if deep is set, the path as text; empty means the whole call
	path jsonpath.Path
	deep bool // whether path, not key, locates the field
}

// placeOf returns the part of a call that m reads. m's path must be valid.
func placeOf(m *toolnet.Map) place {
	p := place{key: m.Field}
	if jsonpath.IsPath(m.Field) {
		p.path, _ = jsonpath.Parse(m.Field)
		p.deep = true
	}
	return p
}
