package netfile

import (
	"bytes"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// Read reads the nets in a file. It detects the format from the text, and uses the name of the file
// only in error messages. Read returns at least one net or an error. The error is a [diag.List] for
// nets of a configuration, and a [diag.Problem] for other nets.
func Read(name string, src []byte) ([]*Net, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	switch trimmed := bytes.TrimSpace(src); {
	case bytes.HasPrefix(trimmed, []byte("<")):
		return readPNML(name, src)
	case isPlain(trimmed):
		n, err := readPlain(name, src)
		if err != nil {
			return nil, err
		}
		return []*Net{n}, nil
	}
	nets, err := config.ParseNet(name, src)
	if err != nil {
		return nil, err
	}
	return convertAll(name, nets, fromConfig)
}

// convertAll converts every net in a file and returns the results. It returns an error if the file
// contains no net.
func convertAll[T any](file string, nets []T, convert func(file string, n *T) (*Net, error)) ([]*Net, error) {
	var out []*Net
	for i := range nets {
		n, err := convert(file, &nets[i])
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, diag.Problem{File: file, Msg: "the file contains no net"}
	}
	return out, nil
}

// Foreign reports whether src is in a format that a configuration cannot contain: plain JSON or
// PNML.
func Foreign(src []byte) bool {
	src = bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	return bytes.HasPrefix(src, []byte("<")) || isPlain(src)
}

// fromConfig returns the structure of a net in a configuration, without the tools that the net
// gates.
func fromConfig(file string, c *config.Net) (*Net, error) {
	b := newBuilder(file, c.Name)
	for _, place := range c.Places {
		b.place(place, c.InitialMarking[place])
	}
	for _, place := range c.TerminalPlaces {
		if p, ok := b.numbers[place]; ok {
			b.net.Terminal = append(b.net.Terminal, p)
		}
	}
	for _, t := range c.Transitions {
		b.transition(t.Name, unitArcs(t.Inputs), unitArcs(t.Outputs))
	}
	return b.finish()
}

func unitArcs(places []string) []weightedArc {
	return list.Map(places, func(place string) weightedArc { return weightedArc{place, 1} })
}
