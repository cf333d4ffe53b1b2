package hook

import (
	"github.com/petrigate/petrigate/internal/policy/pipefail"
	"github.com/petrigate/petrigate/internal/rawjson"
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

// changeClaude returns the answer that makes Claude Code use other arguments. Without a
// permissionDecision the permissions of the user apply to the changed call.
func changeClaude(e *Event, args []byte) []byte {
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("updatedInput", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}

// changeGemini returns the answer that makes Gemini CLI use other arguments, after its own
// permissions. Gemini CLI runs scripts with bash, but with PowerShell on Windows, so a path that
// does not begin with a slash returns nil.
func changeGemini(e *Event, args []byte) []byte {
	folder, _ := rawjson.String(memberOf(e.folders, "cwd"))
	if folder == "" || folder[0] != '/' {
		return nil
	}
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("tool_input", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}

// mismatchWarning returns the warning that a call was made with other arguments than those decided.
func mismatchWarning(c *call, e *Event) string {
	if c.sent == e.digest() {
		return "the agent has not run a script with the change that shell.pipefail made: its version may not know updatedInput, or another hook has changed it too"
	}
	return "a call was made with other arguments than it was decided on" // another hook or a person has changed the arguments
}
