package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/draw"
	"github.com/petrigate/petrigate/internal/policy/netfile"
	"github.com/petrigate/petrigate/internal/text"
)

type graphFlags struct {
	policyFlags
	only   []string
	format *string
}

func newGraph(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph [FILE...]",
		Short: "Draw the nets of a policy as Mermaid, DOT, SVG or PNML",
		Long: "graph draws the nets of a configuration, or of --rules and --net. A circle is a place with its tokens, a box\n" +
			"is a call. A net lets a call pass if every circle with an arrow to its box holds a token.",
	}
	var f graphFlags
	f.add(c, "draw")
	c.Flags().Lookup("net").Usage = "draw this `file` of nets (as in a configuration, plain JSON, PNML); may be given more than once"
	c.Flags().StringArrayVar(&f.only, "only", nil, "draw the net of this `name` only; may be given more than once")
	f.format = choose(c.Flags(), "format", "mermaid", "the output format", "mermaid", "dot", "svg", "pnml")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := f.parse(s, c, files); err != nil {
			return err
		}
		nets, err := f.selectedNets(s)
		if err != nil {
			return err
		}
		return f.write(s, nets)
	}
	return c
}

// selectedNets returns the nets named by --only or, if the flag is not set, all nets.
func (f graphFlags) selectedNets(s stdio) ([]draw.Net, error) {
	nets, err := f.allNets(s)
	if err != nil || len(f.only) == 0 {
		return nets, err
	}
	names := list.Map(nets, func(n draw.Net) string { return n.Name })
	for _, name := range f.only {
		if !slices.Contains(names, name) {
			return nil, usage("no net %q%s; nets: %s", name, text.DidYouMean(name, "", names), strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(nets, func(n draw.Net) bool { return !slices.Contains(f.only, n.Name) }), nil
}

// allNets returns the policy's nets, followed by the nets from files in formats other than
// petrigate's own.
func (f graphFlags) allNets(s stdio) ([]draw.Net, error) {
	var foreign []string
	own := f.policyFlags
	own.nets = nil
	for _, file := range f.nets {
		if src, err := os.ReadFile(file); err == nil && netfile.Foreign(src) {
			foreign = append(foreign, file)
		} else {
			own.nets = append(own.nets, file)
		}
	}
	var source policy.Source
	if own.bare() || len(foreign) == 0 {
		var err error
		if source, err = own.load(); err != nil {
			return nil, err
		}
	}
	nets, err := draw.OfPolicy(source)
	if err != nil {
		return nil, err
	}
	for _, file := range foreign {
		more, err := readNets(s, file)
		if err != nil {
			return nil, err
		}
		for _, n := range more {
			nets = append(nets, draw.OfFile(n, filepath.Base(file)))
		}
	}
	return nets, nil
}

func (f graphFlags) write(s stdio, nets []draw.Net) error {
	switch *f.format {
	case "dot":
		return draw.DOT(s.out, nets)
	case "svg":
		return draw.SVG(s.out, nets)
	case "pnml":
		return netfile.WritePNML(s.out, draw.Plain(nets))
	default:
		return draw.Mermaid(s.out, nets)
	}
}
