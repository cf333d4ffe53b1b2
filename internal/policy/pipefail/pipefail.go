// Package pipefail puts `set -o pipefail` in front of a script whose success is evidence with it and is none
// without it, as that of
//
//	npm test 2>&1 | tail -30
package pipefail

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Prefix is what a script begins with then. Bash and zsh know the option; for other shells it is an error.
const Prefix = "set -o pipefail; "

// field is the argument that has the script, for the shells of all agents.
const field = "command"

// Add returns the arguments of the call with Prefix in front of its script. It reports false where that would
// make no name of the call evidence that a net of the policy waits for.
func Add(p *gate.Policy, c gate.Call) (args []byte, ok bool) {
	value, _ := rawjson.Member(c.Args, field)
	script, isText := rawjson.String(value)
	if !isText || !strings.Contains(script, "|") {
		return nil, false
	}
	before := p.Unproved(c)
	if len(before) == 0 {
		return nil, false
	}
	c.Args = prefixed(c.Args)
	if len(p.Unproved(c)) >= len(before) {
		return nil, false
	}
	return c.Args, true
}

// Script returns the script of the arguments of a call; empty: there is none.
func Script(args []byte) string {
	value, _ := rawjson.Member(args, field)
	script, _ := rawjson.String(value)
	return script
}

// prefixed returns the arguments with Prefix in front of their script. All other bytes stay, so that what an agent
// says of the call afterwards is equal to them.
func prefixed(args []byte) []byte {
	var all []byte
	rawjson.Members(args, func(key, value []byte, at int) bool {
		if string(key) == field {
			all = slices.Concat(args[:at], value[:1], []byte(Prefix), value[1:], args[at+len(value):])
		}
		return all == nil
	})
	return all
}
