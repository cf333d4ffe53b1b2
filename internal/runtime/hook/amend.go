package hook

import (
	"github.com/petrigate/petrigate/internal/policy/pipefail"
)

// amend changes a call's script if the active policy requires a change and the agent supports it.
// It must be called before the gate decides on the call. It returns the answer to give the agent if
// the gate then admits the call.
func (g *Gate) amend(e *Event) (answer []byte) {
	of := g.Admission.Generation()
	if !of.Pipefail || e.agent.change == nil || !e.isShell() || e.inBackground() {
		return Pass
	}
	tools := g.Tools()
	args, ok := pipefail.Add(of.Policy, e.call(func(name string) bool { return isTool(tools, name) }))
	if !ok {
		return Pass
	}
	if answer = e.agent.change(e, args); answer == nil {
		return Pass
	}
	e.Args = args
	return answer
}

// mismatchWarning returns a warning that a call was made with arguments other than those that the
// gate decided on.
func mismatchWarning(c *call, e *Event) string {
	if c.sent == e.digest() {
		return "the agent ran a script without the change by shell.pipefail: its version may not support updatedInput, or another hook changed the script too"
	}
	return "the agent made a call with arguments other than the ones decided on" // another hook or a person changed the arguments
}
