package netfile

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/petri"
)

// The names of the format.
const (
	pnmlSpace = "http://www.pnml.org/version-2009/grammar/pnml"
	pnmlType  = "http://www.pnml.org/version-2009/grammar/ptnet"
)

type pnmlDocument struct {
	XMLName xml.Name  `xml:"pnml"`
	Nets    []pnmlNet `xml:"net"`
}

type pnmlNet struct {
	ID   string   `xml:"id,attr"`
	Type string   `xml:"type,attr"`
	Name pnmlText `xml:"name"`
	pnmlPage
}

// pnmlPage has the elements of a net and of each of its pages. Pages nest.
type pnmlPage struct {
	Pages          []pnmlPage `xml:"page"`
	Places         []pnmlNode `xml:"place"`
	Transitions    []pnmlNode `xml:"transition"`
	RefPlaces      []pnmlNode `xml:"referencePlace"`
	RefTransitions []pnmlNode `xml:"referenceTransition"`
	Arcs           []pnmlArc  `xml:"arc"`
	pnmlRest
}

// pnmlRest has the other attributes and children of an element.
type pnmlRest struct {
	Attributes []xml.Attr    `xml:",any,attr"`
	Elements   []pnmlElement `xml:",any"`
}

type pnmlElement struct{ XMLName xml.Name }

// foreign is something in the element that could mean more than a
// place/transition net can hold, such as another kind of arc or a capacity;
// empty if there is none. What only says how it looks, and what the format
// leaves to tools, is not.
func (r pnmlRest) foreign() string {
	for _, e := range r.Elements {
		if !slices.Contains(pnmlLooks, e.XMLName.Local) {
			return "<" + e.XMLName.Local + ">"
		}
	}
	for _, a := range r.Attributes {
		if a.Name.Space == "" && slices.Contains(pnmlMeanings, a.Name.Local) && a.Value != "normal" {
			return a.Name.Local + "=" + strconv.Quote(a.Value)
		}
	}
	return ""
}

// Elements without a meaning for what a net does, and attributes by which some
// tools give it one. Read-only.
var (
	pnmlLooks    = []string{"name", "graphics", "toolspecific"}
	pnmlMeanings = []string{"type", "initialMarking", "inscription", "weight", "capacity"}
)

type pnmlNode struct {
	ID      string    `xml:"id,attr"`
	Ref     string    `xml:"ref,attr"`
	Name    pnmlText  `xml:"name"`
	Initial *pnmlText `xml:"initialMarking"`
	pnmlRest
}

type pnmlArc struct {
	ID     string    `xml:"id,attr"`
	Source string    `xml:"source,attr"`
	Target string    `xml:"target,attr"`
	Weight *pnmlText `xml:"inscription"`
	Type   *struct {
		Value string `xml:"value,attr"`
	} `xml:"type"`
	pnmlRest
}

type pnmlText struct {
	Text string `xml:"text"`
}

func readPNML(name string, src []byte) ([]*Net, error) {
	var doc pnmlDocument
	d := xml.NewDecoder(bytes.NewReader(src))
	d.CharsetReader = latin1
	err := d.Decode(&doc)
	if err == nil {
		err = ended(d)
	}
	if err != nil {
		e := diag.Problem{File: name, Msg: err.Error()}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			e.Line, e.Msg = syntax.Line, syntax.Msg
		}
		return nil, e
	}
	var nets []*Net
	for i := range doc.Nets {
		n, err := fromPNML(name, &doc.Nets[i])
		if err != nil {
			return nil, err
		}
		nets = append(nets, n)
	}
	if len(nets) == 0 {
		return nil, diag.Problem{File: name, Msg: "the file contains no net"}
	}
	return nets, nil
}

// latin1 reads a file that declares Latin-1, as some nets of
// the Model Checking Contest do, or in ASCII.
func latin1(charset string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "us-ascii", "ascii":
	default:
		return nil, fmt.Errorf("the file is written in %s; only UTF-8 and ISO-8859-1 can be read", charset)
	}
	src, err := io.ReadAll(r)
	runes := make([]rune, len(src))
	for i, b := range src {
		runes[i] = rune(b)
	}
	return strings.NewReader(string(runes)), err
}

// ended is an error if something comes after the document.
func ended(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			line, _ := d.InputPos()
			return &xml.SyntaxError{Line: line, Msg: fmt.Sprintf("<%s> is after the end of the document", t.Name.Local)}
		case xml.CharData:
			if line, _ := d.InputPos(); len(bytes.TrimSpace(t)) > 0 {
				return &xml.SyntaxError{Line: line, Msg: "text is after the end of the document"}
			}
		}
	}
}

// pnmlReader collects the nodes of all pages.
type pnmlReader struct {
	*builder
	refs  map[string]string // of a reference node
	names map[string]string // of places, by their ids
	in    map[string][]weighted
	out   map[string][]weighted
	kind  map[string]byte // of nodes: p, t
	all   pnmlPage        // everything, without pages
}

func fromPNML(file string, n *pnmlNet) (*Net, error) {
	name := strings.TrimSpace(n.Name.Text)
	if name == "" {
		name = n.ID
	}
	r := &pnmlReader{
		builder: newBuilder(file, name), refs: make(map[string]string), names: make(map[string]string),
		in: make(map[string][]weighted), out: make(map[string][]weighted), kind: make(map[string]byte),
	}
	if n.Type != "" && !strings.HasSuffix(n.Type, "/ptnet") && !strings.HasSuffix(n.Type, "/PTNet") {
		r.fail("the net %q is of the type %q; only place/transition nets can be read", name, n.Type)
	}
	r.collect(&n.pnmlPage)
	r.places()
	r.arcs()
	named := unique(r.all.Transitions)
	for _, t := range r.all.Transitions {
		r.transition(named[t.ID], r.in[t.ID], r.out[t.ID])
	}
	return r.finish()
}

func (r *pnmlReader) collect(p *pnmlPage) {
	if f := p.foreign(); f != "" {
		r.fail("the net has %s, which a place/transition net does not have", f)
	}
	r.all.Places = append(r.all.Places, p.Places...)
	r.all.Transitions = append(r.all.Transitions, p.Transitions...)
	r.all.Arcs = append(r.all.Arcs, p.Arcs...)
	for _, ref := range append(append([]pnmlNode{}, p.RefPlaces...), p.RefTransitions...) {
		r.refs[ref.ID] = ref.Ref
	}
	for i := range p.Pages {
		r.collect(&p.Pages[i])
	}
}

func (r *pnmlReader) places() {
	r.names = unique(r.all.Places)
	for _, p := range r.all.Places {
		r.kind[p.ID] = 'p'
		r.plain("place", p)
		r.place(r.names[p.ID], r.count(p.Initial, 0, "the marking of "+r.names[p.ID]))
	}
	for _, t := range r.all.Transitions {
		if r.kind[t.ID] != 0 {
			r.fail("duplicate id %q", t.ID)
		}
		r.kind[t.ID] = 't'
		r.plain("transition", t)
	}
}

func (r *pnmlReader) plain(kind string, n pnmlNode) {
	if f := n.foreign(); f != "" {
		r.fail("the %s %q has %s, which a place/transition net does not have", kind, n.ID, f)
	}
}

func (r *pnmlReader) arcs() {
	for _, a := range r.all.Arcs {
		if a.Type != nil && a.Type.Value != "normal" {
			r.fail("the arc %q is of the type %q; only normal arcs can be read", a.ID, a.Type.Value)
		}
		if f := a.foreign(); f != "" {
			r.fail("the arc %q has %s, which a place/transition net does not have", a.ID, f)
		}
		w := r.count(a.Weight, 1, "the weight of the arc "+a.ID)
		source, target := r.node(a.Source), r.node(a.Target)
		switch {
		case r.kind[source] == 'p' && r.kind[target] == 't':
			r.in[target] = append(r.in[target], weighted{r.names[source], w})
		case r.kind[source] == 't' && r.kind[target] == 'p':
			r.out[source] = append(r.out[source], weighted{r.names[target], w})
		default:
			r.fail("the arc %q from %q to %q does not join a place and a transition", a.ID, a.Source, a.Target)
		}
	}
}

// node follows references; a circle of them leads nowhere.
func (r *pnmlReader) node(id string) string {
	for range len(r.refs) {
		to, ok := r.refs[id]
		if !ok {
			break
		}
		id = to
	}
	return id
}

func (r *pnmlReader) count(text *pnmlText, none int, what string) int {
	if text == nil {
		return none
	}
	n, err := strconv.Atoi(strings.TrimSpace(text.Text))
	if err != nil {
		r.fail("%s is %q and not a number", what, text.Text)
	}
	return n
}

// unique gives each node its name or, where that is not one of its own, its id.
func unique(nodes []pnmlNode) map[string]string {
	count := make(map[string]int)
	for _, n := range nodes {
		count[strings.TrimSpace(n.Name.Text)]++
		count[n.ID]++
	}
	names := make(map[string]string)
	for _, n := range nodes {
		name := strings.TrimSpace(n.Name.Text)
		if name == "" || count[name] > 1 && !(name == n.ID && count[name] == 2) {
			name = n.ID
		}
		names[n.ID] = name
	}
	return names
}

// WritePNML writes nets as a PNML document.
func WritePNML(w io.Writer, nets []*Net) error {
	b := bufio.NewWriter(w)
	p := &pnmlWriter{Writer: b}
	p.line(0, `<?xml version="1.0" encoding="UTF-8"?>`)
	p.line(0, `<pnml xmlns="%s">`, pnmlSpace)
	for i, n := range nets {
		p.net(i, n)
	}
	p.line(0, `</pnml>`)
	return b.Flush()
}

// pnmlWriter leaves errors to the buffer, which keeps the first.
type pnmlWriter struct{ *bufio.Writer }

func (p *pnmlWriter) line(depth int, format string, args ...any) {
	_, _ = fmt.Fprintf(p, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (p *pnmlWriter) net(i int, n *Net) {
	p.line(1, `<net id="net%d" type="%s">`, i, pnmlType)
	p.line(2, `<name><text>%s</text></name>`, escaped(n.Name))
	p.line(2, `<page id="net%d-page">`, i)
	for place, name := range n.Places {
		marking := ""
		if tokens := n.Initial[place]; tokens > 0 {
			marking = fmt.Sprintf("<initialMarking><text>%d</text></initialMarking>", tokens)
		}
		p.line(3, `<place id="net%d-p%d"><name><text>%s</text></name>%s</place>`, i, place, escaped(name), marking)
	}
	for t, name := range n.Transitions {
		p.line(3, `<transition id="net%d-t%d"><name><text>%s</text></name></transition>`, i, t, escaped(name))
	}
	for t := range n.Petri.Transitions {
		tr := &n.Petri.Transitions[t]
		for _, a := range tr.In {
			p.arc(i, fmt.Sprintf("i%d-%d", t, a.Place), fmt.Sprintf("p%d", a.Place), fmt.Sprintf("t%d", t), a)
		}
		for _, a := range tr.Out {
			p.arc(i, fmt.Sprintf("o%d-%d", t, a.Place), fmt.Sprintf("t%d", t), fmt.Sprintf("p%d", a.Place), a)
		}
	}
	p.line(2, `</page>`)
	p.line(1, `</net>`)
}

func (p *pnmlWriter) arc(net int, id, source, target string, a petri.Arc) {
	weight := ""
	if a.Weight != 1 {
		weight = fmt.Sprintf("<inscription><text>%d</text></inscription>", a.Weight)
	}
	p.line(3, `<arc id="net%d-%s" source="net%d-%s" target="net%d-%s">%s</arc>`, net, id, net, source, net, target, weight)
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
