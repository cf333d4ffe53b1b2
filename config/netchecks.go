package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// checkPlaces reports references to places that the net does not have. Package gate checks this,
// too, but does not know the positions in the file.
func checkPlaces(v Value, net *Net) {
	known := make(map[string]bool, len(net.Places))
	for _, place := range net.Places {
		known[place] = true
	}
	var places []*node
	for _, key := range []string{"initialMarking", "recovery", "allow"} {
		for _, f := range v.get(key).entries() {
			places = append(places, f.key)
		}
	}
	places = append(places, v.get("terminalPlaces").list()...)
	for _, t := range v.get("transitions").list() {
		places = append(append(places, t.get("inputs").list()...), t.get("outputs").list()...)
	}
	for _, place := range places {
		if place.kind == textKind && !known[place.text] {
			v.faultAt(place, fmt.Sprintf("unknown place %q", place.text), text.Suggest(place.text, net.Places))
		}
	}
}

// checkProofs reports an error if a claim in "prove" names a place that the net does not have.
func checkProofs(v Value, net *Net) {
	for _, p := range net.Prove {
		for _, place := range p.Places {
			if !slices.Contains(net.Places, place) {
				v.faultAtPosition(p.Position, fmt.Sprintf("unknown place %q", place), text.Suggest(place, net.Places))
			}
		}
	}
}

// checkValidatorsAndMemories reports entries of "validate" and "remember" with a tool or transition
// that the net does not have. Such entries would have no effect, so calls that a validator should
// reject would be admitted.
func checkValidatorsAndMemories(v Value, net *Net) {
	var gated, observed []string
	for _, t := range net.Transitions {
		if t.Observe {
			observed = append(observed, t.Tools...)
		} else {
			gated = append(gated, t.Tools...)
		}
	}
	for _, entry := range v.get("validate").list() {
		for _, tool := range entry.get("tools").list() {
			checkGated(v, tool, net, gated, observed)
		}
	}
	set := make(map[string]*node)
	for _, entry := range v.get("remember").list() {
		name, key := entry.get("transition"), entry.get("set")
		if name == nil || name.kind != textKind {
			continue
		}
		checkSucceeds(v, name, net)
		if key == nil || key.kind != textKind {
			continue
		}
		if first := set[name.text+"\x00"+key.text]; first != nil {
			v.faultAt(key, fmt.Sprintf("%q is set twice when %q succeeds", key.text, name.text), firstAt(v.position(first)))
		}
		set[name.text+"\x00"+key.text] = key
	}
}

// selfLoopHint explains how a net can validate the calls to a tool without changing its marking.
const selfLoopHint = "add one whose outputs are its inputs; it changes nothing"

// checkGated reports an error if a validator for the tool would have no effect. This is the case if
// the net lists the tool in freeTools, or if it has no transition that can forbid calls to the
// tool.
func checkGated(v Value, tool *node, net *Net, gated, observed []string) {
	switch {
	case tool.kind != textKind || tool.text == "":
	case slices.Contains(net.FreeTools, tool.text):
		v.faultAt(tool, fmt.Sprintf("%q is a free tool in the net, and free tools are not validated", tool.text),
			"remove it from freeTools, and name it in the tools of a transition; "+selfLoopHint)
	case slices.Contains(gated, tool.text):
	case slices.Contains(observed, tool.text):
		v.faultAt(tool, fmt.Sprintf("the net only observes %q, and an observer refuses nothing", tool.text), "name it in the tools of another transition")
	default:
		v.faultAt(tool, fmt.Sprintf("no transition of the net has the tool %q", tool.text),
			cmp.Or(text.Suggest(tool.text, gated), "name it in the tools of a transition; "+selfLoopHint))
	}
}

// checkSucceeds reports an error if the transition does not exist or is not deferred. Only a
// deferred transition waits for the outcome of a call, so only such a transition can depend on
// success.
func checkSucceeds(v Value, name *node, net *Net) {
	var known []string
	for _, t := range net.Transitions {
		if t.Name == name.text {
			if !t.Deferred {
				v.faultAt(name, fmt.Sprintf("the transition %q does not wait for the result, so it remembers nothing", t.Name), "deferred: true")
			}
			return
		}
		known = append(known, t.Name)
	}
	hint := text.Suggest(name.text, known)
	if hint == "" && len(known) > 0 {
		hint = "transitions: " + strings.Join(known, ", ")
	}
	v.faultAt(name, fmt.Sprintf("unknown transition %q", name.text), hint)
}
