package config

import (
	"fmt"
	"strings"
)

// A Validator is an element of [Net.Validate]: a condition on the calls that have one of the names
// in Tools.
type Validator struct {
	Tools    []string
	Require  Expression
	Reason   Expression // reason for rejecting a call: a sentence that can contain expressions in braces; may be empty
	Position Position
}

// A Memory is an element of [Net.Remember]: a value that the net stores when a transition succeeds.
type Memory struct {
	Transition string
	Set        string // key of the value in the CEL variable meta
	To         Expression
	Position   Position
}

func readValidator(v Value) (Validator, bool) {
	v = v.named(v.label())
	r := Validator{Position: v.Position()}
	v.Fields(Keys{
		"tools":   into(&r.Tools, listOf(Value.plain)),
		"require": into(&r.Require, readExpression),
		"reason":  into(&r.Reason, readExpression),
	})
	v.needs("tools", "require")
	if tools := v.get("tools"); tools != nil && tools.kind == listKind && len(tools.items) == 0 {
		v.faultAt(tools, `"tools" is empty, so the entry never applies`, "")
	}
	return r, true
}

func readMemory(v Value) (Memory, bool) {
	v = v.named(v.label())
	m := Memory{Position: v.Position()}
	v.Fields(Keys{"transition": into(&m.Transition, Value.Text), "set": into(&m.Set, readMetaKey), "to": into(&m.To, readExpression)})
	v.needs("transition", "set", "to")
	return m, true
}

// Reserved is the prefix of the keys that only petrigate sets in the CEL variable meta.
const Reserved = "petrigate:"

func readMetaKey(v Value) (string, bool) {
	text, ok := v.Text()
	if strings.HasPrefix(text, Reserved) {
		v.Fault(fmt.Sprintf("keys that begin with %q are reserved", Reserved), "")
	}
	return text, ok
}
