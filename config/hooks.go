package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Validator is one entry of [Net.Validate]: a condition on the calls that the net
// gates under one of the names.
type Validator struct {
	Tools    []string
	Require  Expression
	Reason   Expression // a sentence with {expressions}; may be empty
	Position Position
}

// A Memory is one entry of [Net.Remember]: a value that the net keeps when a
// transition succeeds.
type Memory struct {
	Transition string
	Set        string // the key in meta
	To         Expression
	Position   Position
}

func readValidator(v Value) (Validator, bool) {
	v = v.as(v.called())
	r := Validator{Position: v.Position()}
	v.Fields(Keys{
		"tools":   into(&r.Tools, each(Value.plain)),
		"require": into(&r.Require, readExpression),
		"reason":  into(&r.Reason, readExpression),
	})
	v.needs("tools", "require")
	if tools := v.get("tools"); tools != nil && tools.kind == listKind && len(tools.items) == 0 {
		v.at(tools, `"tools" is empty, and the entry would hold for nothing`, "")
	}
	return r, true
}

func readMemory(v Value) (Memory, bool) {
	v = v.as(v.called())
	m := Memory{Position: v.Position()}
	v.Fields(Keys{"transition": into(&m.Transition, Value.Text), "set": into(&m.Set, readMetaKey), "to": into(&m.To, readExpression)})
	v.needs("transition", "set", "to")
	return m, true
}

// Reserved is the prefix of the keys of meta that petrigate sets itself.
const Reserved = "petrigate:"

func readMetaKey(v Value) (string, bool) {
	text, ok := v.Text()
	if strings.HasPrefix(text, Reserved) {
		v.Fault(fmt.Sprintf("the keys that begin with %q are ours", Reserved), "")
	}
	return text, ok
}

// checkHooks finds validators and memories about names that the net does not have:
// they would never run, and the calls that they should forbid would pass.
func checkHooks(v Value, net *Net) {
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
			v.at(key, fmt.Sprintf("%q is set twice on the success of %q", key.text, name.text), firstAt(v.position(first)))
		}
		set[name.text+"\x00"+key.text] = key
	}
}

// selfLoop is a hint: how a net validates a tool without counting its calls.
const selfLoop = "one whose outputs are its inputs changes nothing"

// checkGated requires a transition that can forbid the tool.
func checkGated(v Value, tool *node, net *Net, gated, observed []string) {
	switch {
	case tool.kind != textKind || tool.text == "":
	case slices.Contains(net.FreeTools, tool.text):
		v.at(tool, fmt.Sprintf("%q is a free tool of the net, and those are not validated", tool.text),
			"leave it out of freeTools, and name it in the tools of a transition; "+selfLoop)
	case slices.Contains(gated, tool.text):
	case slices.Contains(observed, tool.text):
		v.at(tool, fmt.Sprintf("the net only observes %q, and an observer forbids nothing", tool.text), "name it in the tools of another transition")
	default:
		v.at(tool, fmt.Sprintf("no transition of the net has the tool %q", tool.text),
			cmp.Or(text.Suggest(tool.text, gated), "name it in the tools of a transition; "+selfLoop))
	}
}

// checkSucceeds requires that the transition exists and is told of successes.
func checkSucceeds(v Value, name *node, net *Net) {
	var known []string
	for _, t := range net.Transitions {
		if t.Name == name.text {
			if !t.Deferred {
				v.at(name, fmt.Sprintf("the transition %q does not wait for the result, so nothing is remembered", t.Name), "deferred: true")
			}
			return
		}
		known = append(known, t.Name)
	}
	hint := text.Suggest(name.text, known)
	if hint == "" && len(known) > 0 {
		hint = "transitions: " + strings.Join(known, ", ")
	}
	v.at(name, fmt.Sprintf("unknown transition %q", name.text), hint)
}
