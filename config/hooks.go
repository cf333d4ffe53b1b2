package config

import (
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

func readValidators(d *decoder, to *[]Validator) func(key, value *node) {
	return func(key, value *node) {
		d.entries(key, value, func(item *node) {
			v := Validator{Position: d.position(item)}
			d.mapping(item, "an entry of \"validate\"", keys{
				"tools":   d.list(&v.Tools),
				"require": readExpression(d, &v.Require),
				"reason":  readExpression(d, &v.Reason),
			})
			d.needs(item, "an entry of \"validate\"", "tools", "require")
			if tools := item.get("tools"); tools != nil && tools.kind == listKind && len(tools.items) == 0 {
				d.at(tools, `"tools" is empty, and the entry would hold for nothing`, "")
			}
			*to = append(*to, v)
		})
	}
}

func readMemories(d *decoder, to *[]Memory) func(key, value *node) {
	return func(key, value *node) {
		d.entries(key, value, func(item *node) {
			m := Memory{Position: d.position(item)}
			d.mapping(item, "an entry of \"remember\"", keys{
				"transition": d.filled(&m.Transition),
				"set":        readMetaKey(d, &m.Set),
				"to":         readExpression(d, &m.To),
			})
			d.needs(item, "an entry of \"remember\"", "transition", "set", "to")
			*to = append(*to, m)
		})
	}
}

// Reserved is the prefix of the keys of meta that petrigate sets itself.
const Reserved = "petrigate:"

func readMetaKey(d *decoder, to *string) func(key, value *node) {
	return func(key, value *node) {
		d.filled(to)(key, value)
		if strings.HasPrefix(*to, Reserved) {
			d.at(value, fmt.Sprintf("the keys that begin with %q are ours", Reserved), "")
		}
	}
}

// entries calls f for each item of a list that is not empty.
func (d *decoder) entries(key, value *node, f func(item *node)) {
	if !d.is(value, listKind, quoted(key)) {
		return
	}
	checkNotEmpty(d, key, value)
	for _, item := range value.items {
		f(item)
	}
}

// needs reports missing keys of a mapping.
func (d *decoder) needs(n *node, what string, names ...string) {
	if n.kind != mapKind {
		return
	}
	for _, name := range names {
		if n.get(name) == nil {
			d.at(n, fmt.Sprintf("%s needs %q", what, name), "")
		}
	}
}

// checkHooks finds validators and memories about names that the net does not have:
// they would never run, and the calls that they should forbid would pass.
func checkHooks(d *decoder, n *node, net *Net) {
	var gated, observed []string
	for _, t := range net.Transitions {
		if t.Observe {
			observed = append(observed, t.Tools...)
		} else {
			gated = append(gated, t.Tools...)
		}
	}
	d.checkEntries(n.get("validate"), func(item *node) {
		d.checkEach(item.get("tools"), func(tool *node) { checkGated(d, tool, net, gated, observed) })
	})
	set := make(map[string]*node)
	d.checkEntries(n.get("remember"), func(item *node) {
		name := item.get("transition")
		if name == nil || name.kind != textKind {
			return
		}
		checkSucceeds(d, name, net)
		key := item.get("set")
		if key == nil || key.kind != textKind {
			return
		}
		if first := set[name.text+"\x00"+key.text]; first != nil {
			d.at(key, fmt.Sprintf("%q is set twice on the success of %q", key.text, name.text), fmt.Sprintf("the first is at %d:%d", first.line, first.column))
		}
		set[name.text+"\x00"+key.text] = key
	})
}

func (d *decoder) checkEntries(list *node, check func(item *node)) {
	d.checkEach(list, func(item *node) {
		if item.kind == mapKind {
			check(item)
		}
	})
}

// checkGated requires a transition that can forbid the tool.
// selfLoop is a hint: how a net validates a tool without counting its calls.
const selfLoop = "one whose outputs are its inputs changes nothing"

func checkGated(d *decoder, tool *node, net *Net, gated, observed []string) {
	switch {
	case tool.kind != textKind || tool.text == "":
	case slices.Contains(net.FreeTools, tool.text):
		d.at(tool, fmt.Sprintf("%q is a free tool of the net, and those are not validated", tool.text), "leave it out of freeTools, and name it in the tools of a transition; "+selfLoop)
	case slices.Contains(gated, tool.text):
	case slices.Contains(observed, tool.text):
		d.at(tool, fmt.Sprintf("the net only observes %q, and an observer forbids nothing", tool.text), "name it in the tools of another transition")
	default:
		hint := text.Suggest(tool.text, gated)
		if hint == "" {
			hint = "name it in the tools of a transition; " + selfLoop
		}
		d.at(tool, fmt.Sprintf("no transition of the net has the tool %q", tool.text), hint)
	}
}

// checkSucceeds requires that the transition exists and is told of successes.
func checkSucceeds(d *decoder, name *node, net *Net) {
	var known []string
	for _, t := range net.Transitions {
		if t.Name == name.text {
			if !t.Deferred {
				d.at(name, fmt.Sprintf("the transition %q does not wait for the result, so nothing is remembered", t.Name), "deferred: true")
			}
			return
		}
		known = append(known, t.Name)
	}
	hint := text.Suggest(name.text, known)
	if hint == "" && len(known) > 0 {
		hint = "transitions: " + strings.Join(known, ", ")
	}
	d.at(name, fmt.Sprintf("unknown transition %q", name.text), hint)
}
