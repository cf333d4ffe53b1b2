package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestActionsLikeOtherTools checks that an action named like another tool restricts like that tool,
// but is not evidence of a call to it.
func TestActionsLikeOtherTools(t *testing.T) {
	others := map[string]bool{"chat.backup": true, "chat.delete": true, "chat.chat": true}
	also := []gate.Name{{Text: "chat.chat", Certain: true}}
	act := func(action string) gate.Call {
		c := call(`chat {"action":"` + action + `"}`)
		c.Others, c.Also = others, also
		return c
	}
	p := play(t, gate.PolicyOptions{}, sequenceNet("chat.backup", "chat.delete"), sequenceNet("chat.login", "chat.send"), sequenceNet("chat.chat", "talk"))
	p.allowCall(act("backup"), nil).Ticket.Settle(gate.Success)
	p.refuse("chat.delete", gate.KindBlocked, "require-chat.backup-before-chat.delete")
	p.refuse(`chat {"action":"delete"}`, gate.KindBlocked, "require-chat.backup-before-chat.delete")
	p.success("chat.backup")
	p.success("chat.delete")
	p.allowCall(act("login"), nil).Ticket.Settle(gate.Success) // no tool has that name
	p.success(`chat {"action":"send"}`)
	p.allowCall(act("chat"), nil).Ticket.Settle(gate.Success) // the tool itself
	p.success("talk")
}
