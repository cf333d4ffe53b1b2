package draw

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// Sizes in a picture of several nets, in pixels.
const (
	margin    = 16
	heading   = 30 // height of a net's heading
	netGap    = 26
	sheetWide = 980 // maximum width of a row with several nets
)

// SVG writes the nets as a single self-contained picture.
func SVG(w io.Writer, nets []Net) error {
	s := newSheet(nets)
	names := list.Map(nets, func(n Net) string { return n.Name })
	b := bufio.NewWriter(w)
	p := printer{b}
	p.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="%d">`,
		s.width, s.height, s.width, s.height, fontSize)
	p.line(`<title>Petri nets: %s</title>`, escaped(strings.Join(names, ", ")))
	p.line(`<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0,0.6 L8,4 L0,7.4 z" fill="#475569"/></marker></defs>`)
	p.line(`<rect width="100%%" height="100%%" rx="6" fill="#ffffff"/>`)
	for _, n := range s.nets {
		p.line(`<g transform="translate(%.1f,%.1f)">`, n.x, n.y)
		p.net(n.layout)
		p.line(`</g>`)
	}
	p.line(`</svg>`)
	return b.Flush()
}

// A sheet places several nets in one picture.
type sheet struct {
	nets          []placed
	width, height float64
}

type placed struct {
	*layout
	x, y float64
}

// newSheet places the nets in rows from left to right.
func newSheet(nets []Net) *sheet {
	s := &sheet{}
	x, y, row := float64(margin), float64(margin), 0.0
	for i := range nets {
		l := newLayout(&nets[i])
		width := max(l.width, textWidth(l.net.Name, fontSize+1.5)+textWidth(l.net.From, fontSize)+16)
		if x > margin && x+width+margin > sheetWide {
			x, y, row = margin, y+row+netGap, 0
		}
		s.nets = append(s.nets, placed{l, x, y})
		x += width + 2*netGap
		row = max(row, heading+l.height)
		s.width = max(s.width, x-2*netGap+margin)
	}
	s.width, s.height = max(s.width, 2*margin), y+row+margin
	return s
}

func (p printer) net(l *layout) {
	from := ""
	if l.net.From != "" {
		from = fmt.Sprintf(`<tspan dx="8" font-size="11" font-weight="normal" fill="#64748b">%s</tspan>`, escaped(l.net.From))
	}
	p.line(`<text x="0" y="13" font-size="13.5" font-weight="bold" fill="#0f172a">%s%s</text>`, escaped(l.net.Name), from)
	p.line(`<g transform="translate(0,%d)">`, heading)
	for _, e := range l.routes() {
		p.route(e)
	}
	for i := range l.net.Places {
		p.place(&l.net.Places[i], &l.nodes[i])
	}
	for i := range l.net.Transitions {
		p.box(&l.net.Transitions[i], &l.nodes[len(l.net.Places)+i])
	}
	p.line(`</g>`)
}

func (p printer) place(place *Place, n *node) {
	p.line(`<circle cx="%.1f" cy="%.1f" r="%d" fill="#ffffff" stroke="#475569" stroke-width="1.4"/>`, n.x, n.y, radius)
	if place.Terminal {
		p.line(`<circle cx="%.1f" cy="%.1f" r="%d" fill="none" stroke="#475569"/>`, n.x, n.y, radius-3)
	}
	if place.Tokens > 4 {
		p.line(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="11" fill="#0f172a">%d</text>`, n.x, n.y+4, place.Tokens)
	} else {
		for _, at := range dots[place.Tokens] {
			p.line(`<circle cx="%.1f" cy="%.1f" r="3.4" fill="#0f172a"/>`, n.x+at[0], n.y+at[1])
		}
	}
	p.line(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#334155">%s</text>`, n.x, n.y+radius+13, escaped(place.Name))
}

// dots contains the positions of up to maxDots tokens in a circle, indexed by the number of tokens.
var dots = [maxDots + 1][][2]float64{
	{}, {{0, 0}}, {{-4.5, 0}, {4.5, 0}}, {{0, -4.5}, {-4.5, 4}, {4.5, 4}}, {{-4.5, -4.5}, {4.5, -4.5}, {-4.5, 4.5}, {4.5, 4.5}},
	{{-5.5, -5.5}, {5.5, -5.5}, {-5.5, 5.5}, {5.5, 5.5}, {0, 0}},
}

func (p printer) box(t *Transition, n *node) {
	look, dash := t.look(), ""
	if look.dash {
		dash = ` stroke-dasharray="4 3"`
	}
	p.line(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3" fill="%s" stroke="%s" stroke-width="1.3"%s/>`,
		n.x-n.width/2, n.y-n.up, n.width, n.up+n.down, look.fill, look.stroke, dash)
	y := n.y + 4
	if notes := t.notes(); notes != "" {
		y -= noteLine / 2.0
		p.line(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%.1f" fill="#475569">%s</text>`, n.x, y+noteLine, noteSize, escaped(notes))
	}
	p.line(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#0f172a">%s</text>`, n.x, y, escaped(t.title()))
}

// A point is a position in the picture.
type point struct{ x, y float64 }

// A route is the line drawn for an edge.
type route struct {
	edge   *edge
	points []point // points in pairs; the two points of a pair are joined by a curve, and a straight line leads to the next pair
}

// routes returns the line of each edge. Where several edges end at the same side of a node, their
// ends are spread out and ordered like the nodes at the other ends.
func (l *layout) routes() []route {
	routes := make([]route, len(l.edges))
	ends := make(map[[2]int][]int) // indexes of the edges at each side of each node: left (0) or right (1)
	for i := range l.edges {
		e := &l.edges[i]
		routes[i] = route{edge: e, points: make([]point, 2*len(e.path)-2)}
		ends[[2]int{e.from, 1}] = append(ends[[2]int{e.from, 1}], i)
		ends[[2]int{e.to, 0}] = append(ends[[2]int{e.to, 0}], i)
		for j, v := range e.path[1 : len(e.path)-1] {
			n := &l.nodes[v]
			routes[i].points[2*j+1], routes[i].points[2*j+2] = point{n.x - 8, n.y}, point{n.x + 8, n.y}
		}
	}
	for key, list := range ends {
		l.dock(routes, key[0], key[1] == 1, list)
	}
	return routes
}

// dock spreads out the ends of edges at one side of node v.
func (l *layout) dock(routes []route, v int, right bool, list []int) {
	toward := func(i int) float64 {
		path := l.edges[i].path
		if right {
			return l.nodes[path[1]].y
		}
		return l.nodes[path[len(path)-2]].y
	}
	slices.SortStableFunc(list, func(a, b int) int {
		if c := toward(a) - toward(b); math.Abs(c) > 0.01 {
			return int(math.Copysign(1, c))
		}
		return a - b
	})
	n := &l.nodes[v]
	circle := v < len(l.net.Places)
	room := 2 * n.up * 0.7
	step := min(11, room/float64(max(1, len(list)-1)))
	for k, i := range list {
		dy := (float64(k) - float64(len(list)-1)/2) * step
		dx := n.width / 2
		if circle {
			dx = math.Sqrt(max(0, radius*radius-dy*dy))
		}
		if right {
			routes[i].points[0] = point{n.x + dx, n.y + dy}
		} else {
			routes[i].points[len(routes[i].points)-1] = point{n.x - dx, n.y + dy}
		}
	}
}

// line returns the SVG path of the route.
func (r *route) line() string {
	var d strings.Builder
	pts := r.points
	fmt.Fprintf(&d, "M%.1f,%.1f", pts[0].x, pts[0].y)
	for i := 0; i+1 < len(pts); i += 2 {
		a, b := pts[i], pts[i+1]
		if i > 0 {
			fmt.Fprintf(&d, " L%.1f,%.1f", a.x, a.y)
		}
		mid := (b.x - a.x) / 2
		fmt.Fprintf(&d, " C%.1f,%.1f %.1f,%.1f %.1f,%.1f", a.x+mid, a.y, b.x-mid, b.y, b.x, b.y)
	}
	return d.String()
}

// ends returns the SVG attributes for the route's arrowheads.
func (r *route) ends() string {
	ends := ""
	if r.edge.head {
		ends += ` marker-end="url(#head)"`
	}
	if r.edge.tail {
		ends += ` marker-start="url(#head)"`
	}
	return ends
}

func (p printer) route(r route) {
	p.line(`<path d="%s" fill="none" stroke="#475569" stroke-width="1.2"%s/>`, r.line(), r.ends())
	if r.edge.link.weight > 1 {
		a, b := r.points[0], r.points[1]
		p.line(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="11" fill="#0f172a" stroke="#ffffff" stroke-width="3" paint-order="stroke">%d</text>`,
			(a.x+b.x)/2, (a.y+b.y)/2+4, r.edge.link.weight)
	}
}

// escaped escapes a string for XML. Characters not allowed in XML are replaced with U+FFFD.
func escaped(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean)
}
