package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestDoubtIsSaid checks that the refusal of an uncertain match does not claim that the call has
// the name.
func TestDoubtIsSaid(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	net := blockNet("remove")
	net.Reason = "remove is blocked."
	net.Because = "Ask Ann"
	p := play(t, gate.PolicyOptions{Labels: labels(shellMaps(words)...)}, net)
	r := p.refuse(`sh {"c":"?"}`, gate.KindBlocked, "block-remove")
	const want = "Ask Ann. Cannot tell whether this is remove: a doubt. If it is: remove is blocked."
	if b := r.Blocks[0]; r.Text != want || b.Doubt == nil || b.Doubt.What != "a doubt" {
		t.Errorf("%q, %+v, want %q", r.Text, b.Doubt, want)
	}
	r = p.refuse(`sh {"c":"rm; ls"}`, gate.KindBlocked, "block-remove")
	if b := r.Blocks[0]; r.Text != "Ask Ann. sh `rm; ls` (remove) is blocked." || b.Doubt != nil {
		t.Errorf("%q, %+v", r.Text, b.Doubt)
	}
}

// TestDoubtOfPatterns checks that a rule about a pattern refers to the name that the call might
// have, and that a person can be asked about it.
func TestDoubtOfPatterns(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	o := gate.PolicyOptions{Labels: labels(shellMaps(words)...)}
	p := play(t, o, blockGlob("rem*", ""))
	r := p.refuse(`sh {"c":"?"}`, gate.KindBlocked, "block-rem*")
	if b := r.Blocks[0]; b.Doubt == nil || !strings.HasPrefix(r.Text, "Cannot tell whether this is remove: a doubt. If it is: ") {
		t.Errorf("%q, %+v", r.Text, b.Doubt)
	}
	if r := p.refuse(`sh {"c":"rm"}`, gate.KindBlocked, "block-rem*"); r.Blocks[0].Doubt != nil {
		t.Error(r.Text)
	}
	foreign := gate.Call{Tool: "remote", Foreign: true}
	if r := p.refuseCall(foreign, nil, gate.KindBlocked, "block-rem*"); r.Blocks[0].Doubt != nil {
		t.Error(r.Text)
	}
	o.AskDoubts = true
	p = play(t, o, blockGlob("rem*", ""))
	a := p.ask(`sh {"c":"?"}`)
	if len(a.Steps) != 1 || a.Steps[0].Name != "remove" {
		t.Errorf("%+v", a.Steps)
	}
	p.allowCall(call(`sh {"c":"?"}`), a.Grant())
	p.refuse(`sh {"c":"rm; ?"}`, gate.KindBlocked, "block-rem*")
}

// TestDoubtInNets checks that a doubtful call does not advance a hand-written net.
func TestDoubtInNets(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	net := gate.Net{
		Name: "pipeline", Places: []string{"a", "b"}, Initial: map[string]int{"a": 1}, Maps: shellMaps(words),
		Transitions: []gate.Transition{{Name: "go", Inputs: []string{"a"}, Outputs: []string{"b"}, Tools: []gate.Tool{{Name: "remove"}}}},
	}
	p := play(t, gate.PolicyOptions{}, net)
	for args, want := range map[string]string{
		`{"c":"?"}`:      "Cannot tell whether this is remove: a doubt.",
		`{"c":"rm; ls"}`: "The success of this would not show remove: a doubt.",
	} {
		if r := p.refuse("sh "+args, gate.KindBlocked, "pipeline"); r.Text != want {
			t.Errorf("%s: %q, want %q", args, r.Text, want)
		}
	}
	p.allow(`sh {"c":"rm"}`)
}

// TestNearMisses checks that a refusal for lack of evidence names the last call that did not count,
// until a call counts.
func TestNearMisses(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	net := sequenceNet("read", "deploy")
	net.Reason = "deploy requires read."
	p := play(t, gate.PolicyOptions{Labels: labels(shellMaps(words)...)}, net)
	refused := func(want string) {
		t.Helper()
		if r := p.refuse("deploy", gate.KindBlocked, "require-read-before-deploy"); r.Text != want {
			t.Errorf("%q, want %q", r.Text, want)
		}
	}
	refused("deploy requires read.")
	p.success(`sh {"c":"?"}`)
	p.success(`sh {"c":"rm; ls"}`)
	refused("deploy requires read. A call did not count as read: a doubt.")
	p.success(`sh {"c":"ls; tail"}`)
	refused("deploy requires read. `ls; tail` did not count as read: a doubt. Write ls.")
	p.success(`sh {"c":"ls"}`)
	p.allow("deploy")
	refused("deploy requires read.")
}

// TestPartsOfCommands checks that a call with only the first words of a command is a near miss,
// unless another map gives it the name.
func TestPartsOfCommands(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	maps := shellMaps(words)
	for _, source := range []string{"runs ls -l -a", "runs exactly ls -l -a"} {
		maps[0].Source = source
		p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, sequenceNet("read", "deploy"))
		for args, want := range map[string]string{
			`{"c":"ls -l; tail"}`: "deploy requires a successful call to read first. `ls; tail` did not count as read: a doubt. Write ls.",
			`{"c":"ls; tail"}`:    "deploy requires a successful call to read first. `ls; tail` did not count as read: a doubt. Write ls.",
			`{"c":"du -l"}`:       "deploy requires a successful call to read first.",
		} {
			p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, sequenceNet("read", "deploy"))
			p.success("sh " + args)
			if r := p.refuse("deploy", gate.KindBlocked, "require-read-before-deploy"); r.Text != want {
				t.Errorf("%s: %q, want %q", args, r.Text, want)
			}
		}
		p.success(`sh {"c":"cat"}`)
		p.allow("deploy")
		p.success(`sh {"d":"ls -l"}`)
		if r := p.refuse("deploy", gate.KindBlocked, "require-read-before-deploy"); strings.Contains(r.Text, "count") {
			t.Error(r.Text)
		}
	}
}

// TestNearMissesAreFew checks the limit on stored near misses.
func TestNearMissesAreFew(t *testing.T) {
	words := &commands{}
	var maps []gate.Map
	var nets []gate.Net
	for i := range 20 {
		word := fmt.Sprint("w", i)
		words.words = append(words.words, word)
		maps = append(maps, gate.Map{Tool: "sh", Field: "c", Reader: words, Pattern: i, As: word, Source: word})
		nets = append(nets, sequenceNet(word, "deploy-"+word))
	}
	p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, nets...)
	for _, word := range words.words {
		p.success(`sh {"c":"` + word + `; x"}`)
	}
	if r := p.refuse("deploy-w0", gate.KindBlocked, "require-w0-before-deploy-w0"); strings.Contains(r.Text, "count") {
		t.Error(r.Text)
	}
	if r := p.refuse("deploy-w19", gate.KindBlocked, "require-w19-before-deploy-w19"); !strings.Contains(r.Text, "A call did not count as w19") {
		t.Error(r.Text)
	}
}

// TestAdviceAppearsOnce checks that the same advice appears only once.
func TestAdviceAppearsOnce(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	p := play(t, gate.PolicyOptions{Labels: labels(shellMaps(words)...)}, blockNet("remove"), blockNet("read"))
	r := p.refuse(`sh {"c":"?; tail"}`, gate.KindBlocked, "block-remove", "block-read")
	if strings.Count(r.Text, "Cannot tell whether this is ") != 2 || strings.Count(r.Text, "Write ls.") != 1 || !strings.HasSuffix(r.Text, " Write ls.") {
		t.Error(r.Text)
	}
}

func TestDoubtSentences(t *testing.T) {
	d := gate.Doubt{What: "a word", Code: "$X y", Advice: "write it"}
	if got := fmt.Sprint(d, " ", d.Way()); got != "a word in `$X y` Write it." {
		t.Error(got)
	}
	if d := (gate.Doubt{What: "a word"}); d.String()+d.Way() != "a word" {
		t.Error(d, d.Way())
	}
}

// TestSpoiledByItself checks that a call that spoils its own evidence is a near miss, unless the
// same name spoils it.
func TestSpoiledByItself(t *testing.T) {
	maps := []gate.Map{
		{Tool: "run", Field: "c", Match: contains("test"), As: "test", Source: "test"},
		{Tool: "run", Field: "c", Match: contains("install"), As: "edit", Source: "install"},
	}
	p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, freshNet("test", "push", "edit"), freshNet("test", "tag", "edit"))
	p.success(`run {"c":"install and test"}`)
	r := p.refuse("push", gate.KindBlocked, "require-test-before-push-since-edit")
	if want := " A call did not count as test: the same call is also edit, after which test is required again. Make two calls."; !strings.HasSuffix(r.Text, want) {
		t.Errorf("%q, want ...%q", r.Text, want)
	}
	p.success(`run {"c":"test"}`)
	p.allow("push")
	p = play(t, gate.PolicyOptions{}, freshNet("test", "push", "test"))
	p.success("test")
	if r := p.refuse("push", gate.KindBlocked, "require-test-before-push-since-test"); strings.Contains(r.Text, "count") {
		t.Error(r.Text)
	}
}

// TestUnproved checks that Unproved lists the awaited names that the call's success would not
// prove.
func TestUnproved(t *testing.T) {
	o := gate.PolicyOptions{Labels: labels(shellMaps(&commands{words: []string{"ls", "cat", "rm"}})...)}
	waiting, _ := gate.NewPolicy([]gate.Net{sequenceNet("read", "deploy"), blockNet("remove")}, o)
	blocking, _ := gate.NewPolicy([]gate.Net{blockNet("read")}, o)
	for args, want := range map[string]string{
		`{"c":"ls; tail"}`: "[read]", `{"c":"ls"}`: "[]", `{"c":"rm; tail"}`: "[]", `{"c":"?"}`: "[]",
	} {
		c := gate.Call{Tool: "sh", Args: []byte(args)}
		if got := fmt.Sprint(waiting.Unproved(c)); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if got := blocking.Unproved(c); got != nil {
			t.Errorf("%s: %q, but nothing waits", args, got)
		}
	}
}
