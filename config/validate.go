package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Validator is one entry of [Net.Validate]: a condition on calls that the net gates under one of
// the tool names.
type Validator struct {
	Tools    []string
	Require  Expression
	Reason   Expression // sentence with {expressions}; may be empty
	Position Position
}

// A Memory is one entry of [Net.Remember]: a value that the net stores when a transition succeeds.
type Memory struct {
	Transition string
	Set        string // key in meta
	To         Expression
	Position   Position
}

func readValidator(v Value) (Validator, bool) {
	v = v.as(v.label())
	r := Validator{Position: v.Position()}
	v.Fields(Keys{
		"tools":   into(&r.Tools, each(Value.plain)),
		"require": into(&r.Require, readExpression),
		"reason":  into(&r.Reason, readExpression),
	})
	v.needs("tools", "require")
	if tools := v.get("tools"); tools != nil && tools.kind == listKind && len(tools.items) == 0 {
		v.faultAt(tools, `"tools" is empty, and the entry would hold for nothing`, "")
	}
	return r, true
}

func readMemory(v Value) (Memory, bool) {
	v = v.as(v.label())
	m := Memory{Position: v.Position()}
	v.Fields(Keys{"transition": into(&m.Transition, Value.Text), "set": into(&m.Set, readMetaKey), "to": into(&m.To, readExpression)})
	v.needs("transition", "set", "to")
	return m, true
}

// Reserved is the prefix of meta keys that only petrigate sets.
const Reserved = "petrigate:"

func readMetaKey(v Value) (string, bool) {
	text, ok := v.Text()
	if strings.HasPrefix(text, Reserved) {
		v.Fault(fmt.Sprintf("the keys that begin with %q are ours", Reserved), "")
	}
	return text, ok
}

// checkValidatorsAndMemories reports validators and memories that refer to tools or transitions
// that the net does not have. They would never run, and calls that a validator should forbid would
// pass.
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
			v.faultAt(key, fmt.Sprintf("%q is set twice on the success of %q", key.text, name.text), firstAt(v.position(first)))
		}
		set[name.text+"\x00"+key.text] = key
	}
}

// selfLoopHint explains how a net can validate a tool without counting its calls.
const selfLoopHint = "one whose outputs are its inputs changes nothing"

// checkGated requires a transition that gates the tool, and so can forbid it.
func checkGated(v Value, tool *node, net *Net, gated, observed []string) {
	switch {
	case tool.kind != textKind || tool.text == "":
	case slices.Contains(net.FreeTools, tool.text):
		v.faultAt(tool, fmt.Sprintf("%q is a free tool of the net, and those are not validated", tool.text),
			"leave it out of freeTools, and name it in the tools of a transition; "+selfLoopHint)
	case slices.Contains(gated, tool.text):
	case slices.Contains(observed, tool.text):
		v.faultAt(tool, fmt.Sprintf("the net only observes %q, and an observer forbids nothing", tool.text), "name it in the tools of another transition")
	default:
		v.faultAt(tool, fmt.Sprintf("no transition of the net has the tool %q", tool.text),
			cmp.Or(text.Suggest(tool.text, gated), "name it in the tools of a transition; "+selfLoopHint))
	}
}

// checkSucceeds requires that the transition exists and is deferred: only deferred transitions
// learn whether a call succeeded.
func checkSucceeds(v Value, name *node, net *Net) {
	var known []string
	for _, t := range net.Transitions {
		if t.Name == name.text {
			if !t.Deferred {
				v.faultAt(name, fmt.Sprintf("the transition %q does not wait for the result, so nothing is remembered", t.Name), "deferred: true")
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
