package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// commands is a reader for texts such as "cp; rm": pattern i is the word words[i]. A "?" matches
// any word. On the text "panic", the reader panics.
type commands struct {
	words []string
	reads int
}

type reading struct {
	commands []string
	of       *commands
}

func (c *commands) Read(_ *gate.Call, text string) gate.Reading {
	if text == "panic" {
		panic("beyond me")
	}
	c.reads++
	return reading{strings.Split(text, "; "), c}
}

func (r reading) Finds(pattern int) gate.Found {
	switch {
	case slices.Contains(r.commands, r.of.words[pattern]):
		return gate.Surely
	case slices.Contains(r.commands, "?"):
		return gate.Perhaps
	default:
		return gate.NotFound
	}
}

func (r reading) Only(patterns []int) bool {
	for _, c := range r.commands {
		if !slices.ContainsFunc(patterns, func(p int) bool { return r.of.words[p] == c }) {
			return false
		}
	}
	return true
}

func (r reading) Doubt(int) gate.Doubt {
	if slices.Contains(r.commands, "tail") {
		return gate.Doubt{What: "a doubt", Code: "ls; tail", Advice: "write ls"}
	}
	if strings.HasPrefix(r.commands[0], "xxx") {
		return gate.Doubt{Code: "rm"}
	}
	return gate.Doubt{What: "a doubt"}
}

func (r reading) Evidence(int) bool { return len(r.commands) == 1 }

func shellMaps(c *commands) []gate.Map {
	return []gate.Map{
		{Tool: "sh", Field: "c", Reader: c, Pattern: 0, As: "read", Source: "ls"},
		{Tool: "sh", Field: "c", Reader: c, Pattern: 1, As: "read", Source: "cat"},
		{Tool: "sh", Field: "c", Reader: c, Pattern: 2, As: "remove", Source: "rm"},
	}
}

func TestReadersProve(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	p := play(t, gate.PolicyOptions{Labels: labels(shellMaps(words)...)}, sequenceNet("read", "deploy"))
	for _, args := range []string{`{"c":"ls; cat"}`, `{"c":"?"}`, `{"c":["ls"]}`} {
		p.success("sh " + args)
		p.refuse("deploy", gate.KindBlocked, "require-read-before-deploy")
	}
	p.success(`sh {"c":"cat"}`)
	p.allow("deploy")
}

// unless adds an exemption to the last transition of n.
func unless(n gate.Net, names ...gate.Tool) gate.Net {
	n.Transitions[len(n.Transitions)-1].Unless = names
	return n
}

func TestUnless(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	o := gate.PolicyOptions{Labels: labels(shellMaps(words)...)}
	p := play(t, o, unless(blockNet("sh"), gate.Tool{Name: "read"}))
	p.allow(`sh {"c":"ls"}`)
	p.allow(`sh {"c":"ls; cat"}`)
	for _, args := range []string{`{"c":"ls; rm"}`, `{"c":"?"}`, `{"c":["ls"]}`, `{"c":"rm"}`, `{}`, `{"c":"panic"}`} {
		p.refuse("sh "+args, gate.KindBlocked, "block-sh")
	}

	// A limit does not count exempt calls.
	p = play(t, o, unless(limitNet("sh", 1, "session"), gate.Tool{Name: "read"}))
	p.allow(`sh {"c":"ls"}`)
	p.allow(`sh {"c":"rm"}`)
	p.allow(`sh {"c":"ls"}`)
	p.refuse(`sh {"c":"rm"}`, gate.KindBlocked, "limit-sh-1")

	// An exemption does not make a call known, but a rule still knows an exempt call.
	o.Deny = true
	p = play(t, o, unless(blockNet("sh"), gate.Tool{Name: "read"}))
	p.allow(`sh {"c":"ls"}`)
	p.refuse(`read`, gate.KindDefault)
}

// A call with two scripts runs both, so neither alone determines its name.
func TestTwoScripts(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	maps := append(shellMaps(words),
		gate.Map{Tool: "sh", Field: "$.more[0]", Reader: words, Pattern: 2, As: "remove", Source: "rm"},
		gate.Map{Tool: "other", Field: "more", Reader: words, Pattern: 2, As: "remove", Source: "rm"},
		gate.Map{Tool: "sh", Field: "d", As: "d", Source: "x", Match: contains("x")},
	)
	p, err := gate.NewPolicy([]gate.Net{blockNet("x")}, gate.PolicyOptions{Labels: labels(maps...)})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"c":"ls"}`:                       "sh! read!",
		`{"c":"ls","more":["rm"]}`:         "sh! read~ remove~",
		`{"c":"ls","more":["echo"]}`:       "sh! read~",
		`{"c":"ls","more":"echo"}`:         "sh! read~",
		`{"c":"ls; cat","more":["cat"]}`:   "sh! read~",
		`{"c":"ls","more":[]}`:             "sh! read!",
		`{"c":"ls","more":null}`:           "sh! read!",
		`{"c":"ls","d":"x"}`:               "sh! read! d",
		`{"more":["rm"]}`:                  "sh! remove!",
		`{"c":"","more":["rm"],"d":["x"]}`: "sh! remove~ d~",
	} {
		if got := spell(p.Names(call("sh " + args))); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestUnlessKinds(t *testing.T) {
	all := func(u gate.Tool) gate.Net {
		n := blockGlob("*", "")
		return unless(n, u)
	}
	p := play(t, gate.PolicyOptions{}, all(gate.Tool{Name: "read_*", Kind: gate.Glob}))
	p.allow("read_file")
	p.refuse("write_file", gate.KindBlocked, "block-*")
	p.refuse(`chat {"action":"read_x"}`, gate.KindBlocked, "block-*")

	p = play(t, gate.PolicyOptions{}, all(gate.Tool{Name: "chat.read*", Kind: gate.Glob}))
	p.allow(`chat {"action":"readAll"}`)
	p.refuse(`chat {"action":"send"}`, gate.KindBlocked, "block-*")
	p.refuse(`chat {"action":["readAll"]}`, gate.KindBlocked, "block-*")

	p = play(t, gate.PolicyOptions{}, all(gate.Tool{Name: "chat.read"}))
	p.allow(`chat {"action":"read"}`)
	p.refuse(`chat {"action":"send"}`, gate.KindBlocked, "block-*")

	p = play(t, gate.PolicyOptions{}, all(gate.Tool{Name: "chat.read", Kind: gate.Literal}), blockNet("chat.x"))
	p.allow("chat.read")
	p.refuse(`chat {"action":"read"}`, gate.KindBlocked, "block-*")
}

func TestUnlessSparesOneOfTwo(t *testing.T) {
	n := handNet("n", map[string]int{"p": 1}, "a: p -> p | sh", "b: q -> q | sh")
	n.Transitions[0].Unless = gate.Tools("sh")
	p := play(t, gate.PolicyOptions{}, n)
	p.refuse("sh", gate.KindBlocked, "n")
}
