package verify_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestCorpus compares the reports on small policies with answers derived by hand. An archive
// contains policy.rules, nets.yaml, deny, known, prove and expect; all but expect are optional. If
// it contains known, no tool is named like a label or an action.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d policies: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := make(map[string]string)
			for _, f := range archive.Files {
				text[f.Name] = string(f.Data)
			}
			p, o := build(t, text)
			r := verify.Policy(p, o)
			got := render(r, text["prove"])
			if diff := cmp.Diff(text["expect"], got); diff != "" {
				t.Errorf("%s\n-- policy.rules --\n%s(-want +got)\n%s", archive.Comment, text["policy.rules"], diff)
			}
			replayAll(t, p, r)
			if os.Getenv("PETRIGATE_UPDATE") != "" {
				for i := range archive.Files {
					if archive.Files[i].Name == "expect" {
						archive.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// build builds the policy of a file.
func build(t testing.TB, text map[string]string) (*gate.Policy, verify.Options) {
	t.Helper()
	s := policy.Source{Rules: []config.RuleText{{File: "policy.rules", Text: text["policy.rules"]}}}
	var o verify.Options
	if _, deny := text["deny"]; deny {
		s.Default = "deny"
	}
	_, o.Known = text["known"]
	if text["nets.yaml"] != "" {
		nets, err := config.ParseNet("nets.yaml", []byte(text["nets.yaml"]))
		if err != nil {
			t.Fatal(err)
		}
		s.Nets = nets
		for _, n := range nets {
			for _, judge := range n.Validate {
				o.Conditions = append(o.Conditions, judge.Require.Text)
			}
		}
	}
	result, err := policy.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text["prove"]) {
		o.Prove = append(o.Prove, assertion(t, strings.Fields(line)))
	}
	return result.Policy, o
}

// assertion parses the text that follows "prove" in a rules file.
func assertion(t testing.TB, w []string) verify.Assertion {
	t.Helper()
	tool := func(i int) gate.Tool {
		if strings.ContainsAny(w[i], "*?") {
			return gate.Tool{Name: w[i], Kind: gate.Glob}
		}
		return gate.Tool{Name: w[i]}
	}
	switch w[0] {
	case "never":
		switch {
		case len(w) == 2:
			return verify.Never{Tool: tool(1)}
		case w[2] == "before":
			return verify.NeverBefore{Tool: tool(1), First: tool(3)}
		default:
			return verify.NeverWithoutApproval{Tool: tool(1)}
		}
	case "at-most":
		n, err := strconv.Atoi(w[1])
		if err != nil {
			t.Fatal(err)
		}
		return verify.AtMost{Count: n, Tools: []gate.Tool{tool(2)}}
	case "reachable":
		return verify.Reachable{Tool: tool(1)}
	case "always-possible":
		return verify.AlwaysPossible{Tool: tool(1)}
	case "conserved":
		return verify.Conserved{Net: w[1]}
	case "exclusive":
		return verify.Exclusive{Net: w[1], Places: w[2:]}
	case "deadlock-free":
		return verify.DeadlockFree{Net: w[1]}
	case "no-terminal-states":
		return verify.NoTerminalStates{Net: w[1]}
	}
	t.Fatalf("unknown assertion %v", w)
	return nil
}

// render prints a report in the format of the corpus.
func render(r *verify.Report, prove string) string {
	var b bytes.Buffer
	for _, n := range r.Names {
		fmt.Fprintf(&b, "call %s: %s\n", n.Tool.Name, renderName(n))
	}
	for _, g := range r.Groups {
		switch g.Deadlock.Result {
		case verify.Refuted:
			fmt.Fprintf(&b, "deadlock: %s (%s)\n", renderTrace(g.Deadlock.Trace), netNames(g.Deadlock.Because))
		case verify.Unknown:
			fmt.Fprintf(&b, "deadlock: unknown, %s\n", g.Deadlock.Why)
		}
	}
	for _, l := range r.Losses {
		var names []string
		for _, tool := range l.Tools {
			names = append(names, tool.Name)
		}
		fmt.Fprintf(&b, "lost %s: %s (%s)\n", strings.Join(names, ", "), renderTrace(l.Trace), netNames(l.Because))
	}
	for _, red := range r.Redundant {
		fmt.Fprintf(&b, "redundant: %s (%s)\n", red.Net.Name, netNames(red.Because))
	}
	for _, o := range r.Overlaps {
		fmt.Fprintf(&b, "overlap: %s and %s in %q\n", o.First.As, o.Second.As, o.Text)
	}
	lines := slices.Collect(strings.Lines(prove))
	for i, p := range r.Proofs {
		fmt.Fprintf(&b, "prove %s: %s", strings.TrimSpace(lines[i]), p.Result)
		if len(p.Because) > 0 {
			fmt.Fprintf(&b, " (%s)", netNames(p.Because))
		}
		if p.Result == verify.Refuted && p.Counterexample != nil {
			fmt.Fprintf(&b, " by %s", renderTrace(p.Counterexample))
		}
		if p.Result == verify.Unknown {
			fmt.Fprintf(&b, ", %s", p.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func renderName(n verify.Name) string {
	switch n.Callable {
	case verify.Possible:
		return strings.Join(n.Shortest.Calls(), ", ")
	case verify.AfterFailure:
		return "after failure: " + renderTrace(n.Failing)
	case verify.Impossible:
		if n.Default {
			return "never (default)"
		}
		return "never (" + netNames(n.Because) + ")"
	}
	return "unknown, " + n.Why
}

func netNames(nets []verify.Net) string {
	var names []string
	for _, n := range nets {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}

// renderTrace prints a call's name when the call begins, and the name with a sign when it ends: +
// for success, - for failure, ? for unknown.
func renderTrace(t verify.Trace) string {
	if len(t) == 0 {
		return "at once"
	}
	names := make(map[int]string)
	var words []string
	for _, s := range t {
		switch {
		case s.Ends:
			words = append(words, names[s.Call]+map[gate.Outcome]string{gate.Success: "+", gate.Failure: "-", gate.Unknown: "?"}[s.Outcome])
		case s.Times > 1:
			words = append(words, fmt.Sprintf("%sx%d", s.Name, s.Times))
		default:
			names[s.Call] = s.Name
			words = append(words, s.Name)
		}
	}
	return strings.Join(words, " ")
}

// replayAll replays every trace of the report in the gate.
func replayAll(t *testing.T, p *gate.Policy, r *verify.Report) {
	t.Helper()
	var traces []verify.Trace
	for _, n := range r.Names {
		traces = append(traces, n.Shortest, n.Failing)
	}
	for _, g := range r.Groups {
		traces = append(traces, g.Deadlock.Trace)
	}
	for _, proof := range r.Proofs {
		traces = append(traces, proof.Counterexample, proof.Witness)
	}
	for _, trace := range traces {
		if slices.ContainsFunc(trace, func(s verify.Step) bool { return s.Times > 100_000 }) {
			continue
		}
		if pl := replay(p, trace); pl.refused >= 0 {
			t.Errorf("step %d of %s is refused", pl.refused, renderTrace(trace))
		}
	}
}
