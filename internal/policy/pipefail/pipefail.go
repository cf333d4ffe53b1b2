// Package pipefail adds `set -o pipefail` to scripts whose success counts toward the requirements
// of a policy only with this option. Without it, a pipe hides the exit code of the command, for
// example in
//
//	npm test 2>&1 | tail -30
package pipefail

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Prefix is the command that is inserted before a script. Bash and zsh support this command; in
// other shells, it is an error.
const Prefix = "set -o pipefail; "

// field is the name of the argument that contains the script. The shell tools of all agents use
// this name.
const field = "command"

// Add inserts Prefix before the script in the arguments of a call and returns the new arguments. ok
// is true only if Prefix makes the success of the call count toward more requirements.
func Add(p *gate.Policy, c gate.Call) (args []byte, ok bool) {
	if !strings.Contains(Script(c.Args), "|") {
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

// Script returns the script in the arguments of a call, or the empty string.
func Script(args []byte) string {
	value, _ := rawjson.Member(args, field)
	script, _ := rawjson.String(value)
	return script
}

// prefixed inserts Prefix before the script and returns the new arguments. It leaves all other
// bytes unchanged, so that the result is identical to the arguments that an agent reports after the
// call.
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
