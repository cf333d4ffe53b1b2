package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/doctor"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/netfile"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/policy/simulate"
	"github.com/petrigate/petrigate/internal/runtime/audit/mining"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/takeover"
)

// members collects the JSON member names of type t, at all levels.
func members(t reflect.Type, seen map[reflect.Type]bool, into map[string]bool) {
	if seen[t] || t.PkgPath() == "time" {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		members(t.Elem(), seen, into)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "-" && name != "" {
				into[name] = true
			}
			if f.IsExported() || f.Anonymous {
				members(f.Type, seen, into)
			}
		}
	}
}

// TestJSONPageNamesEveryMember checks that docs/json.md names all members of all JSON answers, each
// under the command that prints it or, if several commands do, in the introduction.
func TestJSONPageNamesEveryMember(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Split(string(text), "\n## ")
	sections := make(map[string]string)
	for _, section := range page[1:] {
		verb, rest, _ := strings.Cut(section, "\n")
		sections[verb] = page[0] + rest
	}
	for verb, answers := range map[string][]any{
		"check": {check.Report{}}, "analyze": {netfile.Report{}}, "explain": {simulate.Explanation{}}, "test": {policytest.Report{}, diag.Problem{}},
		"diff": {policydiff.Report{}}, "status": {operator.Status{}}, "tools": {operator.ToolInfo{}}, "approvals": {operator.ApprovalInfo{}, operator.GrantInfo{}},
		"reload": {control.Reloaded{}}, "sessions": {operator.SessionInfo{}, operator.ShadowInfo{}}, "nets": {operator.PolicyNet{}}, "login": {oauth.Status{}}, "replay": {replay.Report{}}, "suggest": {mining.Report{}}, "audit": {trail.Report{}, trail.Counts{}},
		"import": {takeover.ImportPlan{}}, "connect": {takeover.ClientStatus{}}, "doctor": {doctor.Report{}},
	} {
		names := make(map[string]bool)
		for _, answer := range answers {
			members(reflect.TypeOf(answer), map[reflect.Type]bool{}, names)
		}
		if len(names) < 4 {
			t.Errorf("%s: only %d members were found", verb, len(names))
		}
		said := sections[verb]
		if verb == "test" {
			said += sections["check"]
		}
		for name := range names {
			if !strings.Contains(said, "`"+name+"`") && !strings.Contains(said, `"`+name+`"`) {
				t.Errorf("%s: the page does not name %q", verb, name)
			}
		}
	}
	for _, c := range verbs(quietRoot()) {
		top, _, _ := strings.Cut(verb(c), " ")
		if c.Flags().Lookup("json") != nil && sections[top] == "" {
			t.Errorf("the page has no section for %s", c.CommandPath())
		}
	}
}
