package policydiff

import (
	"strings"
	"testing"
)

// TestDiffsOfRestrictions checks that additional rules and lower numbers only restrict, whatever
// the rules read.
func TestDiffsOfRestrictions(t *testing.T) {
	for _, c := range []struct {
		old, changed string
		deny         bool
		want         string
	}{
		{"limit a to 3 per session for each f", "limit a to 2 per session for each f", false, "stricter"},
		{"limit a to 1 per user", "limit a to 2 per user", false, "looser"},
		{"limit a to 1 per user", "limit a to 2 per user", true, "looser"},
		{"limit a to 2 per user per minute", "limit a to 1 per user per minute", false, "stricter"},
		{"limit a to 2 per minute for each f", "limit a to 2 per hour for each f", false, "stricter"},
		{"limit a to 2 per minute", "limit a to 3 per hour", false, "both"},
		{"limit a to 3 in a row", "limit a to 2 in a row", false, "stricter"},
		{"limit a to 3 at once for each f", "limit a to 1 at once for each f", false, "stricter"},
		{"limit a to 2 per b for each f", "limit a to 1 per b for each f", false, "stricter"},
		{"limit a to 9 of amount per session", "limit a to 5 of amount per session\nblock b", false, "stricter"},
		{"limit a to 100 of amount per session", "limit a to 100 of amount per hour", false, "looser"},
		{"limit a to 100 of amount per hour", "limit a to 100 of amount per session", false, "stricter"},
		{"limit a to 100 of amount per hour", "limit a to 200 of amount per day", false, "both"},
		{"limit a to 5 per session", "limit a to 5 per session\nlimit a to 2 in a row", false, "stricter"},
		{"limit read_*, list to 50 per session\nlimit b to 50 per session\nlimit c to 50 per hour", "limit read_*, list to 80 per session\nlimit b to 80 per session\nlimit c to 80 per hour", true, "looser"},
		{"require human-approval via cli before a", "require 2 human-approvals via cli before a", false, "stricter"},
		{"require 2 human-approvals via cli before a", "require human-approval via cli before a", false, "looser"},
		{"limit a to 2 per user", "limit a, b to 1 per user", false, "stricter"},
		{"limit a to 2 per user", "limit a, b to 1 per user", true, "both"},
		{"limit a to 2 per user", "limit a, b to 3 per user", false, "both"},
		{"limit a, b to 2 per hour for each f unless b, c", "limit a, b to 2 per hour for each f unless c", false, "stricter"},
		{"limit a to 2 at once for each f", "limit a to 2 at once for each f unless a", false, "looser"},
		{"block c", "block c\nrequire a before b with same f", false, "stricter"},
		{"allow b", "allow b\nrequire a before b with same f", true, "stricter-or-both"}, // the new rule may admit calls that no other net admits
		{"require a before b with same f\nlimit c to 1 per user", "limit c to 2 per user", false, "looser"},
		{"require a before b with same f", "require a before c with same f", false, "both"},
		{"map a.f x as m\nlimit m to 1 per user", "map a.f x as m\nmap a.f y as m\nlimit m to 1 per user", false, "stricter-or-both"}, // the nets read different calls,
	} {
		p := &pair{lines: [2][]string{strings.Split(c.old, "\n"), strings.Split(c.changed, "\n")}, deny: c.deny}
		if d := p.compare(t); d.result() != c.want {
			t.Errorf("%s (%s), want %s\n%s", d.result(), d.why, c.want, p)
		}
	}
}

// TestDiffsOfConditions checks that a success condition that only one policy has leaves one
// direction undecided, because success is not explored.
func TestDiffsOfConditions(t *testing.T) {
	const rule, condition = "require test before push", `success test when "result.code == 0"`
	for _, c := range []struct {
		old, changed     string
		looser, stricter bool // directions that are excluded
	}{
		{rule, rule, true, true},
		{rule + "\n" + condition, condition + "\n" + rule, true, true},
		{rule, rule + "\n" + condition, true, false},
		{rule + "\n" + condition, rule, false, true},
		{rule + "\n" + condition, rule + "\n" + `success test when "result.code < 2"`, false, false},
		{rule + "\n" + condition, "block push", false, false},
	} {
		p := &pair{lines: [2][]string{strings.Split(c.old, "\n"), strings.Split(c.changed, "\n")}}
		d := p.compare(t)
		if d.Excludes("looser") != c.looser || d.Excludes("stricter") != c.stricter {
			t.Errorf("looser excluded: %v, stricter excluded: %v (%s)\n%s", d.Excludes("looser"), d.Excludes("stricter"), d.why, p)
		}
	}
}
