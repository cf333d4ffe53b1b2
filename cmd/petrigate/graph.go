package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
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
			return usage("graph looks at --config, or at --rules and --net, and not at both")
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
			return nil, usage("there is no net %q%s; nets: %s", name, text.DidYouMean(name, "", names), strings.Join(names, ", "))
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
		return policyNets(policy.FromConfig(cfg))
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
	nets, err := policyNets(policy.Source{Rules: texts, Nets: written})
	if err != nil {
		return nil, err
	}
	for _, file := range foreign {
		more, err := readNets(s, file)
		if err != nil {
			return nil, err
		}
		for _, n := range more {
			nets = append(nets, foreignNet(n, filepath.Base(file)))
		}
	}
	return nets, nil
}

// policyNets are the nets of a policy, as the gate has them.
func policyNets(source policy.Source) ([]draw.Net, error) {
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	var nets []draw.Net
	for _, info := range result.Policy.Nets() {
		n := gateNet(info)
		if e, ok := result.Policy.Explore(info.Name, 0); ok && e.Complete {
			for i := range n.Transitions {
				n.Transitions[i].Never = slices.Contains(e.DeadTransitions, n.Transitions[i].Name)
			}
		}
		nets = append(nets, n)
	}
	return nets, nil
}

func gateNet(info gate.NetInfo) draw.Net {
	n := draw.Net{Name: info.Name, From: ruleLine(info.Rule)}
	number := make(map[string]int)
	for i, place := range info.Places {
		number[place] = i
		n.Places = append(n.Places, draw.Place{Name: place, Tokens: info.Initial[place], Terminal: slices.Contains(info.Terminal, place)})
	}
	arcs := func(places []string) []petri.Arc {
		numbers := make([]int, len(places))
		for i, place := range places {
			numbers[i] = number[place]
		}
		return petri.Arcs(numbers)
	}
	for _, t := range info.Transitions {
		n.Transitions = append(n.Transitions, draw.Transition{
			Name: t.Name, Tools: texts(t.Tools), In: arcs(t.Inputs), Out: arcs(t.Outputs),
			Manual: t.Manual, Deferred: t.Deferred, Observe: t.Observe, Every: t.Every, Unless: texts(t.Unless),
		})
	}
	if len(info.Free) > 0 {
		n.Transitions = append(n.Transitions, draw.Transition{Name: "always", Tools: info.Free})
	}
	return n
}

func texts(tools []gate.Tool) []string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// ruleLine is where the user wrote a net, as short as a picture wants it.
func ruleLine(p gate.Position) string {
	if p.Line == 0 {
		return filepath.Base(p.File)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
}

// foreignNet is a net that gates nothing.
func foreignNet(n *netfile.Net, from string) draw.Net {
	out := draw.Net{Name: n.Name, From: from}
	for i, place := range n.Places {
		out.Places = append(out.Places, draw.Place{Name: place, Tokens: n.Initial[i], Terminal: slices.Contains(n.Terminal, i)})
	}
	for i, t := range n.Petri.Transitions {
		out.Transitions = append(out.Transitions, draw.Transition{Name: n.Transitions[i], Tools: n.Transitions[i : i+1], In: t.In, Out: t.Out})
	}
	return out
}

func (f graphFlags) write(s stdio, nets []draw.Net) error {
	switch *f.format {
	case "dot":
		return draw.DOT(s.out, nets)
	case "svg":
		return draw.SVG(s.out, nets)
	case "pnml":
		return netfile.WritePNML(s.out, plainNets(nets))
	default:
		return draw.Mermaid(s.out, nets)
	}
}

// plainNets leaves out what the nets gate. The names say where they were written.
func plainNets(nets []draw.Net) []*netfile.Net {
	var plain []*netfile.Net
	for _, n := range nets {
		p := &netfile.Net{Name: n.Name, Petri: petri.Net{Places: len(n.Places)}}
		if n.From != "" {
			p.Name += " (" + n.From + ")"
		}
		for _, place := range n.Places {
			p.Places, p.Initial = append(p.Places, place.Name), append(p.Initial, place.Tokens)
		}
		for _, t := range n.Transitions {
			if len(t.In)+len(t.Out) > 0 || t.Name != "always" {
				p.Transitions = append(p.Transitions, t.Name)
				p.Petri.Transitions = append(p.Petri.Transitions, petri.Transition{In: t.In, Out: t.Out})
			}
		}
		plain = append(plain, p)
	}
	return plain
}
