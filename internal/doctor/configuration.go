package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// configuration loads the configuration and builds its policy.
func (d *Doctor) configuration(ctx context.Context) []Finding {
	if d.Config == "" {
		return []Finding{failed("petrigate import CLIENT creates one from a client's servers", "there is no configuration")}
	}
	c, err := config.Load(config.Options{Path: d.Config, Found: d.Trusts != nil, Trust: d.Trusts, Fetch: daemon.BaseFetcher(ctx)})
	if err != nil {
		return d.loadFindings(err)
	}
	d.loaded, d.Connected.Servers = c, c.Servers
	result, warnings, err := daemon.Policy(ctx, c)
	if err != nil {
		return d.loadFindings(err)
	}
	d.result = result
	found := slices.Concat(warnings, check.NoAudit(c), daemon.TLSProblems(c, diag.Error))
	all := problems(slices.DeleteFunc(found, func(p diag.Problem) bool {
		return p.Code == "W201" && p.File == d.Config || p.Code == "W208" // the groups "permissions" and "audit" report these problems
	}))
	if !slices.ContainsFunc(all, func(f Finding) bool { return f.Status == Failed }) {
		all = append([]Finding{ok("%s loads, and its policy is valid", d.Config)}, all...)
	}
	return all
}

// loadFindings returns findings that explain why the configuration could not be loaded.
func (d *Doctor) loadFindings(err error) []Finding {
	list, rest := check.ConfigProblems(err)
	var more diag.List
	if rest != nil && errors.As(rest, &more) {
		list, rest = more, nil
	}
	all := problems(list)
	if rest != nil {
		all = append(all, failed("correct it; see petrigate check", "%v", rest))
	}
	return all
}

// problems converts a list of problems to findings.
func problems(list diag.List) (all []Finding) {
	for _, p := range list {
		place := p.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
		}
		status := cmp.Or(map[diag.Severity]string{diag.Error: Failed, diag.Note: OK}[p.Severity], Warning)
		f := Finding{Status: status, Says: fmt.Sprintf("%s: %s", place, p.Msg), Fix: p.Hint}
		if p.File == "" {
			f.Says = p.Msg
		}
		if p.Code != "" {
			f.Says += " [" + p.Code + "]"
		}
		if f.Fix == "" && f.Status != OK {
			f.Fix = "petrigate check shows the line"
		}
		all = append(all, f)
	}
	return all
}

// asksPeople reports whether the policy ever asks a person for approval, and whether it requires an
// approval that can be given only through the client.
func asksPeople(r *policy.Result) (people, client bool) {
	for _, n := range r.Policy.Nets() {
		for _, t := range n.Transitions {
			people = people || t.Manual
			client = client || t.Manual && t.Via == "elicit"
		}
	}
	return people, client
}
