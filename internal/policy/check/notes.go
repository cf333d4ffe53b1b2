package check

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Notes returns remarks about the policy that are not problems.
func (r Report) Notes() (notes []string) {
	v := r.verified
	if v == nil {
		return nil
	}
	if len(v.idle) > 0 {
		notes = append(notes, "not active, so not explored: "+strings.Join(v.idle, ", "))
	}
	if v.shadow {
		notes = append(notes, "the policy is in shadow: it refuses nothing, and the proofs hold only once it is enforced")
	}
	var shadow, shared, judging []string
	for _, n := range v.policy.Nets() {
		if n.Validate != nil && !n.Shadow {
			judging = append(judging, n.Name)
		}
		if n.Shadow {
			shadow = append(shadow, n.Name)
		}
		if n.Scope != gate.ScopeSession {
			shared = append(shared, n.Name)
		}
	}
	if len(shadow) > 0 {
		notes = append(notes, "in shadow, so they refuse nothing: "+strings.Join(shadow, ", "))
	}
	if len(judging) > 0 {
		notes = append(notes, "these nets judge arguments, and the check assumes that the arguments are valid: "+strings.Join(judging, ", "))
	}
	if len(shared) > 0 {
		notes = append(notes, "claims cover one session and ignore what other sessions spend or earn in these nets: "+strings.Join(shared, ", "))
	}
	return slices.Concat(notes, scriptNotes(v.shell), v.unsure())
}

// scriptNotes describes the settings that affect how scripts are checked or run.
func scriptNotes(s config.Shell) (notes []string) {
	if s.Strict {
		notes = append(notes, "shell.strict: a script that cannot be fully parsed may run any command")
	}
	if s.AddsPipefail() {
		notes = append(notes, "shell.pipefail: Claude Code and Gemini CLI run a script with `set -o pipefail; ` in front if that makes it count as evidence")
	}
	return notes
}

// unsure lists the names that might or might not be callable, because the verification did not find
// out. It groups them by the reason.
func (v *Analysis) unsure() []string {
	unsure := func(n verify.Name) bool { return n.Callable == verify.Unsure }
	var notes []string
	for why, names := range v.grouped(unsure, func(n verify.Name) string { return n.Why }) {
		notes = append(notes, fmt.Sprintf("not known whether %s can be called: %s", many(list.Map(names, nameText)), why))
	}
	return notes
}

// grouped yields the names accepted by meant, in groups. All names of a group have the same key, as
// returned by common. The groups are in the order of their first names.
func (v *Analysis) grouped(meant func(verify.Name) bool, common func(verify.Name) string) iter.Seq2[string, []verify.Name] {
	var order []string
	groups := make(map[string][]verify.Name)
	for _, n := range v.names {
		if key := common(n); meant(n) {
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], n)
		}
	}
	return func(yield func(string, []verify.Name) bool) {
		for _, key := range order {
			if !yield(key, groups[key]) {
				return
			}
		}
	}
}
