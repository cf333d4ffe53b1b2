package policydiff

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/soak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes half of the time
	m.Run()
}

// TestRandomDiffs compares the results with the gate. If policies are reported as equal, or if one
// is reported as not stricter or not looser, no calls may contradict this, however many of them are
// in flight and whatever time passes.
func TestRandomDiffs(t *testing.T) {
	stats := make(map[string]int)
	from, count := soak.Range(t, 120)
	for seed := from; seed < from+uint64(count); seed++ {
		g := rand.New(rand.NewPCG(seed, 31))
		old, changed := randomChange(g)
		d := compared(t, old, changed)
		if d == nil {
			continue
		}
		stats[fmt.Sprint(d.result(), " ", d.Complete)]++
		stricter, looser := walked(g, d)
		if d.Complete && (stricter && d.Stricter == nil || looser && d.Looser == nil) {
			t.Fatalf("seed %d: diff says %s, calls show stricter %v, looser %v\n%s--\n%s", seed, d.result(), stricter, looser, old, changed)
		}
	}
	t.Log(stats)
	if count >= 120 && (stats["equal true"] == 0 || stats["both true"] == 0 || stats["stricter true"] == 0) {
		t.Error("the policies are too simple to say anything")
	}
}

// randomChange returns a policy and another policy that differs in a single line.
func randomChange(g *rand.Rand) (old, changed string) {
	name := func() string { return []string{"a", "b", "c", "*"}[g.IntN(4)] }
	line := func() string {
		switch g.IntN(9) {
		case 0, 1:
			return fmt.Sprintf("require %s before %s%s", name(), name(), []string{"", "", " once"}[g.IntN(3)])
		case 2:
			return fmt.Sprintf("limit %s to %d per session", name(), 1+g.IntN(4))
		case 3, 4, 5:
			return fmt.Sprintf("limit %s to %d per successful %s", name(), 1+g.IntN(4), name())
		case 6:
			return fmt.Sprintf("limit %s to %d per %s", name(), 1+g.IntN(3), []string{"minute", "hour", "a", "b"}[g.IntN(4)])
		case 7:
			return "require human-approval before " + name()
		default:
			return "block " + name()
		}
	}
	var lines []string
	for range 1 + g.IntN(4) {
		lines = append(lines, line())
	}
	other := slices.Clone(lines)
	switch i := g.IntN(len(lines)); g.IntN(3) {
	case 0:
		other = slices.Delete(other, i, i+1)
	case 1:
		other[i] = line()
	default:
		other = append(other, line())
	}
	return strings.Join(lines, "\n") + "\n", strings.Join(other, "\n") + "\n"
}

// compared compares two rules files. It returns nil if either is invalid.
func compared(t *testing.T, old, changed string) *Comparison {
	var sides [2]*Side
	for i, text := range []string{old, changed} {
		source := policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: text + "shadow block nothing\n"}}}
		result, err := policy.Build(source)
		if err != nil {
			return nil
		}
		if sides[i], err = NewSide(result, source); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Compare(sides[0], sides[1], 3000, func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// walked makes random calls under both policies, with many calls in flight at the same time.
func walked(g *rand.Rand, d *Comparison) (stricter, looser bool) {
	var calls []gate.Call
	for _, tool := range []string{"a", "b", "c", "d"} {
		calls = append(calls, gate.Call{Tool: tool})
	}
	return walkedWith(g, d, calls)
}

func walkedWith(g *rand.Rand, d *Comparison, calls []gate.Call) (stricter, looser bool) {
	for range 60 {
		states := [2]*gate.State{d.sides[0].whole.NewState(nil), d.sides[1].whole.NewState(nil)}
		policies := [2]*gate.Policy{d.sides[0].whole, d.sides[1].whole}
		now := time.Unix(0, 0)
		var open [][2]uint64
		for range 30 {
			if len(open) > 0 && g.IntN(3) == 0 {
				i, outcome := g.IntN(len(open)), gate.Outcome(g.IntN(3))
				for k, p := range policies {
					states[k].Apply(p.SettleAt(states[k], open[i][k], outcome, now))
				}
				open = slices.Delete(open, i, i+1)
				continue
			}
			if g.IntN(8) == 0 {
				now = now.Add(time.Duration(g.IntN(4000)) * time.Second)
			}
			var numbers [2]uint64
			var verdicts [2]permission
			call := calls[g.IntN(len(calls))]
			call.Time = now
			for k, p := range policies {
				verdicts[k], numbers[k], _ = decide(p, states[k], call)
			}
			stricter, looser = stricter || verdicts[1] > verdicts[0], looser || verdicts[1] < verdicts[0]
			if max(verdicts[0], verdicts[1]) == refusedCall {
				if verdicts[0] != verdicts[1] {
					break // the states may legitimately differ from here on
				}
				continue
			}
			open = append(open, numbers)
		}
	}
	return stricter, looser
}
