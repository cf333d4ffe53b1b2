package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// glob returns a rule that blocks the tools that match the pattern.
func blockGlob(pattern, except string) gate.Net {
	n := blockNet(pattern)
	n.Transitions[1].Tools = []gate.Tool{{Name: pattern, Kind: gate.Glob, Except: except}}
	return n
}

func literally(n gate.Net) gate.Net {
	for i := range n.Transitions {
		for k := range n.Transitions[i].Tools {
			n.Transitions[i].Tools[k].Kind = gate.Literal
		}
	}
	return n
}

// spell formats names: a! is certain, b~ is weak, c is neither.
func spell(names []gate.Name) string {
	var out []string
	for _, n := range names {
		text := n.Text
		if n.Certain {
			text += "!"
		}
		if n.Weak {
			text += "~"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestNamesOfNets(t *testing.T) {
	own := handNet("own", map[string]int{"p": 1}, "t: p -> p | b")
	own.Maps = []gate.Map{
		{Tool: "a", Field: "f", As: "b", Match: contains("x")},
		{Tool: "a", Field: "f", As: "c", Match: contains("x")},
	}
	first := own
	first.Name, first.MatchFirst = "first", true
	mapper := handNet("mapper", map[string]int{"p": 1}, "t: p -> p | m")
	mapper.Mapper = func(c gate.Call) []gate.Name {
		return []gate.Name{{Text: "m-" + c.Tool, Certain: true}, {Text: "w", Weak: true}}
	}
	policy, err := gate.NewPolicy([]gate.Net{own, first, mapper}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := spell(policy.Names(call(`a {"f":"x"}`))); got != "a! b c m-a! w~" {
		t.Error(got)
	}
	if got := spell(policy.Names(call("a"))); got != "a! m-a! w~" {
		t.Error(got)
	}
}

func TestGlobsInNets(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "t: q -> p | x")
	n.Transitions[0].Tools = []gate.Tool{{Name: "del*", Kind: gate.Glob}, {Name: "del*", Kind: gate.Glob}}
	p := play(t, gate.PolicyOptions{}, n)
	p.refuse("delete", gate.KindBlocked, "n")
	p.allow("read")
}

func TestLiteralNamesAreNoActions(t *testing.T) {
	action := call(`chat {"action":"send"}`)
	p := play(t, gate.PolicyOptions{}, literally(blockNet("chat.send")))
	p.allowCall(action, nil)
	p.refuse("chat.send", gate.KindBlocked, "block-chat.send")

	// In one net, some transitions list the name literally and others do not.
	n := handNet("n", map[string]int{"p": 1}, "a: q -> q | chat.send", "b: p -> p | chat.send")
	n.Labels = &gate.Labels{}
	n.Transitions[1].Tools[0].Kind = gate.Literal
	p = play(t, gate.PolicyOptions{}, n)
	p.allow("chat.send")
	p.refuse(`chat {"action":"send"}`, gate.KindBlocked, "n")

	// A map that gives the name makes it more than an action.
	m := gate.Map{Tool: "chat", Field: "text", As: "chat.send", Match: contains("x")}
	p = play(t, gate.PolicyOptions{Labels: labels(m)}, literally(blockNet("chat.send")), blockNet("chat.other"))
	p.allowCall(action, nil)
	p.refuse(`chat {"action":"send","text":"x"}`, gate.KindBlocked, "block-chat.send")
}

func TestExceptions(t *testing.T) {
	sequence := func(kind gate.ToolKind, a string) gate.Net {
		n := sequenceNet(a, "*")
		n.Transitions[1].Tools[0].Kind = kind
		n.Transitions[2].Tools[0] = gate.Tool{Name: "*", Kind: gate.Glob, Except: a}
		return n
	}
	backup := gate.Map{Tool: "sh", Field: "c", As: "backup", Match: contains("cp")}
	p := play(t, gate.PolicyOptions{Labels: labels(backup)}, sequence(gate.Plain, "backup"))
	p.refuse("delete", gate.KindBlocked, "require-backup-before-*")
	p.refuse(`sh {"c":"cp"}`, gate.KindBlocked, "require-backup-before-*")
	p.success("backup")
	p.success("backup")
	p.success("delete")
	p.refuse("delete", gate.KindBlocked, "require-backup-before-*")

	const name = "require-chat.send-before-*"
	p = play(t, gate.PolicyOptions{}, sequence(gate.Plain, "chat.send"))
	p.success(`chat {"action":"send"}`)
	p.success(`delete`)
	p.refuse(`chat {"action":["send"]}`, gate.KindBlocked, name)

	p = play(t, gate.PolicyOptions{}, sequence(gate.Literal, "chat.send"))
	p.refuse(`chat {"action":"send"}`, gate.KindBlocked, name)
	p.success(`chat.send`)
	p.success(`chat {"action":"send"}`)
}

func TestDefaultDeny(t *testing.T) {
	maps := []gate.Map{{Tool: "sh", Field: "c", As: "copy", Match: contains("cp")}}
	free := handNet("free", nil)
	free.Free = []string{"look"}
	first := handNet("first", map[string]int{"p": 1}, "t: p -> p | commit git")
	first.MatchFirst = true
	first.Maps = []gate.Map{{Tool: "git", Field: "c", As: "commit", Match: contains("commit")}}
	p := play(t, gate.PolicyOptions{Deny: true, Labels: labels(maps...)}, sequenceNet("copy", "delete"), blockGlob("get*", "getaway"), blockNet("chat.send"), free, first)
	if r := p.refuse("other", gate.KindDefault); r.Text != "other is not on the list of allowed tools." {
		t.Error(r.Text)
	}
	p.refuse(`sh {"c":"cp"}`, gate.KindDefault)
	p.refuse(`chat {"action":["send"]}`, gate.KindBlocked, "block-chat.send")
	p.refuse("chat", gate.KindDefault)
	p.refuse("getaway", gate.KindDefault)
	p.refuse("copy", gate.KindDefault) // evidence for delete only
	p.allow("look")
	p.allow(`git {"c":"git commit"}`)
	if err := p.Deactivate("free"); err != nil {
		t.Fatal(err)
	}
	p.refuse("look", gate.KindDefault)
}

// TestEvidenceIsNotAllowed checks that under "default: deny", being evidence does not make a call
// known, whether a list has its name or a matching pattern.
func TestEvidenceIsNotAllowed(t *testing.T) {
	glob := handNet("glob", map[string]int{"p": 1}, "see: p -> p [observe] | x")
	glob.Transitions[0].Tools = []gate.Tool{{Name: "re*", Kind: gate.Glob}}
	p := play(t, gate.PolicyOptions{Deny: true}, sequenceNet("backup", "delete"), limitNet("push", 1, "test"), glob)
	for _, tool := range []string{"backup", "test", "read"} {
		p.refuse(tool, gate.KindDefault)
	}
	p.refuse("delete", gate.KindBlocked, "require-backup-before-delete")
	p.allow("push")

	p = play(t, gate.PolicyOptions{Deny: true}, sequenceNet("backup", "delete"), limitNet("backup", 1, "session"))
	p.success("backup") // the limit gates it
	p.allow("delete")
}

func TestGlobsOfOtherRules(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, blockGlob("re*", ""), limitNet("read", 1, "session"))
	p.refuse("read", gate.KindBlocked, "block-re*")
	if err := p.Deactivate("block-re*"); err != nil {
		t.Fatal(err)
	}
	p.allow("read")
	p.refuse("read", gate.KindBlocked, "limit-read-1")
}

func TestManyNets(t *testing.T) {
	var nets []gate.Net
	for i := range 300 {
		nets = append(nets, blockNet(fmt.Sprintf("tool%d", i)))
	}
	p := play(t, gate.PolicyOptions{}, nets...)
	p.refuse("tool299", gate.KindBlocked, "block-tool299")
	p.allow("tool300")
}
