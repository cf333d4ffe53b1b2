package config

import (
	"fmt"
)

// ReadNets reads the files of nets that a pattern matches.
func ReadNets(pattern string) ([]Net, error) {
	files, faults := (&environment{}).match(pattern)
	if len(faults) > 0 {
		return nil, withoutPlace(faults)
	}
	var nets []Net
	var errs ErrorList
	for _, f := range files {
		d := &decoder{source: &source{name: f.name}}
		nets = append(nets, readNetFile(d, []byte(f.text))...)
		d.errs.Sort()
		errs = append(errs, d.errs...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return nets, nil
}

// readNets reads the "nets" key of a configuration.
func readNets(d *decoder, to *[]Net) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		checkNotEmpty(d, key, value)
		for _, item := range value.items {
			*to = append(*to, readNetEntry(d, item)...)
		}
		checkUniqueNets(d, *to)
	}
}

func readNetEntry(d *decoder, n *node) []Net {
	if n.get("file") == nil && n.get("inline") == nil {
		return []Net{readNet(d, n)}
	}
	var nets []Net
	d.mapping(n, `an entry of "nets"`, keys{
		"file": func(key, value *node) {
			for _, f := range readFiles(d, key, value) {
				inner := &decoder{source: &source{name: f.name}, environment: d.environment}
				nets = append(nets, readNetFile(inner, []byte(f.text))...)
				inner.errs.Sort()
				d.errs = append(d.errs, inner.errs...)
			}
		},
		"inline": func(_, value *node) { nets = append(nets, readNet(d, value)) },
	})
	if len(n.fields) != 1 {
		d.at(n, `an entry of "nets" has one key, "file" or "inline", or the keys of a net`, "")
	}
	return nets
}

// foreign records a problem that may be in another file.
func (d *decoder) foreign(p Position, msg, hint string) {
	if p.File == d.name {
		d.add(p.Line, p.Column, msg, hint)
		return
	}
	d.errs = append(d.errs, Error{File: p.File, Line: p.Line, Column: p.Column, Msg: msg, Hint: hint})
}

func checkUniqueNets(d *decoder, nets []Net) {
	seen := make(map[string]Position, len(nets))
	for _, net := range nets {
		first, ok := seen[net.Name]
		if ok && net.Name != "" {
			d.foreign(net.Position, fmt.Sprintf("duplicate net %q", net.Name), "the first is at "+first.String())
		}
		seen[net.Name] = net.Position
	}
}
