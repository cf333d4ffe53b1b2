package config

import (
	"fmt"
	"slices"
)

// ParseNet reads nets: one net (a mapping), a list of nets, or a mapping with
// the single key "nets". The bytes are YAML or JSON; name is the file of the
// positions. The error is an [ErrorList].
func ParseNet(name string, src []byte) ([]Net, error) {
	d := &decoder{source: &source{name: name}}
	nets := readNetFile(d, src)
	if err := d.err(); err != nil {
		return nil, err
	}
	return nets, nil
}

// ReadNets reads the files of nets that a pattern matches.
func ReadNets(pattern string) (nets []Net, err error) {
	files, err := matched(pattern)
	if err != nil {
		return nil, err
	}
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

func readNetFile(d *decoder, src []byte) (nets []Net) {
	root := Value{decoder: d, node: d.read(src), what: `"nets"`}
	switch {
	case len(d.errs) > 0:
	case root.node == nil:
		d.add(1, 1, "the file contains no net", "")
	case root.kind == mapKind && root.get("nets") != nil:
		root.as("a file of nets").Fields(Keys{"nets": into(&nets, each(readNet))})
	case root.kind == listKind:
		nets, _ = each(readNet)(root)
	default:
		net, _ := readNet(root)
		nets = []Net{net}
	}
	return nets
}

// readNets reads the "nets" key of a configuration.
func readNets(v Value) ([]Net, bool) {
	entries, ok := filled(each(readNetEntry))(v)
	nets := slices.Concat(entries...)
	seen := make(map[string]Position, len(nets))
	for _, net := range nets {
		if first, ok := seen[net.Name]; ok && net.Name != "" {
			v.foreign(net.Position, fmt.Sprintf("duplicate net %q", net.Name), "the first is at "+first.String())
		}
		seen[net.Name] = net.Position
	}
	return nets, ok
}

func readNetEntry(v Value) (nets []Net, ok bool) {
	if v.get("file") == nil && v.get("inline") == nil {
		net, _ := readNet(v)
		return []Net{net}, true
	}
	v.as(v.called()).Fields(Keys{
		"file": func(v Value) {
			for _, f := range readFiles(v) {
				d := &decoder{source: &source{name: f.name}, environment: v.environment}
				nets = append(nets, readNetFile(d, []byte(f.text))...)
				d.errs.Sort()
				v.errs = append(v.errs, d.errs...)
			}
		},
		"inline": func(v Value) {
			net, _ := readNet(v)
			nets = append(nets, net)
		},
	})
	if len(v.fields) != 1 {
		v.Fault(`an entry of "nets" has one key, "file" or "inline", or the keys of a net`, "")
	}
	return nets, true
}
