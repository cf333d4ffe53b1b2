package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// newScriptTrial returns a random policy about scripts, with the statements that PetriFlow lacks.
func newScriptTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
	src, known := g.scriptRules(), toolsKnown(seed)
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: plainCalls(src, fieldsOfScripts, known)})
}

// fieldsOfScripts are scripts of all sets of commands that the rules look for: each set alone,
// twice, with another command, and with uncertain commands.
var fieldsOfScripts = scripts("ls", "rm", "git push", "git")

func scripts(commands ...string) []string {
	fields := []string{"", `["$x"]`}
	for set := range 1 << len(commands) {
		var chosen []string
		for i, c := range commands {
			if set&(1<<i) != 0 {
				chosen = append(chosen, c)
			}
		}
		text := strings.Join(chosen, "; ")
		for _, s := range []string{text, text + "; " + text, text + "; true", text + " --help", text + "; $x", text + " $x"} {
			fields = append(fields, fmt.Sprintf("%q", strings.TrimPrefix(s, "; ")))
		}
		fields = append(fields, fmt.Sprintf("[%q]", text))
	}
	return append(fields, `"$x"`)
}

func (g *generator) scriptName() string {
	return g.pick("a", "a", "b", "m", "n", "o", "m", "n", "a.go", "*", "?")
}

func (g *generator) scriptRules() string {
	var out []string
	labels := []string{"m", "n", "o"}
	for range 1 + g.IntN(3) {
		out = append(out, fmt.Sprintf("map a.f runs %s as %s", g.pick("ls", "rm", "git push", "git"), g.pick(labels...)))
	}
	if g.IntN(4) == 0 {
		out = append(out, "map a.f rm as w")
	}
	unless := func() string {
		if g.IntN(2) == 0 {
			return ""
		}
		return " unless " + g.pick("m", "n", "a", "b", "a.go", "?")
	}
	for range 1 + g.IntN(4) {
		switch g.IntN(8) {
		case 0, 1:
			out = append(out, fmt.Sprintf("require %s before %s%s", g.scriptName(), g.scriptName(), unless()))
		case 2:
			out = append(out, fmt.Sprintf("require %s before %s once%s", g.scriptName(), g.scriptName(), unless()))
		case 3:
			out = append(out, fmt.Sprintf("limit %s to %d per session%s", g.scriptName(), 1+g.IntN(2), unless()))
		case 4:
			out = append(out, fmt.Sprintf("limit %s to %d per successful %s%s", g.scriptName(), 1+g.IntN(2), g.scriptName(), unless()))
		case 5:
			out = append(out, fmt.Sprintf("require human-approval before %s%s", g.scriptName(), unless()))
		case 6:
			out = append(out, fmt.Sprintf("shadow block %s", g.scriptName()))
		default:
			out = append(out, fmt.Sprintf("block %s%s", g.scriptName(), unless()))
		}
	}
	return strings.Join(out, "\n") + "\n"
}
