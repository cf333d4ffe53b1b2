package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
)

// hides returns a net that blocks these tools until "unlock" is called.
func hides(name string, priority int, tools string) gate.Net {
	n := handNet(name, map[string]int{"locked": 1}, "unlock: locked -> open [observe] | unlock", "use: open -> open | "+tools)
	n.Priority = priority
	return n
}

func recovering(n gate.Net, marking map[string]int) gate.Net {
	n.Recovery = marking
	return n
}

func advisory(n gate.Net) gate.Net {
	n.Advisory = true
	return n
}

// advertised formats the result as "shown; hidden by net, ...; the rest".
func advertised(s *gate.Session, tools string) string {
	var calls []gate.Call
	for _, tool := range strings.Fields(tools) {
		calls = append(calls, gate.Call{Tool: tool, Args: []byte(`not looked at`)})
	}
	s.Offer(calls)
	a := s.Advertise(noon)
	text := strings.Join(a.Tools, " ")
	for _, h := range a.Hidden {
		text += "; " + h.Tool + " by " + h.Net
	}
	if c := a.Conflict; c != nil {
		text += "; conflict of " + strings.Join(c.Nets, ", ")
		if len(c.Yields) > 0 {
			text += ", " + strings.Join(c.Yields, ", ") + " yield to " + c.Winner
		}
	}
	if len(a.Ignored) > 0 {
		text += "; ignored " + strings.Join(a.Ignored, ", ")
	}
	return text
}

func TestAdvertise(t *testing.T) {
	locked, open := map[string]int{"locked": 1}, map[string]int{"open": 1}
	for _, c := range []struct {
		name string
		nets []gate.Net
		want string
	}{
		{"no nets", nil, "a b c d"},
		{"nothing is blocked", []gate.Net{limitNet("a", 1, "session"), approvalNet("b")}, "a b c d"},
		{"one net", []gate.Net{hides("n", 0, "b d")}, "a c; b by n; d by n"},
		{"the intersection", []gate.Net{hides("n", 0, "b"), hides("m", 0, "b c")}, "a d; b by m; c by m"},
		{"the more important net hides", []gate.Net{hides("n", 1, "b"), hides("m", 0, "b c")}, "a d; b by n; c by m"},
		{"a pattern", []gate.Net{hideAll("*")}, "; a by glob; b by glob; c by glob; d by glob"},
		{"everything is no conflict", []gate.Net{hideAll("*"), hides("n", 9, "a b")}, "; a by n; b by n; c by glob; d by glob"},
		{"required nets conflict", []gate.Net{hides("n", 0, "a b"), hides("m", 1, "c d")}, "; a by n; b by n; c by m; d by m; conflict of m, n"},
		{"the shorter list first", []gate.Net{hides("n", 0, "a"), hides("m", 0, "b c d")}, "; a by n; b by m; c by m; d by m; conflict of m, n"},
		{"then by name", []gate.Net{hides("n", 0, "a b"), hides("m", 0, "c d")}, "; a by n; b by n; c by m; d by m; conflict of m, n"},
		{"three conflict", []gate.Net{hides("n", 0, "a b"), hides("m", 0, "c"), hides("o", 0, "d")}, "; a by n; b by n; c by m; d by o; conflict of n, m, o"},
		{"required nets conflict beside an advisory one", []gate.Net{hides("n", 0, "a b"), hides("m", 1, "c d"), advisory(hides("o", 2, "a"))}, "; a by o; b by n; c by m; d by m; conflict of m, n"},
		{"advisory yields to required", []gate.Net{hides("n", 0, "a b"), advisory(hides("m", 1, "c d"))}, "c d; a by n; b by n; conflict of m, n, m yield to n; ignored m"},
		{"advisory yields to a higher priority", []gate.Net{advisory(hides("n", 0, "a b")), advisory(hides("m", 1, "c d"))}, "a b; c by m; d by m; conflict of m, n, n yield to m; ignored n"},
		{"advisory yields to a shorter list", []gate.Net{advisory(hides("n", 0, "a")), advisory(hides("m", 0, "b c d"))}, "a; b by m; c by m; d by m; conflict of m, n, n yield to m; ignored n"},
		{"only what leaves none yields", []gate.Net{advisory(hides("n", 3, "a")), advisory(hides("m", 2, "b c d")), advisory(hides("o", 1, "b"))}, "c d; a by n; b by o; conflict of n, m, o, m yield to n; ignored m"},
		{"advisory blocks everything", []gate.Net{advisory(hides("n", 0, "a b c d"))}, "a b c d; conflict of n, n yield to ; ignored n"},
		{"nothing is left for an advisory one", []gate.Net{hideAll("*"), advisory(hides("n", 9, "a"))}, "; a by n; b by glob; c by glob; d by glob"},
		{"shadow", []gate.Net{shadow(hides("n", 0, "a b")), hides("m", 0, "c")}, "a b d; c by m"},
		{"advisory alone", []gate.Net{advisory(hides("n", 0, "a"))}, "b c d; a by n"},
		{"recovery", []gate.Net{advisory(hides("n", 0, "a")), recovering(hides("m", 1, "b"), locked)}, "a c d; b by m; ignored n"},
		{"recovery without a list", []gate.Net{advisory(hides("n", 0, "a")), recovering(hides("m", 1, "x"), locked)}, "a b c d; ignored n"},
		{"not in recovery", []gate.Net{advisory(hides("n", 0, "a")), recovering(hides("m", 1, "b"), open)}, "c d; a by n; b by m"},
		{"recovery of equals", []gate.Net{advisory(hides("n", 1, "a")), recovering(hides("m", 1, "b"), locked)}, "c d; a by n; b by m"},
		{"recovery spares what is required", []gate.Net{hides("n", 0, "a"), recovering(hides("m", 1, "b"), locked)}, "c d; a by n; b by m"},
		{"recovery in shadow", []gate.Net{advisory(hides("n", 0, "a")), shadow(recovering(hides("m", 1, "b"), locked))}, "b c d; a by n"},
		{"the highest recovery", []gate.Net{advisory(hides("n", 2, "a")), recovering(hides("m", 1, "x"), locked), recovering(hides("o", 3, "x"), locked), recovering(hides("p", 2, "x"), locked)}, "a b c d; ignored n"},
		{"no conflict in recovery", []gate.Net{advisory(hides("n", 0, "a b")), recovering(hides("m", 1, "c d"), locked)}, "a b; c by m; d by m; ignored n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := advertised(gate.NewSession(newPolicy(t, c.nets...), gate.SessionOptions{}), "a b c d"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func hideAll(pattern string) gate.Net {
	n := handNet("glob", nil, "t: locked -> locked | x")
	n.Transitions[0].Tools = []gate.Tool{{Name: pattern, Kind: gate.Glob}}
	return n
}

// TestAdvertiseFollows checks that the shown tools change with the state.
func TestAdvertiseFollows(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, hides("n", 0, "a b"), window(1, time.Minute))
	show := func(want string) {
		t.Helper()
		if got := advertised(p.Session, "a b x"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	show("x; a by n; b by n")
	p.allow("unlock")
	show("a b x")
	p.allowCall(callAt("x", noon.Add(-20*time.Second)), nil)
	show("a b; x by limit-x")
	p.Offer([]gate.Call{{Tool: "x"}})
	h := p.Advertise(noon).Hidden[0]
	if want := "x has reached its limit of 1 calls; the next call is possible in 40s."; h.Reason != want || h.Retry != 40*time.Second {
		t.Error(h.Reason)
	}
	if a := p.Advertise(noon.Add(40 * time.Second)); len(a.Hidden) > 0 {
		t.Errorf("%+v", a)
	}
	if err := p.Deactivate("limit-x"); err != nil {
		t.Fatal(err)
	}
	show("a b x")
}

// TestArgumentsKeepATool checks that a tool is shown if some arguments let it pass.
func TestArgumentsKeepATool(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	label := func(text string) gate.Tool { return gate.Tool{Name: text} }
	glob := func(text string) gate.Tool { return gate.Tool{Name: text, Kind: gate.Glob} }
	own := func(n gate.Net, first bool) gate.Net {
		n.Maps, n.MatchFirst = shellMaps(words), first
		return n
	}
	except := func(name string) gate.Net {
		n := blockNet("x")
		n.Transitions[1].Tools = []gate.Tool{{Name: "s*", Kind: gate.Glob, Except: name}}
		return n
	}
	for _, c := range []struct {
		name string
		net  gate.Net
		want string
	}{
		{"a label does not hide", blockNet("remove"), "sh x"},
		{"not even with arguments that are not told", blockNet("read"), "sh x"},
		{"own labels do not hide", own(handNet("n", nil, "t: p -> p | remove"), false), "sh x"},
		{"the tool itself", blockNet("sh"), "x"},
		{"exempt by a label", unless(blockNet("sh"), label("read")), "sh x"},
		{"exempt by a label of no script", unless(blockNet("x"), label("read")), "sh"},
		{"exempt by a pattern", unless(blockNet("sh"), glob("re*")), "sh x"},
		{"exempt by another pattern", unless(blockNet("sh"), glob("q*")), "x"},
		{"exempt by an action", unless(blockNet("sh"), label("sh.list")), "sh x"},
		{"exempt by some action", unless(blockNet("sh"), glob("*.list")), "sh x"},
		{"exempt by the action of another", unless(blockNet("sh"), label("x.list")), "x"},
		{"exempt by what is no action", unless(blockNet("sh"), gate.Tool{Name: "sh.list", Kind: gate.Literal}), "x"},
		{"exempt by its own name", unless(blockNet("sh"), label("sh")), "sh x"},
		{"the pattern spares a label", except("read"), "sh x"},
		{"the pattern spares another tool", except("so"), "x"},
		{"renamed", own(handNet("n", nil, "t: p -> p | sh"), true), "sh x"},
		{"renamed, but not this tool", own(handNet("n", nil, "t: p -> p | x"), true), "sh"},
		{"exempt in a net of its own", own(unless(handNet("n", nil, "t: p -> p | sh"), label("read")), false), "sh x"},
		{"no actions in a net of its own", unless(handNet("n", nil, "t: p -> p | sh"), label("sh.list")), "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, gate.PolicyOptions{Labels: labels(shellMaps(words)...)}, c.net)
			p.Offer([]gate.Call{{Tool: "sh"}, {Tool: "x"}})
			shown := p.Advertise(noon).Tools
			if got := strings.Join(shown, " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	// A matching word exempts nothing.
	o := gate.PolicyOptions{Labels: labels(gate.Map{Tool: "sh", Field: "c", As: "read", Match: contains("ls")})}
	if got := advertised(play(t, o, unless(blockNet("sh"), label("read"))).Session, "sh x"); got != "x; sh by block-sh" {
		t.Error(got)
	}
}

func TestAdvertiseWithMappers(t *testing.T) {
	n := handNet("n", nil, "t: p -> p | renamed")
	n.Mapper = func(c gate.Call) []gate.Name {
		return []gate.Name{{Text: strings.Replace(c.Tool, "a", "renamed", 1), Certain: true}}
	}
	if got := advertised(play(t, gate.PolicyOptions{}, n).Session, "a b"); got != "b; a by n" {
		t.Error(got)
	}
	n.Mapper = func(gate.Call) []gate.Name { panic("out of order") }
	p := play(t, gate.PolicyOptions{}, n)
	p.Offer([]gate.Call{{Tool: "a"}})
	h := p.Advertise(noon).Hidden
	want := []gate.Hidden{{Tool: "a", Block: gate.Block{Net: "n", Cause: gate.CauseNet, Name: "a", Reason: "Net 'n' cannot judge the call because its mapper failed."}}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
}

// TestHiddenIsRefused checks that, without exemptions, hidden tools are refused and shown tools
// pass, whatever the arguments.
func TestHiddenIsRefused(t *testing.T) {
	p := play(t, gate.PolicyOptions{}, hides("n", 0, "a b"), sequenceNet("c", "d"), limitNet("a", 1, "session"))
	p.Offer([]gate.Call{{Tool: "a"}, {Tool: "b"}, {Tool: "c"}, {Tool: "d"}})
	for range 2 {
		a := p.Advertise(noon)
		for _, h := range a.Hidden {
			if r, ok := p.Decide(gate.Call{Tool: h.Tool}, nil).(*gate.Refusal); !ok || !strings.Contains(r.Text, h.Reason) {
				t.Errorf("%s: %+v, hidden because %s", h.Tool, r, h.Reason)
			}
		}
		for _, tool := range a.Tools {
			p.allow(tool)
		}
		p.allow("unlock")
	}
}

func ExampleSession_Advertise() {
	s := newSession(backupBeforeDelete)
	s.Offer([]gate.Call{{Tool: "backup"}, {Tool: "delete"}, {Tool: "read"}})
	a := s.Advertise(time.Time{})
	fmt.Println(a.Tools)
	for _, h := range a.Hidden {
		fmt.Printf("%s: %s\n", h.Tool, h.Reason)
	}
	// Output:
	// [backup read]
	// delete: delete requires a successful call to backup first.
}

func BenchmarkAdvertise(b *testing.B) {
	s := gate.NewSession(sixtyRules(b), gate.SessionOptions{})
	var tools []gate.Call
	for i := range 200 {
		tools = append(tools, gate.Call{Tool: fmt.Sprintf("%stool%d", []string{"", "rm", "deploy", "check"}[i%4], i/4), Also: []gate.Name{{Text: "x"}, {Text: fmt.Sprint("up.", i)}}})
	}
	s.Offer(tools)
	b.ReportAllocs()
	for b.Loop() {
		s.Advertise(noon)
	}
}
