package hook

import (
	"github.com/petrigate/petrigate/internal/policy/pipefail"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// amend changes the script of a call that is to be decided, where the policy in force says so and the agent takes
// another one, and returns the answer to a call that passes.
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

// changeClaude has Claude Code make the call with other arguments. Without a permissionDecision the permissions of
// the user decide on the changed call.
func changeClaude(e *Event, args []byte) []byte {
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("updatedInput", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}

// changeGemini has Gemini CLI make the call with other arguments, after its own permissions. It runs scripts by bash,
// but on Windows by PowerShell.
func changeGemini(e *Event, args []byte) []byte {
	folder, _ := rawjson.String(memberOf(e.where, "cwd"))
	if folder == "" || folder[0] != '/' {
		return nil
	}
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("tool_input", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}

// differs is the warning that a call was made with other arguments than it was decided on.
func differs(c *call, e *Event) string {
	if c.sent == e.digest() {
		return "the agent has not run a script with the change that shell.pipefail made: its version may not know updatedInput, or another hook has changed it too"
	}
	return "a call was made with other arguments than it was decided on" // another hook, or a person, has changed it
}
