package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// freshNet is "require a before b since e".
func freshNet(a, b string, e ...string) gate.Net {
	n := sequenceNet(a, b)
	n.Name += "-since-" + strings.Join(e, "-")
	n.Transitions = append(n.Transitions, gate.Transition{Name: "spoil", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools(e...), Observe: true, Spoils: true})
	return n
}

// taintNet is "block b after a until c".
func taintNet(b, a, c string) gate.Net {
	n := ruleNet("block-"+b+"-after-"+a, gate.CauseBlock, b+" is blocked after "+a+".", map[string]int{"tainted": 0},
		gate.Transition{Name: "taint", Inputs: []string{"ready"}, Outputs: []string{"tainted"}, Tools: gate.Tools(a), Observe: true, Spoils: true},
		gate.Transition{Name: "clear", Inputs: []string{"tainted"}, Outputs: []string{"ready"}, Tools: gate.Tools(c), Observe: true, Deferred: true},
		gate.Transition{Name: "do-" + b, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []gate.Tool{{Name: b, Kind: gate.Glob}}, Unless: gate.Tools(c)})
	return n
}

const fresh = "require-test-before-push-since-edit"

func TestFreshness(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, freshNet("test", "push", "edit"))
	p.success("test")
	p.success("push")
	p.success("test")
	edit := p.allow("edit")
	if !edit.Ticket.Awaited || edit.Nets[0].Transition != "spoil" || edit.Nets[0].Kind != gate.Gated {
		t.Errorf("%+v, %+v", edit.Ticket, edit.Nets)
	}
	r := p.refuse("push", gate.KindBlocked, fresh)
	if want := "push requires a successful call to test first. Call 4 of edit has not ended; a concurrent call to test does not count."; r.Text != want {
		t.Errorf("%s\nwant %s", r.Text, want)
	}
	beside := p.allow("test")
	if len(beside.Nets) > 0 {
		t.Errorf("a test beside an edit counts: %+v", beside.Nets)
	}
	edit.Ticket.Settle(gate.Unknown) // it might still write
	p.status(fresh + " (active): ready:1; evidence spoiled by call 4 of edit")
	beside.Ticket.Settle(gate.Success)
	p.success("test")
	p.refuse("push", gate.KindBlocked, fresh)
	edit.Ticket.Settle(gate.Failure)
	p.refuse("push", gate.KindBlocked, fresh)
	p.success("test")
	p.success("push")
}

// TestEditDuringTest checks that a test is void if an edit starts while it runs, however short the
// edit is.
func TestEditDuringTest(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, freshNet("test", "push", "edit"))
	test := p.allow("test")
	p.success("edit")
	test.Ticket.Settle(gate.Success)
	p.refuse("push", gate.KindBlocked, fresh)
}

// TestSpoilersOfMoreNames checks that a call spoils through each of its names, including weak, free
// and gated names, and that a spoiler is not evidence.
func TestSpoilersOfMoreNames(t *testing.T) {
	n := freshNet("test", "push", "write")
	n.Labels.Maps = []gate.Map{{Tool: "bash", Field: "command", As: "write", Match: contains(">")}, {Tool: "bash", Field: "command", As: "test", Match: contains("test")}}
	p := play(t, gate.PolicyOptions{}, n)
	p.success("test")
	p.success(`bash {"command":["x >", "y"]}`) // weak
	p.refuse("push", gate.KindBlocked, n.Name)
	p.success(`bash {"command":"test > log"}`)
	p.refuse("push", gate.KindBlocked, n.Name)
	p.success(`bash {"command":"test"}`)
	p.success("push")

	free := handNet("n", map[string]int{"ready": 1}, "do: ready -> gate [observe] [deferred] | test", "then: gate -> ready | push", "spoil: gate -> ready [observe] [spoils] | edit push", "more: gate -> ready [observe] [spoils] | edit")
	free.Free = []string{"edit"}
	p = play(t, gate.PolicyOptions{}, free)
	p.success("test")
	p.success("edit")
	p.refuse("push", gate.KindBlocked, "n")
	p.success("test")
	edit := p.allow("edit").Ticket
	if r := p.refuse("push", gate.KindBlocked, "n"); len(r.Blocks[0].Holds) != 1 {
		t.Errorf("%+v", r.Blocks)
	}
	edit.Settle(gate.Success)
	p.success("test")
	push := p.allow("push") // the gated names come first; the others spoil
	p.success("test")
	p.refuse("push", gate.KindBlocked, "n")
	push.Ticket.Settle(gate.Success)
	p.success("test")
	p.success("push")
}

func TestExemptCallsDoNotSpoil(t *testing.T) {
	n := freshNet("test", "push", "edit")
	n.Transitions[3].Unless = gate.Tools("note")
	n.Labels.Maps = []gate.Map{{Tool: "edit", Field: "path", As: "note", Reader: &commands{words: []string{"note"}}}}
	p := play(t, gate.PolicyOptions{}, n)
	p.success("test")
	p.success(`edit {"path":"note"}`)
	p.success("push")
}

// TestSpoilersWithoutNames checks that a call that the net cannot name spoils if the net yields.
func TestSpoilersWithoutNames(t *testing.T) {
	n := handNet("n", map[string]int{"ready": 1}, "do: ready -> gate [observe] [deferred] | test", "then: gate -> ready | push", "spoil: gate -> ready [observe] [spoils] | edit")
	n.Shadow = true
	n.Mapper = func(c gate.Call) []gate.Name {
		if c.Tool == "odd" {
			panic("odd")
		}
		return []gate.Name{{Text: c.Tool, Certain: true}}
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.success("test")
	if err := p.Deactivate("n"); err != nil {
		t.Fatal(err)
	}
	odd := p.allow("odd").Ticket
	if err := p.Activate("n"); err != nil {
		t.Fatal(err)
	}
	p.status("n (active, shadow): gate:1; enforced: gate:1; evidence spoiled by call 2 of odd")
	odd.Settle(gate.Success)
	p.script("push", "push -> blocked n")
}

func TestTaintIsClearedByLaterReview(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, taintNet("send*", "fetch", "review"))
	net := "block-send*-after-fetch"
	p.success("send_mail")
	fetch := p.allow("fetch").Ticket
	p.success("review") // the content fetched is not known yet
	p.refuse("send_mail", gate.KindBlocked, net)
	fetch.Settle(gate.Failure) // whatever its outcome
	p.refuse("send_mail", gate.KindBlocked, net)
	p.success("review")
	p.success("send_mail")
	review := p.allow("review").Ticket
	p.success("fetch")
	review.Settle(gate.Success)
	r := p.refuse("send_mail", gate.KindBlocked, net)
	if r.Blocks[0].Holds != nil {
		t.Errorf("%+v", r.Blocks[0].Holds)
	}
	// A taint for the rest of the session waits for no evidence, so no holder is listed.
	plain := taintNet("send*", "fetch", "review")
	plain.Transitions = slices.Delete(plain.Transitions, 2, 3)
	p = play(t, gate.PolicyOptions{}, plain)
	p.allow("fetch")
	if r := p.refuse("send_mail", gate.KindBlocked, net); r.Blocks[0].Holds != nil {
		t.Errorf("%+v", r.Blocks[0].Holds)
	}
}

// TestInactiveSpoilers checks that an inactive net keeps its evidence and state, but does not
// accept a test as evidence if it runs concurrently with an earlier edit.
func TestInactiveSpoilers(t *testing.T) {
	for _, mode := range []bool{false, true} {
		n := freshNet("test", "push", "edit")
		n.Shadow = mode
		p := play(t, gate.PolicyOptions{}, n)
		wants := func(text, want string) {
			t.Helper()
			got := "pass"
			switch d := p.Decide(call(text), nil).(type) {
			case *gate.Refusal:
				got = "refuse"
			case *gate.Allow:
				if d.Would != nil {
					got = "refuse"
				}
				d.Ticket.Settle(gate.Success)
			}
			if got != want {
				t.Errorf("shadow %v: %s: %s, want %s", mode, text, got, want)
			}
		}
		p.success("test")
		if err := p.Deactivate(fresh); err != nil {
			t.Fatal(err)
		}
		edit := p.allow("edit")
		if !edit.Ticket.Awaited || len(edit.Nets) > 0 {
			t.Errorf("%+v %+v", edit.Ticket, edit.Nets)
		}
		if err := p.Activate(fresh); err != nil {
			t.Fatal(err)
		}
		wants("push", "pass")
		wants("test", "pass")
		wants("push", "refuse")
		edit.Ticket.Settle(gate.Success)
		wants("test", "pass")
		wants("push", "pass")
	}
}

// TestSpoilersAfterReset checks that an edit in flight continues to spoil evidence after a reset.
func TestSpoilersAfterReset(t *testing.T) {
	f := newFamily(t, shadow(freshNet("test", "push", "edit")), scoped(gate.ScopeGlobal, freshNet("test", "push", "edit")))
	s := f.sessions
	edit := s[0].allow("edit").Ticket
	s[0].Reset()
	f.all.Reset()
	s[1].status(fresh+" (active, shadow): ready:1; enforced: ready:1", fresh+"#2 (active, global): ready:1; evidence spoiled by call 1 of edit in another session")
	s[1].success("test")
	r := s[1].refuse("push", gate.KindBlocked, fresh+"#2")
	if !strings.Contains(r.Text, "Call 1 of edit in another session has not ended; a concurrent call to test does not count") {
		t.Error(r.Text)
	}
	edit.Settle(gate.Success)
	s[0].status(fresh+" (active, shadow): ready:1; enforced: ready:1", fresh+"#2 (active, global): ready:1")
	s[0].success("test")
	s[1].success("push")
}

// TestAdoptSpoilers checks that, in a net that starts anew, exactly those calls in flight spoil
// evidence that might.
func TestAdoptSpoilers(t *testing.T) {
	maps := &gate.Labels{Maps: []gate.Map{{Tool: "bash", Field: "command", As: "edit", Match: contains(">")}}}
	mapped := freshNet("test", "push", "edit")
	mapped.Labels = maps
	hand := handNet("hand", map[string]int{"ready": 1}, "do: ready -> gate [observe] [deferred] | test", "then: gate -> ready | push", "spoil: gate -> ready [observe] [spoils] | edit")
	hand.Mapper = func(c gate.Call) []gate.Name { return nil }
	same := freshNet("test", "push", "edit", "other")
	for _, c := range []struct {
		name     string
		old, now gate.Net
		call     string
		spoiled  bool
	}{
		{"the same", same, same, "edit", true},
		{"a new net", blockNet("x"), mapped, "edit", true},
		{"a new net in shadow", blockNet("x"), shadow(mapped), "edit", true},
		{"a call of something else", blockNet("x"), mapped, "read", false},
		{"a call that could be mapped", blockNet("x"), mapped, "bash", true},
		{"a mapper", blockNet("x"), hand, "read", true},
		{"a net that changes", freshNet("test", "push", "edit"), func() gate.Net {
			n := freshNet("test", "push", "write")
			n.Name = fresh
			return n
		}(), "edit", true},
		{"a net that spoils nothing", freshNet("test", "push", "edit"), sequenceNet("test", "push"), "edit", false},
	} {
		s := newPolicy(t, c.old).NewState(nil)
		number := pass(t, s, call(c.call))
		pass(t, s, call("unrelated"))
		now, _ := newPolicy(t, c.now).Adopt(s, gate.AdoptOptions{})
		if got := len(now.Policy().NetsOf(now)[0].Spoilers) > 0; got != c.spoiled {
			if c.name == "a mapper" && got {
				continue
			}
			t.Errorf("%s: %+v", c.name, now.Policy().NetsOf(now)[0])
		}
		now.Apply(now.Policy().Settle(now, number, gate.Success))
		if left := now.Policy().NetsOf(now)[0].Spoilers; c.name != "a mapper" && left != nil {
			t.Errorf("%s: it spoils for ever: %+v", c.name, left)
		}
	}
}

// TestSpoilersReplayed checks that a call in a history spoils evidence even if the net would block
// it.
func TestSpoilersReplayed(t *testing.T) {
	n := freshNet("test", "push", "edit", "push")
	p := play(t, gate.PolicyOptions{}, n)
	p.Replay([]gate.Entry{{Call: call("push"), Outcome: gate.Unknown}, {Call: call("test"), Outcome: gate.Success}})
	p.refuse("push", gate.KindBlocked, n.Name)
}

func TestSpoilersThatDoNotRest(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, restless("[observe] [spoils]"))
	if r := p.refuse("x", gate.KindBlocked, "n"); r.Text != "Net 'n' never settles: its transitions without tools keep firing." {
		t.Error(r.Text)
	}
}

// TestEvidenceMatchesIntervals compares freshness with its definition: a test counts if no edit was
// in flight at any time between its start and its success, and none has started since.
func TestEvidenceMatchesIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	passed := 0
	for range 2000 {
		m := &intervals{}
		s := gate.NewSession(newPolicy(t, freshNet("test", "push", "edit")), gate.SessionOptions{})
		for range 30 {
			if random.IntN(2) == 0 && len(m.calls) > 0 {
				i := random.IntN(len(m.calls))
				o := []gate.Outcome{gate.Success, gate.Success, gate.Success, gate.Failure, gate.Unknown}[random.IntN(5)]
				s.Settle(uint64(i+1), o)
				m.end(i, o)
				continue
			}
			tool := []string{"test", "test", "edit", "push", "push"}[random.IntN(5)]
			_, ok := s.Decide(gate.Call{Tool: tool}, nil).(*gate.Allow)
			if want := tool != "push" || m.credit(); ok != want {
				t.Fatalf("%s: passes %v, want %v\n%s%s", tool, ok, want, m, s.Status())
			}
			if ok {
				m.begin(tool)
			}
			if ok && tool == "push" {
				passed++
			}
		}
	}
	if passed < 800 {
		t.Errorf("only %d pushes passed", passed)
	}
}

// intervals are the calls in a history, each from its start to its end.
type intervals struct {
	now   int
	calls []interval
}

type interval struct {
	tool       string
	begin, end int // end is 0 while the call is in flight
	unknown    bool
	counted    bool // whether the test counts
}

func (m *intervals) begin(tool string) {
	m.now++
	m.calls = append(m.calls, interval{tool: tool, begin: m.now})
}

func (m *intervals) end(i int, o gate.Outcome) {
	m.now++
	c := &m.calls[i]
	switch {
	case c.end > 0:
	case o == gate.Unknown:
		c.unknown = true
	default:
		c.end = m.now
		c.counted = c.tool == "test" && o == gate.Success && !c.unknown && m.clean(c)
	}
}

// clean reports whether no edit was in flight during the test and no other test had already
// counted: only one of two tests counts.
func (m *intervals) clean(test *interval) bool {
	for at := test.begin; at <= test.end; at++ {
		if m.creditAt(at) {
			return false
		}
	}
	return !slices.ContainsFunc(m.calls, func(e interval) bool {
		return e.tool == "edit" && e.begin < test.end && (e.end == 0 || e.end > test.begin)
	})
}

func (m *intervals) credit() bool { return m.creditAt(m.now) }

// creditAt reports whether a push would pass at the given time, based on the outcomes known by
// then.
func (m *intervals) creditAt(at int) bool {
	last := 0
	for _, c := range m.calls {
		if c.counted && c.end <= at {
			last = max(last, c.end)
		}
	}
	return last > 0 && !slices.ContainsFunc(m.calls, func(c interval) bool { return c.tool != "test" && c.begin > last && c.begin <= at })
}

func (m *intervals) String() string { return fmt.Sprintf("%+v\n", m.calls) }

func TestSpoilerSince(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, freshNet("test", "push", "edit"))
	p.allowCall(callAt("edit", noon), nil)
	r := p.refuseCall(callAt("push", noon.Add(12*time.Second)), nil, gate.KindBlocked, fresh)
	if h := r.Blocks[0].Holds; len(h) != 1 || h[0].Voids != "test" || h[0].Tool != "edit" || !strings.Contains(r.Text, "has not ended after 12s; a concurrent call to test does not count") {
		t.Errorf("%+v: %s", h, r.Text)
	}
}

// TestRefusalNamesCallThatBringsTokens checks that a refusal names the call in flight whose success would produce the
// missing tokens, but not a call for another value or with spoiled evidence.
func TestRefusalNamesCallThatBringsTokens(t *testing.T) {
	n := sequenceNet("backup", "delete")
	n.Key = []gate.Field{{Path: "path"}}
	n.Transitions = append(n.Transitions, gate.Transition{Name: "spoil", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("edit"), Observe: true, Spoils: true})
	p := play(t, gate.PolicyOptions{}, n)
	a := p.allow(`backup {"path":"x"}`)
	p.allow(`backup {"path":"y"}`)
	r := p.refuse(`delete {"path":"x"}`, gate.KindBlocked, n.Name)
	if h := r.Blocks[0].Holds; len(h) != 1 || h[0].Number != a.Ticket.Number || !h[0].Brings || !strings.Contains(r.Text, "Call 1 of backup has not ended; its success provides what is missing.") {
		t.Errorf("%+v %s", h, r.Text)
	}
	p.allow(`edit {"path":"x"}`).Ticket.Settle(gate.Success)
	if r := p.refuse(`delete {"path":"x"}`, gate.KindBlocked, n.Name); len(r.Blocks[0].Holds) != 0 {
		t.Errorf("%+v", r.Blocks[0].Holds)
	}
}

// TestManyInFlight checks that a refusal lists only a few of many calls in flight.
func TestManyInFlight(t *testing.T) {
	n := sequenceNet("backup", "delete")
	n.Transitions = append(n.Transitions, gate.Transition{Name: "spoil", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("edit"), Observe: true, Spoils: true})
	p := play(t, gate.PolicyOptions{}, n)
	for range 20 {
		p.allow("backup")
	}
	if h := p.refuse("delete", gate.KindBlocked, n.Name).Blocks[0].Holds; len(h) != 1 || h[0].Number != 1 {
		t.Errorf("%+v", h)
	}
	for range 20 {
		p.allow("edit")
	}
	if h := p.refuse("delete", gate.KindBlocked, n.Name).Blocks[0].Holds; len(h) != 8 || h[0].Voids != "backup" {
		t.Errorf("%+v", h)
	}
}
