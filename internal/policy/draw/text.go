package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Mermaid writes the nets as a single Mermaid flowchart.
func Mermaid(w io.Writer, nets []Net) error {
	b := bufio.NewWriter(w)
	p := printer{b}
	p.line("flowchart LR")
	for i := range nets {
		n := &nets[i]
		p.line("  subgraph n%d[%s]", i, mermaidText(n.heading()))
		p.line("    direction LR")
		for k := range n.Places {
			place := &n.Places[k]
			text := place.Name
			if tokens := place.tokens(); tokens != "" {
				text += "\n" + tokens
			}
			shape := "((%s))"
			if place.Terminal {
				shape = "(((%s)))"
			}
			p.line("    n%dp%d"+shape+":::place", i, k, mermaidText(text))
		}
		for k := range n.Transitions {
			t := &n.Transitions[k]
			p.line("    n%dt%d[%s]:::%s", i, k, mermaidText(boxText(t)), t.look().name)
		}
		for _, l := range n.links() {
			p.line("    %s", mermaidLink(i, l))
		}
		p.line("  end")
	}
	p.line("  classDef place fill:#ffffff,stroke:#475569,color:#0f172a")
	for _, kind := range looks {
		dash := ""
		if kind.dash {
			dash = ",stroke-dasharray:4 3"
		}
		p.line("  classDef %s fill:%s,stroke:%s,color:#0f172a%s", kind.name, kind.fill, kind.stroke, dash)
	}
	return b.Flush()
}

// A printer writes without checking for errors, because its buffered writer returns the first error
// from Flush.
type printer struct{ *bufio.Writer }

func (p printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// boxText returns the text in a transition's box.
func boxText(t *Transition) string {
	if notes := t.notes(); notes != "" {
		return t.title() + "\n" + notes
	}
	return t.title()
}

// mermaidText quotes a string for Mermaid, whose entities begin with # instead of &.
func mermaidText(s string) string {
	escape := strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\\", "#92;", "\n", "<br/>")
	return `"` + escape.Replace(s) + `"`
}

// ends returns the IDs of the nodes at the start and at the end of the link.
func (l link) ends(net int) (from, to string) {
	from, to = fmt.Sprintf("n%dp%d", net, l.place), fmt.Sprintf("n%dt%d", net, l.transition)
	if !l.in {
		from, to = to, from
	}
	return from, to
}

func mermaidLink(net int, l link) string {
	from, to := l.ends(net)
	arrow := "-->"
	if l.in && l.out {
		arrow = "<-->"
	}
	if l.weight > 1 {
		arrow += fmt.Sprintf("|%d|", l.weight)
	}
	return from + " " + arrow + " " + to
}

// DOT writes the nets as a single Graphviz graph.
func DOT(w io.Writer, nets []Net) error {
	b := bufio.NewWriter(w)
	p := printer{b}
	p.line("digraph petrigate {")
	p.line("  rankdir=LR; fontname=\"sans-serif\"; node [fontname=\"sans-serif\", fontsize=11]; edge [color=\"#475569\", fontsize=10];")
	for i := range nets {
		n := &nets[i]
		p.line("  subgraph cluster%d {", i)
		p.line("    label=%s; color=\"#cbd5e1\";", dotText(n.heading()))
		for k := range n.Places {
			place := &n.Places[k]
			around := 1
			if place.Terminal {
				around = 2
			}
			p.line("    n%dp%d [shape=circle, fixedsize=true, width=0.45, peripheries=%d, label=%s, xlabel=%s];",
				i, k, around, dotText(place.tokens()), dotText(place.Name))
		}
		for k := range n.Transitions {
			t := &n.Transitions[k]
			p.line("    n%dt%d [shape=box, %s, label=%s];", i, k, t.look().dot(), dotText(boxText(t)))
		}
		for _, l := range n.links() {
			p.line("    %s", dotLink(i, l))
		}
		p.line("  }")
	}
	p.line("}")
	return b.Flush()
}

func (l look) dot() string {
	style := "filled"
	if l.dash {
		style = "filled,dashed"
	}
	return fmt.Sprintf("style=%q, fillcolor=%q, color=%q", style, l.fill, l.stroke)
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func dotLink(net int, l link) string {
	from, to := l.ends(net)
	var attributes []string
	if l.in && l.out {
		attributes = append(attributes, "dir=both")
	}
	if l.weight > 1 {
		attributes = append(attributes, fmt.Sprintf("label=\"%d\"", l.weight))
	}
	if attributes == nil {
		return fmt.Sprintf("%s -> %s;", from, to)
	}
	return fmt.Sprintf("%s -> %s [%s];", from, to, strings.Join(attributes, ", "))
}
