package config

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Net is a hand-written net as the file has it. Package gate interprets it and
// decides whether it is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Transitions    []Transition
	Map            []Map
	Match          string // "" or "all": every matching entry of Map; "first": only the first
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Validate       []Validator
	Remember       []Memory
	Scope          string // "" or "session", "principal", "global"
	Shadow         bool
	Position       Position

	// How the net takes part in the list of tools; see package gate.
	Priority int
	Class    string         // "" or "required", "advisory"
	Recovery map[string]int // nil: never

	origin
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
	Weak            string // "" or "block"; "progress": a weak name can make the net progress
	Via             string // of a manual one: the channel that asks; "": any
	Unless          []string
	Position        Position

	origin
}

// A Map is one entry of [Net.Map]. Exactly one of Word, Pattern, Runs and When
// is set; the last has no Field.
type Map struct {
	Tool     string
	Field    string // a key of the arguments, or a path that begins with "$."
	Word     string
	Pattern  string   // RE2
	Runs     []string // the words of a command
	When     Expression
	As       string
	Position Position

	origin
}

// ParseNet reads nets: one net (a mapping), a list of nets, or a mapping with
// the single key "nets". The bytes are YAML or JSON; name is the file of the
// positions. The error is an [ErrorList].
func ParseNet(name string, src []byte) ([]Net, error) {
	d := &decoder{source: &source{name: name}}
	nets := readNetFile(d, src)
	if len(d.errs) > 0 {
		d.errs.Sort()
		return nil, d.errs
	}
	return nets, nil
}

func readNetFile(d *decoder, src []byte) []Net {
	n := d.read(src)
	switch {
	case len(d.errs) > 0:
		return nil
	case n == nil:
		d.add(1, 1, "the file contains no net", "")
		return nil
	case n.kind == mapKind && n.get("nets") != nil:
		var nets []Net
		d.mapping(n, "a file of nets", keys{"nets": func(_, value *node) { nets = readNetList(d, value) }})
		return nets
	case n.kind == listKind:
		return readNetList(d, n)
	default:
		return []Net{readNet(d, n)}
	}
}

func readNetList(d *decoder, n *node) []Net {
	if !d.is(n, listKind, `"nets"`) {
		return nil
	}
	var nets []Net
	for _, item := range n.items {
		nets = append(nets, readNet(d, item))
	}
	return nets
}

func readNet(d *decoder, n *node) Net {
	net := Net{Position: d.position(n), origin: origin{d.source, n}}
	d.mapping(n, "a net", netKeys(d, &net))
	if n.kind != mapKind {
		return net
	}
	if n.get("name") == nil {
		d.at(n, `a net needs a "name"`, "")
	}
	checkPlaces(d, n, &net)
	checkProofs(d, &net)
	checkHooks(d, n, &net)
	return net
}

func netKeys(d *decoder, net *Net) keys {
	return keys{
		"name":           d.filled(&net.Name),
		"places":         d.list(&net.Places),
		"initialMarking": readMarking(d, &net.InitialMarking),
		"terminalPlaces": d.list(&net.TerminalPlaces),
		"freeTools":      d.list(&net.FreeTools),
		"transitions":    readTransitions(d, &net.Transitions),
		"map":            readMaps(d, &net.Map),
		"match":          d.oneOf(&net.Match, []string{"all", "first"}, nil),
		"reason":         d.filled(&net.Reason),
		"allowUnbounded": d.flag(&net.AllowUnbounded),
		"prove":          readProofs(d, &net.Prove),
		"validate":       readValidators(d, &net.Validate),
		"remember":       readMemories(d, &net.Remember),
		"scope":          d.oneOf(&net.Scope, []string{"session", "principal", "global"}, nil),
		"shadow":         d.flag(&net.Shadow),
		"priority":       d.integer(&net.Priority),
		"class":          d.oneOf(&net.Class, []string{"required", "advisory"}, nil),
		"recovery":       readRecovery(d, &net.Recovery),
	}
}

func readMarking(d *decoder, to *map[string]int) func(key, value *node) {
	return func(key, value *node) {
		*to = make(map[string]int, len(value.fields))
		d.each(value, quoted(key), func(place, tokens *node) {
			if v, ok := d.count(tokens, "the tokens of "+quoted(place)); ok {
				(*to)[place.text] = v
			}
		})
	}
}

// readRecovery reads a marking that is not empty.
func readRecovery(d *decoder, to *map[string]int) func(key, value *node) {
	return func(key, value *node) {
		readMarking(d, to)(key, value)
		if value.kind == mapKind && len(value.fields) == 0 {
			d.at(value, quoted(key)+" is empty, and would hold always", "name the places that are marked then")
		}
	}
}

func readTransitions(d *decoder, to *[]Transition) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		seen := make(map[string]*node, len(value.items))
		for _, item := range value.items {
			t := readTransition(d, item)
			if earlier := seen[t.Name]; earlier != nil && t.Name != "" {
				d.at(item.get("name"), fmt.Sprintf("duplicate transition %q", t.Name),
					fmt.Sprintf("the first is at %d:%d", earlier.line, earlier.column))
			}
			seen[t.Name] = item
			*to = append(*to, t)
		}
	}
}

func readTransition(d *decoder, n *node) Transition {
	t := Transition{Position: d.position(n), origin: origin{d.source, n}}
	d.mapping(n, "a transition", keys{
		"name":     d.filled(&t.Name),
		"type":     d.oneOf(&t.Type, []string{"auto", "manual"}, nil),
		"inputs":   d.list(&t.Inputs),
		"outputs":  d.list(&t.Outputs),
		"tools":    d.list(&t.Tools),
		"deferred": d.flag(&t.Deferred),
		"observe":  d.flag(&t.Observe),
		"unknown":  d.oneOf(&t.Unknown, []string{"hold", "release"}, nil),
		"weak":     d.oneOf(&t.Weak, []string{"block", "progress"}, nil),
		"via":      d.oneOf(&t.Via, approvalChannels, laterChannels),
		"unless":   d.list(&t.Unless),
	})
	if n.kind == mapKind && n.get("name") == nil {
		d.at(n, `a transition needs a "name"`, "")
	}
	if via := n.get("via"); via != nil && t.Type != "manual" {
		d.at(via, `"via" has no meaning for a transition that asks nobody`, "type: manual")
	}
	if unless := n.get("unless"); unless != nil && len(t.Tools) == 0 {
		d.at(unless, `"unless" has no meaning for a transition without tools`, "")
	}
	return t
}

func readMaps(d *decoder, to *[]Map) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, listKind, quoted(key)) {
			return
		}
		for _, item := range value.items {
			*to = append(*to, readMap(d, item))
		}
	}
}

func readMap(d *decoder, n *node) Map {
	m := Map{Position: d.position(n), origin: origin{d.source, n}}
	d.mapping(n, "an entry of \"map\"", keys{
		"tool":    d.filled(&m.Tool),
		"field":   d.text(&m.Field),
		"word":    d.filled(&m.Word),
		"pattern": d.filled(&m.Pattern),
		"as":      d.filled(&m.As),
		"runs":    readWords(d, &m.Runs),
		"when":    readExpression(d, &m.When),
	})
	if n.kind == mapKind {
		checkMap(d, n)
	}
	return m
}

// ofShells are characters that a shell interprets.
const ofShells = "\"'\\`$|&;<>()\n"

// readWords reads the words of a command: a list, or plain words with blanks between
// them. It refuses text that a shell would interpret.
func readWords(d *decoder, to *[]string) func(key, value *node) {
	return func(key, value *node) {
		if value.kind == listKind {
			checkNotEmpty(d, key, value)
			d.list(to)(key, value)
			return
		}
		var text string
		d.filled(&text)(key, value)
		if i := strings.IndexAny(text, ofShells); i >= 0 {
			d.at(value, fmt.Sprintf("%q: %q is not read as a shell would", key.text, text[i:i+1]),
				`write the words as a list, each as it is: runs: [git, commit, -m, "two words"]`)
		}
		*to = strings.Fields(text)
		if text != "" && len(*to) == 0 {
			d.at(value, quoted(key)+" is empty", "")
		}
	}
}

// readings are the keys for the pattern of an entry of "map". Read-only.
var readings = []string{"word", "pattern", "runs", "when"}

func checkMap(d *decoder, n *node) {
	const what = "an entry of \"map\""
	required := []string{"tool", "field", "as"}
	if n.get("when") != nil {
		required = []string{"tool", "as"}
		if field := n.get("field"); field != nil {
			d.at(field, `"when" looks at the whole call and not at a field`, "leave field out")
		}
	}
	d.needs(n, what, required...)
	found := 0
	for _, key := range readings {
		if n.get(key) != nil {
			found++
		}
	}
	if found != 1 {
		d.at(n, what+` needs one of "word", "pattern", "runs" and "when"`, "")
	}
}

// checkPlaces finds places that the net does not have. Package gate finds
// them too; only here is the place in the file known.
func checkPlaces(d *decoder, n *node, net *Net) {
	known := make(map[string]bool, len(net.Places))
	for _, place := range net.Places {
		known[place] = true
	}
	check := func(place *node) {
		if place.kind == textKind && !known[place.text] {
			d.at(place, fmt.Sprintf("unknown place %q", place.text), text.Suggest(place.text, net.Places))
		}
	}
	for _, key := range []string{"initialMarking", "recovery"} {
		if marking := n.get(key); marking != nil {
			for _, f := range marking.fields {
				check(f.key)
			}
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
