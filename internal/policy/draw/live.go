package draw

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/text"
)

// Live sets the current tokens of the places from the marking m, and determines which tokens each
// transition lacks.
func (n *Net) Live(m gate.Marking) {
	n.live = true
	for i := range n.Places {
		place := &n.Places[i]
		if at := slices.IndexFunc(m, func(t gate.Tokens) bool { return t.Place == place.Name }); at >= 0 {
			place.Now, place.InFlight = m[at].Count, m[at].InFlight
		}
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		for _, a := range t.In {
			place := &n.Places[a.Place]
			if has := place.Now - place.InFlight; has < a.Weight {
				t.Lacks = append(t.Lacks, Lack{place.Name, has, a.Weight})
				place.Wanted = place.Wanted || t.Blocks()
			}
		}
	}
}

// WithoutStart returns a copy of a generated net without its start transition and the place of this
// transition. The start transition fires by itself and has no effect after the first call. If n has
// no start transition, WithoutStart returns n.
func (n Net) WithoutStart() Net {
	t := slices.IndexFunc(n.Transitions, func(t Transition) bool { return t.Name == "start" && len(t.Tools) == 0 && t.Every == 0 })
	if t < 0 || len(n.Transitions[t].In) != 1 {
		return n
	}
	start := n.Transitions[t]
	idle := start.In[0].Place
	for i, other := range n.Transitions {
		if weight(other.Out, idle) > 0 || i != t && weight(other.In, idle) > 0 {
			return n
		}
	}
	if n.Places[idle].Tokens != start.In[0].Weight || weight(start.Out, idle) > 0 {
		return n
	}
	n.Places = slices.Clone(n.Places)
	for _, a := range start.Out {
		n.Places[a.Place].Tokens += a.Weight
	}
	n.Places = slices.Delete(n.Places, idle, idle+1)
	n.Transitions = slices.Delete(slices.Clone(n.Transitions), t, t+1)
	for i := range n.Transitions {
		one := &n.Transitions[i]
		one.In, one.Out = slices.Clone(one.In), slices.Clone(one.Out)
		for _, arcs := range [][]petri.Arc{one.In, one.Out} {
			for k := range arcs {
				if arcs[k].Place > idle {
					arcs[k].Place--
				}
			}
		}
	}
	return n
}

// LiveSVG writes a live net as an SVG element for an HTML page. The page's style sheet must define
// the classes for colors and font sizes.
func LiveSVG(w io.Writer, n *Net) error {
	l := newLayout(n)
	b := bufio.NewWriter(w)
	p := printer{b}
	width, height := l.width+2*margin, l.height+2*margin
	p.line(`<svg class="netpic" role="img" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-size="%d" aria-label="%s">`,
		liveScale*width, liveScale*height, width, height, fontSize, escapedText(n.description()))
	p.line(`<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0,0.6 L8,4 L0,7.4 z"/></marker></defs>`)
	p.line(`<g transform="translate(%d,%d)">`, margin, margin)
	for _, r := range l.routes() {
		p.line(`<path class="arc" d="%s"%s/>`, r.line(), r.ends())
		if r.edge.link.weight > 1 {
			from, to := r.points[0], r.points[1]
			p.line(`<text class="weight" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, (from.x+to.x)/2, (from.y+to.y)/2+4, r.edge.link.weight)
		}
	}
	for i := range n.Places {
		p.livePlace(&n.Places[i], &l.nodes[i])
	}
	for i := range n.Transitions {
		p.liveBox(n, &n.Transitions[i], &l.nodes[len(n.Places)+i])
	}
	p.line(`</g></svg>`)
	return b.Flush()
}

// escapedText escapes a string for XML and makes invisible characters visible.
func escapedText(s string) string { return escaped(text.Escape(s)) }

// description describes the net in one sentence, for people who cannot see the picture.
func (n *Net) description() string {
	parts := []string{"Net " + n.Name}
	for _, p := range n.Places {
		if p.Now > 0 {
			parts = append(parts, fmt.Sprintf("%s has %s", p.Name, text.Count(p.Now, "token")))
		}
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; n.showsState(t) {
			parts = append(parts, t.title()+": "+t.stateText())
		}
	}
	return strings.Join(parts, "; ") + "."
}

// liveScale is the scale factor of a live picture. It makes the small print readable.
const liveScale = 1.25

// maxDots is the maximum number of tokens drawn as dots in a live picture.
const maxDots = 5

func (p printer) livePlace(place *Place, n *node) {
	class := "place"
	if place.Wanted {
		class += " wanted"
	}
	p.line(`<circle class="%s" cx="%.1f" cy="%.1f" r="%d"/>`, class, n.x, n.y, radius)
	if place.Terminal {
		p.line(`<circle class="place inner" cx="%.1f" cy="%.1f" r="%d"/>`, n.x, n.y, radius-3)
	}
	if place.Now > maxDots {
		p.line(`<text class="number" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, n.x, n.y+4, place.Now)
	} else {
		for i, at := range dots[max(place.Now, 0)] {
			class := "token"
			if i >= place.Now-place.InFlight {
				class += " flight"
			}
			p.line(`<circle class="%s" cx="%.1f" cy="%.1f" r="3.4"/>`, class, n.x+at[0], n.y+at[1])
		}
	}
	p.line(`<text class="name" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, n.x, n.y+radius+13, escapedText(place.Name))
}

// SVG paths of symbols in a box: a play triangle, a cross, and a pause sign.
const (
	signEnabled = `<path class="sign" d="M%.1f,%.1f m-3,-4 l7,4 l-7,4 z"/>`
	signLacks   = `<path class="sign" d="M%.1f,%.1f m-3.5,-3.5 l7,7 m0,-7 l-7,7"/>`
	signRests   = `<path class="sign" d="M%.1f,%.1f m-1.5,-3.5 v7 m3.5,0 v-7"/>`
)

func (p printer) liveBox(net *Net, t *Transition, n *node) {
	class := "box " + t.look().name
	says := net.showsState(t)
	switch {
	case says && len(t.Lacks) == 0:
		class += " enabled"
	case says && t.Blocks():
		class += " lacks"
	}
	p.line(`<g class="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4"/>`, class, n.x-n.width/2, n.y-n.up, n.width, n.up+n.down)
	y := n.y - n.up + 18
	p.line(`<text class="title" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, n.x, y, escapedText(t.title()))
	if notes := t.notes(); notes != "" {
		y += noteLine
		p.line(`<text class="small" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, n.x, y, escapedText(notes))
	}
	if says {
		y += noteLine
		sign := signEnabled
		switch {
		case len(t.Lacks) > 0 && t.Blocks():
			sign = signLacks
		case len(t.Lacks) > 0:
			sign = signRests
		}
		p.line(sign, n.x-textWidth(t.stateText(), noteSize)/2-7, y-3.5)
		p.line(`<text class="small fate" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, n.x+7, y, escapedText(t.stateText()))
	}
	p.line(`</g>`)
}
