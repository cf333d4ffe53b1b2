package draw

import (
	"cmp"
	"math"
	"slices"
	"unicode"

	"github.com/petrigate/petrigate/internal/list"
)

// A layout places a net's nodes in layers from left to right. It uses the method of Sugiyama,
// Tagawa and Toda (1981): break the cycles, assign layers, split long edges by a bend in each
// layer, order the layers to reduce crossings, and move the nodes towards their neighbors.
type layout struct {
	net    *Net
	nodes  []node // places, then transitions, then bends
	edges  []edge
	layers [][]int

	width, height float64
}

type node struct {
	layer      int
	x, y       float64 // center of the circle or box
	width      float64
	up, down   float64 // distances from y to the top and to the bottom of the node
	bend       bool
	label      float64 // width of the text below the node
	near, past []int   // indexes of the neighbors in the previous and in the next layer
}

// An edge leads from left to right. Its arrows can point in either direction.
type edge struct {
	link       link
	from, to   int
	path       []int // indexes of the start node, the bends and the end node
	head, tail bool  // whether the edge has an arrowhead at its end (head) and at its start (tail)
}

// Sizes in pixels.
const (
	radius    = 15
	fontSize  = 12
	noteSize  = 9.5
	layerGap  = 38
	nodeGap   = 14
	boxHeight = 28
	noteLine  = 13
)

func newLayout(n *Net) *layout {
	l := &layout{net: n}
	for i := range n.Places {
		l.nodes = append(l.nodes, node{width: 2 * radius, up: radius, down: radius + 16, label: textWidth(n.Places[i].Name, fontSize)})
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		half := float64(boxHeight) / 2
		if t.notes() != "" {
			half += noteLine / 2.0
		}
		width := 18 + max(textWidth(t.title(), fontSize), textWidth(t.notes(), noteSize))
		if n.showsState(t) {
			half += noteLine / 2.0
			width = max(width, 36+1.08*textWidth(n.longestState(t), noteSize))
		}
		l.nodes = append(l.nodes, node{width: width, up: half, down: half})
	}
	l.direct()
	l.rank()
	l.cut()
	l.order()
	l.place()
	return l
}

// direct adds the edges and reverses some of them to remove cycles. It reverses each edge that
// leads back to the current path of a depth-first search, which starts at the marked places.
func (l *layout) direct() {
	places := len(l.net.Places)
	out := make([][]int, len(l.nodes)) // indexes of the outgoing edges of each node
	for _, k := range l.net.links() {
		e := edge{link: k, from: k.place, to: places + k.transition, head: true, tail: k.in && k.out}
		if !k.in {
			e.from, e.to = e.to, e.from
		}
		out[e.from] = append(out[e.from], len(l.edges))
		l.edges = append(l.edges, e)
	}
	state := make([]int, len(l.nodes)) // 1 if the node is on the current path, 2 if it is finished
	var visit func(v int)
	visit = func(v int) {
		state[v] = 1
		for _, i := range out[v] {
			e := &l.edges[i]
			switch to := e.to; state[to] {
			case 0:
				visit(to)
			case 1:
				e.from, e.to = e.to, e.from
				e.head, e.tail = e.tail, e.head
			}
		}
		state[v] = 2
	}
	for _, marked := range []bool{true, false} {
		for v := range l.nodes {
			if state[v] == 0 && (!marked || v < places && l.net.Places[v].Tokens > 0 && !l.fed(v)) {
				visit(v)
			}
		}
		for v := range l.nodes {
			if marked && state[v] == 0 && v < places && l.net.Places[v].Tokens > 0 {
				visit(v)
			}
		}
	}
}

// fed reports whether any edge leads to the place, so that it can get tokens.
func (l *layout) fed(place int) bool {
	return slices.ContainsFunc(l.edges, func(e edge) bool { return e.to == place })
}

// rank puts each node in the layer after that of its last predecessor. It then moves nodes without
// predecessors close to their successors.
func (l *layout) rank() {
	for range l.nodes {
		changed := false
		for _, e := range l.edges {
			if to := &l.nodes[e.to]; to.layer <= l.nodes[e.from].layer {
				to.layer, changed = l.nodes[e.from].layer+1, true
			}
		}
		if !changed {
			break
		}
	}
	for v := range l.nodes {
		first := math.MaxInt
		source := true
		for _, e := range l.edges {
			if e.from == v {
				first = min(first, l.nodes[e.to].layer)
			}
			source = source && e.to != v
		}
		if source && first < math.MaxInt {
			l.nodes[v].layer = first - 1
		}
	}
}

// cut adds a bend to each edge in every layer between its ends, and lists the nodes of each layer.
func (l *layout) cut() {
	for i := range l.edges {
		e := &l.edges[i]
		e.path = []int{e.from}
		for layer := l.nodes[e.from].layer + 1; layer < l.nodes[e.to].layer; layer++ {
			e.path = append(e.path, len(l.nodes))
			l.nodes = append(l.nodes, node{layer: layer, up: 4, down: 4, bend: true})
		}
		e.path = append(e.path, e.to)
		for j := 1; j < len(e.path); j++ {
			a, b := e.path[j-1], e.path[j]
			l.nodes[a].past, l.nodes[b].near = append(l.nodes[a].past, b), append(l.nodes[b].near, a)
		}
	}
	for v, n := range l.nodes {
		for len(l.layers) <= n.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[n.layer] = append(l.layers[n.layer], v)
	}
}

// order sorts each layer by the mean positions of the nodes' neighbors, in alternating passes from
// left to right and from right to left. It keeps the order that has the fewest crossings.
func (l *layout) order() {
	best, fewest := l.copyLayers(), l.crossings()
	for round := range 12 {
		if round%2 == 0 {
			for i := 1; i < len(l.layers); i++ {
				l.sortLayer(i, func(v int) []int { return l.nodes[v].near })
			}
		} else {
			for i := len(l.layers) - 2; i >= 0; i-- {
				l.sortLayer(i, func(v int) []int { return l.nodes[v].past })
			}
		}
		if c := l.crossings(); c < fewest {
			best, fewest = l.copyLayers(), c
		}
	}
	l.layers = best
}

func (l *layout) copyLayers() [][]int {
	return list.Map(l.layers, slices.Clone[[]int])
}

// positions returns the index of each node within its layer.
func (l *layout) positions() []int {
	at := make([]int, len(l.nodes))
	for _, layer := range l.layers {
		for i, v := range layer {
			at[v] = i
		}
	}
	return at
}

func (l *layout) sortLayer(i int, neighbors func(v int) []int) {
	at := l.positions()
	middle := make(map[int]float64)
	for _, v := range l.layers[i] {
		middle[v] = float64(at[v])
		if near := neighbors(v); len(near) > 0 {
			sum := 0.0
			for _, u := range near {
				sum += float64(at[u])
			}
			middle[v] = sum / float64(len(near))
		}
	}
	slices.SortStableFunc(l.layers[i], func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
}

func (l *layout) crossings() int {
	at := l.positions()
	n := 0
	for _, layer := range l.layers {
		var ends [][2]int
		for _, v := range layer {
			for _, u := range l.nodes[v].past {
				ends = append(ends, [2]int{at[v], at[u]})
			}
		}
		for i, a := range ends {
			for _, b := range ends[:i] {
				if (a[0]-b[0])*(a[1]-b[1]) < 0 {
					n++
				}
			}
		}
	}
	return n
}

// place assigns coordinates to all nodes.
func (l *layout) place() {
	x := 0.0
	for _, layer := range l.layers {
		half := 0.0
		for _, v := range layer {
			half = max(half, l.nodes[v].width/2, l.nodes[v].label/2)
		}
		x += half
		y := 0.0
		for _, v := range layer {
			n := &l.nodes[v]
			n.x, n.y = x, y+n.up
			y += n.up + n.down + nodeGap
		}
		x += half + layerGap
	}
	l.width = x - layerGap
	for round := range 24 {
		for i := range l.layers {
			if round%2 == 1 {
				i = len(l.layers) - 1 - i
			}
			l.relax(l.layers[i])
		}
	}
	l.fit()
}

// relax moves the nodes of a layer towards the mean positions of their neighbors, while preserving
// the nodes' order and minimum distances (pool adjacent violators algorithm).
func (l *layout) relax(layer []int) {
	type block struct {
		sum   float64 // sum, over the nodes of the block, of the preferred position minus the offset
		count float64
	}
	offsets := make([]float64, len(layer)) // offset of each node: its distance from the first node when the nodes are packed tightly
	var blocks []block
	for i, v := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + l.nodes[layer[i-1]].down + nodeGap + l.nodes[v].up
		}
		b := block{l.wish(v) - offsets[i], 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum/blocks[len(blocks)-1].count > b.sum/b.count {
			last := blocks[len(blocks)-1]
			b = block{b.sum + last.sum, b.count + last.count}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range int(b.count) {
			l.nodes[layer[i]].y = b.sum/b.count + offsets[i]
			i++
		}
	}
}

// wish returns the preferred position of node v: the weighted mean of its neighbors' positions. If
// v is a bend, neighbors that are also bends have a higher weight, which keeps long edges straight.
func (l *layout) wish(v int) float64 {
	n := &l.nodes[v]
	sum, count := 0.0, 0.0
	for _, list := range [][]int{n.near, n.past} {
		for _, u := range list {
			w := 1.0
			if n.bend && l.nodes[u].bend {
				w = 4
			}
			sum, count = sum+w*l.nodes[u].y, count+w
		}
	}
	if count == 0 {
		return n.y
	}
	return sum / count
}

// fit moves the drawing to the top and computes its height.
func (l *layout) fit() {
	if len(l.nodes) == 0 {
		l.width = 0
		return
	}
	top, bottom := math.Inf(1), math.Inf(-1)
	for _, n := range l.nodes {
		top, bottom = min(top, n.y-n.up), max(bottom, n.y+n.down)
	}
	for i := range l.nodes {
		l.nodes[i].y -= top
	}
	l.height = bottom - top
}

// textWidth estimates the width of a string in a sans-serif font.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100:
			w += 1
		case r == 'i' || r == 'j' || r == 'l' || r == '.' || r == ',' || r == ':' || r == '\'' || r == 'I' || r == '|':
			w += 0.28
		case r == 'f' || r == 't' || r == 'r' || r == ' ' || r == '-' || r == '(' || r == ')' || r == '/':
			w += 0.37
		case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@':
			w += 0.88
		case unicode.IsUpper(r):
			w += 0.7
		default:
			w += 0.58
		}
	}
	return w * size
}
