package netfile

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
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

// A pnmlPage contains the elements of a net or of one of its pages. Pages can be nested.
type pnmlPage struct {
	Pages          []pnmlPage `xml:"page"`
	Places         []pnmlNode `xml:"place"`
	Transitions    []pnmlNode `xml:"transition"`
	RefPlaces      []pnmlNode `xml:"referencePlace"`
	RefTransitions []pnmlNode `xml:"referenceTransition"`
	Arcs           []pnmlArc  `xml:"arc"`
	pnmlRest
}

// A pnmlRest contains the attributes and child elements that have no field in the enclosing struct.
type pnmlRest struct {
	Attributes []xml.Attr    `xml:",any,attr"`
	Elements   []pnmlElement `xml:",any"`
}

type pnmlElement struct{ XMLName xml.Name }

// checkRest rejects content that a place/transition net cannot have, such as a capacity or a
// special kind of arc. Graphical and tool-specific content is accepted.
func (r *pnmlReader) checkRest(what string, rest pnmlRest) {
	for _, e := range rest.Elements {
		if !slices.Contains(pnmlCosmetic, e.XMLName.Local) {
			r.fail("%s has <%s>, which a place/transition net does not have", what, e.XMLName.Local)
		}
	}
	for _, a := range rest.Attributes {
		if a.Name.Space == "" && slices.Contains(pnmlSemantic, a.Name.Local) && a.Value != "normal" {
			r.fail("%s has %s=%q, which a place/transition net does not have", what, a.Name.Local, a.Value)
		}
	}
}

// pnmlCosmetic lists child elements that do not affect the behavior of a net. pnmlSemantic lists
// attributes that do. Both variables are read-only.
var (
	pnmlCosmetic = []string{"name", "graphics", "toolspecific"}
	pnmlSemantic = []string{"type", "initialMarking", "inscription", "weight", "capacity"}
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
		err = checkEnd(d)
	}
	if err != nil {
		e := diag.Problem{File: name, Msg: err.Error()}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			e.Line, e.Msg = syntax.Line, syntax.Msg
		}
		return nil, e
	}
	return convertAll(name, doc.Nets, fromPNML)
}

// latin1 decodes a file that is declared to be in Latin-1 or ASCII. Some nets of the Model Checking
// Contest are declared to be in Latin-1.
func latin1(charset string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "us-ascii", "ascii":
	default:
		return nil, fmt.Errorf("the file is written in %s; only UTF-8 and ISO-8859-1 can be read", charset)
	}
	src, err := io.ReadAll(r)
	return strings.NewReader(string(list.Map(src, func(b byte) rune { return rune(b) }))), err
}

// checkEnd returns an error if the document is followed by anything but comments and white space.
func checkEnd(d *xml.Decoder) error {
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

// A pnmlReader collects the nodes and arcs of all pages.
type pnmlReader struct {
	*builder
	refs  map[string]string // IDs of referenced nodes, keyed by the ID of the reference node
	names map[string]string // names of places, keyed by ID
	in    map[string][]weightedArc
	out   map[string][]weightedArc
	kind  map[string]byte // 'p' for a place or 't' for a transition, keyed by ID
	all   pnmlPage        // elements of all pages
}

func fromPNML(file string, n *pnmlNet) (*Net, error) {
	name := cmp.Or(strings.TrimSpace(n.Name.Text), n.ID)
	r := &pnmlReader{
		builder: newBuilder(file, name), refs: make(map[string]string), names: make(map[string]string),
		in: make(map[string][]weightedArc), out: make(map[string][]weightedArc), kind: make(map[string]byte),
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
	r.checkRest("the net", p.pnmlRest)
	r.all.Places = append(r.all.Places, p.Places...)
	r.all.Transitions = append(r.all.Transitions, p.Transitions...)
	r.all.Arcs = append(r.all.Arcs, p.Arcs...)
	for _, ref := range slices.Concat(p.RefPlaces, p.RefTransitions) {
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
		r.checkRest(fmt.Sprintf("the place %q", p.ID), p.pnmlRest)
		r.place(r.names[p.ID], r.count(p.Initial, 0, "the marking of "+r.names[p.ID]))
	}
	for _, t := range r.all.Transitions {
		if r.kind[t.ID] != 0 {
			r.fail("duplicate id %q", t.ID)
		}
		r.kind[t.ID] = 't'
		r.checkRest(fmt.Sprintf("the transition %q", t.ID), t.pnmlRest)
	}
}

func (r *pnmlReader) arcs() {
	for _, a := range r.all.Arcs {
		if a.Type != nil && a.Type.Value != "normal" {
			r.fail("the arc %q is of the type %q; only normal arcs can be read", a.ID, a.Type.Value)
		}
		r.checkRest(fmt.Sprintf("the arc %q", a.ID), a.pnmlRest)
		w := r.count(a.Weight, 1, "the weight of the arc "+a.ID)
		source, target := r.node(a.Source), r.node(a.Target)
		switch {
		case r.kind[source] == 'p' && r.kind[target] == 't':
			r.in[target] = append(r.in[target], weightedArc{r.names[source], w})
		case r.kind[source] == 't' && r.kind[target] == 'p':
			r.out[source] = append(r.out[source], weightedArc{r.names[target], w})
		default:
			r.fail("the arc %q from %q to %q does not join a place and a transition", a.ID, a.Source, a.Target)
		}
	}
}

// node returns the node with the given ID. If the ID belongs to a reference, node returns the node
// that the reference leads to. It follows at most as many references as exist, so that it
// terminates even if they form a cycle.
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
		r.fail("%s is %q, not a number", what, text.Text)
	}
	return n
}

// unique returns a unique name for each node, keyed by ID: the node's name or, if that is empty or
// not unique, the ID itself.
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

// WritePNML writes the nets as a PNML document.
func WritePNML(w io.Writer, nets []*Net) error { return pnmlTemplate.Execute(w, nets) }

// pnmlTemplate is read-only.
var pnmlTemplate = template.Must(template.New("pnml").Funcs(template.FuncMap{"xml": escaped}).Parse(`<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
{{- range $n, $net := .}}
  <net id="net{{$n}}" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <name><text>{{xml $net.Name}}</text></name>
    <page id="net{{$n}}-page">
{{- range $p, $name := $net.Places}}
      <place id="net{{$n}}-p{{$p}}"><name><text>{{xml $name}}</text></name>
{{- with index $net.Initial $p}}<initialMarking><text>{{.}}</text></initialMarking>{{end}}</place>
{{- end}}
{{- range $t, $name := $net.Transitions}}
      <transition id="net{{$n}}-t{{$t}}"><name><text>{{xml $name}}</text></name></transition>
{{- end}}
{{- range $t, $transition := $net.Petri.Transitions}}
{{- range $transition.In}}
      <arc id="net{{$n}}-i{{$t}}-{{.Place}}" source="net{{$n}}-p{{.Place}}" target="net{{$n}}-t{{$t}}">{{template "weight" .}}</arc>
{{- end}}
{{- range $transition.Out}}
      <arc id="net{{$n}}-o{{$t}}-{{.Place}}" source="net{{$n}}-t{{$t}}" target="net{{$n}}-p{{.Place}}">{{template "weight" .}}</arc>
{{- end}}
{{- end}}
    </page>
  </net>
{{- end}}
</pnml>
{{define "weight"}}{{if ne .Weight 1}}<inscription><text>{{.Weight}}</text></inscription>{{end}}{{end}}`))

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a bytes.Buffer never fails
	return b.String()
}
