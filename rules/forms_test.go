package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/gate"
)

// TestForms plays calls under rules of each form in the gate, and compares the answers. A line is a
// call, "tool {arguments} = {result}", which succeeds; with "!" it fails, and with "?" its outcome
// is unknown. "a> tool" starts a call that "a+" or "a-" ends. "+20s" lets time pass, and "2: tool"
// is a call in a second session of the same principal.
func TestForms(t *testing.T) {
	const path = "testdata/forms.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var files []txtar.File
	for i := 0; i < len(archive.Files); i += 2 {
		rules, calls := archive.Files[i], archive.Files[i+1]
		p, err := gate.NewPolicy(compile(t, string(rules.Data)).Nets, gate.PolicyOptions{})
		if err != nil {
			t.Fatalf("%s: %v", rules.Name, err)
		}
		g := newGame(p)
		var b strings.Builder
		for line := range strings.Lines(string(calls.Data)) {
			step, _, _ := strings.Cut(strings.TrimSpace(line), "  -> ")
			fmt.Fprintf(&b, "%s  -> %s\n", step, g.play(t, step))
		}
		if diff := cmp.Diff(string(calls.Data), b.String()); diff != "" && !*update {
			t.Errorf("%s: -want +got:\n%s", rules.Name, diff)
		}
		files = append(files, rules, txtar.File{Name: calls.Name, Data: []byte(b.String())})
	}
	if archive.Files = files; *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A game consists of two sessions of one principal.
type game struct {
	sessions [2]*gate.Session
	now      time.Time
	open     map[string]*gate.Ticket
}

func newGame(p *gate.Policy) *game {
	g := &game{now: time.Unix(1_000_000, 0), open: make(map[string]*gate.Ticket)}
	o := gate.SessionOptions{Time: g.now, Principal: gate.NewShared(p, gate.ScopePrincipal, gate.SharedOptions{Time: g.now})}
	g.sessions = [2]*gate.Session{gate.NewSession(p, o), gate.NewSession(p, o)}
	return g
}

func (g *game) play(t *testing.T, step string) string {
	t.Helper()
	if wait, ok := strings.CutPrefix(step, "+"); ok {
		d, err := time.ParseDuration(wait)
		if err != nil {
			t.Fatal(err)
		}
		g.now = g.now.Add(d)
		return "later"
	}
	if name := step[:1]; step == name+"+" || step == name+"-" {
		g.open[name].End(gate.End{Outcome: map[string]gate.Outcome{"+": gate.Success, "-": gate.Failure}[step[1:]], Time: g.now})
		return "ended"
	}
	s := g.sessions[0]
	if rest, ok := strings.CutPrefix(step, "2: "); ok {
		s, step = g.sessions[1], rest
	}
	name, rest, begun := strings.Cut(step, "> ")
	if begun {
		step = rest
	}
	step, result, _ := strings.Cut(step, " = ")
	tool, args, _ := strings.Cut(step, " ")
	end := gate.End{Outcome: gate.Success, Time: g.now, Result: []byte(result)}
	switch {
	case strings.HasSuffix(tool, "!"):
		end.Outcome = gate.Failure
	case strings.HasSuffix(tool, "?"):
		end.Outcome = gate.Unknown
	}
	switch d := s.Decide(gate.Call{Tool: strings.TrimRight(tool, "!?"), Args: []byte(args), Time: g.now}, nil).(type) {
	case *gate.Refusal:
		return d.Text
	case *gate.Ask:
		return fmt.Sprintf("ask %d: %s", d.Approvals(), d.Steps[0].Reason)
	case *gate.Allow:
		if g.open[name] = d.Ticket; !begun {
			d.Ticket.End(end)
		}
	}
	return "ok"
}
