package toolnet

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/text"
)

// maxKeys is the maximum number of keys in a net, including the net's own key.
const maxKeys = 64

// keys checks the keys of the net and its transitions. It also reports an error for each option
// that a net with a key cannot have.
func (c *checker) keys() {
	n := c.net
	size, keyed, keys := len(n.Key), len(n.Key) > 0, 0
	for i := range n.Transitions {
		if key := n.Transitions[i].Key; len(key) > 0 {
			keyed, keys = true, keys+1
			if size == 0 {
				size = len(key)
			}
		}
	}
	if !keyed {
		return
	}
	if n.Row {
		c.report("", "the net counts calls in a row but has a key", "omit the key: calls in a row are equal in all arguments")
	}
	if len(n.Phases) > 0 {
		c.report("", "the net has both phases and a key", "put the phases in their own net: a call without a value is in no phase")
	}
	c.fields("", n.Key)
	for i := range n.Transitions {
		c.key(&n.Transitions[i], size)
	}
	c.results()
	if keys >= maxKeys {
		c.report("", fmt.Sprintf("%d transitions have their own keys", keys), fmt.Sprintf("use at most %d", maxKeys-1))
	}
}

// key reports an error if the key of transition t is missing or not allowed, does not have the
// given number of fields, or has a field that cannot be read.
func (c *checker) key(t *Transition, size int) {
	key := c.net.KeyOf(t)
	switch {
	case len(t.Tools) == 0 && len(t.Key) > 0:
		c.report(t.Name, "the transition has a key but no tools", "a key is read from calls, so give the transition tools")
	case len(t.Tools) == 0:
	case len(key) == 0:
		c.report(t.Name, "the transition has no key, but others in the net have one", "give the net a key, or every transition with tools")
	case len(key) != size:
		c.report(t.Name, fmt.Sprintf("the key has %s, but that of other transitions has %d", text.Count(len(key), "field"), size), "all keys of a net need the same number of fields")
	}
	c.fields(t.Name, t.Key)
	for i := range key {
		if key[i].Result && !(t.Observe && t.Deferred) {
			c.report(t.Name, fmt.Sprintf("%q reads the result", key[i].Name()), "only a deferred observer knows the result: the verdict comes before it")
		}
	}
}

// results reports an error if two transitions read key values from the results of the same tool. A
// call counts only for the first enabled transition. Which one is enabled can depend on the key
// value, but the gate does not know the value until the call has ended. The gate could therefore
// not always choose the transition.
func (c *checker) results() {
	reads := func(f Field) bool { return f.Result }
	var before []*Transition
	for i := range c.net.Transitions {
		t := &c.net.Transitions[i]
		if !slices.ContainsFunc(c.net.KeyOf(t), reads) {
			continue
		}
		for _, u := range before {
			if u.meets(t) {
				c.report(t.Name, fmt.Sprintf("the transition and %q read the result of the same tool", u.Name), "put one of them in its own net")
			}
		}
		before = append(before, t)
	}
}

// meets reports whether a single name could match the tools of both transitions. It assumes that
// any two patterns could match the same name.
func (t *Transition) meets(u *Transition) bool {
	return slices.ContainsFunc(t.Tools, func(a Tool) bool {
		return slices.ContainsFunc(u.Tools, func(b Tool) bool {
			switch {
			case a.Kind == Glob && b.Kind == Glob:
				return true
			case a.Kind == Glob:
				return MatchGlob(a.Name, b.Name)
			default:
				return a.Name == b.Name || b.Kind == Glob && MatchGlob(b.Name, a.Name)
			}
		})
	})
}

// fields reports an error for each incorrect field of a key; see [Field.fault].
func (c *checker) fields(transition string, key []Field) {
	for i := range key {
		if msg := key[i].fault(); msg != "" {
			c.report(transition, msg, "")
		}
	}
}

// fault describes the error in a field, or returns "" if the field is correct.
func (f *Field) fault() string {
	switch {
	case f.Path == "" && f.Reader == nil:
		return "a field has no path"
	case f.Path != "" && f.Reader != nil:
		return fmt.Sprintf("the field %q has both a path and an expression", f.Name())
	case f.Result && f.Reader != nil:
		return fmt.Sprintf("the expression %q cannot read the result", f.Name())
	}
	if jsonpath.IsPath(f.Path) {
		if _, err := ParsePath(f.Path); err != nil {
			return fmt.Sprintf("the path %q: %v", f.Path, err)
		}
	}
	return ""
}
