package config

import (
	"fmt"
	"regexp/syntax"
	"slices"
)

// A Net is a hand-written net as the file has it. What it means, and whether
// it is sound, is decided by package gate.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Transitions    []Transition
	Map            []Map
	Match          string // "" or "all": every matching entry of Map; "first": the first alone
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Position       Position
}

// A Transition is one entry of [Net.Transitions].
type Transition struct {
	Name            string
	Type            string // "auto", "manual"; "" is "auto"
	Inputs, Outputs []string
	Tools           []string
	Deferred        bool
	Observe         bool
	Unknown         string // "" or "hold"; "release": an unknown outcome gives the tokens back
	Position        Position
}

// A Map is one entry of [Net.Map]. Exactly one of Word and Pattern is set.
type Map struct {
	Tool     string
	Field    string
	Word     string
	Pattern  string // RE2
	As       string
	Position Position
}

// ParseNet reads nets: one net (a mapping), a list of nets, or a mapping with
// the single key "nets". The bytes are YAML or JSON; name is the file of the
// positions. The error is an [ErrorList].
func ParseNet(name string, src []byte) ([]Net, error) {
	d := &decoder{source: &source{name: name}}
	nets := d.netFile(src)
	if len(d.errs) > 0 {
		d.errs.sorted()
		return nil, d.errs
	}
	return nets, nil
}

func (d *decoder) netFile(src []byte) []Net {
	n := d.read(src)
	switch {
	case len(d.errs) > 0:
		return nil
	case n == nil:
		d.add(1, 1, "the file holds no net", "")
		return nil
	case n.kind == mapKind && n.get("nets") != nil:
		var nets []Net
		d.mapping(n, "a file of nets", keys{"nets": func(_, value *node) { nets = d.netList(value) }})
		return nets
	case n.kind == listKind:
		return d.netList(n)
	default:
		return []Net{d.net(n)}
	}
}

func (d *decoder) netList(n *node) []Net {
	if !d.is(n, listKind, `"nets"`) {
		return nil
	}
	var nets []Net
	for _, item := range n.items {
		nets = append(nets, d.net(item))
	}
	return nets
}

func (d *decoder) net(n *node) Net {
	net := Net{Position: d.position(n)}
	d.mapping(n, "a net", d.netKeys(&net))
	if n.kind != mapKind {
		return net
	}
	if n.get("name") == nil {
		d.at(n, `a net needs a "name"`, "")
	}
	d.checkPlaces(n, &net)
	d.checkProofs(&net)
	return net
}

func (d *decoder) netKeys(net *Net) keys {
	return keys{
		"name":           d.filled(&net.Name),
		"places":         d.list(&net.Places),
		"initialMarking": d.marking(&net.InitialMarking),
		"terminalPlaces": d.list(&net.TerminalPlaces),
		"freeTools":      d.list(&net.FreeTools),
		"transitions":    d.transitions(&net.Transitions),
		"map":            d.maps(&net.Map),
		"match":          d.oneOf(&net.Match, []string{"all", "first"}, nil),
		"reason":         d.filled(&net.Reason),
		"allowUnbounded": d.flag(&net.AllowUnbounded),
		"prove":          d.proofs(&net.Prove),

		"validate": d.later, "remember": d.later, "scope": d.later, "priority": d.later, "class": d.later,
		"recovery": d.later, "shadow": d.later,
	}
}

func (d *decoder) marking(to *map[string]int) func(key, value *node) {
	return func(key, value *node) {
		*to = make(map[string]int, len(value.fields))
		d.each(value, quoted(key), func(place, tokens *node) {
			if v, ok := d.count(tokens, "the tokens of "+quoted(place)); ok {
				(*to)[place.text] = v
			}
		})
	}
}

func (d *decoder) transitions(to *[]Transition) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		seen := make(map[string]*node, len(value.items))
		for _, item := range value.items {
			t := d.transition(item)
			if earlier := seen[t.Name]; earlier != nil && t.Name != "" {
				d.at(item.get("name"), fmt.Sprintf("duplicate transition %q", t.Name),
					fmt.Sprintf("the first is at %d:%d", earlier.line, earlier.column))
			}
			seen[t.Name] = item
			*to = append(*to, t)
		}
	}
}

func (d *decoder) transition(n *node) Transition {
	t := Transition{Position: d.position(n)}
	d.mapping(n, "a transition", keys{
		"name":     d.filled(&t.Name),
		"type":     d.oneOf(&t.Type, []string{"auto", "manual"}, nil),
		"inputs":   d.list(&t.Inputs),
		"outputs":  d.list(&t.Outputs),
		"tools":    d.list(&t.Tools),
		"deferred": d.flag(&t.Deferred),
		"observe":  d.flag(&t.Observe),
		"unknown":  d.oneOf(&t.Unknown, []string{"hold", "release"}, nil),
	})
	if n.kind == mapKind && n.get("name") == nil {
		d.at(n, `a transition needs a "name"`, "")
	}
	return t
}

func (d *decoder) maps(to *[]Map) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		for _, item := range value.items {
			*to = append(*to, d.mapEntry(item))
		}
	}
}

func (d *decoder) mapEntry(n *node) Map {
	m := Map{Position: d.position(n)}
	d.mapping(n, "an entry of \"map\"", keys{
		"tool":    d.filled(&m.Tool),
		"field":   d.text(&m.Field),
		"word":    d.filled(&m.Word),
		"pattern": d.filled(&m.Pattern),
		"as":      d.filled(&m.As),
		"runs":    d.later,
		"when":    d.later,
	})
	if n.kind != mapKind || n.get("runs") != nil || n.get("when") != nil {
		return m
	}
	for _, key := range []string{"tool", "field", "as"} {
		if n.get(key) == nil {
			d.at(n, fmt.Sprintf("an entry of \"map\" needs %q", key), "")
		}
	}
	if (n.get("word") == nil) == (n.get("pattern") == nil) {
		d.at(n, `an entry of "map" needs one of "word" and "pattern"`, "")
	}
	if p := n.get("pattern"); p != nil && p.kind == textKind {
		if _, err := syntax.Parse(p.text, syntax.Perl); err != nil {
			d.at(p, err.Error(), "patterns are RE2")
		}
	}
	return m
}

// checkPlaces finds places that the net does not have. Package gate finds
// them too; only here is the place in the file known.
func (d *decoder) checkPlaces(n *node, net *Net) {
	known := make(map[string]bool, len(net.Places))
	for _, place := range net.Places {
		known[place] = true
	}
	check := func(place *node) {
		if place.kind == textKind && !known[place.text] {
			d.at(place, fmt.Sprintf("unknown place %q", place.text), suggest(place.text, slices.Clone(net.Places)))
		}
	}
	if marking := n.get("initialMarking"); marking != nil {
		for _, f := range marking.fields {
			check(f.key)
		}
	}
	d.checkEach(n.get("terminalPlaces"), check)
	if transitions := n.get("transitions"); transitions != nil {
		for _, t := range transitions.items {
			d.checkEach(t.get("inputs"), check)
			d.checkEach(t.get("outputs"), check)
		}
	}
}

func (d *decoder) checkEach(list *node, check func(*node)) {
	if list == nil {
		return
	}
	for _, item := range list.items {
		check(item)
	}
}
