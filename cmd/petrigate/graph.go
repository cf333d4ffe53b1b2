package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/draw"
	"github.com/petrigate/petrigate/internal/policy/netfile"
	"github.com/petrigate/petrigate/internal/text"
)

// graphFlags are what graph draws, and how.
type graphFlags struct {
	config      string
	rules, nets []string
	only        []string
	format      *string
}

func newGraph(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph [FILE...]",
		Short: "Draw the nets of a policy as Mermaid, DOT, SVG or PNML",
		Long: "graph draws the nets of a configuration, or of --rules and --net. A circle is a place with its tokens, a box\n" +
			"a call; a net lets a call pass when each circle with an arrow to its box holds a token.",
	}
	var f graphFlags
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "draw this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "draw this `file` of nets (as in a configuration, plain JSON, PNML); may be given more than once")
	c.Flags().StringArrayVar(&f.only, "only", nil, "draw the net of this `name` only; may be given more than once")
	f.format = choose(c.Flags(), "format", "mermaid", "what to write", "mermaid", "dot", "svg", "pnml")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := givenFiles(c, files, &f.rules, &f.nets); err != nil {
			return err
		}
		f.config, _ = c.Flags().GetString("config")
		if f.config != "" && len(f.rules)+len(f.nets) > 0 {
			return usage("--config cannot be combined with --rules or --net")
		}
		nets, err := f.load(s)
		if err != nil {
			return err
		}
		return f.write(s, nets)
	}
	return c
}

func (f graphFlags) load(s stdio) ([]draw.Net, error) {
	nets, err := f.gathered(s)
	if err != nil || len(f.only) == 0 {
		return nets, err
	}
	var chosen []draw.Net
	var names []string
	for _, n := range nets {
		names = append(names, n.Name)
		if slices.Contains(f.only, n.Name) {
			chosen = append(chosen, n)
		}
	}
	for _, name := range f.only {
		if !slices.Contains(names, name) {
			return nil, usage("no net %q%s; nets: %s", name, text.DidYouMean(name, "", names), strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

// gathered are all nets that are asked for.
func (f graphFlags) gathered(s stdio) ([]draw.Net, error) {
	if len(f.rules)+len(f.nets) == 0 {
		cfg, err := config.Load(config.Options{Path: f.config, WorkDir: true})
		if err != nil {
			return nil, err
		}
		return draw.OfPolicy(policy.FromConfig(cfg))
	}
	var own, foreign []string
	for _, file := range f.nets {
		if src, err := os.ReadFile(file); err == nil && netfile.Foreign(src) {
			foreign = append(foreign, file)
		} else {
			own = append(own, file)
		}
	}
	texts, written, err := policyFiles(f.rules, own)
	if err != nil {
		return nil, err
	}
	nets, err := draw.OfPolicy(policy.Source{Rules: texts, Nets: written})
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
