package hook

import (
	"github.com/petrigate/petrigate/internal/policy/pipefail"
)

// amend changes the script of a call before the decision, if the policy in force requires that and
// the agent supports it. It returns the answer for the case that the call passes.
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

// mismatchWarning returns the warning that a call was made with other arguments than those decided.
func mismatchWarning(c *call, e *Event) string {
	if c.sent == e.digest() {
		return "the agent has not run a script with the change that shell.pipefail made: its version may not know updatedInput, or another hook has changed it too"
	}
	return "a call was made with other arguments than it was decided on" // another hook or a person has changed the arguments
}
